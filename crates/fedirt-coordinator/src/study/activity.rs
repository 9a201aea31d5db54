//! What a study has shown so far: rounds, declarations, and how much came from whom. For people; the machine needs none.

use super::machine::Sent;
use fedirt_model::fit::TraceEntry;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::message::Turn;
use fedirt_protocol::{SiteId, Timestamp};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};
use tokio::sync::watch;

/// What a site has sent, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Messages.
    pub messages: u64,
    /// Numbers in its answers.
    pub numbers: u64,
    /// Bytes of all of it, as stored.
    pub bytes: u64,
}

/// What sites answered in one attempt at a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredAttempt {
    /// Which.
    pub turn: Turn,
    /// How many sites.
    pub sites: usize,
    /// How many numbers one of them sent.
    pub numbers: u64,
    /// When the last answer came.
    pub last: Timestamp,
}

/// What has been seen of a study so far, for people.
#[derive(Debug, Default)]
pub struct StudyActivity {
    rounds: RwLock<Vec<TraceEntry>>,
    traffic: RwLock<BTreeMap<SiteId, Traffic>>,
    releases: RwLock<Vec<AnsweredAttempt>>,
    declared: RwLock<BTreeMap<SiteId, Declaration>>,
    changes: watch::Sender<u64>,
}

impl StudyActivity {
    /// The rounds, in order.
    pub fn rounds(&self) -> Vec<TraceEntry> {
        self.rounds.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What each site has sent.
    pub fn traffic(&self) -> BTreeMap<SiteId, Traffic> {
        self.traffic.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What has left sites, attempt by attempt.
    pub fn releases(&self) -> Vec<AnsweredAttempt> {
        self.releases.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What each site that joined has declared.
    pub fn declared(&self) -> BTreeMap<SiteId, Declaration> {
        self.declared.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// To wait until something has changed: a number that grows.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn note_change(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    pub(super) fn note_rounds(&self, rounds: Vec<TraceEntry>) {
        self.rounds.write().unwrap_or_else(PoisonError::into_inner).extend(rounds);
    }

    pub(super) fn note_sent(&self, sent: Vec<Sent>) {
        let mut traffic = self.traffic.write().unwrap_or_else(PoisonError::into_inner);
        let mut releases = self.releases.write().unwrap_or_else(PoisonError::into_inner);
        for Sent { site, at, bytes, numbers, answers } in sent {
            let own = traffic.entry(site).or_default();
            (own.messages, own.numbers, own.bytes) =
                (own.messages + 1, own.numbers + numbers, own.bytes + bytes);
            let Some(turn) = answers else { continue };
            match releases.iter_mut().rev().find(|release| release.turn == turn) {
                Some(release) => (release.sites, release.last) = (release.sites + 1, at),
                None => releases.push(AnsweredAttempt { turn, sites: 1, numbers, last: at }),
            }
        }
    }

    pub(super) fn note_declared(&self, site: &SiteId, declared: Option<Declaration>) {
        let mut known = self.declared.write().unwrap_or_else(PoisonError::into_inner);
        match declared {
            Some(declared) => drop(known.insert(site.clone(), declared)),
            None => drop(known.remove(site)),
        }
    }
}

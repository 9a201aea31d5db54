//! A witness who sees everything that sites write and send, and knows the rules on its own account.

use crate::message::{Sums, ToCoordinator, Turn};
use crate::site::SiteEvent;
use crate::{SiteId, Terms};
use fedirt_model::statistics::Mode;
use fedirt_privacy::ledger::Ledger;
use fedirt_privacy::secure::{SignedHello, Upload};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What a site has done.
#[derive(Default)]
struct Deeds {
    /// Highest turn of a hello or an answer that was sent.
    highest: Option<Turn>,
    /// Hash of the answer sent in each turn.
    answers: BTreeMap<Turn, [u8; 32]>,
    /// Hash of the hello sent in each turn.
    hellos: BTreeMap<Turn, [u8; 32]>,
    /// Cohorts of its releases.
    cohorts: Vec<BTreeSet<String>>,
    uploads: u64,
}

/// The witness.
pub(super) struct Witness {
    mode: Mode,
    n_min: usize,
    reveal: bool,
    deeds: BTreeMap<SiteId, Deeds>,
    /// The first broken rule.
    pub(super) broken: Option<String>,
}

impl Witness {
    pub(super) fn new(terms: &Terms) -> Self {
        Self {
            mode: terms.mode,
            n_min: terms.thresholds.n_min(),
            reveal: terms.on_loss == crate::terms::OnLoss::RevealLostSite,
            deeds: BTreeMap::new(),
            broken: None,
        }
    }

    fn break_rule(&mut self, rule: String) {
        self.broken.get_or_insert(rule);
    }

    /// Uploads that were sent for the first time.
    pub(super) fn uploads(&self) -> u64 {
        self.deeds.values().map(|d| d.uploads).sum()
    }

    pub(super) fn persisted(&mut self, site: &SiteId, event: &SiteEvent) {
        let SiteEvent::Released(release) = event else { return };
        let next: BTreeSet<String> = release.cohort.iter().cloned().collect();
        let deeds = self.deeds.entry(site.clone()).or_default();
        let previous = deeds.cohorts.last().cloned();
        deeds.cohorts.push(next.clone());
        if self.mode != Mode::Secure {
            return;
        }
        if next.len() < 3 {
            self.break_rule(format!("{site}: exact sums over {} sites", next.len()));
        }
        if let Some(previous) = previous {
            let removed = previous.difference(&next).count();
            if next.difference(&previous).count() > 0 {
                self.break_rule(format!("{site}: a site joined the chain of cohorts"));
            }
            if !self.reveal && removed > 0 && removed < self.n_min {
                self.break_rule(format!("{site}: {removed} sites left the chain of cohorts"));
            }
        }
    }

    /// Something goes out on the wire; `disk` and `ledger` are what the site has written down by now.
    pub(super) fn sent(&mut self, site: &SiteId, message: &ToCoordinator, disk: &[SiteEvent], ledger: &str) {
        match message {
            ToCoordinator::Hello(bytes) => {
                let Ok(hello) = SignedHello::decode(bytes) else { return };
                let turn = hello_turn(&hello);
                if !disk.iter().any(|e| matches!(e, SiteEvent::Hello { turn: t, .. } if *t == turn)) {
                    self.break_rule(format!("{site}: a hello was sent before its key was on disk"));
                }
                self.went_out(site, turn, Sha256::digest(bytes).into(), false);
            }
            ToCoordinator::Upload { turn, sums, .. } => {
                let hash = match sums {
                    Sums::Masked(bytes) => Upload::decode(bytes).map_or([0; 32], |u| u.hash()),
                    Sums::Plain(words) => {
                        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                        Sha256::digest(&bytes).into()
                    }
                };
                if !disk.iter().any(|e| matches!(e, SiteEvent::Upload { turn: t, .. } if t == turn)) {
                    self.break_rule(format!("{site}: an answer was sent before it was on disk"));
                }
                if !disk.iter().any(|e| matches!(e, SiteEvent::Released(r) if r.turn == *turn)) {
                    self.break_rule(format!("{site}: an answer was sent before its record"));
                }
                self.check_debit(site, *turn, ledger);
                self.went_out(site, *turn, hash, true);
            }
            _ => {}
        }
    }

    fn check_debit(&mut self, site: &SiteId, turn: Turn, ledger: &str) {
        if Ledger::read(ledger).is_err() {
            self.break_rule(format!("{site}: the ledger does not verify"));
        }
        let entries = ledger.lines().filter(|line| match self.mode {
            Mode::Private => {
                line.contains(&format!("\tround={}\t", turn.round)) && line.contains("\tdebit\t")
            }
            _ => line.contains("\texact\t"),
        });
        if entries.count() == 0 {
            self.break_rule(format!("{site}: numbers left in {turn} without an entry in the ledger"));
        }
    }

    fn went_out(&mut self, site: &SiteId, turn: Turn, hash: [u8; 32], answer: bool) {
        let deeds = self.deeds.entry(site.clone()).or_default();
        let highest = deeds.highest;
        let kept = if answer { &mut deeds.answers } else { &mut deeds.hellos };
        let known = kept.insert(turn, hash);
        if answer && known.is_none() {
            deeds.uploads += 1;
        }
        deeds.highest = deeds.highest.max(Some(turn));
        if known.is_some_and(|known| known != hash) {
            self.break_rule(format!("{site}: two different messages in {turn}"));
        }
        if highest.is_some_and(|highest| turn < highest) {
            self.break_rule(format!("{site}: {turn} was answered after a higher one"));
        }
    }
}

fn hello_turn(hello: &SignedHello) -> Turn {
    let round = hello.round();
    Turn { round: round.round as u32, attempt: round.attempt as u32 }
}

//! The officer at the site: asked where only a person can tell, and kept informed.

use super::transport::TransportError;
use fedirt_privacy::secure::{Fingerprint, SiteId};
use fedirt_protocol::message::Turn;
use fedirt_protocol::site::RoundShown;
use std::time::Duration;

/// What the officer says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Yes,
    /// Not now: the agent stops, and can be started again.
    NotNow,
}

/// What the officer is told.
#[derive(Debug)]
pub enum News<'a> {
    /// What the agent waits for.
    Waiting(&'a str),
    /// What the officer should consider before approving a roster.
    Caution(&'a str),
    /// A message has arrived at the coordinator.
    Sent {
        /// Kind of message.
        kind: &'a str,
        /// Its size.
        bytes: usize,
    },
    /// A message came too late or does not fit; the coordinator's next message tells how to go on.
    NotTaken {
        /// Kind of message.
        kind: &'a str,
        /// What the coordinator says.
        error: &'a TransportError,
    },
    /// The site refused something.
    Refused {
        /// In which turn.
        turn: Option<Turn>,
        /// Why.
        reason: &'a str,
    },
    /// The coordinator cannot be reached; another try follows.
    Unreachable {
        /// Why.
        error: &'a TransportError,
        /// When.
        pause: Duration,
    },
}

/// The officer.
pub trait Officer {
    /// A roster is shown: the sites, the fingerprints of their keys, and their students. Are they what the other sites'
    /// officers say on the telephone?
    fn roster(&mut self, fingerprint: Fingerprint, sites: &[(SiteId, Fingerprint, u64)]) -> Answer;
    /// A round is shown, where the policy wants that.
    fn round(&mut self, round: &RoundShown) -> Answer;
    /// Something has happened.
    fn news(&mut self, news: News<'_>);
}

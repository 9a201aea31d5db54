//! The officer at the site: asked where only a person can tell, and kept informed.

use super::transport::{Delivery, TransportError};
use fedirt_privacy::secure::SiteId;
use fedirt_protocol::message::Turn;
use fedirt_protocol::site::{RosterShown, RoundShown};
use std::collections::BTreeSet;
use std::time::Duration;

/// What the officer says to a roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RosterAnswer {
    /// It is the same at these sites, whose officers were called; approved.
    Verified(BTreeSet<SiteId>),
    /// Not now: the agent stops, and can be started again.
    NotNow,
}

/// What the officer says to a round.
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
    /// A message was handed over.
    Sent {
        /// Kind of message.
        kind: &'a str,
        /// Its size.
        bytes: usize,
        /// What is known of it.
        delivery: Delivery,
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
    /// A roster is shown: the sites, the fingerprints of their keys, and their students. At which sites, whose officers were
    /// called, is it the same? Some may be verified from earlier studies; at least `shown.calls` of the others must be.
    fn roster(&mut self, shown: &RosterShown, known: &BTreeSet<SiteId>) -> RosterAnswer;
    /// A round is shown, where the policy wants that.
    fn round(&mut self, round: &RoundShown) -> Answer;
    /// Something has happened.
    fn news(&mut self, news: News<'_>);
}

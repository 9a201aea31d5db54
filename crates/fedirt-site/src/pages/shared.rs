//! What an agent's thread and the pages share: what it says of itself, and what the officer has decided.

use fedirt_privacy::secure::Fingerprint;
use fedirt_protocol::message::Turn;
use fedirt_protocol::site::RoundShown;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What an agent does at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Reads the file.
    #[default]
    Starting,
    /// Takes part.
    Working,
    /// Was stopped.
    Stopped,
    /// Cannot go on; `problem` says why.
    Failed,
    /// The study is over.
    Over,
}

/// A roster that waits for the officer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RosterShown {
    pub(crate) fingerprint: Fingerprint,
    /// Site, fingerprint of its key, students.
    pub(crate) sites: Vec<(String, String, u64)>,
}

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) waiting: String,
    /// The coordinator does not answer.
    pub(crate) trouble: Option<String>,
    pub(crate) problem: Option<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) roster: Option<RosterShown>,
    pub(crate) round: Option<RoundShown>,
}

/// What the officer has said yes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    /// This roster.
    Roster(Fingerprint),
    /// This question of this turn.
    Round(Turn, [u8; 32]),
}

#[derive(Debug, Default)]
struct Inside {
    state: State,
    roster_approved: Option<Fingerprint>,
    round_approved: Option<(Turn, [u8; 32])>,
    stopping: bool,
}

/// What a thread and the pages share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    inside: Mutex<Inside>,
    told: Condvar,
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the agent says of itself.
    pub(crate) fn state(&self) -> State {
        self.inside().state.clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.inside().state);
    }

    pub(crate) fn stopping(&self) -> bool {
        self.inside().stopping
    }

    pub(crate) fn stop(&self) {
        self.inside().stopping = true;
        self.told.notify_all();
    }

    /// Sleeps, unless it is told to stop.
    pub(crate) fn sleep(&self, duration: Duration) {
        let inside = self.inside();
        let asleep = self.told.wait_timeout_while(inside, duration, |inside| !inside.stopping);
        drop(asleep.unwrap_or_else(PoisonError::into_inner));
    }

    /// The officer says yes to the roster that is shown, if it is this one.
    pub(crate) fn approve_roster(&self, fingerprint: &str) -> bool {
        let mut inside = self.inside();
        let shown = inside.state.roster.take_if(|shown| shown.fingerprint.matches(fingerprint));
        inside.roster_approved = shown.map(|shown| shown.fingerprint);
        inside.roster_approved.is_some()
    }

    /// The officer says yes to the question that is shown, if it is this one.
    pub(crate) fn approve_round(&self, question: [u8; 32]) -> bool {
        let mut inside = self.inside();
        let shown = inside.state.round.take_if(|shown| shown.question == question);
        inside.round_approved = shown.map(|shown| (shown.turn, shown.question));
        inside.round_approved.is_some()
    }

    /// What the officer has decided since it was last asked, one thing at a time; and whether something is still asked.
    pub(crate) fn decided(&self) -> (Option<Decided>, bool) {
        let mut inside = self.inside();
        let asking = inside.state.roster.is_some() || inside.state.round.is_some();
        let roster = inside.roster_approved.take().map(Decided::Roster);
        (
            roster.or_else(|| {
                inside.round_approved.take().map(|(turn, question)| Decided::Round(turn, question))
            }),
            asking,
        )
    }
}

//! The state that an agent's thread shares with the pages: what the agent does, and what the officer has decided.

use fedirt_privacy::secure::SiteId;
use fedirt_protocol::message::Turn;
use fedirt_protocol::site::{RosterShown, RoundShown};
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What an agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// It reads the file.
    #[default]
    Starting,
    /// It takes part.
    Working,
    /// It was stopped.
    Stopped,
    /// It cannot continue; `problem` says why.
    Failed,
    /// The study is over.
    Over,
}

/// A roster that waits for the officer's approval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RosterWaiting {
    pub(crate) shown: RosterShown,
    /// Sites that were verified before.
    pub(crate) known: BTreeSet<SiteId>,
}

/// What an agent reports to the pages.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) waiting: String,
    /// Why the coordinator cannot be reached.
    pub(crate) trouble: Option<String>,
    pub(crate) problem: Option<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) roster: Option<RosterWaiting>,
    pub(crate) round: Option<RoundShown>,
}

/// What the officer has approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decided {
    /// This roster, compared with the officers of these sites.
    Roster(RosterShown, BTreeSet<SiteId>),
    /// This question of this turn.
    Round(Turn, [u8; 32]),
}

#[derive(Debug, Default)]
struct Inside {
    state: State,
    roster_approved: Option<(RosterShown, BTreeSet<SiteId>)>,
    round_approved: Option<(Turn, [u8; 32])>,
    stopping: bool,
    /// Whether the agent's thread has ended.
    ended: bool,
}

impl Inside {
    /// Whether the officer is asked something and has not decided.
    fn undecided(&self) -> bool {
        let asking = self.state.roster.is_some() || self.state.round.is_some();
        asking && self.roster_approved.is_none() && self.round_approved.is_none()
    }
}

/// The state of one agent, shared between its thread and the pages.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    inside: Mutex<Inside>,
    told: Condvar,
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the agent reports.
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

    /// Sleeps until the time is over or the agent is asked to stop.
    pub(crate) fn sleep(&self, duration: Duration) {
        let inside = self.inside();
        let asleep = self.told.wait_timeout_while(inside, duration, |inside| !inside.stopping);
        drop(asleep.unwrap_or_else(PoisonError::into_inner));
    }

    /// Approves the roster that is shown, if it has this fingerprint. The officers of these sites were called.
    pub(crate) fn approve_roster(&self, fingerprint: &str, called: BTreeSet<SiteId>) -> bool {
        let mut inside = self.inside();
        let waiting = inside.state.roster.take_if(|waiting| waiting.shown.fingerprint.matches(fingerprint));
        inside.roster_approved = waiting.map(|waiting| (waiting.shown, called));
        self.told.notify_all();
        inside.roster_approved.is_some()
    }

    /// Approves the question that is shown, if it is this one.
    pub(crate) fn approve_round(&self, question: [u8; 32]) -> bool {
        let mut inside = self.inside();
        let shown = inside.state.round.take_if(|shown| shown.question == question);
        inside.round_approved = shown.map(|shown| (shown.turn, shown.question));
        self.told.notify_all();
        inside.round_approved.is_some()
    }

    /// The officer's next decision, and whether a question is still open. While one is open, waits for the decision, for a
    /// stop, or for the timeout.
    pub(crate) fn decided(&self, timeout: Duration) -> (Option<Decided>, bool) {
        let waited = self
            .told
            .wait_timeout_while(self.inside(), timeout, |inside| inside.undecided() && !inside.stopping);
        let mut inside = waited.unwrap_or_else(PoisonError::into_inner).0;
        let asking = inside.undecided();
        let roster = inside.roster_approved.take().map(|(shown, called)| Decided::Roster(shown, called));
        let decided = roster
            .or_else(|| inside.round_approved.take().map(|(turn, question)| Decided::Round(turn, question)));
        (decided, asking)
    }

    /// Reports that the agent's thread has ended.
    pub(super) fn end(&self) {
        self.inside().ended = true;
        self.told.notify_all();
    }

    /// Waits until the agent's thread has ended. Returns false after the timeout.
    pub(crate) fn wait_until_ended(&self, timeout: Duration) -> bool {
        let waited = self.told.wait_timeout_while(self.inside(), timeout, |inside| !inside.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(60);

    fn shown() -> RoundShown {
        let turn = Turn { round: 1, attempt: 1 };
        RoundShown { turn, question: [1; 32], released: 0, statistics: Vec::new() }
    }

    /// The officer's approval and a stop wake the agent's thread at once; it does not poll.
    #[test]
    fn a_decision_and_a_stop_wake_the_agent() {
        let start = Instant::now();
        let shared = Arc::new(Shared::default());
        assert_eq!(shared.decided(LONG), (None, false), "nothing is asked");
        shared.change(|state| state.round = Some(shown()));
        assert_eq!(shared.decided(Duration::from_millis(1)), (None, true));
        let agent = std::thread::spawn({
            let shared = shared.clone();
            move || shared.decided(LONG)
        });
        assert!(shared.approve_round([1; 32]));
        let turn = shown().turn;
        assert_eq!(agent.join().expect("no panic"), (Some(Decided::Round(turn, [1; 32])), false));
        shared.change(|state| state.round = Some(shown()));
        let agent = std::thread::spawn({
            let shared = shared.clone();
            move || {
                let decided = shared.decided(LONG);
                shared.end();
                decided
            }
        });
        assert!(!shared.wait_until_ended(Duration::from_millis(1)));
        shared.stop();
        assert!(shared.wait_until_ended(LONG));
        assert_eq!(agent.join().expect("no panic"), (None, true));
        assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
    }
}

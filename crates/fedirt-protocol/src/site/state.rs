//! What a site's machine waits for, and the attempts that it knows.

use super::Refusal;
use crate::message::{Broadcast, SharedRoster, ToCoordinator, Turn};
use crate::private::Noise;
use fedirt_model::private::PrivatePlan;
use fedirt_privacy::secure::{BoundCohort, RoundKey, SiteId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the machine waits for. None of it is persisted: after a restart the machine is [`State::Waiting`] or
/// [`State::Over`], the coordinator repeats its latest message, and the machine comes to the same state again.
pub(super) enum State {
    /// The coordinator's next message.
    Waiting,
    /// The officer, who compares the roster ([`super::SiteMachine::approve_roster`]).
    RosterShown(Box<SharedRoster>),
    /// The officer, who looks at the round ([`super::SiteMachine::approve_round`]).
    RoundShown(Box<Opening>),
    /// The ledger ([`super::SiteMachine::debited`]). The question is committed.
    AskingLedger(Box<Opening>),
    /// Nothing: the study is over here.
    Over,
}

/// The opening of a round in which everything was found in order. It is checked once, when it arrives; what waits for the
/// officer or the ledger is this value.
pub(super) struct Opening {
    pub(super) turn: Turn,
    /// SHA-256 of everything that was opened.
    pub(super) question: [u8; 32],
    pub(super) told: Broadcast,
    pub(super) cohort: BTreeSet<SiteId>,
    /// This site's place in the cohort.
    pub(super) index: usize,
    /// The cohort and the broadcast, to which the masks are bound (not in `plain`).
    pub(super) bound: Option<BoundCohort>,
    /// What hides the answer (`private`).
    pub(super) noise: Option<(Arc<PrivatePlan>, Noise)>,
}

/// A hello that was said, with its key until the round is answered.
pub(super) struct Said {
    pub(super) turn: Turn,
    pub(super) key: Option<RoundKey>,
    pub(super) message: Arc<ToCoordinator>,
}

/// The latest hello, question and answer of this site. They follow from the persisted events alone.
#[derive(Default)]
pub(super) struct Attempts {
    pub(super) said: Option<Said>,
    /// The one question of the latest attempt: its turn, and the hash of what was opened.
    pub(super) committed: Option<(Turn, [u8; 32])>,
    pub(super) answered: Option<(Turn, Arc<ToCoordinator>)>,
}

impl Attempts {
    /// The highest attempt of which this site knows.
    pub(super) fn highest(&self) -> Option<Turn> {
        let said = self.said.as_ref().map(|said| said.turn);
        let answered = self.answered.as_ref().map(|(turn, _)| *turn);
        said.max(answered).max(self.committed.map(|(turn, _)| turn))
    }

    /// The answer of an attempt that was answered.
    pub(super) fn answer_of(&self, turn: Turn) -> Option<Arc<ToCoordinator>> {
        self.answered.as_ref().filter(|(last, _)| *last == turn).map(|(_, answer)| answer.clone())
    }

    /// Whether an attempt has its question.
    pub(super) fn is_committed(&self, turn: Turn) -> bool {
        self.committed.is_some_and(|(last, _)| last == turn)
    }

    /// An attempt has one question: another one would be a second input under the same mask.
    pub(super) fn check_question(&self, turn: Turn, question: [u8; 32]) -> Result<(), Refusal> {
        match self.committed {
            Some((last, known)) if last == turn && known != question => Err(Refusal::AnotherQuestion(turn)),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn has_key(&self) -> bool {
        self.said.as_ref().is_some_and(|said| said.key.is_some())
    }

    /// The key of the latest hello, which is used once.
    pub(super) fn take_key(&mut self) -> Option<RoundKey> {
        self.said.as_mut().and_then(|said| said.key.take())
    }

    /// Wipes the hello and its key.
    pub(super) fn forget_key(&mut self) {
        self.said = None;
    }
}

//! The officer at the pages. Questions of the agent that the approval covers are answered at once; the others are shown on the
//! page.

use super::officer_settings::Asked;
use super::shared::{RosterWaiting, Shared};
use fedirt_agent::{Answer, News, Officer, RosterAnswer};
use fedirt_privacy::secure::SiteId;
use fedirt_protocol::site::{RosterShown, RoundShown};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Pause after a refusal, which limits the rate at which a faulty coordinator is answered.
const AFTER_A_REFUSAL: Duration = Duration::from_millis(500);

/// The officer at the pages.
#[derive(Debug)]
pub(super) struct AtThePages {
    pub(super) shared: Arc<Shared>,
    pub(super) asked: Asked,
    /// Whether the site's rules accept rosters without comparison.
    pub(super) trusting: bool,
    /// Approves everything after this pause, for demonstrations.
    pub(super) automatic: Option<Duration>,
}

impl Officer for AtThePages {
    fn roster(&mut self, shown: &RosterShown, known: &BTreeSet<SiteId>) -> RosterAnswer {
        if self.trusting {
            return RosterAnswer::Verified(shown.names());
        }
        let waiting = RosterWaiting { shown: shown.clone(), known: known.clone() };
        self.shared.change(|state| state.roster = Some(waiting));
        if let Some(pause) = self.automatic {
            self.shared.sleep(pause);
            self.shared.change(|state| state.roster = None);
            return RosterAnswer::Verified(shown.names());
        }
        RosterAnswer::NotNow
    }

    fn round(&mut self, round: &RoundShown) -> Answer {
        if let Some(pause) = self.automatic {
            self.shared.sleep(pause);
        }
        if self.shared.stopping() {
            return Answer::NotNow;
        }
        match self.asked {
            Asked::Once => Answer::Yes,
            // Every release counts, because a repeated attempt asks for new numbers.
            Asked::Rounds(rounds) if round.released < rounds => Answer::Yes,
            Asked::Rounds(_) | Asked::EachRound => {
                self.shared.change(|state| state.round = Some(round.clone()));
                Answer::NotNow
            }
        }
    }

    fn news(&mut self, news: News<'_>) {
        if matches!(news, News::Refused { .. }) {
            self.shared.sleep(AFTER_A_REFUSAL);
        }
        self.shared.change(|state| match news {
            News::Waiting(text) => text.clone_into(&mut state.waiting),
            News::Caution(text) => {
                if !state.cautions.iter().any(|known| known == text) {
                    state.cautions.push(text.to_owned());
                }
            }
            News::Sent { kind: "join", .. } => {
                state.waiting = "joined; waiting for the other sites".into();
            }
            News::Sent { .. } => {}
            News::NotTaken { kind, error } => {
                state.waiting = format!("the {kind} was not taken: {error}; asking how to go on");
            }
            // The refusal is in the journal.
            News::Refused { .. } => {}
            News::Unreachable { error, .. } => state.trouble = Some(error.to_string()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedirt_model::questions::GRADIENT;
    use fedirt_protocol::message::Turn;

    fn officer(asked: Asked) -> AtThePages {
        AtThePages { shared: Arc::default(), asked, trusting: false, automatic: None }
    }

    fn asked(round: u32, attempt: u32, released: u32) -> RoundShown {
        let turn = Turn { round, attempt };
        RoundShown { turn, question: [round as u8; 32], released, statistics: vec![(GRADIENT, 3)] }
    }

    #[test]
    fn rounds_are_answered_as_approved() {
        assert_eq!(officer(Asked::Once).round(&asked(9, 1, 8)), Answer::Yes);
        let mut limited = officer(Asked::Rounds(2));
        assert_eq!(limited.round(&asked(2, 1, 1)), Answer::Yes);
        // The first round for the third time: attempts count.
        assert_eq!(limited.round(&asked(1, 3, 2)), Answer::NotNow);
        assert_eq!(limited.round(&asked(3, 1, 2)), Answer::NotNow);
        let shared = limited.shared.clone();
        assert!(!shared.approve_round([4; 32]), "another question is not the one that is shown");
        assert!(shared.approve_round([3; 32]) && shared.state().round.is_none());
        let mut careful = officer(Asked::EachRound);
        assert_eq!(careful.round(&asked(1, 1, 0)), Answer::NotNow);
        assert_eq!(careful.shared.state().round.unwrap().statistics, [(GRADIENT, 3)]);
    }
}

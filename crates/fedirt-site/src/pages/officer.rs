//! The officer at the pages: answers by what was approved, and otherwise puts the question on the page.

use super::desk::Asked;
use super::runner::{RosterShown, RoundShown, Shared};
use crate::agent::{Answer, News, Officer};
use fedirt_privacy::secure::{Fingerprint, SiteId};
use fedirt_protocol::message::Turn;
use std::sync::Arc;
use std::time::Duration;

/// The officer at the pages.
#[derive(Debug)]
pub(super) struct AtThePages {
    pub(super) shared: Arc<Shared>,
    pub(super) asked: Asked,
    /// Whether the site's rules take rosters on the coordinator's word.
    pub(super) trusting: bool,
    /// Approves everything after this pause: for demonstrations.
    pub(super) automatic: Option<Duration>,
}

impl Officer for AtThePages {
    fn roster(&mut self, fingerprint: Fingerprint, sites: &[(SiteId, Fingerprint, u64)]) -> Answer {
        if self.trusting {
            return Answer::Yes;
        }
        let sites = sites.iter().map(|(site, key, n)| (site.to_string(), key.to_string(), *n)).collect();
        self.shared.change(|state| state.roster = Some(RosterShown { fingerprint, sites }));
        if let Some(pause) = self.automatic {
            self.shared.sleep(pause);
            self.shared.change(|state| state.roster = None);
            return Answer::Yes;
        }
        Answer::NotNow
    }

    fn round(&mut self, turn: Turn, statistics: &[(&'static str, usize)]) -> Answer {
        if let Some(pause) = self.automatic {
            self.shared.sleep(pause);
        }
        if self.shared.stopping() {
            return Answer::NotNow;
        }
        match self.asked {
            Asked::Once => Answer::Yes,
            Asked::Rounds(rounds) if turn.round <= rounds => Answer::Yes,
            Asked::Rounds(_) | Asked::EachRound => {
                let statistics = statistics.to_vec();
                self.shared.change(|state| state.round = Some(RoundShown { turn, statistics }));
                Answer::NotNow
            }
        }
    }

    fn news(&mut self, news: News<'_>) {
        self.shared.change(|state| match news {
            News::Waiting(text) => text.clone_into(&mut state.waiting),
            News::Caution(text) => {
                if !state.cautions.iter().any(|known| known == text) {
                    state.cautions.push(text.to_owned());
                }
            }
            News::Sent { kind, bytes } => {
                state.messages += 1;
                state.bytes += bytes as u64;
                if kind == "join" {
                    state.waiting = "joined; waiting for the other sites".into();
                }
            }
            News::NotTaken { kind, error } => {
                state.waiting = format!("the {kind} was not taken: {error}; asking how to go on");
            }
            News::Refused { turn, reason } => {
                let place = turn.map_or(String::new(), |turn| format!("{turn}: "));
                state.refusals.push(format!("{place}{reason}"));
            }
            News::Unreachable { error, .. } => state.trouble = Some(error.to_string()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn officer(asked: Asked) -> AtThePages {
        AtThePages { shared: Arc::default(), asked, trusting: false, automatic: None }
    }

    fn turn(round: u32) -> Turn {
        Turn { round, attempt: 1 }
    }

    #[test]
    fn rounds_are_answered_as_approved() {
        assert_eq!(officer(Asked::Once).round(turn(9), &[]), Answer::Yes);
        let mut limited = officer(Asked::Rounds(2));
        assert_eq!((limited.round(turn(2), &[]), limited.round(turn(3), &[])), (Answer::Yes, Answer::NotNow));
        let shared = limited.shared.clone();
        assert!(!shared.approve_round(&turn(4).to_string()), "another round is not the one that is shown");
        assert!(shared.approve_round(&turn(3).to_string()) && shared.state().round.is_none());
        let mut careful = officer(Asked::EachRound);
        assert_eq!(careful.round(turn(1), &[("gradient", 3)]), Answer::NotNow);
        assert_eq!(careful.shared.state().round.unwrap().statistics, [("gradient", 3)]);
    }
}

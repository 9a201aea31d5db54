//! Where a study stands at a site: derived in one place, from the journal and what the officer chose on the pages. Pages,
//! lists and the command line show this state and nothing of their own.

use super::journal::{JournalEntry, JournalEvent};
use super::transport::Delivery;
use fedirt_protocol::invitation::Address;
use fedirt_protocol::message::Turn;
use fedirt_protocol::site::Release;

/// What the officer's pages know beyond the journal; nothing of it is known where no pages are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfficerChoices {
    /// What is sent was approved on the pages, so that the agent of the pages writes the results.
    pub approved: bool,
    /// The pages were told that the study ended without a result.
    pub ended: bool,
}

/// Where a study stands at this site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyState {
    /// The site's key is made; whether it arrived at the coordinator is not known.
    KeyMade,
    /// The plan is approved, and the key waits for a courier; whether it has arrived is not known.
    KeyPosted,
    /// The plan is approved and the key enrolled.
    Enrolled,
    /// The officer has approved what is sent.
    Consented,
    /// The site has declared its students.
    Joined,
    /// The roster is approved here, not yet by everybody.
    RosterApproved,
    /// The roster is approved by everybody.
    RosterSigned,
    /// The site takes part in this attempt at a round.
    InRound(Turn),
    /// The study is over, and the agent has yet to write its results.
    ResultsDue,
    /// The study is over, and its results are here.
    Finished,
    /// The study is over without results.
    Ended,
    /// The site has withdrawn.
    Withdrawn {
        /// Whether it had declared its students before.
        joined: bool,
    },
}

impl StudyState {
    /// The state that follows from a journal, the officer's choices, and whether results have been written.
    pub fn of(entries: &[JournalEntry], officer: OfficerChoices, has_results: bool) -> Self {
        let mut state = Self::KeyMade;
        for entry in entries {
            state = match &entry.record {
                // The officer may approve what is sent more than once; what has happened since stays.
                JournalEvent::Enrolled { delivery, .. } if !state.has_joined() => match delivery {
                    Delivery::Acknowledged => Self::Enrolled,
                    Delivery::Posted => Self::KeyPosted,
                },
                JournalEvent::Consented { .. } if !state.has_joined() => Self::Consented,
                JournalEvent::Joined { .. } => Self::Joined,
                JournalEvent::Approved { .. } => Self::RosterApproved,
                JournalEvent::Pinned { .. } => Self::RosterSigned,
                JournalEvent::Hello { turn, .. }
                | JournalEvent::Committed { turn, .. }
                | JournalEvent::Released(Release { turn, .. })
                | JournalEvent::Upload { turn, .. } => Self::InRound(*turn),
                JournalEvent::Over if has_results => Self::Finished,
                JournalEvent::Over if officer.approved && !officer.ended => Self::ResultsDue,
                JournalEvent::Over => Self::Ended,
                JournalEvent::Withdrawn => return Self::Withdrawn { joined: state.has_joined() },
                JournalEvent::Enrolled { .. }
                | JournalEvent::Consented { .. }
                | JournalEvent::Debited { .. }
                | JournalEvent::Refused { .. } => state,
            };
        }
        if officer.ended && state != Self::Finished { Self::Ended } else { state }
    }

    /// Whether the site has declared its students: from then on its file cannot change.
    pub fn has_joined(self) -> bool {
        match self {
            Self::KeyMade | Self::KeyPosted | Self::Enrolled | Self::Consented => false,
            Self::Withdrawn { joined } => joined,
            Self::Joined
            | Self::RosterApproved
            | Self::RosterSigned
            | Self::InRound(_)
            | Self::ResultsDue
            | Self::Finished
            | Self::Ended => true,
        }
    }

    /// Whether nothing is left to do at this site.
    pub fn is_over(self) -> bool {
        match self {
            Self::Finished | Self::Ended | Self::Withdrawn { .. } => true,
            Self::KeyMade
            | Self::KeyPosted
            | Self::Enrolled
            | Self::Consented
            | Self::Joined
            | Self::RosterApproved
            | Self::RosterSigned
            | Self::InRound(_)
            | Self::ResultsDue => false,
        }
    }

    /// Whether the site has withdrawn.
    pub fn is_withdrawn(self) -> bool {
        matches!(self, Self::Withdrawn { .. })
    }

    /// What has happened last, in words.
    pub fn in_words(self) -> String {
        match self {
            Self::KeyMade => "the key is made; whether it arrived is not known".into(),
            Self::KeyPosted => "the key waits for the courier".into(),
            Self::Enrolled => "enrolled".into(),
            Self::Consented => "what is sent is approved".into(),
            Self::Joined => "joined; the roster is not approved yet".into(),
            Self::RosterApproved => "the roster is approved here, not yet by everybody".into(),
            Self::RosterSigned => "the roster is signed by everybody".into(),
            Self::InRound(turn) => format!("in {turn}"),
            Self::ResultsDue | Self::Finished | Self::Ended => "over".into(),
            Self::Withdrawn { .. } => "withdrawn; the keys are wiped".into(),
        }
    }

    /// What to do next on the command line; nothing once the study is over.
    pub fn next_command(self, study: &str, address: &Address) -> String {
        let join = match address {
            Address::Https(_) => format!("fedirt site join {study} FILE"),
            Address::Mailbox => format!("fedirt site mailbox {study} FILE --socket PATH"),
        };
        match self {
            Self::KeyMade => "repeat fedirt site enrol".into(),
            Self::KeyPosted | Self::Enrolled => {
                format!("look with fedirt site preview {study} FILE, then {join}")
            }
            Self::Consented | Self::Joined | Self::RosterApproved | Self::RosterSigned | Self::InRound(_) => {
                join
            }
            Self::ResultsDue | Self::Finished | Self::Ended | Self::Withdrawn { .. } => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(records: &[JournalEvent]) -> Vec<JournalEntry> {
        records.iter().map(|record| JournalEntry { time: String::new(), record: record.clone() }).collect()
    }

    #[test]
    fn states_follow_from_the_journal_and_the_officers_choices() {
        let none = OfficerChoices::default();
        let pages = OfficerChoices { approved: true, ended: false };
        let told = OfficerChoices { approved: true, ended: true };
        let consented =
            JournalEvent::Consented { by: "x".into(), asked: "once".into(), file_sha256: String::new() };
        let joined = JournalEvent::Joined {
            population: "p".into(),
            students: 1,
            rows_sha256: String::new(),
            declaration_sha256: String::new(),
        };
        let turn = Turn { round: 2, attempt: 1 };
        let upload = JournalEvent::Upload { turn, bytes: 1, sha256: String::new() };
        for (records, officer, results, state) in [
            (vec![], none, false, StudyState::KeyMade),
            (vec![consented.clone()], pages, false, StudyState::Consented),
            (vec![joined.clone(), consented.clone()], pages, false, StudyState::Joined),
            (vec![joined.clone(), upload.clone()], none, false, StudyState::InRound(turn)),
            (vec![joined.clone(), upload.clone(), JournalEvent::Over], none, false, StudyState::Ended),
            (vec![joined.clone(), JournalEvent::Over], none, true, StudyState::Finished),
            (vec![joined.clone(), JournalEvent::Over], pages, false, StudyState::ResultsDue),
            (vec![joined.clone(), JournalEvent::Over], told, false, StudyState::Ended),
            (vec![joined, JournalEvent::Withdrawn], told, false, StudyState::Withdrawn { joined: true }),
            (vec![consented, JournalEvent::Withdrawn], told, false, StudyState::Withdrawn { joined: false }),
        ] {
            assert_eq!(StudyState::of(&journal(&records), officer, results), state, "{records:?}");
        }
    }
}

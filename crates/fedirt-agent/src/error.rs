//! Why the agent stops, and what to do next.

use super::responses::PlanMismatch;
use super::store::StoreError;
use super::transport::TransportError;
use fedirt_data::{Audience, Errors, Problems, ScoreError};
use fedirt_privacy::ledger::{LedgerError, LedgerRefusal};
use fedirt_privacy::secure::NameError;
use fedirt_protocol::Timestamp;
use fedirt_protocol::codec::CodecError;
use fedirt_protocol::invitation::NotAnInvitation;
use fedirt_protocol::plan::PlanError;
use fedirt_protocol::policy::PolicyRefusal;
use fedirt_protocol::site::{DebitRefusal, Refusal};

/// Why the agent stops. Every message says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The officer has not said who the students are.
    #[error("{}", nobody_named(known, Audience::CommandLine))]
    NoPopulation {
        /// Names that the ledger knows.
        known: Vec<String>,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file is not as it was written.
    #[error(
        "{location}{}: {reason}. The file was changed after it was written; what was sent is no longer known for sure. \
         Restore the whole folder from a copy, and enrol again with a new invitation; do not mend it by hand",
        line.map_or(String::new(), |n| format!(", line {n}"))
    )]
    Tampered {
        /// Where it is.
        location: String,
        /// Its line, counted from 1.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
    /// The ledger cannot be read.
    #[error("{location}: {error}")]
    Ledger {
        /// Where it is.
        location: String,
        /// Why.
        error: LedgerError,
    },
    /// The ledger refuses what the study plans with these students.
    #[error("{}", ledger_refuses(refusal, Audience::CommandLine))]
    LedgerRefuses {
        /// Why.
        refusal: Box<DebitRefusal>,
    },
    /// The officer has approved no file for this study.
    #[error("nothing is approved yet: look at the file and at what will be sent, and approve it")]
    NothingApproved,
    /// A settings file cannot be read.
    #[error("{location}: {reason}")]
    Settings {
        /// Where it is.
        location: String,
        /// Why, with the line.
        reason: String,
    },
    /// The folder is no site's home.
    #[error("{0}: this is no site's home; make one with `fedirt site init --home {0}`")]
    NotAHome(String),
    /// The study is not known here.
    #[error("this site has not enrolled in {study}{}; `fedirt site enrol INVITATION` enrols", known_names(.known))]
    UnknownStudy {
        /// The name given.
        study: String,
        /// Studies that are known.
        known: Vec<String>,
    },
    /// Another agent is at work.
    #[error(
        "another agent is running on {0}: two agents would give two answers. Stop the other one, or wait until it has finished"
    )]
    Running(String),
    /// The name of the students cannot be one in the ledger.
    #[error("--population {population:?}: {error}")]
    BadPopulation {
        /// The name.
        population: String,
        /// Why.
        error: NameError,
    },
    /// Weighted students in a private study.
    #[error(
        "weights cannot be kept private: one student's would move everybody's sums. Leave --weight out. Nothing was sent"
    )]
    PrivateWeights,
    /// The study is over, and a key cannot be enrolled in it again.
    #[error(
        "{study} is over for this site (see `fedirt site status`). To take part again, ask for an invitation to a study of another name; {location} stays where it is, for its journal shows whether the ledger is whole"
    )]
    StudyOver {
        /// The study.
        study: String,
        /// Its folder.
        location: String,
    },
    /// Not an invitation.
    #[error("{0}. Ask the coordinator's operator for the whole line")]
    Invitation(#[from] NotAnInvitation),
    /// The invitation is too old.
    #[error("the invitation expired on {0}; ask the coordinator's operator for a new one")]
    Expired(Timestamp),
    /// The coordinator shows another plan than the invitation names.
    #[error(
        "the coordinator shows a plan with the hash {got}, and the invitation names {want}: do not go on. Call the \
         operator and ask which plan is meant"
    )]
    WrongPlan {
        /// What was shown.
        got: String,
        /// What the invitation names.
        want: String,
    },
    /// The plan cannot be read.
    #[error("{0}\nAsk the coordinator's operator to correct the plan and to invite again")]
    Plan(#[from] PlanError),
    /// What does not go together.
    #[error("{0}")]
    Mismatch(String),
    /// The site's policy refuses the plan.
    #[error(
        "this site's policy refuses the plan:\n- {}\nNothing was sent. Change policy.toml if the officer agrees, or ask for another plan",
        list(.0)
    )]
    Policy(Vec<PolicyRefusal>),
    /// The site's students cannot be scored.
    #[error(transparent)]
    Scores(#[from] Errors<ScoreError>),
    /// Response files with problems.
    #[error("{}", .0.told(Audience::CommandLine))]
    Files(#[from] Problems),
    /// Response files that do not fit the plan.
    #[error("the files do not fit the plan:\n- {}", list_mismatches(.0))]
    Columns(Vec<PlanMismatch>),
    /// The coordinator will not have it, or cannot be reached.
    #[error("{0}")]
    Transport(#[from] TransportError),
    /// A message cannot be built or read.
    #[error("{0}")]
    Codec(#[from] CodecError),
    /// The journal describes a site that cannot be.
    #[error(
        "the journal cannot be replayed: {0}. Run `fedirt site audit`; a site that cannot be restored enrols again"
    )]
    Restore(Box<Refusal>),
    /// The study's messages go by mailbox.
    #[error(
        "this study's messages are carried by a courier between mailboxes: use `fedirt site mailbox STUDY FILE --socket PATH`"
    )]
    ByMailbox,
    /// The study's messages go over HTTPS.
    #[error("this study's coordinator is reached over HTTPS: use `fedirt site join STUDY FILE`")]
    NotByMailbox,
    /// The officer said no.
    #[error("not approved; nothing was sent")]
    Declined,
}

fn nobody_named(known: &[String], audience: Audience) -> String {
    let how = match audience {
        Audience::CommandLine => " (--population NAME)",
        Audience::Page | Audience::Library => "",
    };
    let mut text = format!(
        "who are these students? Name them in your own words{how}, and the same students alike in every study"
    );
    if !known.is_empty() {
        text.push_str(&format!(
            ". The ledger knows {}: use that name if they are the same",
            known.join(", ")
        ));
    }
    text
}

fn ledger_refuses(refusal: &DebitRefusal, audience: Audience) -> String {
    let without_account = match refusal {
        DebitRefusal::Ledger(LedgerRefusal::NoAccount { population }) => Some(population),
        DebitRefusal::Entry(_)
        | DebitRefusal::Ledger(_)
        | DebitRefusal::PaidForAnotherQuestion { .. }
        | DebitRefusal::JournalLost(_) => None,
    };
    match (audience, without_account) {
        (Audience::CommandLine, Some(population)) => format!(
            "this site's ledger refuses: {refusal} (`fedirt site budget \"{population}\" --epsilon E`). Nothing was sent. See `fedirt site ledger`"
        ),
        (Audience::CommandLine, None) => {
            format!("this site's ledger refuses: {refusal}. Nothing was sent. See `fedirt site ledger`")
        }
        (Audience::Page | Audience::Library, _) => {
            format!(
                "this site's ledger refuses: {refusal}. Nothing was sent. The privacy ledger shows its lines"
            )
        }
    }
}

impl AgentError {
    /// What is wrong and what to do next, for somebody: on a page nothing is said of flags and commands.
    pub fn told(&self, audience: Audience) -> String {
        if audience == Audience::CommandLine {
            return self.to_string();
        }
        match self {
            Self::NoPopulation { known } => nobody_named(known, audience),
            Self::LedgerRefuses { refusal } => ledger_refuses(refusal, audience),
            Self::NotAHome(location) => format!("{location}: this is no site's folder"),
            Self::UnknownStudy { study, known } => {
                format!("this site has not enrolled in {study}{}. Paste its invitation", known_names(known))
            }
            Self::BadPopulation { population, error } => {
                format!("{population:?} cannot be the name of students: {error}")
            }
            Self::PrivateWeights => {
                "weights cannot be kept private: one student's would move everybody's sums. Choose no column of weights. Nothing was sent".into()
            }
            Self::StudyOver { study, location } => format!(
                "{study} is over for this site. To take part again, ask for an invitation to a study of another name; {location} stays where it is, for its journal shows whether the ledger is whole"
            ),
            Self::Files(problems) => problems.told(audience),
            Self::Columns(mismatches) => format!(
                "the file does not fit the plan:\n- {}",
                mismatches.iter().map(|m| m.told(audience)).collect::<Vec<_>>().join("\n- ")
            ),
            Self::Restore(refusal) => format!(
                "the journal cannot be replayed: {refusal}. The audit log shows which line is meant; a site that cannot be restored enrols again"
            ),
            Self::ByMailbox => {
                "this study's messages are carried by a courier between mailboxes, which these pages do not do: ask whoever set up this site".into()
            }
            Self::NotByMailbox => "this study's coordinator is reached over HTTPS".into(),
            Self::Policy(refusals) => format!(
                "this site's rules refuse the plan:\n- {}\nNothing was sent. Change the rules if you agree, or ask for another plan",
                list(refusals)
            ),
            Self::Store(_)
            | Self::Tampered { .. }
            | Self::Ledger { .. }
            | Self::NothingApproved
            | Self::Settings { .. }
            | Self::Running(_)
            | Self::Invitation(_)
            | Self::Expired(_)
            | Self::WrongPlan { .. }
            | Self::Plan(_)
            | Self::Mismatch(_)
            | Self::Scores(_)
            | Self::Transport(_)
            | Self::Codec(_)
            | Self::Declined => self.to_string(),
        }
    }
}

fn known_names(studies: &[String]) -> String {
    if studies.is_empty() { String::new() } else { format!(" (it knows {})", studies.join(", ")) }
}

fn list_mismatches(mismatches: &[PlanMismatch]) -> String {
    mismatches.iter().map(|m| m.told(Audience::CommandLine)).collect::<Vec<_>>().join("\n- ")
}

fn list(refusals: &[PolicyRefusal]) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n- ")
}

impl AgentError {
    pub(super) fn tampered(location: String, line: Option<usize>, reason: impl Into<String>) -> Self {
        Self::Tampered { location, line, reason: reason.into() }
    }
}

impl From<Refusal> for AgentError {
    fn from(refusal: Refusal) -> Self {
        Self::Restore(Box::new(refusal))
    }
}

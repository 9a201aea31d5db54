//! What the coordinator rejects, and what ends a study.

use crate::encoding::EncodingError;
use crate::message::Turn;
use crate::private::PrivateRefusal;
use fedirt_model::centre::CentreError;
use fedirt_privacy::secure::{ChainRefusal, SiteId};

/// Why a message is not taken. Nothing has changed; the sender is told.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Rejection {
    /// The site is not on the plan's list.
    #[error("{site} is not invited to this study")]
    NotInvited {
        /// Who.
        site: SiteId,
    },
    /// The site has not enrolled.
    #[error("{site} has not enrolled: it needs an invitation first")]
    NotEnrolled {
        /// Who.
        site: SiteId,
    },
    /// Someone else holds this site's place.
    #[error("{site} is enrolled with another key: a site that lost its key needs a new invitation")]
    AnotherKey {
        /// Who.
        site: SiteId,
    },
    /// The message's content does not hold.
    #[error("{0}")]
    Invalid(String),
    /// The message is about another round.
    #[error("the message is about {got}, and the study is at {}", .now.map_or("no round".into(), |t| t.to_string()))]
    WrongTurn {
        /// Of the message.
        got: Turn,
        /// Of the study.
        now: Option<Turn>,
    },
    /// The message does not fit what the study is doing.
    #[error("the study is not waiting for this now")]
    NotNow,
    /// A site said hello twice with different keys.
    #[error(
        "{site} has said hello to this attempt with another key: it runs twice, or was restored from a back-up. A restored site must enrol again"
    )]
    Restored {
        /// Who.
        site: SiteId,
    },
    /// A site answered twice, differently.
    #[error(
        "{site} has answered this attempt before, differently: it runs twice, or was restored from a back-up"
    )]
    TwoAnswers {
        /// Who.
        site: SiteId,
    },
    /// Sites may not be left out.
    #[error(transparent)]
    Chain(#[from] ChainRefusal),
    /// The study is over.
    #[error("the study is over")]
    Over,
}

/// Why a stored input cannot be replayed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplayRefusal {
    /// It is not taken any more.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The program that stored it went on differently.
    #[error(
        "this program would go on differently than the one that began the study{}: finish the study with that program",
        .turn.map_or(String::new(), |turn| format!(" (at {turn})"))
    )]
    Diverged {
        /// Where the study stands after the input.
        turn: Option<Turn>,
    },
}

/// What ends a study before its time.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CoordinatorError {
    /// The centre cannot go on.
    #[error(transparent)]
    Centre(#[from] CentreError),
    /// A private study cannot go on.
    #[error(transparent)]
    Private(#[from] PrivateRefusal),
    /// A site's answer cannot be read.
    #[error("site {site}: {error}")]
    Encoding {
        /// Name of the site.
        site: String,
        /// What is wrong.
        error: EncodingError,
    },
    /// A site refused.
    #[error("site {site} refused round {round}: {reason}")]
    Refused {
        /// Name of the site.
        site: String,
        /// Round.
        round: u32,
        /// Its reason.
        reason: String,
    },
    /// A site vanished, and the plan ends the study then.
    #[error(
        "{sites} did not answer {turn} in time, and the plan ends the study then (on_loss = end): sums without them, subtracted from sums with them, would show what they sent"
    )]
    Lost {
        /// Who.
        sites: String,
        /// When.
        turn: Turn,
    },
    /// Too few sites are left.
    #[error("{left} sites are left, and {needed} are needed")]
    TooFew {
        /// Sites left.
        left: usize,
        /// Sites needed.
        needed: usize,
    },
    /// A calibration has to begin again with fewer sites, and the plan's rounds do not suffice for that.
    #[error(
        "the calibration would have to begin again, and {used} of the {most} rounds that the plan allows have been called"
    )]
    RoundsUsedUp {
        /// Attempts called so far.
        used: u32,
        /// max_rounds of the plan.
        most: u32,
    },
    /// The operator ended it.
    #[error("ended by the operator: {reason}")]
    EndedByOperator {
        /// Why.
        reason: String,
    },
    /// A message could not be built.
    #[error("{0}")]
    Internal(String),
}

//! Why a site does not do what it is asked.

use super::DebitRefusal;
use crate::codec::CodecError;
use crate::declaration::DeclarationError;
use crate::encoding::EncodingError;
use crate::message::Turn;
use crate::policy::PolicyRefusal;
use crate::private::PrivateRefusal;
use fedirt_privacy::secure::{ChainRefusal, CohortError, CoverageRefusal, MaskError, RosterError};

/// A refusal, by name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The roster does not hold.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// Declarations do not hold.
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The roster shows another declaration of this site than it made.
    #[error("the coordinator shows another declaration of this site than the one it signed")]
    NotOurDeclaration,
    /// An older roster than the one that is pinned.
    #[error("the coordinator shows edition {got} of the roster, and edition {pinned} is pinned here")]
    OlderRoster {
        /// Shown.
        got: u64,
        /// Pinned.
        pinned: u64,
    },
    /// A round before the roster is pinned.
    #[error("{0} is called, and no roster is approved and signed by everybody yet")]
    NoRoster(Turn),
    /// The roster is not the one that the officer approved.
    #[error("the roster is not the one that was approved here")]
    NotApprovedHere,
    /// Sites that the coordinator may have invented.
    #[error(
        "{missing} more of the other sites must be verified by telephone before this one takes part ({} are not): a coordinator \
         can invent sites, and would know their numbers and their noise",
        unverified.join(", ")
    )]
    Unverified {
        /// The other sites that are not verified.
        unverified: Vec<String>,
        /// How many calls are missing.
        missing: usize,
    },
    /// A turn that is over.
    #[error(
        "{got} is asked for again, and this site has gone on to {highest}: a lower attempt is never answered"
    )]
    LowerAttempt {
        /// Asked for.
        got: Turn,
        /// Highest.
        highest: Turn,
    },
    /// An opening without a hello.
    #[error("{0} is opened, and this site has not said hello to it")]
    NoHello(Turn),
    /// The key of the turn is gone.
    #[error("{0} is opened again, but its key has been erased")]
    NoKey(Turn),
    /// The cohort does not hold.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// The broadcast cannot be read.
    #[error("the broadcast cannot be read: {0}")]
    Broadcast(#[from] CodecError),
    /// The broadcast does not fit the cohort or what was declared.
    #[error("the broadcast does not fit: {0}")]
    Mismatch(&'static str),
    /// The chain of cohorts.
    #[error(transparent)]
    Chain(#[from] ChainRefusal),
    /// The chain, number by number.
    #[error(transparent)]
    Coverage(#[from] CoverageRefusal),
    /// The site's policy.
    #[error(transparent)]
    Policy(#[from] PolicyRefusal),
    /// A private round.
    #[error(transparent)]
    Private(#[from] PrivateRefusal),
    /// The site's ledger.
    #[error("this site's ledger refuses: {0}")]
    Ledger(Box<DebitRefusal>),
    /// A question more often than the plan asks it.
    #[error(
        "the question {0} was answered in {1}, and the plan does not ask it again: further answers could read out tables of answers"
    )]
    AskedBefore(&'static str, Turn),
    /// A pass that does not follow from the last one.
    #[error(
        "the question {0} does not follow from the one before: all passes are at the same parameters, the first is about all items, and each later one leaves some out, at most half of all"
    )]
    OtherPass(&'static str),
    /// Another question under the same attempt.
    #[error("{0} was opened before with another question or cohort: an attempt has one question")]
    AnotherQuestion(Turn),
    /// Another list of items than before.
    #[error("the items differ from those of earlier rounds")]
    AnotherDesign,
    /// Items or categories that do not follow from the plan, the declarations and the answers here.
    #[error(
        "the question is not about the plan's items: sums over some of them can read out the table of their answers. An item or a category may be missing only where nobody's answers need it"
    )]
    OtherItems,
    /// An effect by name, twice.
    #[error("the site's effect is given by name once, and was given in {0}")]
    PublishedTwice(Turn),
    /// Weights that nobody declared.
    #[error("the factor on weights is not what follows from the declarations")]
    WeightScale,
    /// Linked parts that do not follow from the declarations.
    #[error("the linked parts are not those that follow from the declarations")]
    Parts,
    /// Items that few sites give.
    #[error(
        "items {0} and {1} are given together by fewer than {2} sites: sums about them would show those sites. Leave such items out at these sites, or use mode private"
    )]
    FewGivers(String, String, usize),
    /// More than the plan's privacy.
    #[error(
        "this question would spend more than the plan's privacy: {:.0} % of it is spent, and {:.0} % is asked for (mu squared {asked:.4} after {spent:.4}, of {planned:.4})",
        100.0 * spent / planned, 100.0 * asked / planned
    )]
    BeyondThePlan {
        /// Spent in this study.
        spent: f64,
        /// Asked for now.
        asked: f64,
        /// Of the plan.
        planned: f64,
    },
    /// A number does not fit its bound.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// Masking failed.
    #[error(transparent)]
    Mask(#[from] MaskError),
}

impl Refusal {
    /// What the coordinator is told. Whatever could depend on the site's data or on its ledger stays here.
    pub fn for_the_coordinator(&self) -> String {
        match self {
            Self::Encoding(_) => "a number does not fit its bound (the site's journal says which)".into(),
            Self::Ledger(_) => "the site's ledger refuses (the site's officer knows why)".into(),
            Self::Mask(_) | Self::Private(_) => {
                "the round cannot be answered (the site's journal says why)".into()
            }
            Self::Policy(PolicyRefusal::BookletRows { .. }) => {
                "too few of the site's rows belong to one of the booklets (its officer knows which)".into()
            }
            Self::Unverified { missing, .. } => {
                format!(
                    "{missing} more of the other sites must be verified by telephone before this one takes part"
                )
            }
            // These speak of the plan, of what all sites have declared, and of what the coordinator has sent.
            Self::Roster(_)
            | Self::Declaration(_)
            | Self::NotOurDeclaration
            | Self::OlderRoster { .. }
            | Self::NoRoster(_)
            | Self::NotApprovedHere
            | Self::LowerAttempt { .. }
            | Self::NoHello(_)
            | Self::NoKey(_)
            | Self::Cohort(_)
            | Self::Broadcast(_)
            | Self::Mismatch(_)
            | Self::Chain(_)
            | Self::Coverage(_)
            | Self::Policy(_)
            | Self::AskedBefore(..)
            | Self::OtherPass(_)
            | Self::AnotherQuestion(_)
            | Self::AnotherDesign
            | Self::OtherItems
            | Self::PublishedTwice(_)
            | Self::WeightScale
            | Self::Parts
            | Self::FewGivers(..)
            | Self::BeyondThePlan { .. } => self.to_string(),
        }
    }

    /// Whether a site that was asked this answers nothing more in the study. These refusals depend on its own answers: whether they
    /// use an item, or whether a sum over them is beyond its bound. Asked again and again, it would tell that of each.
    pub(super) fn ends_the_study(&self) -> bool {
        matches!(self, Self::OtherItems | Self::Encoding(_))
    }

    /// Whether an old message was repeated, as networks do.
    pub fn is_replay(&self) -> bool {
        matches!(self, Self::LowerAttempt { .. } | Self::OlderRoster { .. })
    }
}

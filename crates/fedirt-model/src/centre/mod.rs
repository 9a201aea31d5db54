//! What the centre makes of the sums: from the first round to standard errors.
//!
//! [`Calibration`] is a machine: it hands out a request, takes the aggregate of the answers, and either asks
//! again or finishes. It neither knows nor cares how requests reach the sites.

mod algorithm;
mod arrow;
mod averaging;
mod bfgs;
mod calibration;
mod em;
mod errors;
mod errors_by_item;
mod graph;
mod lbfgs;
mod meta;
mod newton;
mod opening;
mod outcome;
mod plan;
mod published;
mod report_items;
mod report_sites;
mod schedule;
mod start;
mod structure;

pub(crate) use algorithm::symmetric;
pub use algorithm::{AlgorithmKind, PAIRWISE_ITEMS, Settings};
pub use calibration::{Calibration, CalibrationStep};
pub use graph::linked_parts;
pub(crate) use newton::LocalNewton;
pub use opening::planned_items;
pub use outcome::Outcome;
pub use plan::{Enrolled, FEWEST_ROUNDS, ItemPlan, Plan, Secrecy, closing_exchanges, total_weight};
pub(crate) use published::Layout;
pub use schedule::{Schedule, Stage};
pub use start::StartSums;
pub use structure::Anchor;
pub(crate) use structure::Structure;

/// Why the centre cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CentreError {
    /// Fewer than two items can be calibrated.
    #[error(
        "at least two items are needed, and {0} can be calibrated{1}: an item needs two categories that students chose (of weight above zero, where there are weights)"
    )]
    TooFewItems(usize, String),
    /// No site has a student with an answer.
    #[error("no student has answered any item")]
    NoStudents,
    /// No item has a finite estimate.
    #[error(
        "no item has a finite estimate: {0} students are too few for this model, or the answers agree perfectly"
    )]
    NoEstimates(u64),
    /// The models do not go together.
    #[error("{0}")]
    Models(String),
    /// The algorithm cannot do what was asked for.
    #[error("{0}")]
    Unsupported(String),
    /// The sums are not a reply to the question.
    #[error(transparent)]
    Reply(#[from] crate::questions::ReplyError),
    /// A question is not on the schedule that sites were shown.
    #[error("a question that the schedule does not name")]
    Unscheduled,
    /// An answer is not finite.
    #[error("round {round}: the sum of {statistic} is not finite")]
    NotFinite {
        /// Round.
        round: usize,
        /// Statistic.
        statistic: &'static str,
    },
}

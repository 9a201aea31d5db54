//! Estimation from a few noisy sums: the mathematics of private calibrations, and no protocol.
//!
//! There are two rounds, in each of which a bounded function of every student's score enters a sum that leaves the sites with
//! noise. The centre asks ([`PrivateCalibration`] hands out a [`ScoreRequest`]), a site computes the statistic row by row
//! ([`each_row_statistic`]), something else clips, rounds, adds and blurs them, and the centre fits what the model expects
//! of such sums to what arrived. The statistic ([`PrivateMechanism`]) is *optimal* (`optimal.rs`) or *score2*, a score
//! whitened by the model's own information and cut.
//!
//! Subtracting the model's expectation of the *bounded* scores removes the bias of bounding them; the noise is part of
//! the covariance of the sums, so it is part of the standard errors.

mod cells;
mod coordinates;
mod counts;
mod expectation;
mod fisher;
mod forecast;
mod gauss_newton;
mod machine;
mod optimal;
mod plan;
mod remarks;
mod report;
mod row_statistic;
mod rows;
mod scorer;

pub use coordinates::Coordinates;
pub use counts::Complete;
pub use forecast::{Expectation, Forecast, typical};
pub use machine::{ErrorSources, PrivateCalibration, PrivateResult, PrivateStep};
pub use plan::{MissingAnswers, Prior, PrivatePlan, ROUND_SHARES, SitePlan, check_booklets, check_grid};
pub use report::{PrivateItem, fit};
pub use row_statistic::{PrivateMechanism, PrivateMethod, RowStatistic};
pub use rows::{RowScoring, ScoreRequest, each_row_statistic};

#[cfg(test)]
mod tests;

/// Why a private calibration cannot be planned, asked or finished.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PrivateError {
    /// A model whose slopes are tied by a free SD of ability.
    #[error("private calibrations take 2pl, 1pl, gpcm and grm items; {0} leaves the SD of ability free")]
    Model(String),
    /// Random effects.
    #[error(
        "private calibrations have fixed site effects or none (with the SD between sites given), not random ones"
    )]
    RandomEffects,
    /// Something about the plan that cannot be.
    #[error("this plan cannot be run: {0}")]
    Plan(String),
    /// A request whose parts do not fit together; no row was looked at.
    #[error("malformed request: {0}")]
    Request(&'static str),
    /// Weighted rows.
    #[error(
        "students carry weights, and a weighted row could outweigh its noise: private runs refuse weights"
    )]
    Weights,
    /// Sums of the wrong length, or not finite.
    #[error("round {round}: {expected} finite sums were expected")]
    Sums {
        /// Round, counted from 1.
        round: usize,
        /// Numbers that were asked for.
        expected: usize,
    },
    /// The sums do not determine the parameters.
    #[error("round {0}: the sums do not determine the parameters")]
    Singular(usize),
}

//! The statistic of the questions of `private`, whose parameters and answers are in [`private`](crate::private).
//!
//! Noisy scores are never written in fixed point, and who stands behind them does not matter: noise hides every
//! student, so they have a statistic but no tensor.

use crate::statistics::{Combination, Mode, Statistic};

/// Sums of clipped, whitened student scores, with the site's share of the noise.
pub const NOISY_SCORES: Statistic = Statistic {
    name: "noisy_scores",
    meaning: "sums of what each student adds to the estimates, limited in size, with noise that hides each student",
    combination: Combination::Sum,
    modes: &[Mode::Private],
};

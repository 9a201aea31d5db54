//! Modes of the likelihood (ML) and of the posterior (MAP), and the search that finds them.

use super::table::peak;
use super::{Prior, REACH, RowScorer, Score, Scorer};
use crate::items::AbilityNode;

/// A step below this part of the prior's SD is the last: after it Newton's method is off by about its square,
/// the secant method by less than 1e-11.
const TOLERANCE: f64 = 1e-7;

impl Scorer {
    /// l'(t) and l''(t) over the answered items.
    fn slopes(&self, row: &[u8], t: f64, node: &mut AbilityNode) -> (f64, f64) {
        let (mut first, mut second) = (0.0, 0.0);
        for (item, x) in self.answers(row) {
            item.model.along_ability(&item.psi, t, node);
            first += node.first[x];
            second += node.second[x];
        }
        (first, second)
    }

    /// Whether the likelihood falls towards both infinities.
    ///
    /// Ever higher ability makes one category of each item certain (the highest, where the slope rises): some answer
    /// must be another one, and the same towards −∞.
    fn has_finite_mode(&self, row: &[u8]) -> bool {
        let (mut falls_above, mut falls_below) = (false, false);
        for (item, x) in self.answers(row) {
            if let Some((lowest, highest)) = item.model.end_categories(&item.psi) {
                falls_above |= x != highest;
                falls_below |= x != lowest;
            }
        }
        falls_above && falls_below
    }

    /// Where a function passes from positive to negative, next to the highest of the `values` (at the nodes) of
    /// its integral and within the scorer's reach.
    pub(super) fn mode(&self, values: &[f64], slopes: impl FnMut(f64) -> (f64, f64)) -> Option<f64> {
        let Prior { mean, sd } = self.prior;
        let nodes = self.grid.nodes();
        let start = peak(values, nodes)?;
        let bounds = (mean - REACH * sd, mean + REACH * sd);
        crossing(start, bounds, nodes[1] - nodes[0], TOLERANCE * sd, slopes)
    }
}

impl RowScorer<'_> {
    /// Mode of the likelihood, with SE = 1/√(−l''(t̂)).
    ///
    /// l'(t̂) = 0, l = Σ_j log p_{x_j} (Birnbaum 1968; Samejima 1969). The information is the *observed* one,
    /// as in mirt; for divide-by-total items it equals the expected one. No score where no finite mode exists
    /// (all answers at the top or all at the bottom, in the direction of each slope), or beyond 20 prior SDs.
    pub(super) fn ml(&mut self, row: &[u8]) -> Score {
        let scorer = self.scorer;
        if !scorer.has_finite_mode(row) {
            return Score::NONE;
        }
        self.on_grid.fill(0.0);
        scorer.grid.add_log_likelihood(row, 0, &mut self.on_grid);
        let mut information = 0.0;
        let mode = scorer.mode(&self.on_grid, |t| {
            let (first, second) = scorer.slopes(row, t, &mut self.node);
            information = -second;
            (first, second)
        });
        mode.map_or(Score::NONE, |t| Score::with_information(t, information))
    }

    /// Mode of the posterior, with SE = 1/√(−l''(t̂) − q''(t̂)) and the log density q of the prior.
    ///
    /// l'(t̂) + q'(t̂) = 0, in a normal population q' = −(t̂ − mean)/sd² (Samejima 1969; Mislevy & Bock 1982). The information is
    /// the observed one plus the prior's, as in mirt. Finite for every row.
    pub(super) fn map(&mut self, row: &[u8]) -> Score {
        let scorer = self.scorer;
        self.log_posterior(row);
        let mut information = 0.0;
        let mode = scorer.mode(&self.on_grid, |t| {
            let (first, second) = scorer.slopes(row, t, &mut self.node);
            let [_, pull, stiffness] = scorer.log_prior(t);
            information = -second - stiffness;
            (first + pull, second + stiffness)
        });
        mode.map_or(Score::NONE, |t| Score::with_information(t, information))
    }
}

/// The zero at which a function passes from positive to negative, by Newton's method with safeguards.
///
/// `slopes` gives the function and its derivative (an approximation will do). Zeros are bracketed as values come
/// in; a step that leaves the bracket, or has the wrong direction, becomes a bisection. Before both sides are
/// known a step is at most `stride`, which doubles, so the zero found is the one next to the start. `None` where
/// the search reaches a bound or a value is not finite.
fn crossing(
    start: f64,
    bounds: (f64, f64),
    mut stride: f64,
    tolerance: f64,
    mut slopes: impl FnMut(f64) -> (f64, f64),
) -> Option<f64> {
    let (mut low, mut high) = bounds;
    let mut t = start;
    for _ in 0..200 {
        let (value, slope) = slopes(t);
        if !value.is_finite() {
            return None;
        }
        if value == 0.0 {
            return Some(t);
        }
        if value > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let enclosed = low > bounds.0 && high < bounds.1;
        let newton = -value / slope;
        let mut next = t + newton;
        if enclosed {
            if slope >= 0.0 || !(next >= low && next <= high) {
                next = 0.5 * (low + high);
            }
        } else {
            let right_way = newton.is_finite() && newton * value > 0.0;
            let step = if right_way { newton.abs().min(stride) } else { stride };
            next = t + step * value.signum();
            stride *= 2.0;
            if next <= bounds.0 || next >= bounds.1 {
                return None;
            }
        }
        if (next - t).abs() <= tolerance || high - low <= tolerance {
            return Some(next);
        }
        t = next;
    }
    None
}

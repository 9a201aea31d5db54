//! An item's curves over ability, from its reported parameters.

use fedirt_model::fit::{Fit, FitItem};
use fedirt_model::items::{Curves, Order};

use crate::figure::Z;
use crate::text::finite;

/// Abilities in every curve.
pub(crate) const POINTS: usize = 81;

/// Lowest and highest ability drawn: the latent mean ± 4 SD, which holds all but 6 in 100,000 persons.
pub(crate) fn range(fit: &Fit) -> (f64, f64) {
    let mean = finite(Some(fit.latent.mean)).unwrap_or(0.0);
    let sd = finite(Some(fit.latent.sd)).filter(|sd| *sd > 0.0).unwrap_or(1.0);
    (mean - 4.0 * sd, mean + 4.0 * sd)
}

/// `points` abilities, evenly spread over the range that is drawn.
pub(crate) fn grid(fit: &Fit, points: usize) -> Vec<f64> {
    let (low, high) = range(fit);
    let last = points.max(2) - 1;
    (0..=last).map(|n| low + (high - low) * n as f64 / last as f64).collect()
}

/// Curves of one item on a grid of abilities.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// Probability by category and node.
    pub(crate) probability: Vec<Vec<f64>>,
    /// Fisher information about ability.
    pub(crate) information: Vec<f64>,
    /// Expected score.
    pub(crate) expected: Vec<f64>,
    /// Variance of the score.
    pub(crate) variance: Vec<f64>,
}

/// The curves, unless the item has no (finite) estimates.
pub(crate) fn shape(item: &FitItem, grid: &[f64]) -> Option<Shape> {
    let (model, psi) = item.estimates()?;
    let curves = Curves::new(model, item.categories, &psi, grid, Order::Score);
    let probability: Vec<Vec<f64>> =
        (0..curves.categories()).map(|c| curves.log_p(c).iter().map(|log_p| log_p.exp()).collect()).collect();
    let nodes = 0..grid.len();
    let expected: Vec<f64> = nodes.clone().map(|n| curves.expected_score(n)).collect();
    let variance = nodes
        .clone()
        .map(|n| {
            let spread = |c: usize| (c as f64 - expected[n]).powi(2) * probability[c][n];
            (0..probability.len()).map(spread).sum()
        })
        .collect();
    let information: Vec<f64> = nodes.map(|n| curves.information(n)).collect();
    let fine = information.iter().chain(&expected).all(|v: &f64| v.is_finite());
    fine.then_some(Shape { probability, information, expected, variance })
}

/// (a, d) of a binary item with a single slope, and Var(a), Cov(a, d) and Var(d).
///
/// A fit reports standard errors, not covariances; but b = −d/a was given its error by the delta method,
/// a²·Var(b) = Var(d) + b²·Var(a) + 2b·Cov(a, d), which can be solved for the covariance. Near b = 0 it cannot,
/// and for items with more steps the reported errors do not determine it: then there is no band.
pub(crate) fn band(item: &FitItem) -> Option<([f64; 2], [f64; 3])> {
    let (_, psi) = item.estimates()?;
    let [a, d] = psi[..] else { return None };
    let var_d = finite(*item.se_d.first()?)?.powi(2);
    let (b, se_b) = (finite(*item.b.first()?)?, finite(*item.se_b.first()?)?);
    let Some(se_a) = finite(item.se_a) else { return Some(([a, d], [0.0, 0.0, var_d])) };
    let var_a = se_a.powi(2);
    if b.abs() < 1e-3 {
        return None;
    }
    let cov = (a * a * se_b * se_b - var_d - b * b * var_a) / (2.0 * b);
    (cov.abs() <= (var_a * var_d).sqrt()).then_some(([a, d], [var_a, cov, var_d]))
}

/// 95 % limits of P(x = 1) at an ability: on the logit a·t + d, where the estimates are closest to normal.
pub(crate) fn limits([a, d]: [f64; 2], [var_a, cov, var_d]: [f64; 3], t: f64) -> (f64, f64) {
    let logit = a * t + d;
    let half = Z * (t * t * var_a + 2.0 * t * cov + var_d).max(0.0).sqrt();
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    (logistic(logit - half), logistic(logit + half))
}

/// Why an item has no curve.
pub(crate) fn no_estimates(item: &FitItem) -> String {
    format!("Item {} has no finite estimates, so it has no curve; the warnings say why.", item.name)
}

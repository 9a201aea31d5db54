//! Reliability of ability estimates, and the share of students whose answers fit badly.

use super::Fitted;
use crate::fit::{PersonFitShare, Reliability};
use crate::items::{Curves, Order};

/// From Σ θ̂, Σ θ̂² and Σ Var(θ | answers) over students who weigh `weight` together.
pub(super) fn reliability(fitted: &Fitted<'_>, sums: &[f64], weight: f64) -> Option<Reliability> {
    let mean = sums[0] / weight;
    let variance = (sums[1] - weight * mean * mean) / (weight - 1.0);
    let empirical = variance / (variance + sums[2] / weight);
    let separation = (empirical / (1.0 - empirical)).sqrt();
    separation.is_finite().then(|| Reliability { empirical, marginal: marginal(fitted), separation })
}

/// Σ_n A(n) I(n)/(I(n) + 1) for standardised ability (Green, Bock, Humphreys, Linn & Reckase 1984): the same number
/// whatever the reported unit.
fn marginal(fitted: &Fitted<'_>) -> f64 {
    let Fitted { design, psi, grid, .. } = fitted;
    let mut information = vec![0.0; grid.len()];
    for j in 0..design.len() {
        let (model, own) = (design.model(j), &psi[design.span(j)]);
        let curves = Curves::new(model, design.categories(j), own, grid.nodes(), Order::Score);
        information.iter_mut().enumerate().for_each(|(n, sum)| *sum += curves.information(n));
    }
    let mass = |n: usize| grid.log_weights()[n].exp();
    information.iter().enumerate().map(|(n, i)| mass(n) * i / (i + 1.0)).sum()
}

/// Students with Zh below −2.
pub(super) fn person_fit(below: &[f64], weight: f64) -> PersonFitShare {
    PersonFitShare { below: below.iter().sum(), students: weight }
}

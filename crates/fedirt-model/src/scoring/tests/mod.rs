//! Scores against brute force, closed forms, their own equations, and simulation.

mod likelihood;
mod person_fit;
mod posterior;
mod rows;
mod warm;

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::items::{Curves, Order, model};

const STANDARD: Prior = Prior { mean: 0.0, sd: 1.0 };

fn item(name: &str, psi: &[f64]) -> ScoredItem {
    ScoredItem { model: model(name).unwrap(), categories: psi.len(), psi: psi.to_vec() }
}

fn scorer(items: &[ScoredItem], prior: Prior) -> Scorer {
    Scorer::new(items.to_vec(), prior, GridSpec::default()).unwrap()
}

fn score(scorer: &Scorer, row: &[u8], method: Method) -> (f64, f64) {
    let score = scorer.row_scorer().score(row, method).unwrap();
    (score.estimate.unwrap(), score.standard_error.unwrap())
}

/// Binary, partial-credit and graded items, one of each kind with a falling slope.
fn mixed() -> Vec<ScoredItem> {
    vec![
        item("2pl", &[1.3, 0.4]),
        item("2pl", &[-0.8, 0.9]),
        item("rasch", &[1.0, -0.7]),
        item("gpcm", &[0.7, 0.9, 0.2, -1.1]),
        item("gpcm", &[-1.1, 0.3, -0.4]),
        item("grm", &[1.6, 2.0, 0.3, -1.5]),
        item("grm", &[-0.9, 1.1, -0.6]),
    ]
}

/// 2PL items with slopes and difficulties spread evenly.
fn binary(count: usize) -> Vec<ScoredItem> {
    let share = |j: usize| j as f64 / (count - 1) as f64;
    (0..count)
        .map(|j| {
            let a = 0.7 + 1.1 * share((7 * j) % count);
            item("2pl", &[a, -a * (4.0 * share(j) - 2.0)])
        })
        .collect()
}

fn log_p(item: &ScoredItem, t: f64) -> Vec<f64> {
    let curves = Curves::new(item.model, item.categories, &item.psi, &[t], Order::Probability);
    (0..item.psi.len()).map(|c| curves.log_p(c)[0]).collect()
}

/// l(t), from the curves of each answered item.
fn log_likelihood(items: &[ScoredItem], row: &[u8], t: f64) -> f64 {
    let answered = items.iter().zip(row).filter(|(_, x)| **x != MISSING);
    answered.map(|(item, x)| log_p(item, t)[usize::from(*x)]).sum()
}

/// I(t) of the answered items by central differences of the probabilities.
fn information(items: &[ScoredItem], row: &[u8], t: f64) -> f64 {
    let h = 1e-5;
    let answered = items.iter().zip(row).filter(|(_, x)| **x != MISSING);
    answered
        .map(|(item, _)| {
            let (down, at, up) = (log_p(item, t - h), log_p(item, t), log_p(item, t + h));
            let slope = |c: usize| (up[c].exp() - down[c].exp()) / (2.0 * h);
            (0..at.len()).map(|c| slope(c).powi(2) / at[c].exp()).sum::<f64>()
        })
        .sum()
}

/// The highest point of a function with one mode, by golden-section search.
fn golden(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    while high - low > 1e-9 {
        let (x, y) = (high - ratio * (high - low), low + ratio * (high - low));
        if f(x) > f(y) { high = y } else { low = x }
    }
    0.5 * (low + high)
}

/// Answers drawn from the model; each is missing with probability `missing`.
fn simulate(items: &[ScoredItem], t: f64, missing: f64, rng: &mut impl Rng) -> Vec<u8> {
    let mut row = Vec::new();
    for item in items {
        let curves = Curves::new(item.model, item.categories, &item.psi, &[t], Order::Probability);
        let drawn = curves.draw(0, rng.random()) as u8;
        row.push(if rng.random::<f64>() < missing { MISSING } else { drawn });
    }
    row
}

fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Rows of the mixed items at abilities from −3 to 3, a fifth of the answers missing.
fn mixed_rows() -> Vec<Vec<u8>> {
    let (items, mut rng) = (mixed(), seeded(1));
    (0..60).map(|i| simulate(&items, i as f64 / 10.0 - 3.0, 0.2, &mut rng)).collect()
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

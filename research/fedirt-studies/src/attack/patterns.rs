//! All answers that a student can give to J binary items, and what each adds to a school's sums.

use super::matrix::Matrix;
use super::vectors::dot;
use fedirt_model::quadrature::{Grid, GridSpec};
use fedirt_model::responses::ResponseTable;

/// 2PL items at given parameters, for the students of one school.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    /// (a_j, d_j), item after item.
    pub psi: Vec<f64>,
    /// The school's effect.
    pub effect: f64,
    /// Integration over ability.
    pub grid: GridSpec,
}

/// The answer to item j in a pattern.
pub(super) fn answer(pattern: usize, item: usize) -> u8 {
    (pattern >> item & 1) as u8
}

/// How often each of the 2^J patterns occurs.
pub(super) fn counts<'a>(tables: impl IntoIterator<Item = &'a ResponseTable>, items: usize) -> Vec<f64> {
    let mut out = vec![0.0; 1 << items];
    for row in tables.into_iter().flat_map(ResponseTable::rows) {
        out[row.iter().enumerate().fold(0, |code, (j, x)| code | usize::from(*x) << j)] += 1.0;
    }
    out
}

/// The cells of all patterns, row after row.
pub(super) fn cells(items: usize) -> Vec<u8> {
    (0..1 << items).flat_map(|pattern| (0..items).map(move |j| answer(pattern, j))).collect()
}

/// Posterior weights over ability of any pattern at a point.
struct Posteriors {
    nodes: Vec<f64>,
    /// P(x_j = 1) by item and node.
    p: Vec<Vec<f64>>,
    /// Likelihoods of the answers to the first items by node, for each of their patterns.
    low: Vec<Vec<f64>>,
    /// Of the others, times the weights of the nodes.
    high: Vec<Vec<f64>>,
    low_items: usize,
}

impl Posteriors {
    fn new(point: &Point) -> Self {
        let grid = Grid::new(point.grid);
        let nodes: Vec<f64> = grid.nodes().iter().map(|v| v + point.effect).collect();
        let items: Vec<(f64, f64)> = point.psi.chunks_exact(2).map(|i| (i[0], i[1])).collect();
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        let of = |sign: f64| -> Vec<Vec<f64>> {
            items.iter().map(|(a, d)| nodes.iter().map(|t| logistic(sign * (a * t + d))).collect()).collect()
        };
        let (p, q) = (of(1.0), of(-1.0));
        let low_items = items.len() / 2;
        // Products of probabilities may vanish at some nodes; sums of logarithms would cost an exponential each.
        let table = |from: usize, to: usize, start: Vec<f64>| {
            let mut rows = vec![start];
            for j in from..to {
                let with = |x: &[Vec<f64>]| -> Vec<Vec<f64>> {
                    rows.iter().map(|row| row.iter().zip(&x[j]).map(|(r, x)| r * x).collect()).collect()
                };
                let (mut wrong, right) = (with(&q), with(&p));
                wrong.extend(right);
                rows = wrong;
            }
            rows
        };
        let low = table(0, low_items, vec![1.0; nodes.len()]);
        let high = table(low_items, items.len(), grid.log_weights().iter().map(|w| w.exp()).collect());
        Self { nodes, p, low, high, low_items }
    }

    /// Writes the posterior of a pattern, and gives its marginal probability.
    fn write(&self, pattern: usize, posterior: &mut [f64]) -> f64 {
        let (low, high) =
            (&self.low[pattern & ((1 << self.low_items) - 1)], &self.high[pattern >> self.low_items]);
        let mut total = 0.0;
        for (o, (l, h)) in posterior.iter_mut().zip(low.iter().zip(high)) {
            *o = l * h;
            total += *o;
        }
        posterior.iter_mut().for_each(|o| *o /= total);
        total
    }
}

/// The probability of each pattern.
pub(super) fn probabilities(point: &Point) -> Vec<f64> {
    let posteriors = Posteriors::new(point);
    let mut posterior = vec![0.0; posteriors.nodes.len()];
    (0..1usize << (point.psi.len() / 2)).map(|x| posteriors.write(x, &mut posterior)).collect()
}

/// What a student adds to the sums of a published round, a column per pattern: log-likelihood, its derivatives in
/// (a_j, d_j) item after item, and in the school's effect.
///
/// ∂/∂a_j = x_j E[t] − E[t p_j(t)], ∂/∂d_j = x_j − E[p_j(t)], and ∂/∂s = Σ_j a_j ∂/∂d_j, with expectations over the
/// student's posterior of ability (Bock & Aitkin 1981).
pub(super) fn published(point: &Point) -> Matrix {
    let posteriors = Posteriors::new(point);
    let items = point.psi.len() / 2;
    let moved = |p: &Vec<f64>| -> Vec<f64> { p.iter().zip(&posteriors.nodes).map(|(p, t)| p * t).collect() };
    let tp: Vec<Vec<f64>> = posteriors.p.iter().map(moved).collect();
    let rows = 2 * items + 2;
    let mut cells = Vec::with_capacity(rows << items);
    let mut posterior = vec![0.0; posteriors.nodes.len()];
    for pattern in 0..1 << items {
        cells.push(posteriors.write(pattern, &mut posterior).ln());
        let ability = dot(&posterior, &posteriors.nodes);
        let mut effect = 0.0;
        for j in 0..items {
            let x = f64::from(answer(pattern, j));
            let residual = x - dot(&posterior, &posteriors.p[j]);
            cells.push(x * ability - dot(&posterior, &tp[j]));
            cells.push(residual);
            effect += point.psi[2 * j] * residual;
        }
        cells.push(effect);
    }
    Matrix::new(rows, cells)
}

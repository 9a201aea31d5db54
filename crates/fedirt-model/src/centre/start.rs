//! Starting values from two-way tables: pairwise composite likelihood (de Leon 2005; Katsikatsou et al. 2012),
//! maximised at the centre at no cost in rounds.
//!
//! With ability N(0, 1), the table of items j and l has cells ∫ p_jc p_lc' φ. Pairs are weighted so that a
//! student who answered r items, and so enters r − 1 pairs per item, counts once per item; a weak prior on
//! log|a| and d keeps sparse tables finite. Signs of slopes come from the leading eigenvectors of the item
//! correlations: a test that measures two things has a candidate for each.

use super::lbfgs;
use crate::design::Design;
use crate::items::{Curves, Order, SlopeRule};
use crate::quadrature::{Grid, GridSpec, Weighting};
use nalgebra::{DMatrix, SymmetricEigen};

/// Precision of the prior on log|a| around 0.1, and of that on d around 0.
const SLOPE_PRIOR: f64 = 0.25;
const STEP_PRIOR: f64 = 0.02;

/// Smallest cell probability that is told apart.
const SMALLEST: f64 = 1e-10;

/// The sums of the first round.
#[derive(Debug, Clone)]
pub struct StartSums {
    /// Σ z zᵀ over one-hot answers.
    pub pairs: DMatrix<f64>,
    /// Products of scores of different students of a site (empty without effects).
    pub school_products: DMatrix<f64>,
    /// The same of answer counts.
    pub school_pairs: DMatrix<f64>,
    /// Share of the variance between schools, where there are no such products.
    pub assumed_between: f64,
}

/// Starting values.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    /// One or more candidates ψ for standardised ability, best first.
    pub candidates: Vec<Vec<f64>>,
    /// Share of the variance of ability that lies between schools.
    pub between: f64,
}

/// Item-level moments of the tables.
struct Moments {
    /// Students who answered both items.
    both: DMatrix<f64>,
    covariance: DMatrix<f64>,
    variance: Vec<f64>,
    mean: Vec<f64>,
}

fn moments(design: &Design, pairs: &DMatrix<f64>) -> Moments {
    let items = design.len();
    let mut both = DMatrix::<f64>::zeros(items, items);
    let (mut first, mut product) = (both.clone(), both.clone());
    for j in 0..items {
        for l in 0..items {
            for c in 0..design.categories(j) {
                for h in 0..design.categories(l) {
                    let n = pairs[(design.offset(j) + c, design.offset(l) + h)];
                    both[(j, l)] += n;
                    first[(j, l)] += c as f64 * n;
                    product[(j, l)] += (c * h) as f64 * n;
                }
            }
        }
    }
    let share = |x: &DMatrix<f64>, j: usize, l: usize| x[(j, l)] / both[(j, l)].max(1e-9);
    let mean: Vec<f64> = (0..items).map(|j| share(&first, j, j)).collect();
    let variance: Vec<f64> = (0..items)
        .map(|j| {
            let square: f64 = (0..design.categories(j))
                .map(|c| (c * c) as f64 * pairs[(design.offset(j) + c, design.offset(j) + c)])
                .sum();
            (square / both[(j, j)].max(1e-9) - mean[j] * mean[j]).max(1e-9)
        })
        .collect();
    let covariance = DMatrix::from_fn(items, items, |j, l| {
        if j == l || both[(j, l)] <= 0.0 {
            0.0
        } else {
            // Each mean among those who answered both.
            share(&product, j, l) - share(&first, j, l) * share(&first, l, j)
        }
    });
    Moments { both, covariance, variance, mean }
}

/// Leading eigenvectors of the item correlations: one, or two where the second is at least half as strong.
fn leading(m: &Moments) -> Vec<Vec<f64>> {
    let items = m.variance.len();
    let correlation =
        DMatrix::from_fn(items, items, |j, l| m.covariance[(j, l)] / (m.variance[j] * m.variance[l]).sqrt());
    let eigen = SymmetricEigen::new(correlation);
    let mut order: Vec<usize> = (0..items).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    order
        .iter()
        .take(2)
        .filter(|&&k| eigen.eigenvalues[k] >= 0.5 * eigen.eigenvalues[order[0]])
        .map(|&k| {
            let vector = eigen.eigenvectors.column(k);
            let sign = if vector.sum() >= 0.0 { 1.0 } else { -1.0 };
            vector.iter().map(|x| sign * x).collect()
        })
        .collect()
}

/// Intra-class correlation of ability: covariances between students of a school over those within a student.
fn between_share(sums: &StartSums, m: &Moments) -> f64 {
    let items = m.variance.len();
    if sums.school_products.nrows() != items {
        return sums.assumed_between;
    }
    let signs: Vec<f64> = leading(m)[0].iter().map(|x| if *x >= 0.0 { 1.0 } else { -1.0 }).collect();
    let (mut between, mut same) = (0.0, 0.0);
    for j in 0..items {
        for l in (0..items).filter(|&l| l != j) {
            let (n, pairs) = (m.both[(j, l)], sums.school_pairs[(j, l)]);
            if n > 0.0 && pairs > 0.0 {
                let weight = n.min(pairs) * signs[j] * signs[l];
                between += weight * (sums.school_products[(j, l)] / pairs - m.mean[j] * m.mean[l]);
                same += weight * m.covariance[(j, l)];
            }
        }
    }
    (between / same.max(1e-12)).clamp(0.0, 0.85)
}

/// The composite likelihood as a function of (log|a|, unbounded intercepts), with its gradient.
struct Composite<'a> {
    design: &'a Design,
    observed: DMatrix<f64>,
    grid: Grid,
    students: f64,
    signs: Vec<f64>,
}

impl Composite<'_> {
    fn unpack(&self, y: &[f64]) -> Vec<f64> {
        let mut psi = y.to_vec();
        for j in 0..self.design.len() {
            let span = self.design.span(j);
            psi[span.start] = self.signs[j] * self.slope(y, j);
            let d = self.design.model(j).bounded(&y[span.start + 1..span.end]);
            psi[span.start + 1..span.end].copy_from_slice(&d);
        }
        psi
    }

    fn slope(&self, y: &[f64], item: usize) -> f64 {
        match self.design.model(item).slope() {
            SlopeRule::One => 1.0,
            _ => y[self.design.offset(item)].clamp(-4.0, 3.0).exp(),
        }
    }

    fn pack(&self, psi: &[f64]) -> Vec<f64> {
        let mut y = psi.to_vec();
        for j in 0..self.design.len() {
            let span = self.design.span(j);
            y[span.start] = psi[span.start].abs().ln();
            let d = self.design.model(j).unbounded(&psi[span.start + 1..span.end]);
            y[span.start + 1..span.end].copy_from_slice(&d);
        }
        y
    }

    /// Minus the penalised composite log-likelihood per student, and its gradient.
    fn value(&self, y: &[f64]) -> (f64, Vec<f64>) {
        let design = self.design;
        let psi = self.unpack(y);
        let (size, q) = (design.parameters(), self.grid.len());
        let curves: Vec<Curves> = (0..design.len())
            .map(|j| Curves::new(design.model(j), &psi[design.span(j)], self.grid.nodes(), Order::Score))
            .collect();
        let weight: Vec<f64> = self.grid.log_weights().iter().map(|w| w.exp()).collect();
        let mut p = DMatrix::zeros(size, q);
        for (j, item) in curves.iter().enumerate() {
            for c in 0..item.categories() {
                for n in 0..q {
                    p[(design.offset(j) + c, n)] = item.log_p(c)[n].exp();
                }
            }
        }
        let mut weighted = p.clone();
        for n in 0..q {
            weighted.column_mut(n).scale_mut(weight[n]);
        }
        let joint = (&weighted * p.transpose()).map(|x| x.max(SMALLEST));
        let mut value = 0.0;
        for (o, x) in self.observed.iter().zip(joint.iter()) {
            if *o > 0.0 {
                value += 0.5 * o * x.ln();
            }
        }
        let ratio = self.observed.zip_map(&joint, |o, x| o / x);
        let mut direction = ratio * &p;
        for n in 0..q {
            direction.column_mut(n).scale_mut(weight[n]);
        }
        let mut gradient = vec![0.0; size];
        for (j, item) in curves.iter().enumerate() {
            let at = design.offset(j);
            for r in 0..item.categories() {
                for c in 0..item.categories() {
                    let score = item.score(c, r);
                    gradient[at + r] +=
                        (0..q).map(|n| direction[(at + c, n)] * p[(at + c, n)] * score[n]).sum::<f64>();
                }
            }
        }
        for j in 0..design.len() {
            let span = design.span(j);
            let log_a = y[span.start];
            value -= 0.5 * SLOPE_PRIOR * (log_a - 0.1).powi(2);
            for r in span.start + 1..span.end {
                value -= 0.5 * STEP_PRIOR * psi[r] * psi[r];
                gradient[r] -= STEP_PRIOR * psi[r];
            }
            gradient[span.start] = match design.model(j).slope() {
                SlopeRule::One => 0.0,
                _ => gradient[span.start] * psi[span.start],
            } - SLOPE_PRIOR * (log_a - 0.1);
            let steps = design
                .model(j)
                .unbounded_gradient(&y[span.start + 1..span.end], &gradient[span.start + 1..span.end]);
            gradient[span.start + 1..span.end].copy_from_slice(&steps);
        }
        self.share_slopes(&mut gradient);
        let scale = -1.0 / self.students;
        (value * scale, gradient.iter().map(|g| g * scale).collect())
    }

    /// Items whose slope is the SD of ability move together.
    fn share_slopes(&self, gradient: &mut [f64]) {
        let shared: Vec<usize> = (0..self.design.len())
            .filter(|&j| self.design.model(j).slope() == SlopeRule::LatentSd)
            .map(|j| self.design.offset(j))
            .collect();
        let mean = shared.iter().map(|&a| gradient[a]).sum::<f64>() / shared.len().max(1) as f64;
        shared.iter().for_each(|&a| gradient[a] = mean);
    }
}

/// Observed pairs, weighted; pairs of an item with itself are left out.
fn weighted_pairs(design: &Design, pairs: &DMatrix<f64>, m: &Moments) -> DMatrix<f64> {
    let weight: Vec<f64> = (0..design.len())
        .map(|j| {
            let others: f64 = (0..design.len()).filter(|&l| l != j).map(|l| m.both[(j, l)]).sum();
            m.both[(j, j)] / others.max(1.0)
        })
        .collect();
    let item: Vec<usize> = (0..design.parameters()).map(|r| design.item_of(r)).collect();
    DMatrix::from_fn(design.parameters(), design.parameters(), |r, c| {
        let (j, l) = (item[r], item[c]);
        if j == l { 0.0 } else { pairs[(r, c)] * (weight[j] * weight[l]).sqrt() }
    })
}

/// Starting values from the first round's sums.
pub(crate) fn start(design: &Design, sums: &StartSums) -> Start {
    let m = moments(design, &sums.pairs);
    let between = between_share(sums, &m);
    let students = (0..design.len()).map(|j| m.both[(j, j)]).fold(1.0, f64::max);
    let grid = Grid::new(GridSpec { nodes: 31, range: 5.0, weighting: Weighting::Density });
    let observed = weighted_pairs(design, &sums.pairs, &m);
    let directions = leading(&m);
    let two = directions.len() > 1;
    let mut candidates: Vec<(f64, Vec<f64>)> = directions
        .iter()
        .map(|direction| {
            let free = |j: usize| design.model(j).slope() == SlopeRule::Free;
            let signs: Vec<f64> =
                (0..design.len()).map(|j| if direction[j] < 0.0 && free(j) { -1.0 } else { 1.0 }).collect();
            let largest = direction.iter().fold(1e-9f64, |a, x| a.max(x.abs()));
            let size = |j: usize| {
                if two && free(j) { (2.0 * direction[j].abs() / largest).clamp(0.2, 2.0) } else { 1.0 }
            };
            let composite =
                Composite { design, observed: observed.clone(), grid: grid.clone(), students, signs };
            let mut psi = vec![0.0; design.parameters()];
            for j in 0..design.len() {
                let span = design.span(j);
                let counts: Vec<f64> = span.clone().map(|r| sums.pairs[(r, r)] + 0.5).collect();
                let total: f64 = counts.iter().sum();
                let shares: Vec<f64> = counts.iter().map(|n| n / total).collect();
                psi[span.start] = composite.signs[j] * size(j);
                let d = design.model(j).start_intercepts(size(j), &shares);
                psi[span.start + 1..span.end].copy_from_slice(&d);
            }
            let (value, y) = lbfgs::minimise(|y| composite.value(y), composite.pack(&psi), 500, 3e-6);
            (value, composite.unpack(&y))
        })
        .collect();
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let shrink = (1.0 - between).sqrt();
    for (_, psi) in &mut candidates {
        for j in 0..design.len() {
            if design.model(j).slope() != SlopeRule::One {
                psi[design.offset(j)] *= shrink;
            }
        }
    }
    let mut distinct: Vec<Vec<f64>> = Vec::new();
    for (_, psi) in candidates {
        let same = |other: &Vec<f64>| other.iter().zip(&psi).all(|(x, y)| (x - y).abs() < 0.05);
        if !distinct.iter().any(same) {
            distinct.push(psi);
        }
    }
    Start { candidates: distinct, between }
}

//! Starting values from two-way tables: pairwise composite likelihood (de Leon 2005; Katsikatsou et al. 2012),
//! maximised at the centre at no cost in rounds.
//!
//! With ability N(0, 1), the table of items j and l has cells ∫ p_jc p_lc' φ. Pairs are weighted so that a
//! student who answered r items, and so enters r − 1 pairs per item, counts once per item; a weak prior on
//! log|a| and d keeps sparse tables finite. Signs of slopes come from the leading eigenvectors of the item
//! correlations: a test that measures two things has a candidate for each. Categories of models without order are
//! first given scores along ability by multiple correspondence analysis of the same tables.

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

fn moments(design: &Design, pairs: &DMatrix<f64>, scores: &[f64]) -> Moments {
    let items = design.len();
    let mut both = DMatrix::<f64>::zeros(items, items);
    let (mut first, mut product) = (both.clone(), both.clone());
    for j in 0..items {
        for l in 0..items {
            for c in design.cell_span(j) {
                for h in design.cell_span(l) {
                    let n = pairs[(c, h)];
                    both[(j, l)] += n;
                    first[(j, l)] += scores[c] * n;
                    product[(j, l)] += scores[c] * scores[h] * n;
                }
            }
        }
    }
    let share = |x: &DMatrix<f64>, j: usize, l: usize| x[(j, l)] / both[(j, l)].max(1e-9);
    let mean: Vec<f64> = (0..items).map(|j| share(&first, j, j)).collect();
    let variance: Vec<f64> = (0..items)
        .map(|j| {
            let square: f64 = design.cell_span(j).map(|c| scores[c] * scores[c] * pairs[(c, c)]).sum();
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

/// The number of every category, counted from 0 within its item.
fn category_numbers(design: &Design) -> Vec<f64> {
    (0..design.len()).flat_map(|j| (0..design.categories(j)).map(|c| c as f64)).collect()
}

/// A score for every category: its number for models with ordered categories. For others, the leading solution of a
/// multiple correspondence analysis (Gifi 1990, ch. 3): category scores, of mean 0 and variance 1 within each item,
/// for which the items agree best with each other.
fn category_scores(design: &Design, pairs: &DMatrix<f64>, numbers: &[f64]) -> Vec<f64> {
    let ordered = |j: usize| design.model(j).one_slope().is_some();
    let mut scores = numbers.to_vec();
    if (0..design.len()).all(ordered) {
        return scores;
    }
    // Deviations of the pair counts from independence, as correlations between standardised indicators.
    let count = |c: usize| pairs[(c, c)].max(1e-9);
    let deviation = DMatrix::from_fn(design.cells(), design.cells(), |c, h| {
        let (j, l) = (design.item_of_cell(c), design.item_of_cell(h));
        if j == l {
            return 0.0;
        }
        let block = |c: usize, l: usize| design.cell_span(l).map(|h| pairs[(c, h)]).sum::<f64>();
        let total: f64 = design.cell_span(j).map(|c| block(c, l)).sum();
        if total <= 0.0 {
            return 0.0;
        }
        (pairs[(c, h)] - block(c, l) * block(h, j) / total) / (count(c) * count(h)).sqrt()
    });
    let eigen = SymmetricEigen::new(deviation);
    let leading = eigen.eigenvalues.imax();
    for j in (0..design.len()).filter(|&j| !ordered(j)) {
        let span = design.cell_span(j);
        let raw: Vec<f64> =
            span.clone().map(|c| eigen.eigenvectors[(c, leading)] / count(c).sqrt()).collect();
        let total: f64 = span.clone().map(count).sum();
        let mean = span.clone().zip(&raw).map(|(c, x)| count(c) * x).sum::<f64>() / total;
        let variance =
            span.clone().zip(&raw).map(|(c, x)| count(c) * (x - mean).powi(2)).sum::<f64>() / total;
        // Higher codes stand for more, until the other items say otherwise.
        let rising =
            span.clone().zip(&raw).map(|(c, x)| count(c) * (x - mean) * numbers[c]).sum::<f64>() >= 0.0;
        let unit = variance.sqrt().max(1e-9) * if rising { 1.0 } else { -1.0 };
        for (c, x) in span.zip(raw) {
            scores[c] = (x - mean) / unit;
        }
    }
    scores
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
        let item = |j: usize| self.design.model(j).bounded(&y[self.design.span(j)], self.signs[j]);
        (0..self.design.len()).flat_map(item).collect()
    }

    fn pack(&self, psi: &[f64]) -> Vec<f64> {
        let item = |j: usize| self.design.model(j).unbounded(&psi[self.design.span(j)]);
        (0..self.design.len()).flat_map(item).collect()
    }

    /// Minus the penalised composite log-likelihood per student, and its gradient.
    fn value(&self, y: &[f64]) -> (f64, Vec<f64>) {
        let design = self.design;
        let psi = self.unpack(y);
        let (size, q) = (design.cells(), self.grid.len());
        let curves: Vec<Curves> = (0..design.len())
            .map(|j| {
                let psi = &psi[design.span(j)];
                Curves::new(design.model(j), design.categories(j), psi, self.grid.nodes(), Order::Score)
            })
            .collect();
        let weight: Vec<f64> = self.grid.log_weights().iter().map(|w| w.exp()).collect();
        let mut p = DMatrix::zeros(size, q);
        for (j, item) in curves.iter().enumerate() {
            for c in 0..item.categories() {
                for n in 0..q {
                    p[(design.cell_offset(j) + c, n)] = item.log_p(c)[n].exp();
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
        let mut gradient = vec![0.0; design.parameters()];
        for (j, item) in curves.iter().enumerate() {
            let (at, cell) = (design.offset(j), design.cell_offset(j));
            for r in 0..item.ability() {
                for c in 0..item.categories() {
                    let score = item.score(c, r);
                    gradient[at + r] +=
                        (0..q).map(|n| direction[(cell + c, n)] * p[(cell + c, n)] * score[n]).sum::<f64>();
                }
            }
        }
        for j in 0..design.len() {
            let (span, slopes) = (design.span(j), design.slopes(j));
            // A single slope has a prior on log|a|; slopes of categories are as likely to fall as to rise.
            let centre = if design.model(j).one_slope().is_some() { 0.1 } else { 0.0 };
            for r in slopes.clone() {
                value -= 0.5 * SLOPE_PRIOR * (y[r] - centre).powi(2);
            }
            for r in slopes.end..span.end {
                value -= 0.5 * STEP_PRIOR * psi[r] * psi[r];
                gradient[r] -= STEP_PRIOR * psi[r];
            }
            let own = design.model(j).unbounded_gradient(
                &y[span.clone()],
                &psi[span.clone()],
                &gradient[span.clone()],
            );
            gradient[span].copy_from_slice(&own);
            for r in slopes {
                gradient[r] -= SLOPE_PRIOR * (y[r] - centre);
            }
        }
        self.share_slopes(&mut gradient);
        let scale = -1.0 / self.students;
        (value * scale, gradient.iter().map(|g| g * scale).collect())
    }

    /// Items that share a slope, be it the SD of ability or a common one, move together.
    fn share_slopes(&self, gradient: &mut [f64]) {
        for rule in [SlopeRule::LatentSd, SlopeRule::Common] {
            let shared: Vec<usize> = (0..self.design.len())
                .filter(|&j| self.design.model(j).slope() == rule)
                .map(|j| self.design.offset(j))
                .collect();
            let mean = shared.iter().map(|&a| gradient[a]).sum::<f64>() / shared.len().max(1) as f64;
            shared.iter().for_each(|&a| gradient[a] = mean);
        }
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
    let item: Vec<usize> = (0..design.cells()).map(|cell| design.item_of_cell(cell)).collect();
    DMatrix::from_fn(design.cells(), design.cells(), |r, c| {
        let (j, l) = (item[r], item[c]);
        if j == l { 0.0 } else { pairs[(r, c)] * (weight[j] * weight[l]).sqrt() }
    })
}

/// Starting values from counts of categories alone: slopes of 1, and intercepts that agree with the counts.
pub(crate) fn from_counts(design: &Design, counts: &[f64], between: f64) -> Start {
    let numbers = category_numbers(design);
    let item = |j: usize| {
        let cells = design.cell_span(j);
        let total: f64 = counts[cells.clone()].iter().map(|n| n + 0.5).sum();
        let shares: Vec<f64> = counts[cells.clone()].iter().map(|n| (n + 0.5) / total).collect();
        design.model(j).start(1.0, &numbers[cells], &shares)
    };
    Start { candidates: vec![(0..design.len()).flat_map(item).collect()], between }
}

/// Starting values from the first round's sums.
pub(crate) fn start(design: &Design, sums: &StartSums) -> Start {
    let numbers = category_numbers(design);
    let by_number = moments(design, &sums.pairs, &numbers);
    // Sites tell how alike their students answer in terms of the categories' numbers.
    let between = between_share(sums, &by_number);
    let scores = category_scores(design, &sums.pairs, &numbers);
    let m = if scores == numbers { by_number } else { moments(design, &sums.pairs, &scores) };
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
                let cells = design.cell_span(j);
                let counts: Vec<f64> = cells.clone().map(|r| sums.pairs[(r, r)] + 0.5).collect();
                let total: f64 = counts.iter().sum();
                let shares: Vec<f64> = counts.iter().map(|n| n / total).collect();
                let own = design.model(j).start(composite.signs[j] * size(j), &scores[cells], &shares);
                psi[design.span(j)].copy_from_slice(&own);
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
                psi[design.slopes(j)].iter_mut().for_each(|a| *a *= shrink);
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

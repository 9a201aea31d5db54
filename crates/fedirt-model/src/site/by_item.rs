//! Σ_i Cov_i(score) of each item's own parameters, and with the parameters that all items share: what Louis' identity needs for the
//! blocks of the information that stand on its diagonal.
//!
//! Means of single scores are made answer by answer, so the work is nodes × answers, whatever the number of items.

use super::panel::Panel;
use super::sweep::{BLOCK, Expected, LookUp, chunks, unfold_counts};
use crate::design::Design;
use crate::kernel::aligned::Aligned;
use crate::kernel::lanes;
use crate::responses::MISSING;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Covariances of scores of a panel, weighted and summed over its students.
pub(crate) struct Covariances {
    /// Of each item's parameters.
    pub own: Vec<DMatrix<f64>>,
    /// Of what all items share (the population's parameters, then the school effect) with the panel's parameters, and
    /// behind them with each other.
    pub border: DMatrix<f64>,
}

impl Covariances {
    fn zero(panel: &Panel, shared: usize) -> Self {
        let own = |k: usize| DMatrix::zeros(panel.item_parameters(k), panel.item_parameters(k));
        Self {
            own: (0..panel.items.len()).map(own).collect(),
            border: DMatrix::zeros(shared, panel.parameters() + shared),
        }
    }

    fn add(&mut self, other: &Self) {
        self.own.iter_mut().zip(&other.own).for_each(|(to, from)| *to += from);
        self.border += &other.border;
    }
}

/// Expected counts, and the covariances.
pub(crate) fn expected_and_covariances(
    look_up: &LookUp<'_>,
    design: &Design,
    weighted: bool,
) -> (Expected, Covariances) {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let (width, shared) = (tables.width, look_up.prior.population_size() + 1);
    let ability = look_up.ability_scores(design);
    let parts: Vec<(Expected, Covariances)> = chunks(panel.students())
        .into_par_iter()
        .map(|chunk| {
            let mut out = Covariances::zero(panel, shared);
            let (mut loglik, mut mass) = (0.0, vec![0.0; width]);
            let mut sums = look_up.group_sums();
            let mut shares = Shares::new(shared, width);
            look_up.posteriors(chunk, |block, rows, log_marginal| {
                let weights = &panel.weights[block.clone()];
                loglik += weights.iter().zip(log_marginal).map(|(w, l)| w * l).sum::<f64>();
                shares.take(look_up, &ability, block.clone(), rows);
                if weighted {
                    lanes::scale_rows(rows, width, weights);
                }
                rows.chunks_exact(width).for_each(|row| lanes::axpy(1.0, row, &mut mass));
                for k in 0..panel.items.len() {
                    add_item(look_up, k, (block.clone(), rows), &shares, &mut out);
                }
                shares.add_products(rows, width, panel.parameters(), &mut out.border);
                look_up.scatter(block, rows, &mut sums);
            });
            (Expected { loglik, counts: unfold_counts(panel, width, &sums), mass }, out)
        })
        .collect();
    let (mut expected, mut out) = (Expected::zero(panel, width), Covariances::zero(panel, shared));
    for (part, covariances) in &parts {
        expected.add(part);
        out.add(covariances);
    }
    add_products_of_scores(look_up, &expected.counts, &mut out.own);
    (expected, out)
}

/// Scores of what all items share, at the nodes, for the students of a block.
struct Shares {
    shared: usize,
    /// A padded row per student and shared parameter: the score less its posterior mean.
    deviations: Aligned,
    scores: Aligned,
}

impl Shares {
    fn new(shared: usize, width: usize) -> Self {
        let zeros = || Aligned::zeros(BLOCK * width);
        Self { shared, deviations: Aligned::zeros(BLOCK * shared * width), scores: zeros() }
    }

    /// Fills the rows from posteriors that sum to one.
    fn take(
        &mut self,
        look_up: &LookUp<'_>,
        ability: &[Aligned],
        block: std::ops::Range<usize>,
        rows: &[f64],
    ) {
        let width = look_up.tables.width;
        let scores = &mut self.scores[..block.len() * width];
        scores.fill(0.0);
        look_up.add_answers(block, ability, scores);
        for (i, (row, score)) in rows.chunks_exact(width).zip(scores.chunks_exact(width)).enumerate() {
            for h in 0..self.shared {
                let score = if h + 1 < self.shared { look_up.prior.population_score(h) } else { score };
                let mean = lanes::dot(row, score);
                let out = &mut self.deviations[(i * self.shared + h) * width..][..width];
                out.iter_mut().zip(score).for_each(|(out, x)| *out = x - mean);
            }
        }
    }

    /// Row of a student of the block.
    fn of(&self, i: usize, h: usize, width: usize) -> &[f64] {
        &self.deviations[(i * self.shared + h) * width..][..width]
    }

    /// Covariances among what all items share, from weighted posteriors.
    fn add_products(&self, rows: &[f64], width: usize, first: usize, border: &mut DMatrix<f64>) {
        for (i, row) in rows.chunks_exact(width).enumerate() {
            for h in 0..self.shared {
                for l in 0..self.shared {
                    let (x, y) = (self.of(i, h, width), self.of(i, l, width));
                    border[(h, first + l)] +=
                        row.iter().zip(x).zip(y).map(|((p, x), y)| p * x * y).sum::<f64>();
                }
            }
        }
    }
}

/// Subtracts the products of means of an item's scores, and adds its covariances with what all items share.
fn add_item(
    look_up: &LookUp<'_>,
    k: usize,
    (block, rows): (std::ops::Range<usize>, &[f64]),
    shares: &Shares,
    out: &mut Covariances,
) {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let (item, p, width) = (panel.items[k], panel.item_parameters(k), tables.width);
    let mut means = vec![0.0; p];
    let mut weighted = vec![0.0; width];
    let answers = &panel.column(k)[block.clone()];
    for (i, ((row, &c), w)) in
        rows.chunks_exact(width).zip(answers).zip(&panel.weights[block.clone()]).enumerate()
    {
        if c == MISSING {
            continue;
        }
        let score = |r: usize| tables.score(item, usize::from(c), r);
        for (r, mean) in means.iter_mut().enumerate() {
            *mean = lanes::dot(row, score(r));
        }
        for r in 0..p {
            for h in 0..p {
                // Both factors carry the weight; the product should carry it once.
                out.own[k][(r, h)] -= means[r] * means[h] / w;
            }
        }
        for h in 0..shares.shared {
            let deviation = shares.of(i, h, width);
            weighted.iter_mut().zip(row.iter().zip(deviation)).for_each(|(out, (p, x))| *out = p * x);
            for r in 0..p {
                out.border[(h, panel.offsets[k] + r)] += lanes::dot(&weighted, score(r));
            }
        }
    }
}

/// Σ_i w_i E_i[S_j S_jᵀ] = Σ_{c,n} counts_jc(n) S_jc(n) S_jc(n)ᵀ.
fn add_products_of_scores(look_up: &LookUp<'_>, counts: &[f64], own: &mut [DMatrix<f64>]) {
    let (panel, tables) = (look_up.panel, look_up.tables);
    for (k, own) in own.iter_mut().enumerate() {
        for (c, cell) in (panel.cell_offsets[k]..panel.cell_offsets[k + 1]).enumerate() {
            let counts = &counts[cell * tables.width..][..tables.width];
            for r in 0..own.nrows() {
                for h in 0..own.ncols() {
                    let (x, y) = (tables.score(panel.items[k], c, r), tables.score(panel.items[k], c, h));
                    own[(r, h)] += counts.iter().zip(x).zip(y).map(|((n, x), y)| n * x * y).sum::<f64>();
                }
            }
        }
    }
}

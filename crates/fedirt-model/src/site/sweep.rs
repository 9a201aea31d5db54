//! One pass over a panel: posteriors block by block, and what is summed from them.

use super::panel::Panel;
use super::tables::{Prior, Tables};
use crate::design::Design;
use crate::kernel::aligned::Aligned;
use crate::kernel::lanes;
use rayon::prelude::*;
use std::ops::Range;

/// Students per block: their posteriors stay in the second-level cache while groups of items pass by.
pub(crate) const BLOCK: usize = 64;

/// Chunks a panel is divided into, whatever the number of threads: sums are folded in this order.
const CHUNKS: usize = 16;

/// The panel's students in fixed chunks.
pub(crate) fn chunks(students: usize) -> Vec<Range<usize>> {
    let size = students.div_ceil(CHUNKS).max(BLOCK * 4);
    (0..students).step_by(size).map(|start| start..(start + size).min(students)).collect()
}

/// Look-up tables of a panel for the current parameters: one for each group of items, or one of all cells where each student
/// answered few of the items.
pub(crate) struct LookUp<'a> {
    pub panel: &'a Panel,
    pub tables: &'a Tables,
    /// The distribution of ability in the panel's group.
    pub prior: &'a Prior,
    groups: Vec<Aligned>,
}

impl<'a> LookUp<'a> {
    pub(crate) fn new(design: &Design, panel: &'a Panel, tables: &'a Tables) -> Self {
        let row = |k: usize, c: usize| tables.log_p(design.cell_offset(panel.items[k]) + c);
        // A population without groups is one for all.
        let prior = tables.priors.get(panel.group).unwrap_or(&tables.priors[0]);
        Self { panel, tables, prior, groups: panel.tables(tables.width, row) }
    }

    /// Tables of the scores in ability, for [`LookUp::add_answers`].
    pub(crate) fn ability_scores(&self, design: &Design) -> Vec<Aligned> {
        let score = |k: usize, c: usize| {
            let item = self.panel.items[k];
            self.tables.score(item, c, design.span(item).len())
        };
        self.panel.tables(self.tables.width, score)
    }

    /// Adds to each student's row what the tables say of the student's answers.
    pub(crate) fn add_answers(&self, students: Range<usize>, tables: &[Aligned], rows: &mut [f64]) {
        let width = self.tables.width;
        if let (Some(given), [table]) = (&self.panel.given, tables) {
            for (row, i) in rows.chunks_exact_mut(width).zip(students) {
                lanes::add_listed(row, given.of_student(i), table);
            }
            return;
        }
        let codes = &self.panel.codes;
        let mut pairs = tables.chunks_exact(2);
        let mut g = 0;
        for pair in &mut pairs {
            let (a, b) = (codes.of(g, students.clone()), codes.of(g + 1, students.clone()));
            lanes::add_rows_twice(rows, width, (a, &pair[0]), (b, &pair[1]));
            g += 2;
        }
        if let [last] = pairs.remainder() {
            lanes::add_rows(rows, width, codes.of(g, students), last);
        }
    }

    /// Calls `each(students, posteriors, log marginals)` for every block of a range of students.
    pub(crate) fn posteriors(
        &self,
        students: Range<usize>,
        mut each: impl FnMut(Range<usize>, &mut [f64], &[f64]),
    ) {
        let width = self.tables.width;
        let mut rows = Aligned::zeros(BLOCK * width);
        let mut log_marginal = vec![0.0; BLOCK];
        let mut start = students.start;
        while start < students.end {
            let block = start..(start + BLOCK).min(students.end);
            let rows = &mut rows[..block.len() * width];
            for row in rows.chunks_exact_mut(width) {
                row.copy_from_slice(&self.prior.log_prior);
            }
            self.add_answers(block.clone(), &self.groups, rows);
            lanes::normalise(rows, width, &mut log_marginal[..block.len()]);
            each(block.clone(), rows, &log_marginal[..block.len()]);
            start = block.end;
        }
    }

    /// Zeroed sums by combination, one table per group.
    pub(crate) fn group_sums(&self) -> Vec<Aligned> {
        self.groups.iter().map(|t| Aligned::zeros(t.len())).collect()
    }

    /// Adds rows of a block to sums by combination.
    pub(crate) fn scatter(&self, block: Range<usize>, rows: &[f64], sums: &mut [Aligned]) {
        let (width, codes) = (self.tables.width, &self.panel.codes);
        if let (Some(given), [sums]) = (&self.panel.given, &mut *sums) {
            for (row, i) in rows.chunks_exact(width).zip(block) {
                lanes::scatter_listed(row, given.of_student(i), sums);
            }
            return;
        }
        let mut pairs = sums.chunks_exact_mut(2);
        let mut g = 0;
        for pair in &mut pairs {
            if let [first, second] = pair {
                let (a, b) = (codes.of(g, block.clone()), codes.of(g + 1, block.clone()));
                lanes::scatter_rows_twice(rows, width, (a, first), (b, second));
            }
            g += 2;
        }
        if let [last] = pairs.into_remainder() {
            lanes::scatter_rows(rows, width, codes.of(g, block), last);
        }
    }
}

/// Posterior moments of the population's pull −∂ log f/∂V, which in a normal population is standardised ability: enough to
/// move a school effect.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    /// Σ w_i log-likelihood of student i.
    pub loglik: f64,
    /// Σ w_i E_i[pull], the score of the school effect in the continuum.
    pub mean: f64,
    /// Σ w_i (Var_i[pull] + 1 + E_i[∂² log f/∂V²]): by so much the effect's information falls short of Σ w_i.
    pub variance: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, other: Self) {
        self.loglik += other.loglik;
        self.mean += other.mean;
        self.variance += other.variance;
    }
}

/// Log-likelihood and posterior moments of a panel.
pub(crate) fn moments(look_up: &LookUp<'_>) -> Moments {
    let parts: Vec<Moments> = chunks(look_up.panel.students())
        .into_par_iter()
        .map(|chunk| {
            let mut out = Moments::default();
            let (mut mean, mut variance) = (vec![0.0; BLOCK], vec![0.0; BLOCK]);
            look_up.posteriors(chunk, |block, rows, log_marginal| {
                let n = block.len();
                lanes::moments(
                    rows,
                    look_up.tables.width,
                    &look_up.prior.pull,
                    &mut mean[..n],
                    &mut variance[..n],
                );
                if let Some(excess) = &look_up.prior.excess {
                    for (variance, row) in variance.iter_mut().zip(rows.chunks_exact(look_up.tables.width)) {
                        *variance += lanes::dot(row, excess);
                    }
                }
                for (k, w) in look_up.panel.weights[block].iter().enumerate() {
                    out.loglik += w * log_marginal[k];
                    out.mean += w * mean[k];
                    out.variance += w * variance[k];
                }
            });
            out
        })
        .collect();
    let mut total = Moments::default();
    parts.into_iter().for_each(|p| total.add(p));
    total
}

/// What one pass gives for the gradient: log-likelihood and expected counts.
pub(crate) struct Expected {
    /// Σ w_i log-likelihood of student i.
    pub loglik: f64,
    /// Σ_i w_i z_ijc P_i(n), a padded row per panel category.
    pub counts: Vec<f64>,
    /// Σ_i w_i P_i(n), padded: what the gradient of the population's parameters needs, and zeros where it has none.
    pub mass: Vec<f64>,
}

impl Expected {
    pub(crate) fn zero(panel: &Panel, width: usize) -> Self {
        Self { loglik: 0.0, counts: vec![0.0; panel.cells() * width], mass: vec![0.0; width] }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.loglik += other.loglik;
        lanes::axpy(1.0, &other.counts, &mut self.counts);
        lanes::axpy(1.0, &other.mass, &mut self.mass);
    }
}

/// Expected counts of a panel (the E-step of Bock & Aitkin 1981).
pub(crate) fn expected(look_up: &LookUp<'_>, weighted: bool) -> Expected {
    let (panel, width) = (look_up.panel, look_up.tables.width);
    let has_parameters = look_up.prior.population_size() > 0;
    let parts: Vec<Expected> = chunks(panel.students())
        .into_par_iter()
        .map(|chunk| {
            let mut loglik = 0.0;
            let mut mass = vec![0.0; width];
            let mut sums = look_up.group_sums();
            look_up.posteriors(chunk, |block, rows, log_marginal| {
                let weights = &panel.weights[block.clone()];
                loglik += weights.iter().zip(log_marginal).map(|(w, l)| w * l).sum::<f64>();
                if weighted {
                    lanes::scale_rows(rows, width, weights);
                }
                if has_parameters {
                    rows.chunks_exact(width).for_each(|row| lanes::axpy(1.0, row, &mut mass));
                }
                look_up.scatter(block, rows, &mut sums);
            });
            Expected { loglik, counts: unfold_counts(panel, width, &sums), mass }
        })
        .collect();
    let mut out = Expected::zero(panel, width);
    parts.iter().for_each(|part| out.add(part));
    out
}

/// Sums by combination, as sums by item and category.
pub(crate) fn unfold_counts(panel: &Panel, width: usize, sums: &[Aligned]) -> Vec<f64> {
    if let (Some(_), [sums]) = (&panel.given, sums) {
        return sums.to_vec();
    }
    let mut counts = vec![0.0; panel.cells() * width];
    panel.codes.unfold(width, &panel.categories, sums, |item, c, row| {
        let at = (panel.cell_offsets[item] + c) * width;
        lanes::axpy(1.0, row, &mut counts[at..at + width]);
    });
    counts
}

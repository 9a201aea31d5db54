//! Σ_i Cov_i(score) for any model and any pattern of missing answers.
//!
//! The posterior mean of products of scores needs only the three-way tables
//! T_jl[c][c'](n) = Σ_i w_i 1[x_ij = c] 1[x_il = c'] P_i(n): Σ_i E_i[S_j S_lᵀ] = Σ_{c,c',n} T S_jc(n) S_lc'(n)ᵀ.
//! They are made pair by pair, never all at once. The products of posterior means are summed student by student, or as
//! products of matrices where most answers are given.
//!
//! With many items a posterior lives on few of the nodes: a student's tables are made within a window of nodes that leaves
//! out less than 1e-14 of the posterior.

use super::panel::Panel;
use super::sweep::{Expected, LookUp, chunks};
use crate::kernel::lanes::{self, Window};
use crate::responses::MISSING;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Mass of a node below which it can stand outside a student's window: at most a thousand nodes add up to 1e-14.
const NEGLIGIBLE: f64 = 1e-17;

/// Students whose means are multiplied together.
const TOGETHER: usize = 128;

/// Students whose posteriors are held at once: 16,384 rows of 64 doubles are 8 MiB.
const HELD: usize = 16_384;

/// Expected counts, and Σ_i w_i Cov_i(score) over (panel parameters, population, school effect).
pub(crate) fn expected_and_covariance(look_up: &LookUp<'_>) -> (Expected, DMatrix<f64>) {
    let (panel, width) = (look_up.panel, look_up.tables.width);
    let size = panel.parameters() + look_up.prior.population_size() + 1;
    let mut expected = Expected::zero(panel, width);
    let mut covariance = DMatrix::zeros(size, size);
    let mut start = 0;
    while start < panel.students() {
        let end = (start + HELD).min(panel.students());
        let held = hold(look_up, start, end);
        expected.loglik += held.loglik;
        products_of_scores(look_up, &held, &mut expected.counts, &mut covariance);
        products_with_population(look_up, &held, &mut expected.mass, &mut covariance);
        products_of_means(look_up, &held, &mut covariance);
        start = end;
    }
    (expected, covariance)
}

/// Weighted posteriors of some students.
struct Held {
    start: usize,
    loglik: f64,
    rows: Vec<f64>,
    windows: Vec<Window>,
}

impl Held {
    /// Σ_i w_i z_ijc P_i(n) of the panel's k-th item, a padded row per category.
    fn counts(&self, panel: &Panel, k: usize, width: usize) -> Vec<f64> {
        let mut counts = vec![0.0; panel.categories[k] * width];
        for (row, &c) in self.rows.chunks_exact(width).zip(&panel.column(k)[self.start..]) {
            if c != MISSING {
                lanes::axpy(1.0, row, &mut counts[usize::from(c) * width..][..width]);
            }
        }
        counts
    }
}

fn hold(look_up: &LookUp<'_>, start: usize, end: usize) -> Held {
    let width = look_up.tables.width;
    let parts: Vec<(f64, Vec<f64>, Vec<Window>)> = chunks(end - start)
        .into_par_iter()
        .map(|chunk| {
            let mut loglik = 0.0;
            let mut held = Vec::with_capacity(chunk.len() * width);
            let mut windows = Vec::with_capacity(chunk.len());
            look_up.posteriors(start + chunk.start..start + chunk.end, |block, rows, log_marginal| {
                let weights = &look_up.panel.weights[block];
                loglik += weights.iter().zip(log_marginal).map(|(w, l)| w * l).sum::<f64>();
                windows.extend(lanes::windows(rows, width, NEGLIGIBLE));
                lanes::scale_rows(rows, width, weights);
                held.extend_from_slice(rows);
            });
            (loglik, held, windows)
        })
        .collect();
    let rows = Vec::with_capacity((end - start) * width);
    let mut held = Held { start, loglik: 0.0, rows, windows: Vec::with_capacity(end - start) };
    for (loglik, rows, windows) in parts {
        held.windows.extend(windows);
        held.loglik += loglik;
        held.rows.extend_from_slice(&rows);
    }
    held
}

/// The rows of one item of the covariance: blocks with all earlier items, its own block, its expected counts.
struct ItemRows {
    counts: Vec<f64>,
    own: DMatrix<f64>,
    earlier: Vec<Option<DMatrix<f64>>>,
}

fn products_of_scores(look_up: &LookUp<'_>, held: &Held, counts: &mut [f64], covariance: &mut DMatrix<f64>) {
    let (panel, width) = (look_up.panel, look_up.tables.width);
    let s = covariance.nrows() - 1;
    let items: Vec<ItemRows> =
        (0..panel.items.len()).into_par_iter().map(|j| item_rows(look_up, held, j)).collect();
    for (j, item) in items.iter().enumerate() {
        let (at, p) = (panel.offsets[j], panel.item_parameters(j));
        let cells = panel.cell_offsets[j]..panel.cell_offsets[j + 1];
        lanes::axpy(1.0, &item.counts, &mut counts[cells.start * width..cells.end * width]);
        add_block(covariance, (at, p), (at, p), s, &item.own, true);
        for (l, block) in item.earlier.iter().enumerate() {
            if let Some(block) = block {
                add_block(covariance, (at, p), (panel.offsets[l], panel.item_parameters(l)), s, block, false);
            }
        }
    }
}

/// The same with the parameters of the population, whose scores depend on the node alone:
/// Σ_i E_i[S_jr ∂ log w/∂φ] = Σ_{c,n} counts_jc(n) S_jcr(n) ∂ log w_n/∂φ.
fn products_with_population(
    look_up: &LookUp<'_>,
    held: &Held,
    mass: &mut [f64],
    covariance: &mut DMatrix<f64>,
) {
    let (panel, tables, prior) = (look_up.panel, look_up.tables, look_up.prior);
    let (width, first, s) = (tables.width, panel.parameters(), covariance.nrows() - 1);
    if prior.population_size() == 0 {
        return;
    }
    let mut own = vec![0.0; width];
    held.rows.chunks_exact(width).for_each(|row| lanes::axpy(1.0, row, &mut own));
    lanes::axpy(1.0, &own, mass);
    let product = |x: &[f64], y: &[f64], z: &[f64]| -> f64 {
        x.iter().zip(y).zip(z).map(|((x, y), z)| x * y * z).sum()
    };
    for h in 0..prior.population_size() {
        for l in 0..prior.population_size() {
            covariance[(first + h, first + l)] +=
                product(&own, prior.population_score(h), prior.population_score(l));
        }
    }
    for (k, &item) in panel.items.iter().enumerate() {
        let counts = held.counts(panel, k, width);
        let p = panel.item_parameters(k);
        for (c, row) in counts.chunks_exact(width).enumerate() {
            for r in 0..=p {
                let at = if r == p { s } else { panel.offsets[k] + r };
                for h in 0..prior.population_size() {
                    let sum = product(row, tables.score(item, c, r), prior.population_score(h));
                    covariance[(at, first + h)] += sum;
                    covariance[(first + h, at)] += sum;
                }
            }
        }
    }
}

/// Adds a block over (parameters of j, ability) × (parameters of l, ability); ability derivatives add up in s.
fn add_block(
    covariance: &mut DMatrix<f64>,
    (at, p): (usize, usize),
    (to, q): (usize, usize),
    s: usize,
    block: &DMatrix<f64>,
    same_item: bool,
) {
    let row = |r: usize| if r == p { s } else { at + r };
    let column = |r: usize| if r == q { s } else { to + r };
    for r in 0..=p {
        for h in 0..=q {
            covariance[(row(r), column(h))] += block[(r, h)];
            if !same_item {
                covariance[(column(h), row(r))] += block[(r, h)];
            }
        }
    }
}

fn item_rows(look_up: &LookUp<'_>, held: &Held, j: usize) -> ItemRows {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let width = tables.width;
    let (item, p, categories) = (panel.items[j], panel.item_parameters(j), panel.categories[j]);
    let students = held.rows.len() / width;
    let column = |k: usize| &panel.column(k)[held.start..held.start + students];
    let mine = column(j);

    let counts = held.counts(panel, j, width);
    let own = DMatrix::from_fn(p + 1, p + 1, |r, h| {
        (0..categories)
            .map(|c| {
                let (x, y) = (tables.score(item, c, r), tables.score(item, c, h));
                let row = &counts[c * width..(c + 1) * width];
                row.iter().zip(x).zip(y).map(|((n, x), y)| n * x * y).sum::<f64>()
            })
            .sum()
    });

    let mut three_way = Vec::new();
    let mut half = vec![0.0; width];
    let earlier = (0..j)
        .map(|l| {
            let (other, q, others) = (panel.items[l], panel.item_parameters(l), panel.categories[l]);
            three_way.clear();
            three_way.resize(categories * others * width, 0.0);
            let posteriors = (held.rows.as_slice(), width, held.windows.as_slice());
            if !lanes::scatter_pairs(posteriors, mine, (column(l), others), &mut three_way) {
                return None;
            }
            let mut block = DMatrix::zeros(p + 1, q + 1);
            for r in 0..=p {
                for h in 0..others {
                    half.fill(0.0);
                    for c in 0..categories {
                        let row = &three_way[(c * others + h) * width..][..width];
                        for ((o, n), x) in half.iter_mut().zip(row).zip(tables.score(item, c, r)) {
                            *o += n * x;
                        }
                    }
                    for k in 0..=q {
                        block[(r, k)] += lanes::dot(&half, tables.score(other, h, k));
                    }
                }
            }
            Some(block)
        })
        .collect();
    ItemRows { counts, own, earlier }
}

/// Subtracts Σ_i w_i E_i[S] E_i[S]ᵀ.
fn products_of_means(look_up: &LookUp<'_>, held: &Held, covariance: &mut DMatrix<f64>) {
    let (panel, tables) = (look_up.panel, look_up.tables);
    let (width, size) = (tables.width, covariance.nrows());
    let students = held.rows.len() / width;
    let given = panel.columns.iter().filter(|c| **c != MISSING).count();
    let dense = 5 * given > 3 * panel.columns.len();
    let parts: Vec<DMatrix<f64>> = chunks(students)
        .into_par_iter()
        .map(|chunk| {
            let mut sum = DMatrix::zeros(size, size);
            let mut given: Vec<usize> = Vec::with_capacity(size);
            let mut mean = vec![0.0; size];
            let mut means = DMatrix::zeros(size, if dense { TOGETHER } else { 0 });
            for start in chunk.clone().step_by(TOGETHER) {
                let block = start..(start + TOGETHER).min(chunk.end);
                means.fill(0.0);
                for i in block.clone() {
                    // Weights of zero were left out with the students who carry them.
                    let w = panel.weights[held.start + i];
                    let row = &held.rows[i * width..(i + 1) * width];
                    let posterior = (row, held.windows[i]);
                    mean_score(look_up, panel, held.start + i, posterior, &mut given, &mut mean);
                    // Both factors carry the weight; the product should carry it once.
                    if dense {
                        let root = w.sqrt();
                        given.iter().for_each(|&r| means[(r, i - start)] = mean[r] / root);
                    } else {
                        for (k, &r) in given.iter().enumerate() {
                            let factor = mean[r] / w;
                            for &h in &given[..=k] {
                                sum[(h, r)] += factor * mean[h];
                            }
                        }
                    }
                }
                if dense {
                    sum.gemm(1.0, &means, &means.transpose(), 1.0);
                }
            }
            sum
        })
        .collect();
    for part in parts {
        for r in 0..size {
            for h in 0..=r {
                let x = part[(h, r)];
                covariance[(r, h)] -= x;
                if h < r {
                    covariance[(h, r)] -= x;
                }
            }
        }
    }
}

/// w_i E_i[S] of one student from the weighted posterior, and the positions that can be non-zero.
fn mean_score(
    look_up: &LookUp<'_>,
    panel: &Panel,
    student: usize,
    (row, (from, to)): (&[f64], Window),
    given: &mut Vec<usize>,
    mean: &mut [f64],
) {
    let s = mean.len() - 1;
    let window = usize::from(from)..usize::from(to);
    let expectation = |score: &[f64]| lanes::dot(&row[window.clone()], &score[window.clone()]);
    given.clear();
    mean[s] = 0.0;
    for (k, &item) in panel.items.iter().enumerate() {
        let c = panel.columns[k * panel.students() + student];
        if c == MISSING {
            continue;
        }
        let c = usize::from(c);
        let p = panel.item_parameters(k);
        for r in 0..p {
            given.push(panel.offsets[k] + r);
            mean[panel.offsets[k] + r] = expectation(look_up.tables.score(item, c, r));
        }
        mean[s] += expectation(look_up.tables.score(item, c, p));
    }
    for h in 0..look_up.prior.population_size() {
        given.push(panel.parameters() + h);
        mean[panel.parameters() + h] = expectation(look_up.prior.population_score(h));
    }
    given.push(s);
}

//! Σ_i Cov_i(score) for any model and any pattern of missing answers.
//!
//! The posterior mean of products of scores needs only the three-way tables
//! T_jl[c][c'](n) = Σ_i w_i 1[x_ij = c] 1[x_il = c'] P_i(n): Σ_i E_i[S_j S_lᵀ] = Σ_{c,c',n} T S_jc(n) S_lc'(n)ᵀ.
//! They are made pair by pair, never all at once. The products of posterior means are summed student by student.

use super::panel::Panel;
use super::sweep::{Expected, LookUp, chunks};
use crate::kernel::lanes;
use crate::responses::MISSING;
use nalgebra::DMatrix;
use rayon::prelude::*;

/// Students whose posteriors are held at once: 16,384 rows of 64 doubles are 8 MiB.
const HELD: usize = 16_384;

/// Expected counts, and Σ_i w_i Cov_i(score) over (panel parameters, population, school effect).
pub(crate) fn expected_and_covariance(look_up: &LookUp<'_>) -> (Expected, DMatrix<f64>) {
    let (panel, width) = (look_up.panel, look_up.tables.width);
    let size = panel.parameters() + look_up.tables.population_size() + 1;
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
    let parts: Vec<(f64, Vec<f64>)> = chunks(end - start)
        .into_par_iter()
        .map(|chunk| {
            let mut loglik = 0.0;
            let mut held = Vec::with_capacity(chunk.len() * width);
            look_up.posteriors(start + chunk.start..start + chunk.end, |block, rows, log_marginal| {
                let weights = &look_up.panel.weights[block];
                loglik += weights.iter().zip(log_marginal).map(|(w, l)| w * l).sum::<f64>();
                lanes::scale_rows(rows, width, weights);
                held.extend_from_slice(rows);
            });
            (loglik, held)
        })
        .collect();
    let mut held = Held { start, loglik: 0.0, rows: Vec::with_capacity((end - start) * width) };
    for (loglik, rows) in parts {
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
    let (panel, tables) = (look_up.panel, look_up.tables);
    let (width, first, s) = (tables.width, panel.parameters(), covariance.nrows() - 1);
    if tables.population_size() == 0 {
        return;
    }
    let mut own = vec![0.0; width];
    held.rows.chunks_exact(width).for_each(|row| lanes::axpy(1.0, row, &mut own));
    lanes::axpy(1.0, &own, mass);
    let product = |x: &[f64], y: &[f64], z: &[f64]| -> f64 {
        x.iter().zip(y).zip(z).map(|((x, y), z)| x * y * z).sum()
    };
    for h in 0..tables.population_size() {
        for l in 0..tables.population_size() {
            covariance[(first + h, first + l)] +=
                product(&own, tables.population_score(h), tables.population_score(l));
        }
    }
    for (k, &item) in panel.items.iter().enumerate() {
        let counts = held.counts(panel, k, width);
        let p = panel.item_parameters(k);
        for (c, row) in counts.chunks_exact(width).enumerate() {
            for r in 0..=p {
                let at = if r == p { s } else { panel.offsets[k] + r };
                for h in 0..tables.population_size() {
                    let sum = product(row, tables.score(item, c, r), tables.population_score(h));
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
            let mut any = false;
            for ((row, &c), &h) in held.rows.chunks_exact(width).zip(mine).zip(column(l)) {
                if c != MISSING && h != MISSING {
                    any = true;
                    let at = (usize::from(c) * others + usize::from(h)) * width;
                    lanes::axpy(1.0, row, &mut three_way[at..at + width]);
                }
            }
            if !any {
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
    let parts: Vec<Vec<f64>> = chunks(students)
        .into_par_iter()
        .map(|chunk| {
            let mut sum = vec![0.0; size * size];
            let mut given: Vec<usize> = Vec::with_capacity(size);
            let mut mean = vec![0.0; size];
            for i in chunk {
                let w = panel.weights[held.start + i];
                if w > 0.0 {
                    let row = &held.rows[i * width..(i + 1) * width];
                    mean_score(look_up, panel, held.start + i, row, &mut given, &mut mean);
                    // Both factors carry the weight; the product should carry it once.
                    for (k, &r) in given.iter().enumerate() {
                        let factor = mean[r] / w;
                        for &h in &given[..=k] {
                            sum[r * size + h] += factor * mean[h];
                        }
                    }
                }
            }
            sum
        })
        .collect();
    for part in parts {
        for r in 0..size {
            for h in 0..=r {
                let x = part[r * size + h];
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
    row: &[f64],
    given: &mut Vec<usize>,
    mean: &mut [f64],
) {
    let s = mean.len() - 1;
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
            mean[panel.offsets[k] + r] = lanes::dot(row, look_up.tables.score(item, c, r));
        }
        mean[s] += lanes::dot(row, look_up.tables.score(item, c, p));
    }
    for h in 0..look_up.tables.population_size() {
        given.push(panel.parameters() + h);
        mean[panel.parameters() + h] = lanes::dot(row, look_up.tables.population_score(h));
    }
    given.push(s);
}

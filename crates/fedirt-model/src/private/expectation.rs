//! What the model expects of released sums: mean, derivative and covariance.
//!
//! A release r sums ψ_r(x) = W_r g(x; θ_r)·min(1, C/‖W_r g‖). At θ, with Cov_k over answers of a student of cell k,
//!
//! - m = Σ_k N_k E_k[ψ],
//! - dm/dθ = G = Σ_k N_k Cov_k(ψ, g(·; θ)), exactly: E[ψ] depends on θ through the probabilities alone, and
//!   dP/dθ = P·g. Nothing clipped is differentiated.
//! - S = Σ_k N_k Cov_k(ψ).
//!
//! Over simulated students, m = Σ_k N_k mean_k(ψ − βg) with β = G F⁻¹ and F = Σ_k N_k Cov_k(g): since E_θ[g] = 0
//! this control variate is free, and leaves the variance (S − βGᵀ)·N/M, which is added to that of the sums.
//!
//! Where incomplete rows count for nothing, a row of cell k is complete with probability ρ_k, whatever its answers:
//! then m = Σ ρ_k N_k E_k[ψ], so dm/dρ_k = N_k E_k[ψ], and Cov = ρ_k Cov_k(ψ) + ρ_k(1 − ρ_k) E_k[ψ]E_k[ψ]ᵀ; G and F have
//! ρ_k N_k in place of N_k. A 1 in the count of its cell is among a complete row's coordinates ([`super::counts`]).

use super::cells::{ExpectedStudents, Sample};
use nalgebra::{DMatrix, DMatrixView, DVector};
use rayon::prelude::*;

/// Rows per product of matrices.
const CHUNK: usize = 1024;
/// Most numbers of a release that are kept between steps.
const CACHE: usize = 4_000_000;

/// One round's statistic: a function of rows that does not change any more.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub theta: Vec<f64>,
    /// W, lower triangular.
    pub whitening: DMatrix<f64>,
    pub clip: f64,
    /// ‖W g‖² = uᵀ A_k u of a compact score u, by cell.
    metrics: Vec<DMatrix<f64>>,
    /// Clipped compact scores of all patterns by cell, where there is room.
    cached: Option<Vec<DMatrix<f64>>>,
}

impl Release {
    pub(super) fn new(
        population: &ExpectedStudents,
        theta: Vec<f64>,
        whitening: DMatrix<f64>,
        clip: f64,
    ) -> Self {
        let product = whitening.transpose() * &whitening;
        let width = population.coordinates.compact_len() + usize::from(population.counted());
        let metric = |site: usize| {
            let mut metric = DMatrix::zeros(width, width);
            let map = population.coordinates.compact(site);
            for (c, (to, y)) in map.iter().enumerate() {
                for (r, (at, x)) in map.iter().enumerate() {
                    metric[(*at, *to)] += x * y * product[(r, c)];
                }
            }
            if population.counted() {
                metric[(width - 1, width - 1)] = 1.0;
            }
            metric
        };
        let metrics = population.cells.iter().map(|c| metric(c.site)).collect();
        let mut release = Self { theta, whitening, clip, metrics, cached: None };
        if population.enumerated() {
            release.cache(population, width);
        }
        release
    }

    fn cache(&mut self, population: &ExpectedStudents, width: usize) {
        // Patterns do not depend on the sample.
        let sample = Sample { draws: 0.0, purpose: super::cells::Purpose::Last };
        let items = population.coordinates.design().len();
        let rows: Vec<Vec<u8>> = (0..population.cells.len())
            .map(|cell| {
                let scorer = population.scorer(&self.theta, population.cells[cell].site);
                population.rows(cell, &scorer, &self.theta, sample).0
            })
            .collect();
        if rows.iter().map(Vec::len).sum::<usize>() / items * width > CACHE {
            return;
        }
        let this = &*self;
        let cached = rows.par_iter().enumerate().map(|(cell, rows)| this.clipped(population, cell, rows));
        self.cached = Some(cached.collect());
    }

    /// Clipped compact scores of rows, one column each: u·min(1, C/‖W g‖).
    fn clipped(&self, population: &ExpectedStudents, cell: usize, rows: &[u8]) -> DMatrix<f64> {
        let n = rows.len() / population.coordinates.design().len();
        let scorer = population.scorer(&self.theta, population.cells[cell].site);
        let width = scorer.len() + usize::from(population.counted());
        let mut u = DMatrix::zeros(width, n);
        if population.counted() {
            u.row_mut(width - 1).fill(1.0);
        }
        scorer.score(rows, width, u.as_mut_slice(), &mut vec![0.0; n]);
        let au = &self.metrics[cell] * &u;
        for (mut u, au) in u.column_iter_mut().zip(au.column_iter()) {
            let norm = u.dot(&au).max(0.0).sqrt();
            if norm > self.clip {
                u *= self.clip / norm;
            }
        }
        u
    }
}

/// First and second moments of (g, ψ₁, ψ₂, …) in one cell, in compact coordinates and not whitened.
struct CellMoments {
    mean: DVector<f64>,
    second: DMatrix<f64>,
}

fn cell_moments(
    population: &ExpectedStudents,
    cell: usize,
    theta: &[f64],
    releases: &[Release],
    sample: Sample,
) -> CellMoments {
    let scorer = population.scorer(theta, population.cells[cell].site);
    let (rows, weights) = population.rows(cell, &scorer, theta, sample);
    let items = population.coordinates.design().len();
    let (c, width) = (scorer.len(), scorer.len() + usize::from(population.counted()));
    let size = c + releases.len() * width;
    let mut out = CellMoments { mean: DVector::zeros(size), second: DMatrix::zeros(size, size) };
    let students = rows.len() / items;
    for start in (0..students).step_by(CHUNK) {
        let n = CHUNK.min(students - start);
        let rows = &rows[start * items..(start + n) * items];
        let mut v = DMatrix::zeros(size, n);
        let mut log_p = vec![0.0; n];
        scorer.score(rows, size, v.as_mut_slice(), &mut log_p);
        for (r, release) in releases.iter().enumerate() {
            let mut to = v.rows_mut(c + r * width, width);
            match &release.cached {
                Some(cached) => to.copy_from(&cached[cell].columns(start, n)),
                None => to.copy_from(&release.clipped(population, cell, rows)),
            }
        }
        for (i, mut v) in v.column_iter_mut().enumerate() {
            let row = &rows[i * items..(i + 1) * items];
            let weight =
                weights.as_ref().map_or_else(|| scorer.probability(row, log_p[i]), |w| w[start + i]).max(0.0);
            out.mean.axpy(weight, &v, 1.0);
            v *= weight.sqrt();
        }
        out.second.gemm(1.0, &v, &v.transpose(), 1.0);
    }
    out
}

/// Moments of all released sums at θ.
#[derive(Debug, Clone)]
pub(super) struct Moments {
    /// m.
    pub mean: DVector<f64>,
    /// dm/dθ, and as last columns dm/dρ where complete rows are counted.
    pub jacobian: DMatrix<f64>,
    /// S and the variance that the simulation of m adds.
    pub covariance: DMatrix<f64>,
}

/// Σ_k N_k Cov_k(g) at θ, not divided by N: the model's information.
pub(super) fn information(population: &ExpectedStudents, theta: &[f64], sample: Sample) -> DMatrix<f64> {
    let cells: Vec<CellMoments> = (0..population.cells.len())
        .into_par_iter()
        .map(|cell| cell_moments(population, cell, theta, &[], sample))
        .collect();
    let d = population.coordinates.len();
    let mut out = DMatrix::zeros(d, d);
    for (cell, moments) in population.cells.iter().zip(&cells) {
        let map = population.coordinates.compact(cell.site);
        let n = moments.mean.len();
        spread(&mut out, (0, 0), cell.students, moments.second.view((0, 0), (n, n)), &map, &map);
    }
    out
}

/// Moments of the sums of all releases at θ and ρ, one share for each count; `None` where information is singular.
pub(super) fn moments(
    population: &ExpectedStudents,
    theta: &[f64],
    rho: &[f64],
    releases: &[Release],
    sample: Sample,
) -> Option<Moments> {
    let cells: Vec<CellMoments> = (0..population.cells.len())
        .into_par_iter()
        .map(|cell| cell_moments(population, cell, theta, releases, sample))
        .collect();
    let coordinates = &population.coordinates;
    let counts = population.counts.len();
    let (d, c) = (coordinates.len(), coordinates.compact_len());
    let (width, wide) = (c + usize::from(population.counted()), d + counts);
    let size = releases.len() * wide;
    let mut s = DMatrix::zeros(size, size);
    let mut g = DMatrix::zeros(size, d);
    let mut f = DMatrix::zeros(d, d);
    // Σ N_k E_k[ψ] and Σ N_k E_k[g] over the cells of each count, or over all where none are counted.
    let all = [1.0];
    let rho = if counts > 0 { rho } else { &all[..] };
    let (mut psi_mean, mut g_mean) = (DMatrix::zeros(size, rho.len()), DMatrix::zeros(d, rho.len()));
    for (cell, moments) in population.cells.iter().zip(&cells) {
        let map = coordinates.compact(cell.site);
        let mut wide_map = map.clone();
        wide_map.extend((0..counts).map(|h| (c, if h == cell.count { 1.0 } else { 0.0 })));
        let CellMoments { mean, second } = moments;
        let covariance = second - mean * mean.transpose();
        // ρ may stray above 1 while it is fitted; a row that can be incomplete varies a little more.
        let complete = rho[cell.count].min(1.0);
        let with_rest = &covariance + mean * mean.transpose() * (1.0 - complete);
        let n = cell.students * complete;
        spread(&mut f, (0, 0), n, covariance.view((0, 0), (c, c)), &map, &map);
        for (i, (at, x)) in map.iter().enumerate() {
            g_mean[(i, cell.count)] += cell.students * x * mean[*at];
        }
        for r in 0..releases.len() {
            let from = c + r * width;
            spread(&mut g, (r * wide, 0), n, covariance.view((from, 0), (width, c)), &wide_map, &map);
            for (i, (at, x)) in wide_map.iter().enumerate() {
                psi_mean[(r * wide + i, cell.count)] += cell.students * x * mean[from + at];
            }
            for q in 0..releases.len() {
                let block = with_rest.view((from, c + q * width), (width, width));
                spread(&mut s, (r * wide, q * wide), n, block, &wide_map, &wide_map);
            }
        }
    }
    let whiten: Vec<DMatrix<f64>> = releases
        .iter()
        .map(|release| {
            let mut w = DMatrix::identity(wide, wide);
            w.view_mut((0, 0), (d, d)).copy_from(&release.whitening);
            w
        })
        .collect();
    for (r, w) in whiten.iter().enumerate() {
        let rows = r * wide;
        let product = w * g.rows(rows, wide);
        g.rows_mut(rows, wide).copy_from(&product);
        let product = w * psi_mean.rows(rows, wide);
        psi_mean.rows_mut(rows, wide).copy_from(&product);
        let product = w * s.rows(rows, wide);
        s.rows_mut(rows, wide).copy_from(&product);
        let product = s.columns(rows, wide) * w.transpose();
        s.columns_mut(rows, wide).copy_from(&product);
    }
    if !population.enumerated() {
        let beta = f.cholesky()?.solve(&g.transpose()).transpose();
        psi_mean -= &beta * g_mean;
        let residual = &s - &beta * g.transpose();
        s += residual * (population.students / population.all_draws(sample));
    }
    let mean = &psi_mean * DVector::from_column_slice(rho);
    let mut jacobian = g;
    if counts > 0 {
        jacobian = jacobian.insert_columns(d, counts, 0.0);
        jacobian.columns_mut(d, counts).copy_from(&psi_mean);
    }
    Some(Moments { mean, jacobian, covariance: s })
}

/// Adds N·E C Eᵀ of a cell, where row i of E is `map[i]`.
fn spread(
    out: &mut DMatrix<f64>,
    (row, column): (usize, usize),
    students: f64,
    block: DMatrixView<'_, f64>,
    rows: &[(usize, f64)],
    columns: &[(usize, f64)],
) {
    for (j, (to, y)) in columns.iter().enumerate() {
        let factor = students * y;
        if factor == 0.0 {
            continue;
        }
        for (i, (at, x)) in rows.iter().enumerate() {
            out[(row + i, column + j)] += factor * x * block[(*at, *to)];
        }
    }
}

//! What the model expects of released sums: mean, derivative and covariance.
//!
//! A release r sums ψ_r(x), a function of g(x; θ_r) that does not change any more ([`super::row_statistic`]): of score2,
//! W_r g·min(1, C/‖W_r g‖). At θ, with Cov_k over answers of a student of cell k,
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

use super::cells::{Cell, ExpectedStudents, Sample};
use super::coordinates::Coordinates;
use super::fisher::unpacked;
use super::gauss_newton::regular;
use super::row_statistic::{BoundedScore, RowStatistic, bound};
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
    how: How,
    /// ψ of all patterns by cell, where there is room.
    cached: Option<Vec<DMatrix<f64>>>,
}

/// How ψ is computed, and in which coordinates.
#[derive(Debug, Clone)]
enum How {
    /// Compact scores that are cut, and whitened after their moments are taken: moments of few coordinates.
    Whitened {
        /// W, lower triangular.
        whitening: DMatrix<f64>,
        clip: f64,
        /// ‖W g‖² = uᵀ A_k u of a compact score u, by cell.
        metrics: Vec<DMatrix<f64>>,
    },
    /// The optimal statistic of each cell, in all coordinates.
    Optimal(Vec<BoundedScore>),
}

impl Release {
    /// What `statistic` makes of rows whose scores are taken at θ; C bounds their length.
    pub(super) fn new(
        population: &ExpectedStudents,
        theta: Vec<f64>,
        statistic: &RowStatistic,
        clip: f64,
    ) -> Self {
        let (coordinates, counted) = (&population.coordinates, population.counted());
        let how = match statistic {
            RowStatistic::Whitened(packed) => {
                let whitening = unpacked(packed, coordinates.len());
                let product = whitening.transpose() * &whitening;
                let metric = |cell: &Cell| metric(&product, coordinates, cell.site, counted);
                let metrics = population.cells.iter().map(metric).collect();
                How::Whitened { whitening, clip, metrics }
            }
            RowStatistic::Optimal { scores, curvature, centres } => {
                let parts = (&scores[..], &curvature[..], &centres[..]);
                let of = |cell: &Cell| BoundedScore::new(coordinates, cell.site, parts, bound(clip, counted));
                How::Optimal(population.cells.iter().map(of).collect())
            }
        };
        let mut release = Self { theta, how, cached: None };
        if population.enumerated() {
            release.cache(population);
        }
        release
    }

    fn cache(&mut self, population: &ExpectedStudents) {
        // Patterns do not depend on the sample.
        let sample = Sample { draws: 0.0, purpose: super::cells::Purpose::Last };
        let items = population.coordinates.design().len();
        let rows: Vec<Vec<u8>> = (0..population.cells.len())
            .map(|cell| {
                let scorer = population.scorer(&self.theta, population.cells[cell].site);
                population.rows(cell, &scorer, &self.theta, sample).0
            })
            .collect();
        if rows.iter().map(Vec::len).sum::<usize>() / items * self.width(population) > CACHE {
            return;
        }
        let this = &*self;
        let cached = rows.par_iter().enumerate().map(|(cell, rows)| this.of_rows(population, cell, rows));
        self.cached = Some(cached.collect());
    }

    /// Coordinates in which moments of ψ are taken.
    fn width(&self, population: &ExpectedStudents) -> usize {
        let coordinates = &population.coordinates;
        let scores = match self.how {
            How::Whitened { .. } => coordinates.compact_len(),
            How::Optimal(_) => coordinates.len(),
        };
        scores + usize::from(population.counted())
    }

    /// Where each released coordinate of a cell comes from among those, and the factor; W is applied afterwards.
    fn map(&self, population: &ExpectedStudents, cell: &Cell) -> Vec<(usize, f64)> {
        let coordinates = &population.coordinates;
        let mut map = match self.how {
            How::Whitened { .. } => coordinates.compact(cell.site),
            How::Optimal(_) => (0..coordinates.len()).map(|r| (r, 1.0)).collect(),
        };
        let count = self.width(population) - 1;
        map.extend((0..population.counts.len()).map(|h| (count, if h == cell.count { 1.0 } else { 0.0 })));
        map
    }

    /// ψ of rows, one column each, in the coordinates of [`Self::width`].
    fn of_rows(&self, population: &ExpectedStudents, cell: usize, rows: &[u8]) -> DMatrix<f64> {
        let n = rows.len() / population.coordinates.design().len();
        let scorer = population.scorer(&self.theta, population.cells[cell].site);
        let width = scorer.len() + usize::from(population.counted());
        let mut u = DMatrix::zeros(width, n);
        scorer.score(rows, width, u.as_mut_slice(), &mut vec![0.0; n]);
        match &self.how {
            How::Whitened { clip, metrics, .. } => {
                if population.counted() {
                    u.row_mut(width - 1).fill(1.0);
                }
                let au = &metrics[cell] * &u;
                for (mut u, au) in u.column_iter_mut().zip(au.column_iter()) {
                    let norm = u.dot(&au).max(0.0).sqrt();
                    if norm > *clip {
                        u *= clip / norm;
                    }
                }
                u
            }
            How::Optimal(bounded) => {
                let psi = bounded[cell].of_all(&u.rows(0, scorer.len()).into_owned());
                let d = psi.nrows();
                if population.counted() { psi.insert_row(d, 1.0) } else { psi }
            }
        }
    }
}

/// A with ‖W g‖² = uᵀ A u of a compact score u; a last coordinate counts complete rows.
fn metric(product: &DMatrix<f64>, coordinates: &Coordinates, site: usize, counted: bool) -> DMatrix<f64> {
    let width = coordinates.compact_len() + usize::from(counted);
    let mut metric = DMatrix::zeros(width, width);
    let map = coordinates.compact(site);
    for (c, (to, y)) in map.iter().enumerate() {
        for (r, (at, x)) in map.iter().enumerate() {
            metric[(*at, *to)] += x * y * product[(r, c)];
        }
    }
    if counted {
        metric[(width - 1, width - 1)] = 1.0;
    }
    metric
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
    let c = scorer.len();
    let size = c + releases.iter().map(|release| release.width(population)).sum::<usize>();
    let mut out = CellMoments { mean: DVector::zeros(size), second: DMatrix::zeros(size, size) };
    let students = rows.len() / items;
    for start in (0..students).step_by(CHUNK) {
        let n = CHUNK.min(students - start);
        let rows = &rows[start * items..(start + n) * items];
        let mut v = DMatrix::zeros(size, n);
        let mut log_p = vec![0.0; n];
        scorer.score(rows, size, v.as_mut_slice(), &mut log_p);
        let mut from = c;
        for release in releases {
            let width = release.width(population);
            let mut to = v.rows_mut(from, width);
            match &release.cached {
                Some(cached) => to.copy_from(&cached[cell].columns(start, n)),
                None => to.copy_from(&release.of_rows(population, cell, rows)),
            }
            from += width;
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

/// Where a release stands among the moments of a cell, and where its coordinates go ([`Release::map`]).
struct Part {
    from: usize,
    width: usize,
    map: Vec<(usize, f64)>,
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

impl Moments {
    /// V⁻¹G with noise of these SDs in V, round by round.
    pub(super) fn weighted(&self, noise_variance: impl Fn(usize) -> f64) -> Option<DMatrix<f64>> {
        let mut v = self.covariance.clone();
        (0..v.nrows()).for_each(|r| v[(r, r)] += noise_variance(r));
        Some(regular(v)?.solve(&self.jacobian))
    }

    /// GᵀV⁻¹G with noise of these SDs, round by round.
    pub(super) fn information(&self, noise_sd: &[f64]) -> Option<DMatrix<f64>> {
        let width = self.covariance.nrows() / noise_sd.len();
        let weighted = self.weighted(|r| noise_sd[r / width].powi(2))?;
        Some(self.jacobian.tr_mul(&weighted))
    }
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
    let wide = d + counts;
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
        // Where each release's moments stand, and where they go.
        let mut from = c;
        let parts: Vec<Part> = (releases.iter())
            .map(|release| {
                let width = release.width(population);
                from += width;
                Part { from: from - width, width, map: release.map(population, cell) }
            })
            .collect();
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
        for (r, own) in parts.iter().enumerate() {
            spread(&mut g, (r * wide, 0), n, covariance.view((own.from, 0), (own.width, c)), &own.map, &map);
            for (i, (at, x)) in own.map.iter().enumerate() {
                psi_mean[(r * wide + i, cell.count)] += cell.students * x * mean[own.from + at];
            }
            for (q, other) in parts.iter().enumerate() {
                let block = with_rest.view((own.from, other.from), (own.width, other.width));
                spread(&mut s, (r * wide, q * wide), n, block, &own.map, &other.map);
            }
        }
    }
    for (r, release) in releases.iter().enumerate() {
        let How::Whitened { whitening, .. } = &release.how else { continue };
        let mut w = DMatrix::identity(wide, wide);
        w.view_mut((0, 0), (d, d)).copy_from(whitening);
        let rows = r * wide;
        let product = &w * g.rows(rows, wide);
        g.rows_mut(rows, wide).copy_from(&product);
        let product = &w * psi_mean.rows(rows, wide);
        psi_mean.rows_mut(rows, wide).copy_from(&product);
        let product = &w * s.rows(rows, wide);
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
pub(super) fn spread(
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

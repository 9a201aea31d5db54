//! The statistic that leaves the smallest error: which bounded function of a student's score to sum.
//!
//! A sum of ψ(x), ‖ψ‖ ≤ R, with noise of variance σ² in each coordinate tells about θ the information
//! P = GᵀV⁻¹G + Λ, where G = Σ_k N_k E[ψ gᵀ], V = Σ_k N_k Cov_k(ψ) + σ²I, and Λ is what is known without it (the
//! prior, and the rounds before). The mean squared error of a, b and s is tr(W P⁻¹). It is differentiated:
//!
//! d tr(W P⁻¹) = −2 Σ_k N_k E[dψᵀ (B g − H(ψ − m_k))], B = V⁻¹G P⁻¹W P⁻¹, H = V⁻¹G P⁻¹W P⁻¹GᵀV⁻¹, m_k = E_k[ψ],
//!
//! so that at the best ψ of bounded length (H + λI)ψ = B g + H m_k, with λ ≥ 0 of each row such that ‖ψ‖ ≤ R (Karush,
//! Kuhn and Tucker). It is found by putting the moments of ψ in on the right until they repeat themselves. The sum is
//! taken in the axes of H, where H is diagonal: noise is the same in all directions, so any axes will do.
//!
//! Whatever comes out is a valid statistic: what the model expects of it is computed from the function itself, so that an
//! iteration that is cut short costs accuracy, not truth.

use super::cells::{Cell, ExpectedStudents, Purpose, Sample};
use super::coordinates::Coordinates;
use super::expectation::spread;
use super::fisher::RIDGE;
use super::gauss_newton::regular;
use super::row_statistic::{BoundedScore, RowStatistic};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Simulated students where patterns are not enumerated. Their error cannot bias: any ψ would do.
const DRAWS: f64 = 8000.0;
/// Times that moments are put in.
const REPEATS: usize = 14;
/// Smallest part of the largest curvature: directions that nothing is asked about.
const FLOOR: f64 = 1e-12;

/// What is to be told, and what stands against it.
pub(super) struct Aim<'a> {
    /// Where.
    pub theta: &'a [f64],
    /// Λ: information about θ from elsewhere.
    pub known: &'a DMatrix<f64>,
    /// SD of the noise in each coordinate.
    pub noise_sd: f64,
    /// R.
    pub bound: f64,
}

/// Students of a cell, imagined at θ.
struct Imagined {
    cell: Cell,
    /// Compact scores, one column each.
    scores: DMatrix<f64>,
    weights: Vec<f64>,
}

/// Moments of ψ: G, Σ N_k Cov_k(ψ), and E[ψ] at each site.
#[derive(Clone)]
struct Moments {
    g: DMatrix<f64>,
    s: DMatrix<f64>,
    means: Vec<DVector<f64>>,
}

/// A ψ in the axes of its H.
struct Candidate {
    axes: DMatrix<f64>,
    scores: DMatrix<f64>,
    curvature: DVector<f64>,
    centres: Vec<DVector<f64>>,
}

/// The best statistic of the round, or `None` where nothing can be told at all.
pub(super) fn optimal(population: &ExpectedStudents, aim: &Aim<'_>, round: usize) -> Option<RowStatistic> {
    let sample = Sample { draws: DRAWS, purpose: Purpose::Whitening(round) };
    let imagined: Vec<Imagined> = (0..population.cells.len())
        .into_par_iter()
        .map(|cell| imagine(population, cell, aim.theta, sample))
        .collect();
    let coordinates = &population.coordinates;
    let weights = loss_weights(coordinates, aim.theta);
    let mut moments = Moments::of(coordinates, &imagined, &first(coordinates, &imagined, aim)?);
    let mut best: Option<(f64, Candidate)> = None;
    for _ in 0..REPEATS {
        let (_, candidate) = improve(&moments, aim, &weights)?;
        let psi = candidate.psi(coordinates, &imagined, aim.bound);
        let found = Moments::of(coordinates, &imagined, &psi);
        let (loss, _) = improve(&found, aim, &weights)?;
        moments = moments.halfway(found.turned(&candidate.axes));
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, candidate));
        }
    }
    let (scores, curvature, centres) = best?.1.parts();
    Some(RowStatistic::Optimal { scores, curvature, centres })
}

fn imagine(population: &ExpectedStudents, cell: usize, theta: &[f64], sample: Sample) -> Imagined {
    let own = population.cells[cell];
    let scorer = population.scorer(theta, own.site);
    let (rows, weights) = population.rows(cell, &scorer, theta, sample);
    let items = population.coordinates.design().len();
    let n = rows.len() / items;
    let mut scores = DMatrix::zeros(scorer.len(), n);
    let mut log_p = vec![0.0; n];
    scorer.score(&rows, scorer.len(), scores.as_mut_slice(), &mut log_p);
    let known = |(row, log_p): (&[u8], &f64)| scorer.probability(row, *log_p).max(0.0);
    let weights = weights.unwrap_or_else(|| rows.chunks_exact(items).zip(&log_p).map(known).collect());
    Imagined { cell: own, scores, weights }
}

/// W: the mean squared errors of slopes, of difficulties, of site effects and of shares of constant rows are added up.
/// The error of a slope is a times that of its logarithm; contrasts are orthonormal.
fn loss_weights(coordinates: &Coordinates, theta: &[f64]) -> DVector<f64> {
    let mut weights = DVector::from_element(coordinates.len(), 0.5);
    let design = coordinates.design();
    let slopes = (0..design.len()).filter(|j| coordinates.slope_is_free(*j)).count();
    let difficulties = coordinates.items() - slopes;
    for j in 0..design.len() {
        if coordinates.slope_is_free(j) {
            weights[coordinates.span(j).start] = coordinates.slope(theta, j).powi(2) / slopes as f64;
        }
        coordinates.difficulties(j).for_each(|r| weights[r] = 1.0 / difficulties as f64);
    }
    coordinates.contrast_span().for_each(|r| weights[r] = 1.0 / coordinates.sites() as f64);
    weights
}

/// Whitened scores that are cut: where the iteration begins.
fn first(coordinates: &Coordinates, imagined: &[Imagined], aim: &Aim<'_>) -> Option<Vec<DMatrix<f64>>> {
    let d = coordinates.len();
    let mut f = DMatrix::zeros(d, d);
    let mut students = 0.0;
    for Imagined { cell, scores, weights } in imagined {
        let map = coordinates.compact(cell.site);
        let second = weighted(scores, weights) * scores.transpose();
        let n = second.nrows();
        spread(&mut f, (0, 0), cell.students, second.view((0, 0), (n, n)), &map, &map);
        students += cell.students;
    }
    f /= students;
    (0..d).for_each(|r| f[(r, r)] += RIDGE);
    let l = f.cholesky()?.unpack();
    let w = l.solve_lower_triangular(&DMatrix::identity(d, d))?;
    let psi = imagined.par_iter().map(|Imagined { cell, scores, .. }| {
        let mut psi = compacted(&w, coordinates, cell.site) * scores;
        for mut column in psi.column_iter_mut() {
            let norm = column.norm();
            if norm > aim.bound {
                column *= aim.bound / norm;
            }
        }
        psi
    });
    Some(psi.collect())
}

/// M E of a site: what M makes of compact scores.
fn compacted(matrix: &DMatrix<f64>, coordinates: &Coordinates, site: usize) -> DMatrix<f64> {
    let mut out = DMatrix::zeros(matrix.nrows(), coordinates.compact_len());
    for (column, (at, factor)) in coordinates.compact(site).iter().enumerate() {
        out.column_mut(*at).axpy(*factor, &matrix.column(column), 1.0);
    }
    out
}

fn weighted(columns: &DMatrix<f64>, weights: &[f64]) -> DMatrix<f64> {
    let mut out = columns.clone();
    out.column_iter_mut().zip(weights).for_each(|(mut column, w)| column *= *w);
    out
}

/// tr(W P⁻¹) of these moments, and the ψ that the conditions make of them.
fn improve(moments: &Moments, aim: &Aim<'_>, weights: &DVector<f64>) -> Option<(f64, Candidate)> {
    let mut v = moments.s.clone();
    (0..v.nrows()).for_each(|r| v[(r, r)] += aim.noise_sd.powi(2));
    let vg = regular(v)?.solve(&moments.g);
    let p = moments.g.tr_mul(&vg) + aim.known;
    let inverse = regular(p)?.inverse();
    let loss = inverse.diagonal().dot(weights);
    // V⁻¹G P⁻¹ W½: H is its product with itself.
    let mut half = &vg * &inverse;
    half.column_iter_mut().zip(weights.iter()).for_each(|(mut column, w)| column *= w.sqrt());
    let h = (&half * half.transpose()).symmetric_eigen();
    let most = h.eigenvalues.amax();
    let curvature = h.eigenvalues.map(|x| x.max(FLOOR * most));
    let axes = h.eigenvectors;
    let mut right = axes.tr_mul(&half);
    right.column_iter_mut().zip(weights.iter()).for_each(|(mut column, w)| column *= w.sqrt());
    let scores = right * &inverse;
    let centres = moments.means.iter().map(|m| axes.tr_mul(m).component_mul(&curvature)).collect();
    Some((loss, Candidate { axes, scores, curvature, centres }))
}

impl Candidate {
    /// A row by row, h, and all c.
    fn parts(&self) -> (Vec<f64>, Vec<f64>, Vec<Vec<f64>>) {
        let numbers = |x: &DVector<f64>| x.as_slice().to_vec();
        (
            self.scores.transpose().as_slice().to_vec(),
            numbers(&self.curvature),
            self.centres.iter().map(numbers).collect(),
        )
    }

    fn psi(&self, coordinates: &Coordinates, imagined: &[Imagined], bound: f64) -> Vec<DMatrix<f64>> {
        let (scores, curvature, centres) = self.parts();
        let of = |Imagined { cell, scores: u, .. }: &Imagined| {
            BoundedScore::new(coordinates, cell.site, (&scores, &curvature, &centres), bound).of_all(u)
        };
        imagined.par_iter().map(of).collect()
    }
}

impl Moments {
    fn of(coordinates: &Coordinates, imagined: &[Imagined], psi: &[DMatrix<f64>]) -> Self {
        let d = coordinates.len();
        let groups = coordinates.groups();
        let mut out =
            Self { g: DMatrix::zeros(d, d), s: DMatrix::zeros(d, d), means: vec![DVector::zeros(d); groups] };
        let mut students = vec![0.0; groups];
        let identity: Vec<(usize, f64)> = (0..d).map(|r| (r, 1.0)).collect();
        let each = imagined.par_iter().zip(psi).map(|(Imagined { scores, weights, .. }, psi)| {
            let own = weighted(psi, weights);
            let (mean, mean_score) = (own.column_sum(), weighted(scores, weights).column_sum());
            let cross = &own * scores.transpose() - &mean * mean_score.transpose();
            let second = &own * psi.transpose() - &mean * mean.transpose();
            (mean, cross, second)
        });
        let each: Vec<_> = each.collect();
        for (Imagined { cell, .. }, (mean, cross, second)) in imagined.iter().zip(each) {
            let map = coordinates.compact(cell.site);
            let (rows, columns) = cross.shape();
            spread(&mut out.g, (0, 0), cell.students, cross.view((0, 0), (rows, columns)), &identity, &map);
            out.s += second * cell.students;
            out.means[coordinates.group(cell.site)].axpy(cell.students, &mean, 1.0);
            students[coordinates.group(cell.site)] += cell.students;
        }
        out.means.iter_mut().zip(&students).for_each(|(mean, n)| *mean /= n.max(1.0));
        out
    }

    /// The same in the axes that ψ was turned from.
    fn turned(self, axes: &DMatrix<f64>) -> Self {
        Self {
            g: axes * self.g,
            s: axes * self.s * axes.transpose(),
            means: self.means.iter().map(|m| axes * m).collect(),
        }
    }

    fn halfway(&self, other: Self) -> Self {
        let middle = |(x, y): (&DVector<f64>, DVector<f64>)| (x + y) * 0.5;
        Self {
            g: (&self.g + other.g) * 0.5,
            s: (&self.s + other.s) * 0.5,
            means: self.means.iter().zip(other.means).map(middle).collect(),
        }
    }
}

//! From information to standard errors.
//!
//! Let w = (ψ, σ, μ, log τ), with the parameters of the population behind those of the items in ψ. With fixed effects the information sums are Schur complements, singular along the
//! origin; a gauge term makes them invertible, and centring Σ s = 0 afterwards is a linear map:
//! ψ_c = ψ + n·s̄, s̄ = mean(s_k), δs_k = B_kᵀδψ + ε_k, Var ε_k = 1/I_k. So
//! Cov(ψ_c) = (I + n·B̄ᵀ) C (I + n·B̄ᵀ)ᵀ + n·nᵀ Σ(1/I_k)/K². It equals the inverse of the joint information
//! of items and effects under Σ s = 0.

use super::algorithm::{EffectTotals, Problem, Solution};
use crate::exchange::Effects;
use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

/// Precision that stands for "this coordinate is held".
const HELD: f64 = 1e15;

/// Covariances at the solution.
pub(crate) struct Errors {
    /// Covariance of w = (ψ centred, σ, μ, log τ).
    pub covariance: DMatrix<f64>,
    /// Covariance of ψ before centring, for the sites.
    pub before_centring: DMatrix<f64>,
    pub condition_number: f64,
}

/// The origin of one linked part.
struct Origin {
    part: usize,
    /// Direction over w in which it moves.
    direction: DVector<f64>,
    /// Σ(1/I)/K².
    variance: f64,
    /// K.
    sites: f64,
}

/// What stands between scores and estimates, for sandwich covariances too.
pub(crate) struct InverseInformation {
    /// Inverse information in the coordinates (and log τ).
    inverse: DMatrix<f64>,
    /// ∂(ψ, log τ)/∂coordinates: scores come in these.
    scores: DMatrix<f64>,
    /// ∂w/∂coordinates.
    wide: DMatrix<f64>,
    /// The map that centres, on w.
    centring: DMatrix<f64>,
    shifts: Vec<Origin>,
    parameters: usize,
    condition_number: f64,
}

impl InverseInformation {
    /// None where the information is not positive definite.
    pub(crate) fn new(
        problem: &Problem,
        y: &DVector<f64>,
        information: &DMatrix<f64>,
        totals: &EffectTotals,
        held: &[usize],
    ) -> Option<Self> {
        let (p, n) = (problem.structure.parameters(), problem.structure.size());
        let random = problem.effects == Effects::Random;
        let extra = usize::from(random);
        let t = problem.structure.jacobian(y);
        let mut scores = DMatrix::zeros(p + extra, n + extra);
        scores.view_mut((0, 0), (p, n)).copy_from(&t);
        let mut wide = DMatrix::zeros(p + 3, n + extra);
        wide.view_mut((0, 0), (p, n)).copy_from(&t);
        if let Some(row) = problem.structure.sd_row(y) {
            wide.view_mut((p, 0), (1, n)).copy_from(&row.transpose());
        }
        if let Some(row) = problem.structure.mean_row() {
            wide.view_mut((p + 1, 0), (1, n)).copy_from(&row.transpose());
        }
        if random {
            scores[(p, n)] = 1.0;
            wide[(p + 2, n)] = 1.0;
        }
        let mut a = scores.transpose() * information * &scores;
        if problem.effects == Effects::Fixed {
            for direction in problem.structure.flat_directions(y, &problem.parts) {
                let mut padded = DVector::zeros(n);
                padded.rows_mut(0, n).copy_from(&direction);
                a += problem.students * &padded * padded.transpose();
            }
        }
        let eigen = SymmetricEigen::new((&a + a.transpose()) * 0.5).eigenvalues;
        let condition_number = eigen.max() / eigen.min();
        for c in problem.structure.coordinates_of(held) {
            a[(c, c)] += HELD;
        }
        let inverse = Cholesky::new((&a + a.transpose()) * 0.5)?.inverse();
        let (centring, shifts) = centring(problem, &problem.structure.psi(y), totals);
        let condition_number = if condition_number > 0.0 { condition_number } else { f64::INFINITY };
        Some(Self { inverse, scores, wide, centring, shifts, parameters: p, condition_number })
    }

    /// Covariances from the observed information.
    pub(crate) fn observed(&self) -> Errors {
        let p = self.parameters;
        let raw = &self.wide * &self.inverse * self.wide.transpose();
        let mut covariance = &self.centring * &raw * self.centring.transpose();
        for origin in &self.shifts {
            covariance += origin.variance * &origin.direction * origin.direction.transpose();
        }
        let before_centring = raw.view((0, 0), (p, p)).into_owned();
        Errors { covariance, before_centring, condition_number: self.condition_number }
    }

    /// Sandwich covariances from products of scores over (ψ, then log τ or the effects' ε by linked part, the latter in
    /// units of `effect_unit`).
    pub(crate) fn sandwich(&self, products: &DMatrix<f64>, effect_unit: f64) -> Errors {
        let score_map = &self.centring * &self.wide * &self.inverse * self.scores.transpose();
        let mut map = DMatrix::zeros(score_map.nrows(), products.nrows());
        map.view_mut((0, 0), score_map.shape()).copy_from(&score_map);
        for origin in &self.shifts {
            // ε moves the centre.
            let mut column = map.column_mut(self.parameters + origin.part);
            column += &origin.direction / (origin.sites * effect_unit);
        }
        let covariance = &map * products * map.transpose();
        Errors { covariance, ..self.observed() }
    }
}

/// Moves the origin of each linked part so that its effects sum to zero, and takes information and loadings along.
///
/// With s̄ as a number, ψ_c = Mψ is linear (d_c grows by a·score_c·s̄), so the information becomes M⁻ᵀ I M⁻¹ and
/// the loadings M⁻ᵀ B.
pub(crate) fn centre_origin(problem: &Problem, solution: &mut Solution) {
    let design = &problem.design;
    let p = problem.structure.parameters();
    let mut back = DMatrix::<f64>::identity(p, p);
    for j in 0..design.len() {
        let part = problem.parts[j];
        let sites = solution.totals.sites.get(part).copied().unwrap_or(0.0);
        if sites <= 0.0 || problem.structure.anchors_part(&problem.parts, part) {
            continue;
        }
        let mean = solution.totals.sum[part] / sites;
        for r in design.span(j) {
            if let Some((slope, score)) = design.slope_of(r) {
                solution.point.psi[r] += solution.point.psi[slope] * score * mean;
                back[(r, slope)] = -score * mean;
            }
        }
    }
    if let Some(information) = &mut solution.information {
        *information = back.transpose() * &*information * &back;
    }
    for row in solution.totals.loadings.chunks_exact_mut(p) {
        let moved = back.transpose() * DVector::from_row_slice(row);
        row.copy_from_slice(moved.as_slice());
    }
    let (sd, mean) = (problem.structure.sd(&solution.y), problem.structure.mean(&solution.y));
    solution.y = problem.structure.coordinates(&solution.point.psi, sd, mean);
}

/// The centring map over w, and the origin of each linked part.
fn centring(problem: &Problem, psi: &[f64], totals: &EffectTotals) -> (DMatrix<f64>, Vec<Origin>) {
    let p = problem.structure.parameters();
    let mut map = DMatrix::identity(p + 3, p + 3);
    let mut shifts = Vec::new();
    if problem.effects != Effects::Fixed || totals.loadings.is_empty() {
        return (map, shifts);
    }
    let direction = problem.design.shift_direction(psi);
    for (part, &sites) in totals.sites.iter().enumerate() {
        if sites <= 0.0 || problem.structure.anchors_part(&problem.parts, part) {
            continue;
        }
        let mut n = DVector::zeros(p + 3);
        for r in 0..direction.len() {
            if problem.parts[problem.design.item_of(r)] == part {
                n[r] = direction[r];
            }
        }
        let mean =
            DVector::from_fn(p + 3, |r, _| if r < p { totals.loadings[part * p + r] / sites } else { 0.0 });
        map += &n * mean.transpose();
        let variance = totals.variances[part] / (sites * sites);
        shifts.push(Origin { part, direction: n, variance, sites });
    }
    (map, shifts)
}

/// Covariance of ψ for a fit without effects.
pub(crate) fn item_covariance(
    problem: &Problem,
    y: &DVector<f64>,
    information: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let inverse = InverseInformation::new(problem, y, information, &EffectTotals::default(), &[])?;
    Some(inverse.observed().before_centring)
}

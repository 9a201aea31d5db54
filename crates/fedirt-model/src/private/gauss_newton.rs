//! The fit: θ such that the model expects the sums that were released.
//!
//! Minimises (Y − m(θ))ᵀ V⁻¹ (Y − m(θ)) + (θ − θ₀)ᵀΛ(θ − θ₀), V = S(θ) + noise, by Gauss–Newton steps: the generalised
//! method of moments (Hansen 1982) with the model's own covariance as weight.

use super::cells::{ExpectedStudents, Purpose, Sample};
use super::coordinates::Coordinates;
use super::expectation::{Release, moments};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Most steps of a fit.
const STEPS: usize = 60;
/// Largest step of a coordinate.
const LONGEST: f64 = 0.8;
/// log a stays within.
const LOG_SLOPE: (f64, f64) = (-2.5, 1.8);
/// |b| and |z| stay below.
const FURTHEST: f64 = 8.0;
/// Largest share of either kind of constant rows.
const LARGEST_SHARE: f64 = 0.8;
/// stepᵀ H step/d at which a fit with exact expectations stops: a hundredth of a standard error.
const EXACT: f64 = 1e-4;
/// The prior of a graded item's difficulties has the factor gap^½ for neighbours, which keeps them apart: without it
/// noise would often put the best fit on the edge of what is in order.
const GAP: f64 = 0.5;
/// ρ stays within; it may stray above 1 a little, as noise has it.
const RHO: (f64, f64) = (0.02, 1.1);

/// What was released in all rounds so far, and what is believed without it.
pub(super) struct Problem<'a> {
    pub population: &'a ExpectedStudents,
    pub releases: &'a [Release],
    /// All sums, round after round.
    pub sums: Vec<f64>,
    /// Variance of the noise in each.
    pub noise: Vec<f64>,
    /// Prior means and precisions of (θ, ρ).
    pub mean: Vec<f64>,
    pub precision: DMatrix<f64>,
}

/// Where a fit ended.
#[derive(Debug, Clone)]
pub(super) struct Fitted {
    /// (θ, ρ).
    pub point: Vec<f64>,
    /// (GᵀV⁻¹G + Λ)⁻¹ there.
    pub covariance: DMatrix<f64>,
    /// What of it is due to noise, C GᵀV⁻¹ N V⁻¹G C with N the variance of the noise.
    pub noise: DMatrix<f64>,
    /// What of it is due to the prior, C Λ C: estimates are drawn towards it, by an unknown amount.
    pub prior: DMatrix<f64>,
    /// Steps taken.
    pub steps: usize,
    /// Whether the last of them was as short as it should be.
    pub converged: bool,
    /// Coordinates of θ that ended on a bound: their standard errors are not to be believed.
    pub on_bound: Vec<usize>,
}

/// Simulated students per step: enough that their error is a hundredth of the variance.
pub(super) fn draws(students: f64, last: bool) -> f64 {
    if last { students.clamp(16_000.0, 100_000.0) } else { (students / 2.5).clamp(4000.0, 40_000.0) }
}

impl Problem<'_> {
    /// Fits from a starting point. The last round's fit ends with the larger sample.
    pub(super) fn fit(&self, start: Vec<f64>, round: usize, last: bool) -> Option<Fitted> {
        let students = self.population.students;
        let d = start.len() as f64;
        let exact = self.population.enumerated();
        let few = Sample { draws: draws(students, false), purpose: Purpose::Steps(round) };
        let stop = if exact { EXACT } else { 0.02 + 0.03 * students / self.population.all_draws(few) };
        let mut point = start;
        let mut steps = 0;
        let mut part = 1.0;
        let mut before: Option<(DVector<f64>, f64)> = None;
        let converged = loop {
            let step = self.step(&point, few)?;
            // A step that goes back, and is hardly shorter than the one before, goes round in circles. One that goes on in the
            // same direction is no reason for shorter ones: they would never arrive.
            let circling = before
                .as_ref()
                .is_some_and(|(last, length)| step.length > 0.7 * length && step.step.dot(last) < 0.0);
            part = if circling { 0.5 * part } else { f64::min(1.0, 1.5 * part) };
            self.take(&mut point, &(&step.step * part));
            before = Some((step.step.clone(), step.length));
            steps += 1;
            let converged = step.length / d < stop;
            if converged || steps == STEPS {
                if exact || !last {
                    return Some(self.fitted(point, &step, steps, converged));
                }
                break converged;
            }
        };
        let many = Sample { draws: draws(students, true), purpose: Purpose::Last };
        let step = self.step(&point, many)?;
        self.take(&mut point, &step.step);
        Some(self.fitted(point, &step, steps + 1, converged))
    }

    fn fitted(&self, point: Vec<f64>, step: &Step, steps: usize, converged: bool) -> Fitted {
        // Shares of constant rows may be none.
        let theta = 0..self.population.coordinates.contrast_span().end;
        let resting = |r: &usize| {
            let (low, high) = self.bounds(*r);
            point[*r] <= low || point[*r] >= high
        };
        let on_bound = theta.filter(resting).collect();
        let covariance = step.hessian.inverse();
        let part = |information: &DMatrix<f64>| &covariance * information * &covariance;
        let (noise, prior) = (part(&step.noise), part(&step.prior));
        Fitted { point, covariance, noise, prior, steps, converged, on_bound }
    }

    fn step(&self, point: &[f64], sample: Sample) -> Option<Step> {
        let d = self.population.coordinates.len();
        let moments = moments(self.population, &point[..d], &point[d..], self.releases, sample)?;
        let weighted = moments.weighted(|r| self.noise[r])?;
        let mut hessian = moments.jacobian.tr_mul(&weighted);
        let residual = DVector::from_column_slice(&self.sums) - moments.mean;
        let from_prior = DVector::from_column_slice(point) - DVector::from_column_slice(&self.mean);
        let mut slope = weighted.tr_mul(&residual) - &self.precision * from_prior;
        let mut prior = self.precision.clone();
        gap_prior(&self.population.coordinates, point, &mut prior, Some(&mut slope));
        hessian += &prior;
        let full = regular(hessian.clone())?;
        let mut step = full.solve(&slope);
        // What rests on its bound and would go beyond is held, and the others move as if it were known.
        let held: Vec<usize> = (0..point.len()).filter(|&r| self.beyond(r, point[r], step[r])).collect();
        if !held.is_empty() {
            for &r in &held {
                hessian.row_mut(r).fill(0.0);
                hessian.column_mut(r).fill(0.0);
                hessian[(r, r)] = 1.0;
                slope[r] = 0.0;
            }
            step = regular(hessian.clone())?.solve(&slope);
        }
        let length = step.dot(&(&hessian * &step));
        let mut noisy = weighted.clone();
        noisy.row_iter_mut().zip(&self.noise).for_each(|(mut row, variance)| row *= *variance);
        let noise = weighted.tr_mul(&noisy);
        length.is_finite().then_some(Step { step, length, hessian: full, noise, prior })
    }

    fn bounds(&self, r: usize) -> (f64, f64) {
        let coordinates = &self.population.coordinates;
        let (items, design) = (coordinates.items(), coordinates.design());
        if r >= coordinates.len() {
            return RHO;
        }
        if r >= items + coordinates.contrasts() {
            return (0.0, LARGEST_SHARE);
        }
        let is_slope = r < items
            && (0..design.len()).any(|j| coordinates.slope_is_free(j) && coordinates.span(j).start == r);
        if is_slope { LOG_SLOPE } else { (-FURTHEST, FURTHEST) }
    }

    fn beyond(&self, r: usize, x: f64, step: f64) -> bool {
        let (low, high) = self.bounds(r);
        (x <= low && step < 0.0) || (x >= high && step > 0.0)
    }

    /// Moves by a step that is cut coordinate by coordinate, and keeps intercepts in order.
    fn take(&self, point: &mut [f64], step: &DVector<f64>) {
        let coordinates = &self.population.coordinates;
        let old = point.to_vec();
        for (r, x) in point.iter_mut().enumerate() {
            let (low, high) = self.bounds(r);
            *x = (*x + step[r].clamp(-LONGEST, LONGEST)).clamp(low, high);
        }
        for span in graded(coordinates) {
            let gap = |x: &[f64], c: usize| x[c + 1] - x[c];
            let close = |x: &[f64]| {
                (span.start..span.end - 1).any(|c| gap(x, c).is_nan() || gap(x, c) < 0.25 * gap(&old, c))
            };
            for _ in 0..20 {
                if !close(point) {
                    break;
                }
                span.clone().for_each(|r| point[r] = 0.5 * (point[r] + old[r]));
            }
        }
        if let Some([low, high]) = coordinates.shares(point) {
            let scale = (0.95 / (low + high)).min(1.0);
            let at = coordinates.len() - 2;
            (point[at], point[at + 1]) = (low * scale, high * scale);
        }
    }
}

/// Difficulties of the items whose steps must stay in order.
fn graded(coordinates: &Coordinates) -> impl Iterator<Item = std::ops::Range<usize>> {
    let graded = |j: &usize| !coordinates.model(*j).divides_by_total();
    (0..coordinates.design().len()).filter(graded).map(|j| coordinates.difficulties(j))
}

/// Adds the curvature of the prior that keeps graded steps apart, and its slope.
pub(super) fn gap_prior(
    coordinates: &Coordinates,
    point: &[f64],
    precision: &mut DMatrix<f64>,
    mut slope: Option<&mut DVector<f64>>,
) {
    for span in graded(coordinates) {
        for c in span.start..span.end - 1 {
            let gap = point[c + 1] - point[c];
            let curvature = GAP / (gap * gap);
            if let Some(slope) = slope.as_deref_mut() {
                slope[c + 1] += GAP / gap;
                slope[c] -= GAP / gap;
            }
            precision[(c, c)] += curvature;
            precision[(c + 1, c + 1)] += curvature;
            precision[(c, c + 1)] -= curvature;
            precision[(c + 1, c)] -= curvature;
        }
    }
}

struct Step {
    step: DVector<f64>,
    length: f64,
    hessian: Cholesky<f64, Dyn>,
    /// GᵀV⁻¹ N V⁻¹G.
    noise: DMatrix<f64>,
    /// Λ.
    prior: DMatrix<f64>,
}

/// Cholesky factor of a covariance, with a ridge that grows until there is one.
pub(super) fn regular(mut matrix: DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    let n = matrix.nrows();
    let unit = matrix.trace() / n as f64;
    if !unit.is_finite() {
        return None;
    }
    let mut ridge = 1e-12 * unit;
    for _ in 0..8 {
        (0..n).for_each(|r| matrix[(r, r)] += ridge);
        if let Some(factor) = matrix.clone().cholesky() {
            return Some(factor);
        }
        ridge *= 10.0;
    }
    None
}

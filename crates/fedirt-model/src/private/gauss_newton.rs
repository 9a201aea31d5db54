//! The fit: θ such that the model expects the sums that were released.
//!
//! Minimises (Y − m(θ))ᵀ V⁻¹ (Y − m(θ)) + (θ − θ₀)ᵀΛ(θ − θ₀), V = S(θ) + noise, by Gauss–Newton steps: the generalised
//! method of moments (Hansen 1982) with the model's own covariance as weight.

use super::cells::{ExpectedStudents, Purpose, Sample};
use super::expectation::{Moments, Release, moments};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Most steps of a fit.
const STEPS: usize = 40;
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
pub(super) const GAP: f64 = 0.5;
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
        let (mut part, mut before) = (1.0, f64::INFINITY);
        let converged = loop {
            let step = self.step(&point, few)?;
            // Steps that do not get shorter go round in circles.
            part = if step.length > 0.7 * before { 0.5 * part } else { f64::min(1.0, 1.5 * part) };
            before = step.length;
            self.take(&mut point, &(&step.step * part));
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
        Fitted { point, covariance: step.hessian.inverse(), steps, converged, on_bound }
    }

    fn step(&self, point: &[f64], sample: Sample) -> Option<Step> {
        let d = self.population.coordinates.len();
        let Moments { mean, jacobian, covariance: mut v } =
            moments(self.population, &point[..d], &point[d..], self.releases, sample)?;
        for (r, noise) in self.noise.iter().enumerate() {
            v[(r, r)] += noise;
        }
        let v = regular(v)?;
        let weighted = v.solve(&jacobian);
        let mut hessian = jacobian.tr_mul(&weighted);
        let residual = DVector::from_column_slice(&self.sums) - mean;
        let from_prior = DVector::from_column_slice(point) - DVector::from_column_slice(&self.mean);
        let mut slope = weighted.tr_mul(&residual) - &self.precision * from_prior;
        hessian += &self.precision;
        for span in self.graded() {
            for c in span.start..span.end - 1 {
                let gap = point[c + 1] - point[c];
                let curvature = GAP / (gap * gap);
                slope[c + 1] += GAP / gap;
                slope[c] -= GAP / gap;
                hessian[(c, c)] += curvature;
                hessian[(c + 1, c + 1)] += curvature;
                hessian[(c, c + 1)] -= curvature;
                hessian[(c + 1, c)] -= curvature;
            }
        }
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
        length.is_finite().then_some(Step { step, length, hessian: full })
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

    /// Difficulties of the items whose steps must stay in order.
    fn graded(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let coordinates = &self.population.coordinates;
        let graded = |j: &usize| !coordinates.model(*j).divides_by_total();
        (0..coordinates.design().len()).filter(graded).map(|j| coordinates.difficulties(j))
    }

    /// Moves by a step that is cut coordinate by coordinate, and keeps intercepts in order.
    fn take(&self, point: &mut [f64], step: &DVector<f64>) {
        let coordinates = &self.population.coordinates;
        let old = point.to_vec();
        for (r, x) in point.iter_mut().enumerate() {
            let (low, high) = self.bounds(r);
            *x = (*x + step[r].clamp(-LONGEST, LONGEST)).clamp(low, high);
        }
        for span in self.graded() {
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

struct Step {
    step: DVector<f64>,
    length: f64,
    hessian: Cholesky<f64, Dyn>,
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

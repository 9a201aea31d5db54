//! What a private calibration will be able to tell, before any row is read.
//!
//! The standard errors of score2 follow from the design and the parameters, not from answers: at a guess of the
//! parameters the covariance (GᵀV⁻¹G + Λ)⁻¹ is known in advance. The first release is whitened at the prior means, as
//! in a run; the second at the guess, where a run would have its first estimate, so that a forecast is a little
//! hopeful where the first round tells next to nothing.

use super::PrivateError;
use super::cells::{ExpectedStudents, Purpose, Sample};
use super::expectation::{Release, information, moments};
use super::fisher::whitening;
use super::gauss_newton::{GAP, draws, regular};
use super::plan::{ROUND_SHARES, Score2Plan, step_difficulty};
use super::score2::{Score2Result, noise_ratio};
use nalgebra::DMatrix;

/// SD of log a, and of site effects, in a guess that nobody has improved upon.
const TYPICAL: (f64, f64) = (0.35, 0.5);

/// Moments of the sums of a plan at a guess. They do not depend on the noise, so one of these serves for any ε.
#[derive(Debug, Clone)]
pub struct Forecast {
    plan: Score2Plan,
    /// Students of each count of complete rows.
    students: Vec<f64>,
    theta: Vec<f64>,
    /// dm/dθ and S of both rounds.
    released: (DMatrix<f64>, DMatrix<f64>),
    /// The model's information about θ in all answers.
    whole: DMatrix<f64>,
    prior: DMatrix<f64>,
}

impl Forecast {
    /// Of a plan, if the parameters were θ.
    pub fn new(plan: &Score2Plan, theta: &[f64]) -> Result<Self, PrivateError> {
        let population = ExpectedStudents::new(plan)?;
        let coordinates = &population.coordinates;
        if theta.len() != coordinates.len() || theta.iter().any(|x| !x.is_finite()) {
            return Err(PrivateError::Request("the guess has the wrong length, or is not finite"));
        }
        let (mean, precision) = plan.prior.vectors(coordinates);
        let clip = plan.clip()?;
        let release = |at: &[f64], round: usize| {
            let w = whitening(&population, at, round).ok_or(PrivateError::Singular(round + 1))?;
            Ok::<_, PrivateError>(Release::new(&population, at.to_vec(), w, clip))
        };
        let rounds = [release(&mean, 0)?, release(theta, 1)?];
        let sample = Sample { draws: draws(population.students, true), purpose: Purpose::Last };
        // All rows are complete.
        let complete = vec![1.0; population.counts.len()];
        let released =
            moments(&population, theta, &complete, &rounds, sample).ok_or(PrivateError::Singular(2))?;
        let mut prior = population.counts.prior(mean, &precision).1;
        for span in (0..plan.design.len()).filter(|j| !coordinates.model(*j).divides_by_total()) {
            let span = coordinates.difficulties(span);
            for c in span.start..span.end - 1 {
                let curvature = GAP / (theta[c + 1] - theta[c]).powi(2);
                prior[(c, c)] += curvature;
                prior[(c + 1, c + 1)] += curvature;
                prior[(c, c + 1)] -= curvature;
                prior[(c + 1, c)] -= curvature;
            }
        }
        Ok(Self {
            plan: plan.clone(),
            students: population.students_by_count(),
            theta: theta.to_vec(),
            released: (released.jacobian, released.covariance),
            whole: information(&population, theta, sample),
            prior,
        })
    }

    /// What a private run would report with noise of these SDs in the sums of the two rounds.
    pub fn private(&self, noise_sd: [f64; 2]) -> Result<Score2Result, PrivateError> {
        self.result(self.told(noise_sd)? + &self.prior, noise_sd)
    }

    /// The same without priors: what the sums say by themselves. Where they say nothing errors are huge.
    pub fn sums_alone(&self, noise_sd: [f64; 2]) -> Result<Score2Result, PrivateError> {
        self.result(self.told(noise_sd)?, noise_sd)
    }

    /// What a run without noise and without clipping would report: the largest posterior of all answers.
    pub fn without_noise(&self) -> Result<Score2Result, PrivateError> {
        let d = self.theta.len();
        self.result(&self.whole + self.prior.view((0, 0), (d, d)), [0.0; 2])
    }

    /// The same without priors: maximum likelihood.
    pub fn maximum_likelihood(&self) -> Result<Score2Result, PrivateError> {
        self.result(self.whole.clone(), [0.0; 2])
    }

    /// GᵀV⁻¹G with noise in V.
    fn told(&self, noise_sd: [f64; 2]) -> Result<DMatrix<f64>, PrivateError> {
        let (g, mut v) = self.released.clone();
        let width = v.nrows() / ROUND_SHARES.len();
        (0..v.nrows()).for_each(|r| v[(r, r)] += noise_sd[r / width].powi(2));
        let v = regular(v).ok_or(PrivateError::Singular(2))?;
        Ok(g.tr_mul(&v.solve(&g)))
    }

    fn result(&self, information: DMatrix<f64>, noise_sd: [f64; 2]) -> Result<Score2Result, PrivateError> {
        let d = self.theta.len();
        let covariance = regular(information).ok_or(PrivateError::Singular(2))?.inverse();
        // Without noise nothing is counted.
        let counted = covariance.nrows() - d;
        let complete = (counted > 0).then(|| {
            let own = covariance.view((d, d), (counted, counted)).into_owned();
            self.plan.counts().complete(&vec![1.0; counted], &own, &self.students)
        });
        Ok(Score2Result {
            coordinates: self.plan.coordinates()?,
            theta: self.theta.clone(),
            covariance: covariance.view((0, 0), (d, d)).into_owned(),
            complete: complete.flatten(),
            noise_ratio: noise_ratio(noise_sd, self.plan.students() as f64),
            steps: Vec::new(),
            converged: true,
            on_bound: Vec::new(),
        })
    }
}

/// Parameters of an ordinary test: difficulties at normal quantiles, slopes at those of a lognormal distribution
/// around 1 (in an order that has nothing to do with difficulty), effects at quantiles of N(0, 0.5²).
pub fn typical(plan: &Score2Plan) -> Result<Vec<f64>, PrivateError> {
    let coordinates = plan.coordinates()?;
    let items = plan.design.len();
    // Steps of about a golden section go once through all places.
    let mut stride = ((items as f64 * 0.618) as usize).max(1);
    while gcd(stride, items) != 1 {
        stride += 1;
    }
    let a: Vec<f64> =
        (0..items).map(|j| (TYPICAL.0 * step_difficulty(j * stride % items + 1, items)).exp()).collect();
    let b: Vec<Vec<f64>> = (0..items)
        .map(|j| {
            let (at, steps) = (step_difficulty(j + 1, items), plan.design.categories(j) - 1);
            let centre = if steps == 1 { at } else { 0.5 * at };
            (1..=steps).map(|c| centre + step_difficulty(c, steps)).collect()
        })
        .collect();
    let sites = plan.sites.len();
    let effects: Vec<f64> = (1..=sites).map(|k| TYPICAL.1 * step_difficulty(k, sites)).collect();
    Ok(coordinates.theta(&a, &b, &effects, [plan.prior.share.0; 2]))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

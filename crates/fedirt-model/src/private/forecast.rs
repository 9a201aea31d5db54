//! What a private calibration will be able to tell, before any row is read.
//!
//! The standard errors of a private run follow from the design and the parameters, not from answers: at a guess of the
//! parameters the covariance (GᵀV⁻¹G + Λ)⁻¹ is known in advance. The first release is made at the prior means, as
//! in a run; the second at the guess, where a run would have its first estimate, so that a forecast is a little
//! hopeful where the first round tells next to nothing.

use super::PrivateError;
use super::cells::{ExpectedStudents, Purpose, Sample};
use super::expectation::{Moments, Release, information, moments};
use super::gauss_newton::{draws, gap_prior, regular};
use super::machine::{PrivateResult, noise_ratio, statistic};
use super::plan::{PrivatePlan, step_difficulty};
use super::row_statistic::PrivateMechanism;
use nalgebra::DMatrix;

/// SD of log a, and of site effects, in a guess that nobody has improved upon.
const TYPICAL: (f64, f64) = (0.35, 0.5);

/// A plan with a guess of its parameters, ready for any noise.
#[derive(Debug, Clone)]
pub struct Forecast {
    plan: PrivatePlan,
    population: ExpectedStudents,
    theta: Vec<f64>,
    /// Moments of the sums of both rounds, if they do not depend on the noise.
    released: Option<Moments>,
    /// The model's information about θ in all answers.
    whole: DMatrix<f64>,
    /// Prior means of (θ, ρ), and precisions at the guess.
    mean: Vec<f64>,
    prior: DMatrix<f64>,
}

/// What to expect with a certain noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// As a private run would report it.
    pub reported: PrivateResult,
    /// Without priors: what the sums say by themselves. Where they say nothing errors are huge.
    pub sums_alone: PrivateResult,
}

impl Forecast {
    /// Of a plan, if the parameters were θ.
    pub fn new(plan: &PrivatePlan, theta: &[f64]) -> Result<Self, PrivateError> {
        let population = ExpectedStudents::new(plan)?;
        let coordinates = &population.coordinates;
        if theta.len() != coordinates.len() || theta.iter().any(|x| !x.is_finite()) {
            return Err(PrivateError::Request("the guess has the wrong length, or is not finite"));
        }
        let (mean, precision) = plan.prior.vectors(coordinates);
        let (mean, mut prior) = population.counts.prior(mean, &precision);
        gap_prior(coordinates, theta, &mut prior, None);
        let sample = Self::sample(&population);
        let whole = information(&population, theta, sample);
        let (plan, theta) = (plan.clone(), theta.to_vec());
        let mut out = Self { plan, population, theta, released: None, whole, mean, prior };
        if out.plan.mechanism == PrivateMechanism::Score2 {
            // Noise has no part in it.
            out.released = Some(out.moments([1.0; 2])?);
        }
        Ok(out)
    }

    fn sample(population: &ExpectedStudents) -> Sample {
        Sample { draws: draws(population.students, true), purpose: Purpose::Last }
    }

    /// Moments of the sums of both rounds, asked for as a run would with noise of these SDs.
    fn moments(&self, noise_sd: [f64; 2]) -> Result<Moments, PrivateError> {
        let (plan, population) = (&self.plan, &self.population);
        let (d, clip) = (self.theta.len(), plan.clip()?);
        // All rows are complete.
        let complete = vec![1.0; population.counts.len()];
        let sums = |releases: &[Release]| {
            moments(population, &self.theta, &complete, releases, Self::sample(population))
        };
        let start = self.mean[..d].to_vec();
        let own = self.prior.view((0, 0), (d, d)).into_owned();
        let ask = |at: &[f64], known: &DMatrix<f64>, round: usize| {
            let asked = statistic(plan, population, (at, known), noise_sd[round], round)?;
            Ok::<_, PrivateError>(Release::new(population, at.to_vec(), &asked, clip))
        };
        let first = ask(&start, &own, 0)?;
        let known = match plan.mechanism {
            PrivateMechanism::Score2 => own,
            PrivateMechanism::Optimal => {
                let told = sums(std::slice::from_ref(&first)).ok_or(PrivateError::Singular(1))?;
                let information = told.information(&noise_sd[..1]).ok_or(PrivateError::Singular(1))?;
                let covariance = regular(information + &self.prior).ok_or(PrivateError::Singular(1))?;
                let about_theta = covariance.inverse().view((0, 0), (d, d)).into_owned();
                regular(about_theta).ok_or(PrivateError::Singular(1))?.inverse()
            }
        };
        let second = ask(&self.theta, &known, 1)?;
        sums(&[first, second]).ok_or(PrivateError::Singular(2))
    }

    /// What a private run would say with noise of these SDs in the sums of the two rounds.
    pub fn at(&self, noise_sd: [f64; 2]) -> Result<Expectation, PrivateError> {
        let made;
        let moments = match &self.released {
            Some(moments) => moments,
            None => {
                made = self.moments(noise_sd)?;
                &made
            }
        };
        let told = moments.information(&noise_sd).ok_or(PrivateError::Singular(2))?;
        Ok(Expectation {
            reported: self.result(&told + &self.prior, noise_sd)?,
            sums_alone: self.result(told, noise_sd)?,
        })
    }

    /// What a run without noise and without clipping would report: the largest posterior of all answers.
    pub fn without_noise(&self) -> Result<PrivateResult, PrivateError> {
        let d = self.theta.len();
        self.result(&self.whole + self.prior.view((0, 0), (d, d)), [0.0; 2])
    }

    /// The same without priors: maximum likelihood.
    pub fn maximum_likelihood(&self) -> Result<PrivateResult, PrivateError> {
        self.result(self.whole.clone(), [0.0; 2])
    }

    fn result(&self, information: DMatrix<f64>, noise_sd: [f64; 2]) -> Result<PrivateResult, PrivateError> {
        let d = self.theta.len();
        let covariance = regular(information).ok_or(PrivateError::Singular(2))?.inverse();
        // Without noise nothing is counted.
        let counted = covariance.nrows() - d;
        let complete = (counted > 0).then(|| {
            let own = covariance.view((d, d), (counted, counted)).into_owned();
            self.plan.counts().complete(&vec![1.0; counted], &own, &self.population.students_by_count())
        });
        Ok(PrivateResult {
            coordinates: self.plan.coordinates()?,
            theta: self.theta.clone(),
            covariance: covariance.view((0, 0), (d, d)).into_owned(),
            sources: None,
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
pub fn typical(plan: &PrivatePlan) -> Result<Vec<f64>, PrivateError> {
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

//! The centre's machine: asks two rounds, fits after each.

use super::PrivateError;
use super::cells::ExpectedStudents;
use super::coordinates::Coordinates;
use super::counts::Complete;
use super::expectation::Release;
use super::fisher::{packed, whitening};
use super::gauss_newton::{Fitted, Problem};
use super::plan::{ROUND_SHARES, Score2Plan};
use super::rows::ScoreRequest;
use nalgebra::DMatrix;

/// What the machine wants.
#[derive(Debug)]
pub enum Score2Step {
    /// Ask all sites for the sum of their clipped whitened scores, with noise.
    Ask(Box<ScoreRequest>),
    /// Finished.
    Done(Box<Score2Result>),
}

/// The machine. It sees noisy sums and the plan, and is a pure function of both.
#[derive(Debug)]
pub struct Score2 {
    plan: Score2Plan,
    population: ExpectedStudents,
    releases: Vec<Release>,
    sums: Vec<f64>,
    noise: Vec<f64>,
    /// (θ, ρ) of the last fit.
    point: Vec<f64>,
    mean: Vec<f64>,
    precision: DMatrix<f64>,
    steps: Vec<usize>,
}

/// What two rounds of noisy sums say.
#[derive(Debug, Clone, PartialEq)]
pub struct Score2Result {
    /// The coordinates of θ.
    pub coordinates: Coordinates,
    /// Estimates.
    pub theta: Vec<f64>,
    /// Their covariance (GᵀV⁻¹G + Λ)⁻¹, noise and prior included.
    pub covariance: DMatrix<f64>,
    /// Shares of complete rows, where they are counted.
    pub complete: Option<Complete>,
    /// How much of the variance is due to noise, roughly (`noise_ratio`): above 1 intervals are too short.
    pub noise_ratio: f64,
    /// Gauss–Newton steps after each round.
    pub steps: Vec<usize>,
    /// Whether the fit of both rounds came to rest.
    pub converged: bool,
    /// Coordinates that ended on a bound of the search.
    pub on_bound: Vec<usize>,
}

/// 1/(N Σ_r v_r⁻¹), v_r the variance of the noise in each whitened coordinate of the sum of round r: the variance of the
/// noise in both rounds together over that of N students' scores. One adder's noise of variance C²/μ_r² makes it C²/(μ²N);
/// noise in shares is |U|/(|U| − c) times as much.
pub(super) fn noise_ratio(noise_sd: impl IntoIterator<Item = f64>, students: f64) -> f64 {
    (students * noise_sd.into_iter().map(|sd| sd.powi(-2)).sum::<f64>()).recip()
}

impl Score2 {
    /// A run of this plan, with its first question, which is asked at the prior means.
    pub fn new(plan: Score2Plan) -> Result<(Self, ScoreRequest), PrivateError> {
        let population = ExpectedStudents::new(&plan)?;
        let (mean, precision) = plan.prior.vectors(&population.coordinates);
        let (mean, precision) = population.counts.prior(mean, &precision);
        let mut machine = Self {
            plan,
            population,
            releases: Vec::new(),
            sums: Vec::new(),
            noise: Vec::new(),
            point: mean.clone(),
            mean,
            precision,
            steps: Vec::new(),
        };
        let request = machine.ask()?;
        Ok((machine, request))
    }

    /// The plan.
    pub fn plan(&self) -> &Score2Plan {
        &self.plan
    }

    /// Takes the released sum of the round, with the noise that the plan foresaw.
    pub fn advance(&mut self, sums: &[f64]) -> Result<Score2Step, PrivateError> {
        let noise_sd = self.plan.noise_sd[self.round() - 1];
        self.advance_with_noise(sums, noise_sd)
    }

    /// Takes the released sum of the round; `noise_sd` is the SD of the noise in each coordinate as it was added.
    pub fn advance_with_noise(&mut self, sums: &[f64], noise_sd: f64) -> Result<Score2Step, PrivateError> {
        let (round, expected) = (self.round(), self.width());
        let finite = sums.iter().all(|x| x.is_finite()) && noise_sd.is_finite() && noise_sd > 0.0;
        if sums.len() != expected || !finite || self.sums.len() == self.releases.len() * expected {
            return Err(PrivateError::Sums { round, expected });
        }
        self.sums.extend(sums);
        self.noise.extend(vec![noise_sd * noise_sd; expected]);
        let last = round == ROUND_SHARES.len();
        let problem = Problem {
            population: &self.population,
            releases: &self.releases,
            sums: self.sums.clone(),
            noise: self.noise.clone(),
            mean: self.mean.clone(),
            precision: self.precision.clone(),
        };
        let fitted = problem.fit(self.point.clone(), round - 1, last).ok_or(PrivateError::Singular(round))?;
        self.point.clone_from(&fitted.point);
        self.steps.push(fitted.steps);
        if last {
            return Ok(Score2Step::Done(Box::new(self.result(&fitted))));
        }
        Ok(Score2Step::Ask(Box::new(self.ask()?)))
    }

    /// The round that is being asked, from 1.
    fn round(&self) -> usize {
        self.releases.len()
    }

    fn width(&self) -> usize {
        self.population.coordinates.len() + self.population.counts.len()
    }

    fn theta(&self) -> Vec<f64> {
        self.point[..self.population.coordinates.len()].to_vec()
    }

    fn ask(&mut self) -> Result<ScoreRequest, PrivateError> {
        let round = self.releases.len();
        let (theta, clip) = (self.theta(), self.plan.clip()?);
        let w = whitening(&self.population, &theta, round).ok_or(PrivateError::Singular(round + 1))?;
        let plan = &self.plan;
        let request = ScoreRequest {
            design: plan.design.clone(),
            effects: plan.effects,
            sites: plan.sites.len(),
            site_sd: plan.site_sd,
            grid: plan.grid,
            mixture: plan.mixture,
            booklets: plan.booklets.clone(),
            missing: plan.missing,
            theta: theta.clone(),
            whitening: packed(&w),
            clip,
        };
        self.releases.push(Release::new(&self.population, theta, w, clip));
        Ok(request)
    }

    fn result(&self, fitted: &Fitted) -> Score2Result {
        let d = self.population.coordinates.len();
        let counts = self.population.counts;
        let covariance = fitted.covariance.view((d, d), (counts.len(), counts.len())).into_owned();
        let complete = counts.complete(&fitted.point[d..], &covariance, &self.population.students_by_count());
        let noise_sd = self.noise.iter().step_by(self.width()).map(|variance| variance.sqrt());
        Score2Result {
            coordinates: self.population.coordinates.clone(),
            theta: self.theta(),
            covariance: fitted.covariance.view((0, 0), (d, d)).into_owned(),
            complete,
            noise_ratio: noise_ratio(noise_sd, self.population.students),
            steps: self.steps.clone(),
            converged: fitted.converged,
            on_bound: fitted.on_bound.clone(),
        }
    }
}

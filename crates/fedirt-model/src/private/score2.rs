//! The centre's machine: asks two rounds, fits after each.

use super::PrivateError;
use super::cells::Population;
use super::coordinates::Coordinates;
use super::expectation::Release;
use super::fisher::{packed, whitening};
use super::gauss_newton::{Fitted, Problem};
use super::plan::{MissingAnswers, ROUND_SHARES, Score2Plan};
use super::rows::ScoreRequest;
use nalgebra::DMatrix;

/// Prior mean and SD of the share of complete rows.
pub(super) const COMPLETE: (f64, f64) = (0.95, 0.5);

/// What the machine wants.
#[derive(Debug)]
pub enum Step {
    /// Ask all sites for the sum of their clipped whitened scores, with noise.
    Ask(Box<ScoreRequest>),
    /// Finished.
    Done(Box<Score2Result>),
}

/// The machine. It sees noisy sums and the plan, and is a pure function of both.
#[derive(Debug)]
pub struct Score2 {
    plan: Score2Plan,
    population: Population,
    releases: Vec<Release>,
    sums: Vec<f64>,
    noise: Vec<f64>,
    /// (θ, ρ) of the last fit.
    point: Vec<f64>,
    mean: Vec<f64>,
    precision: Vec<f64>,
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
    /// Share of complete rows and its standard error, where they are counted.
    pub complete: Option<(f64, f64)>,
    /// d/(μ²N), the part of the variance that is due to noise, roughly: above 1 intervals are too short.
    pub noise_ratio: f64,
    /// Gauss–Newton steps after each round.
    pub steps: Vec<usize>,
}

impl Score2 {
    /// A run of this plan, with its first question, which is asked at the prior means.
    pub fn new(plan: Score2Plan) -> Result<(Self, ScoreRequest), PrivateError> {
        let population = Population::new(&plan)?;
        let (mut mean, mut precision) = plan.prior.vectors(&population.coordinates);
        if population.counted {
            mean.push(COMPLETE.0);
            precision.push(COMPLETE.1.powi(-2));
        }
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
    pub fn advance(&mut self, sums: &[f64]) -> Result<Step, PrivateError> {
        let noise_sd = self.plan.noise_sd[self.round() - 1];
        self.advance_with_noise(sums, noise_sd)
    }

    /// Takes the released sum of the round; `noise_sd` is the SD of the noise in each coordinate as it was added.
    pub fn advance_with_noise(&mut self, sums: &[f64], noise_sd: f64) -> Result<Step, PrivateError> {
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
            return Ok(Step::Done(Box::new(self.result(&fitted))));
        }
        Ok(Step::Ask(Box::new(self.ask()?)))
    }

    /// The round that is being asked, from 1.
    fn round(&self) -> usize {
        self.releases.len()
    }

    fn width(&self) -> usize {
        self.population.coordinates.len() + usize::from(self.population.counted)
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
        let complete = (self.plan.missing == MissingAnswers::Counted)
            .then(|| (fitted.point[d], fitted.covariance[(d, d)].max(0.0).sqrt()));
        Score2Result {
            coordinates: self.population.coordinates.clone(),
            theta: self.theta(),
            covariance: fitted.covariance.view((0, 0), (d, d)).into_owned(),
            complete,
            noise_ratio: self.width() as f64 / (self.plan.mu.powi(2) * self.population.students),
            steps: self.steps.clone(),
        }
    }
}

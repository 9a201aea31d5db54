//! The centre's machine: asks two rounds, fits after each.

use super::PrivateError;
use super::cells::ExpectedStudents;
use super::coordinates::Coordinates;
use super::counts::Complete;
use super::expectation::Release;
use super::fisher::{packed, whitening};
use super::gauss_newton::{Fitted, Problem, regular};
use super::optimal::{Aim, optimal};
use super::plan::{PrivatePlan, ROUND_SHARES};
use super::row_statistic::{PrivateMechanism, RowStatistic, bound};
use super::rows::ScoreRequest;
use nalgebra::{DMatrix, DVector};

/// What the machine wants.
#[derive(Debug)]
pub enum PrivateStep {
    /// Ask all sites for the sum of their clipped whitened scores, with noise.
    Ask(Box<ScoreRequest>),
    /// Finished.
    Done(Box<PrivateResult>),
}

/// The machine. It sees noisy sums and the plan, and is a pure function of both.
#[derive(Debug)]
pub struct PrivateCalibration {
    plan: PrivatePlan,
    population: ExpectedStudents,
    releases: Vec<Release>,
    sums: Vec<f64>,
    noise: Vec<f64>,
    /// (θ, ρ) of the last fit.
    point: Vec<f64>,
    /// What is known about θ: at first from the prior, then from the sums too.
    known: DMatrix<f64>,
    mean: Vec<f64>,
    precision: DMatrix<f64>,
    /// Precisions of the priors of θ, each by itself.
    prior: Vec<f64>,
    steps: Vec<usize>,
}

/// What two rounds of noisy sums say.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateResult {
    /// The coordinates of θ.
    pub coordinates: Coordinates,
    /// Estimates.
    pub theta: Vec<f64>,
    /// Their covariance (GᵀV⁻¹G + Λ)⁻¹, noise and prior included.
    pub covariance: DMatrix<f64>,
    /// Where the covariance comes from; `None` in a forecast.
    pub sources: Option<ErrorSources>,
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

/// Parts of a covariance C = (GᵀV⁻¹G + Λ)⁻¹ = C(GᵀV⁻¹(S + N)V⁻¹G + Λ)C: of sampling (S, the rest of it), of noise (N) and
/// of the prior (Λ).
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorSources {
    /// What the noise adds.
    pub noise: DMatrix<f64>,
    /// What the prior adds: how far it may have drawn estimates towards itself.
    pub prior: DMatrix<f64>,
    /// Precision of the prior over that of the result, for each parameter by itself: 1 where nothing was learned.
    pub prior_share: Vec<f64>,
    /// How far the prior has drawn each estimate towards itself, to first order: C Λ (θ − θ₀).
    pub drawn: Vec<f64>,
}

/// 1/(N Σ_r v_r⁻¹), v_r the variance of the noise in each whitened coordinate of the sum of round r: the variance of the
/// noise in both rounds together over that of N students' scores. One adder's noise of variance C²/μ_r² makes it C²/(μ²N);
/// noise in shares is |U|/(|U| − c) times as much.
pub(super) fn noise_ratio(noise_sd: impl IntoIterator<Item = f64>, students: f64) -> f64 {
    (students * noise_sd.into_iter().map(|sd| sd.powi(-2)).sum::<f64>()).recip()
}

/// The statistic that a round asks for at θ, when this much is known about it.
pub(super) fn statistic(
    plan: &PrivatePlan,
    population: &ExpectedStudents,
    (theta, known): (&[f64], &DMatrix<f64>),
    noise_sd: f64,
    round: usize,
) -> Result<RowStatistic, PrivateError> {
    let singular = PrivateError::Singular(round + 1);
    match plan.mechanism {
        PrivateMechanism::Score2 => {
            let w = whitening(population, theta, round).ok_or(singular)?;
            Ok(RowStatistic::Whitened(packed(&w)))
        }
        PrivateMechanism::Optimal => {
            let bound = bound(plan.clip()?, population.counted());
            optimal(population, &Aim { theta, known, noise_sd, bound }, round).ok_or(singular)
        }
    }
}

impl PrivateCalibration {
    /// A run of this plan, with its first question, which is asked at the prior means.
    pub fn new(plan: PrivatePlan) -> Result<(Self, ScoreRequest), PrivateError> {
        let population = ExpectedStudents::new(&plan)?;
        let (mean, prior) = plan.prior.vectors(&population.coordinates);
        let known = DMatrix::from_diagonal(&DVector::from_column_slice(&prior));
        let (mean, precision) = population.counts.prior(mean, &prior);
        let mut machine = Self {
            plan,
            population,
            releases: Vec::new(),
            sums: Vec::new(),
            noise: Vec::new(),
            point: mean.clone(),
            known,
            mean,
            precision,
            prior,
            steps: Vec::new(),
        };
        let request = machine.ask()?;
        Ok((machine, request))
    }

    /// The plan.
    pub fn plan(&self) -> &PrivatePlan {
        &self.plan
    }

    /// Takes the released sum of the round, with the noise that the plan foresaw.
    pub fn advance(&mut self, sums: &[f64]) -> Result<PrivateStep, PrivateError> {
        let noise_sd = self.plan.noise_sd[self.round() - 1];
        self.advance_with_noise(sums, noise_sd)
    }

    /// Takes the released sum of the round; `noise_sd` is the SD of the noise in each coordinate as it was added.
    pub fn advance_with_noise(&mut self, sums: &[f64], noise_sd: f64) -> Result<PrivateStep, PrivateError> {
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
        let d = self.population.coordinates.len();
        let covariance = fitted.covariance.view((0, 0), (d, d)).into_owned();
        self.known = regular(covariance).ok_or(PrivateError::Singular(round))?.inverse();
        if last {
            return Ok(PrivateStep::Done(Box::new(self.result(&fitted))));
        }
        Ok(PrivateStep::Ask(Box::new(self.ask()?)))
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
        let theta = self.theta();
        let noise_sd = self.plan.noise_sd[round];
        let statistic = statistic(&self.plan, &self.population, (&theta, &self.known), noise_sd, round)?;
        let (plan, clip) = (&self.plan, self.plan.clip()?);
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
            statistic,
            clip,
        };
        self.releases.push(Release::new(&self.population, theta, &request.statistic, clip));
        Ok(request)
    }

    /// C Λ (θ − θ₀), in all parameters.
    fn drawn(&self, fitted: &Fitted) -> Vec<f64> {
        let away = DVector::from_column_slice(&fitted.point) - DVector::from_column_slice(&self.mean);
        (&fitted.covariance * (&self.precision * away)).as_slice().to_vec()
    }

    fn result(&self, fitted: &Fitted) -> PrivateResult {
        let d = self.population.coordinates.len();
        let counts = self.population.counts;
        let covariance = fitted.covariance.view((d, d), (counts.len(), counts.len())).into_owned();
        let complete = counts.complete(&fitted.point[d..], &covariance, &self.population.students_by_count());
        let own = |matrix: &DMatrix<f64>| matrix.view((0, 0), (d, d)).into_owned();
        let noise_sd = self.noise.iter().step_by(self.width()).map(|variance| variance.sqrt());
        PrivateResult {
            coordinates: self.population.coordinates.clone(),
            theta: self.theta(),
            covariance: own(&fitted.covariance),
            sources: Some(ErrorSources {
                noise: own(&fitted.noise),
                prior: own(&fitted.prior),
                drawn: self.drawn(fitted)[..d].to_vec(),
                prior_share: (0..d).map(|r| self.prior[r] * fitted.covariance[(r, r)]).collect(),
            }),
            complete,
            noise_ratio: noise_ratio(noise_sd, self.population.students),
            steps: self.steps.clone(),
            converged: fitted.converged,
            on_bound: fitted.on_bound.clone(),
        }
    }
}

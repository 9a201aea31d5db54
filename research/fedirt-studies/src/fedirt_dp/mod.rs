//! FedIRT-DP, the differentially private algorithm of the FedIRT paper ("Differentially Private FedIRT", its two
//! DP algorithms), as a baseline: many rounds of clipped, noisy gradients and Adam.
//!
//! In each round the centre broadcasts (a, b, s); each student's gradient over (log a, b, s_k) enters a sum with
//! probability q_s, clipped to length C; the sum carries noise of standard deviation σC. The centre takes off the
//! priors' pull, makes an Adam step, keeps a within [0.2, 3] in the first 10 rounds, centres s, and reports the mean
//! over the last 10 rounds. Nothing corrects the bias of clipping, and there are no standard errors.
//!
//! A remark on centring: where the prior pulls difficulties, the gradients of all s_k have a common part, which Adam
//! scales by site before the centring takes it off. So even without noise the run ends near the largest posterior,
//! not at it, and an early stop, which asks for a small gradient, comes only without effects. That is as published.
//!
//! ([`fedirt_model::private::PrivateCalibration`], the product's own mechanism, gives smaller errors at the same ε.)

mod adam;
mod plan;
mod report;
mod rows;
mod run;
mod settings;

pub use plan::{Kind, Layout, Plan};
pub use report::{Estimates, fit};
pub use rows::{Request, each_gradient};
pub use run::{NoiseAt, calibrate, release, run};
pub use settings::{Decay, LearningRates, SampleWeight, Settings};

use adam::Adam;
use fedirt_model::private::PrivateError;
use fedirt_model::quadrature::{GridSpec, Weighting};

/// Rounds in which slopes are kept within [`SLOPES`].
const CLAMPED_ROUNDS: usize = 10;
/// Least and largest a in those rounds.
const SLOPES: (f64, f64) = (0.2, 3.0);
/// Rounds that are averaged.
const AVERAGED_ROUNDS: usize = 10;
/// Bounds of log a, and of |b| and |s|, that noise alone would reach.
const LOG_SLOPE: (f64, f64) = (-4.0, 3.0);
const FURTHEST: f64 = 8.0;

/// The paper's quadrature: q = 21, θ₀ = 5, weights are masses of bins.
pub(crate) const PAPER_GRID: GridSpec = GridSpec { nodes: 21, range: 5.0, weighting: Weighting::Paper };

/// What the machine wants.
#[derive(Debug)]
pub enum DpStep {
    /// Ask all sites for the sum of their sampled, clipped gradients, with noise.
    Ask(Box<Request>),
    /// Finished.
    Done(Box<Estimates>),
}

/// The centre's machine. It sees noisy sums and the plan, and is a pure function of both.
#[derive(Debug)]
pub struct FedirtDp {
    plan: Plan,
    layout: Layout,
    mean: Vec<f64>,
    precision: Vec<f64>,
    theta: Vec<f64>,
    adam: Adam,
    /// θ after each of the last rounds, the one of round t at t mod 10.
    recent: Vec<Vec<f64>>,
    /// Rounds whose sums arrived.
    rounds: usize,
    done: bool,
}

impl FedirtDp {
    /// A run of this plan, with its first question, which is asked at the prior means: a = 1, b = 0, s = 0 for items
    /// with two categories.
    pub fn new(plan: Plan) -> Result<(Self, Request), PrivateError> {
        plan.check()?;
        let layout = plan.layout()?;
        let (mean, precision) = layout.prior(&plan.prior);
        let machine = Self {
            theta: mean.clone(),
            adam: Adam::new(layout.len()),
            recent: Vec::with_capacity(AVERAGED_ROUNDS),
            rounds: 0,
            done: false,
            plan,
            layout,
            mean,
            precision,
        };
        let request = machine.ask();
        Ok((machine, request))
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Takes the released sum of the round.
    pub fn advance(&mut self, sums: &[f64]) -> Result<DpStep, PrivateError> {
        let (round, expected) = (self.rounds + 1, self.layout.len());
        if self.done || sums.len() != expected || !sums.iter().all(|x| x.is_finite()) {
            return Err(PrivateError::Sums { round, expected });
        }
        self.rounds = round;
        let gradient = self.gradient(sums);
        let old = self.theta.clone();
        self.climb(&gradient);
        if self.recent.len() < AVERAGED_ROUNDS {
            self.recent.push(self.theta.clone());
        } else {
            self.recent[(round - 1) % AVERAGED_ROUNDS].clone_from(&self.theta);
        }
        self.done = round == self.plan.settings.rounds || self.stands(&gradient, &old);
        Ok(if self.done {
            DpStep::Done(Box::new(self.estimates()))
        } else {
            DpStep::Ask(Box::new(self.ask()))
        })
    }

    /// G/q_s − Λ(θ − θ₀), or with G as it is where the settings say so: the gradient of the log-posterior.
    fn gradient(&self, sums: &[f64]) -> Vec<f64> {
        let share = match self.plan.settings.sample_weight {
            SampleWeight::Students => self.plan.settings.sampling_rate,
            SampleWeight::Sample => 1.0,
        };
        let pull = |r: usize| self.precision[r] * (self.theta[r] - self.mean[r]);
        sums.iter().enumerate().map(|(r, sum)| sum / share - pull(r)).collect()
    }

    /// One step, back into the bounds.
    fn climb(&mut self, gradient: &[f64]) {
        let old = self.theta.clone();
        let settings = &self.plan.settings;
        let (rates, factor) = (settings.learning_rates, settings.decay.factor(self.rounds, settings.rounds));
        let rate = |kind: Kind| {
            factor
                * match kind {
                    Kind::Slope => rates.slope,
                    Kind::Difficulty => rates.difficulty,
                    Kind::Effect => rates.effect,
                }
        };
        self.adam.climb(gradient, self.layout.kinds().map(rate), &mut self.theta);
        for (x, kind) in self.theta.iter_mut().zip(self.layout.kinds()) {
            *x = match kind {
                Kind::Slope if self.rounds <= CLAMPED_ROUNDS => x.clamp(SLOPES.0.ln(), SLOPES.1.ln()),
                Kind::Slope => x.clamp(LOG_SLOPE.0, LOG_SLOPE.1),
                Kind::Difficulty | Kind::Effect => x.clamp(-FURTHEST, FURTHEST),
            };
        }
        self.keep_order(&old);
        let effects = &mut self.theta[self.layout.effects()];
        let mean = effects.iter().sum::<f64>() / effects.len().max(1) as f64;
        effects.iter_mut().for_each(|s| *s -= mean);
    }

    /// Graded items whose thresholds changed places go half of the way, a quarter, …, or stay.
    fn keep_order(&mut self, old: &[f64]) {
        let items = self.layout.items();
        for j in 0..self.plan.design.len() {
            let (model, span) = (items.model(j), items.difficulties(j));
            let mut tries = 0;
            while !model.admissible_intercepts(&model.intercepts(1.0, &self.theta[span.clone()])) {
                tries += 1;
                for r in span.clone() {
                    self.theta[r] = if tries < 20 { 0.5 * (self.theta[r] + old[r]) } else { old[r] };
                }
                if tries == 20 {
                    break;
                }
            }
        }
    }

    /// Whether the run may stop: post-processing of noisy sums, at no cost of privacy and no gain.
    fn stands(&self, gradient: &[f64], old: &[f64]) -> bool {
        self.plan.settings.stop.is_some_and(|tolerance| {
            let moved = |(x, old): (&f64, &f64)| (x - old).abs() <= tolerance * x.abs().max(1.0);
            gradient.iter().all(|g| g.abs() <= tolerance) && self.theta.iter().zip(old).all(moved)
        })
    }

    fn ask(&self) -> Request {
        let plan = &self.plan;
        Request {
            design: plan.design.clone(),
            effects: plan.effects,
            sites: plan.sites.len(),
            site_sd: plan.site_sd,
            grid: plan.grid,
            booklets: plan.booklets.clone(),
            missing: plan.missing,
            theta: self.theta.clone(),
            sampling_rate: plan.settings.sampling_rate,
            clip: plan.settings.clip,
        }
    }

    fn estimates(&self) -> Estimates {
        let mut theta = vec![0.0; self.layout.len()];
        for recent in &self.recent {
            theta.iter_mut().zip(recent).for_each(|(t, x)| *t += x / self.recent.len() as f64);
        }
        let settings = &self.plan.settings;
        let sampled = self.plan.noise_multiplier / settings.sampling_rate;
        let students = settings.rounds as f64 * self.plan.students() as f64;
        Estimates {
            layout: self.layout.clone(),
            theta,
            rounds: self.rounds,
            noise_ratio: self.layout.len() as f64 * sampled * sampled / students,
        }
    }
}

#[cfg(test)]
mod tests;

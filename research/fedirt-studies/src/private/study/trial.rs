//! One data set, and what every method makes of it.

use super::condition::{Condition, Items};
use crate::StudyError;
use crate::fedirt_dp::{self, Settings};
use crate::private::run as run_plan;
use crate::private::truth::design;
use fedirt_model::exchange::Effects;
use fedirt_model::private::{PrivateMechanism, PrivatePlan, PrivateResult};
use fedirt_model::quadrature::GridSpec;
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::Truth;
use fedirt_privacy::accountant::{Delta, Epsilon, GaussianDp, noise_multiplier};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// δ of all conditions.
const DELTA: f64 = 1e-6;

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The largest posterior, without noise.
    WithoutNoise,
    /// score2.
    Score2,
    /// The optimal bounded statistic.
    Optimal,
    /// FedIRT-DP with the settings tuned for the next smaller ε.
    PublishedLow,
    /// FedIRT-DP with the settings tuned for the next larger ε.
    PublishedHigh,
}

impl Estimator {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::WithoutNoise => "without noise",
            Self::Score2 => "score2",
            Self::Optimal => "optimal",
            Self::PublishedLow => "FedIRT-DP (tuned for 0.5)",
            Self::PublishedHigh => "FedIRT-DP (tuned for 2)",
        }
    }
}

/// How many 95 % intervals hold the truth, and how many items are named as leaning on the prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Band {
    /// Intervals.
    pub of: u32,
    /// Those that hold the truth.
    pub covered: u32,
    /// Those whose item is named.
    pub named: u32,
}

/// What one method made of one data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodRecord {
    /// Name of the condition.
    pub condition: String,
    /// Seed of the data.
    pub seed: u64,
    /// The method.
    pub method: Estimator,
    /// Mean squared errors of a, b and s.
    pub mse: [f64; 3],
    /// Intervals of slopes.
    pub slopes: Band,
    /// Intervals of difficulties with |b| ≤ 2.
    pub regular: Band,
    /// Intervals of difficulties with |b| ≥ 3.
    pub extreme: Band,
    /// Whether the fit came to rest; `None` for the published algorithm.
    pub converged: Option<bool>,
}

pub(super) fn run(condition: &Condition, seed: u64) -> Result<Vec<MethodRecord>, StudyError> {
    let (truth, tables) = condition.draw(seed)?;
    let budget = (Epsilon::new(condition.epsilon)?, Delta::new(DELTA)?);
    let mu = GaussianDp::for_budget(budget.0, budget.1).mu();
    let mut methods = vec![Estimator::WithoutNoise, Estimator::Score2, Estimator::Optimal];
    if condition.items == Items::Published {
        methods.extend([Estimator::PublishedLow, Estimator::PublishedHigh]);
    }
    let mut records = Vec::with_capacity(methods.len());
    for method in methods {
        // The same noise for both mechanisms, so that their difference is that of the mechanisms.
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x7072_6976);
        let mut record = MethodRecord {
            condition: condition.name.to_owned(),
            seed,
            method,
            mse: [0.0; 3],
            slopes: Band::default(),
            regular: Band::default(),
            extreme: Band::default(),
            converged: None,
        };
        match method {
            Estimator::PublishedLow | Estimator::PublishedHigh => {
                let near = if method == Estimator::PublishedLow { 0.5 } else { 2.0 };
                let settings = Settings::tuned(condition.students as u64, near);
                let rounds = u32::try_from(settings.rounds).unwrap_or(u32::MAX);
                let sigma = noise_multiplier(budget, settings.sampling_rate, rounds)?;
                let sites = truth.sites.iter().map(|s| (s.name.clone(), s.n as u64)).collect();
                let mut plan = fedirt_dp::Plan::new(design(&truth)?, Effects::Fixed, sites, settings, sigma);
                plan.grid = GridSpec::default();
                let found = fedirt_dp::run(plan, &tables, &mut rng)?;
                let items = (0..truth.items.len()).map(|j| (found.slope(j), found.difficulties(j).to_vec()));
                record.mse = mean_squares(&truth, items, found.effects());
            }
            Estimator::WithoutNoise | Estimator::Score2 | Estimator::Optimal => {
                let result = private(&truth, &tables, method, mu, &mut rng)?;
                let items = result.items().into_iter().map(|item| (item.a, item.b));
                let effects: Vec<f64> = result.sites().into_iter().map(|(effect, _)| effect).collect();
                record.mse = mean_squares(&truth, items, &effects);
                record.converged = Some(result.converged);
                count(&truth, &result, &mut record);
            }
        }
        records.push(record);
    }
    Ok(records)
}

fn private(
    truth: &Truth,
    tables: &[ResponseTable],
    method: Estimator,
    mu: f64,
    rng: &mut ChaCha8Rng,
) -> Result<PrivateResult, StudyError> {
    let sites = truth.sites.iter().map(|s| (s.name.clone(), s.n as u64)).collect();
    let mut plan = PrivatePlan::new(design(truth)?, Effects::Fixed, sites, mu)?;
    plan.mechanism =
        if method == Estimator::Optimal { PrivateMechanism::Optimal } else { PrivateMechanism::Score2 };
    if method == Estimator::WithoutNoise {
        (plan.mu, plan.clip_factor) = (1e4, Some(50.0));
    }
    plan.noise_sd = plan.central_noise()?;
    Ok(run_plan(plan, tables, rng)?)
}

/// Mean squared errors of slopes, difficulties and site effects.
fn mean_squares(truth: &Truth, items: impl Iterator<Item = (f64, Vec<f64>)>, effects: &[f64]) -> [f64; 3] {
    let mean = |errors: Vec<f64>| errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64;
    let (mut slopes, mut difficulties) = (Vec::new(), Vec::new());
    for (item, (a, b)) in truth.items.iter().zip(items) {
        slopes.push(a - item.a);
        difficulties.extend(b.iter().zip(&item.b).map(|(b, truth)| b - truth));
    }
    let effects = effects.iter().zip(&truth.sites).map(|(s, site)| s - site.effect).collect();
    [mean(slopes), mean(difficulties), mean(effects)]
}

/// Counts intervals. They are made where the estimate is normal: for slopes, on the logarithm.
fn count(truth: &Truth, result: &PrivateResult, record: &mut MethodRecord) {
    let add = |band: &mut Band, z: f64, named: bool| {
        band.of += 1;
        band.covered += u32::from(z.abs() < 1.959_964);
        band.named += u32::from(named);
    };
    for (item, estimate) in truth.items.iter().zip(&result.items()) {
        let named = estimate.leans_on_prior;
        if let Some(se) = estimate.se_a {
            add(&mut record.slopes, (estimate.a / item.a).ln() * estimate.a / se, named);
        }
        for ((b, se), truth) in estimate.b.iter().zip(&estimate.se_b).zip(&item.b) {
            let z = (b - truth) / se;
            if truth.abs() <= 2.0 {
                add(&mut record.regular, z, named);
            } else if truth.abs() >= 3.0 {
                add(&mut record.extreme, z, named);
            }
        }
    }
}

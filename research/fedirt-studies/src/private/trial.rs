//! One replication: data are drawn, two rounds are released, and the estimates are held against the truth.

use super::release::run;
use super::truth::{contaminate, design, uniform_truth};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{PrivateError, PrivatePlan, PrivateResult};
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::{Missing, SiteEffects, SiteRows, SiteSizes, Spec, Truth};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What is simulated, and what it may cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    /// Number of items (2PL).
    pub items: usize,
    /// Number of sites.
    pub sites: usize,
    /// Students of all sites.
    pub students: usize,
    /// Privacy of the run, as μ.
    pub mu: f64,
    /// Site effects of the fit.
    pub effects: Effects,
    /// Share of rows that are all ones.
    pub contamination: f64,
    /// Whether the fit has shares of constant rows.
    pub mixture: bool,
    /// C/√d, where not the default.
    pub clip_factor: Option<f64>,
}

impl Condition {
    /// The same data without privacy: hardly any noise, nothing clipped. Its estimates have the largest posterior.
    pub(crate) fn without_noise(&self) -> Self {
        Self { mu: 1e4, clip_factor: Some(50.0), ..self.clone() }
    }
}

/// How far one run's estimates are from the truth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Trial {
    /// Mean squared errors of a, b and s.
    pub mse: [f64; 3],
    /// Shares of 95 % intervals of a, b and s that hold the truth.
    pub covered: [f64; 3],
    /// Root mean squares of the standard errors of a, b and s.
    pub errors: [f64; 3],
    /// Gauss–Newton steps after each round.
    pub steps: [f64; 2],
}

impl Trial {
    /// Estimates against the truth that the answers were drawn from. Without effects, those of s are zero.
    pub(crate) fn new(truth: &Truth, result: &PrivateResult) -> Self {
        let items = result.items();
        let pairs = truth.items.iter().zip(&items);
        // Intervals are made where the estimate is normal: for slopes, on the logarithm.
        let slopes = pairs.clone().filter_map(|(t, e)| {
            let se = e.se_a?;
            Some((e.a - t.a, se, ((e.a / t.a).ln() * e.a / se).abs()))
        });
        let plain = |error: f64, se: f64| (error, se, (error / se).abs());
        let difficulties =
            pairs.flat_map(|(t, e)| e.b.iter().zip(&e.se_b).zip(&t.b).map(|((b, se), t)| plain(b - t, *se)));
        let effects =
            result.sites().into_iter().zip(&truth.sites).map(|((s, se), t)| plain(s - t.effect, se));
        let steps = |round: usize| result.steps.get(round).map_or(0.0, |s| *s as f64);
        let mut out = Self { steps: [steps(0), steps(1)], ..Self::default() };
        let all: [Vec<(f64, f64, f64)>; 3] = [slopes.collect(), difficulties.collect(), effects.collect()];
        for (k, entries) in all.iter().enumerate() {
            let n = entries.len().max(1) as f64;
            out.mse[k] = entries.iter().map(|e| e.0 * e.0).sum::<f64>() / n;
            out.errors[k] = (entries.iter().map(|e| e.1 * e.1).sum::<f64>() / n).sqrt();
            out.covered[k] = entries.iter().filter(|e| e.2 < 1.959_964).count() as f64 / n;
        }
        out
    }

    /// Mean over replications, number by number.
    pub(crate) fn mean(trials: &[Self]) -> Self {
        let mut out = Self::default();
        for t in trials {
            for k in 0..3 {
                out.mse[k] += t.mse[k] / trials.len() as f64;
                out.covered[k] += t.covered[k] / trials.len() as f64;
                out.errors[k] += t.errors[k] / trials.len() as f64;
            }
            for round in 0..2 {
                out.steps[round] += t.steps[round] / trials.len() as f64;
            }
        }
        out
    }
}

/// Draws parameters and answers by the seed, runs score2 on them, and compares.
pub(crate) fn trial(condition: &Condition, seed: u64) -> Result<Trial, PrivateError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let k = condition.sites.max(1);
    let sizes: Vec<usize> = (0..k).map(|i| (condition.students + i) / k).collect();
    let truth = uniform_truth(condition.items, &sizes, &mut rng);
    let spec = Spec {
        sites: k,
        students: SiteSizes::List(sizes),
        items: condition.items,
        model: "2pl".into(),
        categories: 2,
        effects: SiteEffects::Given(truth.sites.iter().map(|s| s.effect).collect()),
        missing: Missing::Complete,
        latent_sd: 1.0,
        seed,
    };
    let tables: Vec<ResponseTable> = (0..k)
        .map(|site| contaminate(&SiteRows::new(&spec, &truth, site).into_table(), condition.contamination))
        .collect();
    let result = run(plan(condition, &truth)?, &tables, &mut rng)?;
    Ok(Trial::new(&truth, &result))
}

/// The plan of a condition for these items and sites.
pub(super) fn plan(condition: &Condition, truth: &Truth) -> Result<PrivatePlan, PrivateError> {
    let sites = truth.sites.iter().map(|s| (s.name.clone(), s.n as u64)).collect();
    let mut plan = PrivatePlan::new(design(truth)?, condition.effects, sites, condition.mu)?;
    plan.mixture = condition.mixture;
    plan.clip_factor = condition.clip_factor;
    plan.noise_sd = plan.central_noise()?;
    Ok(plan)
}

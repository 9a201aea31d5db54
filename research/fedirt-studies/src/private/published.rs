//! FedIRT-DP as published, on data like those of the paper's studies: how far its estimates are from the truth.
//!
//! The noise is `central`, as in the paper: it is added once, to the sum over all sites, but it comes from the
//! discrete sampler, since floating-point Gaussians leak their low bits.

mod compare;

pub(crate) use compare::{compare, compare_with, geometric_mean};

use super::truth::{contaminate, design};
use crate::StudyError;
use crate::fedirt_dp::{Estimates, PAPER_GRID, Plan, Settings, run};
use fedirt_model::exchange::Effects;
use fedirt_model::quadrature::GridSpec;
use fedirt_model::responses::ResponseTable;
use fedirt_model::simulate::{Missing, SiteEffects, SiteRows, SiteSizes, Spec, TrueItem, TrueSite, Truth};
use fedirt_privacy::accountant::{Delta, Epsilon, noise_multiplier};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// δ of all studies, as in the paper.
pub(crate) const DELTA: f64 = 1e-6;

/// What is simulated (2PL), and how it is estimated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    /// Number of items.
    pub items: usize,
    /// Students of each site.
    pub students: usize,
    /// True effects, one for each site.
    pub site_effects: Vec<f64>,
    /// Slopes are uniform between these.
    pub slopes: (f64, f64),
    /// Difficulties are uniform between these.
    pub difficulties: (f64, f64),
    /// Seed of item parameters that are the same in all replications, as the paper has them; else each replication
    /// draws its own.
    pub parameters: Option<u64>,
    /// Share of each site's rows that are all ones.
    pub contamination: f64,
    /// Site effects of the fit.
    pub effects: Effects,
    /// Integration over ability.
    pub grid: GridSpec,
    /// Settings of the run.
    pub settings: Settings,
    /// ε of the planned rounds, at δ = [`DELTA`].
    pub epsilon: f64,
}

impl Condition {
    /// Study 1 with high slopes and low difficulties: 10 sites without effects, 10 items, a in [1, 2], b in [−1, 0].
    pub(crate) fn study1(students: usize, epsilon: f64) -> Self {
        Self {
            items: 10,
            students,
            site_effects: vec![0.0; 10],
            slopes: (1.0, 2.0),
            difficulties: (-1.0, 0.0),
            parameters: None,
            contamination: 0.0,
            effects: Effects::None,
            grid: PAPER_GRID,
            settings: Settings::published(),
            epsilon,
        }
    }

    /// Study 2: 5 sites of 100 students with effects −1, −0.5, 0, 0.5, 1; 10 items, a in [0.5, 2], b in [−1, 1].
    pub(crate) fn study2(epsilon: f64) -> Self {
        Self {
            site_effects: vec![-1.0, -0.5, 0.0, 0.5, 1.0],
            slopes: (0.5, 2.0),
            difficulties: (-1.0, 1.0),
            effects: Effects::Fixed,
            ..Self::study1(100, epsilon)
        }
    }

    /// Study 3 with rows of ones: 10 sites of 100 students without effects, a in [0.5, 2], b in [−1, 1], and settings
    /// under which contamination seems to do little harm.
    pub(crate) fn study3(contamination: f64, epsilon: f64) -> Self {
        Self {
            slopes: (0.5, 2.0),
            difficulties: (-1.0, 1.0),
            contamination,
            settings: Settings::study3(),
            ..Self::study1(100, epsilon)
        }
    }

    /// Noise multiplier σ that gives the ε of the condition over its planned rounds.
    pub(crate) fn noise_multiplier(&self) -> Result<f64, StudyError> {
        let budget = (Epsilon::new(self.epsilon)?, Delta::new(DELTA)?);
        // A plan has far fewer rounds than 2³².
        let rounds = u32::try_from(self.settings.rounds).unwrap_or(u32::MAX);
        Ok(noise_multiplier(budget, self.settings.sampling_rate, rounds)?)
    }

    /// Parameters (from `rng`, unless they are fixed) and rows of a seed.
    pub(crate) fn draw(&self, rng: &mut ChaCha8Rng, seed: u64) -> (Truth, Vec<ResponseTable>) {
        let mut fixed = self.parameters.map(ChaCha8Rng::seed_from_u64);
        let source = fixed.as_mut().unwrap_or(rng);
        let mut between = |(from, to): (f64, f64)| from + (to - from) * source.random::<f64>();
        let mut item = |j: usize| {
            let (a, b) = (between(self.slopes), between(self.difficulties));
            let (name, model) = (format!("i{:02}", j + 1), "2pl".to_owned());
            TrueItem { name, model, categories: 2, a, d: vec![-a * b], b: vec![b] }
        };
        let items = (0..self.items).map(&mut item).collect();
        let site = |(k, effect): (usize, &f64)| TrueSite {
            name: format!("s{:02}", k + 1),
            n: self.students,
            effect: *effect,
        };
        let sites = self.site_effects.iter().enumerate().map(site).collect();
        let truth = Truth { latent_sd: 1.0, items, sites };
        let spec = Spec {
            sites: self.site_effects.len(),
            students: SiteSizes::Each(self.students),
            items: self.items,
            model: "2pl".into(),
            categories: 2,
            effects: SiteEffects::Given(self.site_effects.clone()),
            missing: Missing::Complete,
            latent_sd: 1.0,
            seed,
        };
        let table = |k| contaminate(&SiteRows::new(&spec, &truth, k).into_table(), self.contamination);
        let tables = (0..self.site_effects.len()).map(table).collect();
        (truth, tables)
    }

    /// The plan for these items and sites, with noise of this multiplier.
    pub(crate) fn plan(&self, truth: &Truth, noise_multiplier: f64) -> Result<Plan, StudyError> {
        let sites = truth.sites.iter().map(|s| (s.name.clone(), s.n as u64)).collect();
        let mut plan = Plan::new(design(truth)?, self.effects, sites, self.settings, noise_multiplier);
        plan.grid = self.grid;
        Ok(plan)
    }
}

/// Mean squared errors of a, b and s. Without effects in the fit, that of s is 0.
pub(crate) fn mean_squared_errors(truth: &Truth, found: &Estimates) -> [f64; 3] {
    let mean = |errors: &mut dyn Iterator<Item = f64>| {
        let (mut sum, mut n) = (0.0, 0);
        errors.for_each(|e| {
            sum += e * e;
            n += 1;
        });
        sum / n.max(1) as f64
    };
    let items = || truth.items.iter().enumerate();
    let differences = |(j, t): (usize, &TrueItem)| -> Vec<f64> {
        found.difficulties(j).iter().zip(&t.b).map(|(b, t)| b - t).collect()
    };
    [
        mean(&mut items().map(|(j, t)| found.slope(j) - t.a)),
        mean(&mut items().flat_map(differences)),
        mean(&mut found.effects().iter().zip(&truth.sites).map(|(s, t)| s - t.effect)),
    ]
}

/// One replication: draws parameters and answers by the seed, runs FedIRT-DP with noise of this multiplier (see
/// [`Condition::noise_multiplier`]), and returns the mean squared errors of a, b and s.
pub(crate) fn trial(condition: &Condition, noise_multiplier: f64, seed: u64) -> Result<[f64; 3], StudyError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (truth, tables) = condition.draw(&mut rng, seed);
    let found = run(condition.plan(&truth, noise_multiplier)?, &tables, &mut rng)?;
    Ok(mean_squared_errors(&truth, &found))
}

#[cfg(test)]
mod tests;

//! score2 against FedIRT-DP: the same parameters, answers, ε, δ, priors and quadrature.

use super::{Condition, DELTA, mean_squared_errors};
use crate::StudyError;
use crate::fedirt_dp::{Settings, run};
use crate::private::run as run_score2;
use crate::private::trial::Trial;
use crate::private::truth::design;
use fedirt_model::private::PrivatePlan;
use fedirt_model::quadrature::GridSpec;
use fedirt_privacy::accountant::{Delta, Epsilon, GaussianDp};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;
use std::fmt;

/// Errors of both at one number of students.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    /// Students of all sites.
    pub students: usize,
    /// ε at δ = [`DELTA`].
    pub epsilon: f64,
    /// Settings of FedIRT-DP.
    pub settings: Settings,
    /// Its noise multiplier.
    pub noise_multiplier: f64,
    /// Mean squared errors of a, b and s, FedIRT-DP.
    pub published: [f64; 3],
    /// Mean squared errors of a, b and s, score2.
    pub score2: [f64; 3],
    /// Standard error of the logarithm of the ratio, over replications.
    pub log_ratio_se: f64,
}

impl Comparison {
    /// Sum of score2's mean squared errors over that of FedIRT-DP.
    pub(crate) fn ratio(&self) -> f64 {
        self.score2.iter().sum::<f64>() / self.published.iter().sum::<f64>()
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { rounds, sampling_rate, clip, learning_rates, decay, .. } = &self.settings;
        write!(
            f,
            "N = {}, ε = {}: FedIRT-DP (R = {rounds}, q_s = {sampling_rate}, C = {clip:.1}, rate {} {decay:?}, \
             σ = {:.2}) {:.4?}; score2 {:.4?}; ratio of sums {:.3} (± {:.0} %)",
            self.students,
            self.epsilon,
            learning_rates.slope,
            self.noise_multiplier,
            self.published,
            self.score2,
            self.ratio(),
            100.0 * self.log_ratio_se,
        )
    }
}

/// Geometric mean of the ratios.
pub(crate) fn geometric_mean(comparisons: &[Comparison]) -> f64 {
    (comparisons.iter().map(|c| c.ratio().ln()).sum::<f64>() / comparisons.len().max(1) as f64).exp()
}

/// [`compare_with`] at the settings that were tuned for such data.
pub(crate) fn compare(students: usize, epsilon: f64, replications: u64) -> Result<Comparison, StudyError> {
    compare_with(Settings::tuned(students as u64, epsilon), students, epsilon, replications)
}

/// Study 2's parameters with that many students in all, fixed effects; density weights, since those of the paper bias
/// slopes by −h²/24. Seeds are those of the replications, from 0.
pub(crate) fn compare_with(
    settings: Settings,
    students: usize,
    epsilon: f64,
    replications: u64,
) -> Result<Comparison, StudyError> {
    let grid = GridSpec::default();
    let mut condition = Condition { settings, grid, ..Condition::study2(epsilon) };
    condition.students = students / condition.site_effects.len();
    let noise_multiplier = condition.noise_multiplier()?;
    let mu = GaussianDp::for_budget(Epsilon::new(epsilon)?, Delta::new(DELTA)?).mu();
    let one = |seed: u64| -> Result<[[f64; 3]; 2], StudyError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (truth, tables) = condition.draw(&mut rng, seed);
        let found = run(condition.plan(&truth, noise_multiplier)?, &tables, &mut rng)?;
        let sites = truth.sites.iter().map(|s| (s.name.clone(), s.n as u64)).collect();
        let mut plan = PrivatePlan::new(design(&truth)?, condition.effects, sites, mu)?;
        plan.grid = grid;
        let score2 = Trial::new(&truth, &run_score2(plan, &tables, &mut rng)?);
        Ok([mean_squared_errors(&truth, &found), score2.mse])
    };
    let all: Vec<[[f64; 3]; 2]> = (0..replications).into_par_iter().map(one).collect::<Result<_, _>>()?;
    let n = all.len().max(1) as f64;
    let mean = |which: usize| [0, 1, 2].map(|k| all.iter().map(|t| t[which][k]).sum::<f64>() / n);
    let (published, score2) = (mean(0), mean(1));
    let total = |errors: &[f64; 3]| errors.iter().sum::<f64>();
    // Delta method for the logarithm of a ratio of means.
    let log_ratio_se = all
        .iter()
        .map(|t| (total(&t[1]) / total(&score2) - total(&t[0]) / total(&published)).powi(2))
        .sum::<f64>()
        .sqrt()
        / n;
    Ok(Comparison { students, epsilon, settings, noise_multiplier, published, score2, log_ratio_se })
}

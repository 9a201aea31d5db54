//! The methods that the studies compare.

use crate::StudyError;
use crate::fedirt_dp;
use crate::publish::brief;
use fedirt_model::centre::AlgorithmKind;
use fedirt_privacy::accountant::{Delta, Epsilon, GaussianDp, noise_multiplier};
use serde::Serialize;

/// δ of all private methods, as in the paper.
pub const DELTA: f64 = 1e-6;

/// Rounds that FedSGD gets.
pub const SGD_ROUNDS: usize = 100;

/// Rounds that FedAvg gets, and steps at a site in each of them.
pub const AVERAGING: (usize, usize) = (40, 5);

/// How item parameters are estimated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Estimator {
    /// FedIRT: the marginal likelihood of all sites, by Newton's method on sums.
    Likelihood,
    /// The marginal likelihood of one table with all rows, by another algorithm (BFGS).
    Pooled,
    /// FedIRT-DP as published, with `central` noise.
    Published {
        /// ε of the planned rounds.
        epsilon: f64,
        /// Its settings.
        settings: fedirt_dp::Settings,
        /// σ that gives this ε.
        noise_multiplier: f64,
    },
    /// The private default of the product.
    Score2 {
        /// ε.
        epsilon: f64,
        /// μ that belongs to it.
        mu: f64,
        /// Whether shares of constant rows are estimated.
        mixture: bool,
    },
    /// FedSGD, FedAvg or meta-analysis.
    Algorithm {
        /// Which one.
        algorithm: AlgorithmKind,
        /// Most rounds.
        rounds: usize,
        /// Step size.
        learning_rate: f64,
        /// Local steps between two rounds.
        local_epochs: usize,
    },
    /// FedSGD with gradients that are combined robustly, which needs each site's own.
    Robust {
        /// Share of sites that is taken off at either end; a half is the median.
        trimmed: f64,
        /// Most rounds.
        rounds: usize,
    },
    /// A package of R on the pooled rows.
    External {
        /// Which one.
        package: String,
    },
}

/// The assumption about schools, and how their effects are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SchoolEffects {
    /// No school effects.
    None,
    /// Parameters, estimated together with the items.
    Fixed,
    /// Drawn from a normal distribution, whose SD is estimated.
    Random,
    /// No school effects in the model; afterwards each school averages its students' EAP scores. The paper calls this random.
    AveragedEap,
}

/// One method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Method {
    /// Name in files.
    pub name: String,
    /// Name in tables and pictures.
    pub label: String,
    /// Item parameters.
    #[serde(flatten)]
    pub how: Estimator,
    /// The treatment of schools.
    pub schools: SchoolEffects,
}

impl Method {
    fn new(name: &str, label: &str, how: Estimator, schools: SchoolEffects) -> Self {
        Self { name: name.into(), label: label.into(), how, schools }
    }

    /// FedIRT.
    pub fn fedirt(schools: SchoolEffects) -> Self {
        let (name, label) = match schools {
            SchoolEffects::None => ("fedirt", "FedIRT"),
            SchoolEffects::Fixed => ("fedirt_fixed", "FedIRT, fixed effects"),
            SchoolEffects::Random => ("fedirt_random", "FedIRT, random effects"),
            SchoolEffects::AveragedEap => ("fedirt_eap", "FedIRT, averaged EAPs"),
        };
        Self::new(name, label, Estimator::Likelihood, schools)
    }

    /// The pooled fit.
    pub fn pooled() -> Self {
        Self::new("pooled", "pooled fit", Estimator::Pooled, SchoolEffects::None)
    }

    /// FedIRT-DP with these settings; `tag` and `remark` set it apart from others.
    pub fn published(
        epsilon: f64,
        settings: fedirt_dp::Settings,
        schools: SchoolEffects,
        (tag, remark): (&str, &str),
    ) -> Result<Self, StudyError> {
        let budget = budget(epsilon)?;
        let rounds =
            u32::try_from(settings.rounds).map_err(|_| StudyError::TooManyRounds(settings.rounds))?;
        let noise_multiplier = noise_multiplier(budget, settings.sampling_rate, rounds)?;
        let how = Estimator::Published { epsilon, settings, noise_multiplier };
        let (name, label) =
            (format!("fedirt_dp{tag}_{epsilon}"), format!("FedIRT-DP{remark}, ε = {epsilon}"));
        Ok(Self { name, label, how, schools })
    }

    /// The private default.
    pub fn score2(epsilon: f64, mixture: bool, schools: SchoolEffects) -> Result<Self, StudyError> {
        let (epsilon_, delta) = budget(epsilon)?;
        let mu = GaussianDp::for_budget(epsilon_, delta).mu();
        let (tag, remark) = if mixture { ("_mixture", " with mixture") } else { ("", "") };
        Ok(Self {
            name: format!("private{tag}_{epsilon}"),
            label: format!("private{remark}, ε = {epsilon}"),
            how: Estimator::Score2 { epsilon, mu, mixture },
            schools,
        })
    }

    /// FedSGD with a budget of rounds.
    pub fn fedsgd() -> Self {
        let how = Estimator::Algorithm {
            algorithm: AlgorithmKind::Fedsgd,
            rounds: SGD_ROUNDS,
            learning_rate: 1.0,
            local_epochs: 1,
        };
        Self::new("fedsgd", &format!("FedSGD, {SGD_ROUNDS} rounds"), how, SchoolEffects::None)
    }

    /// FedAvg with a budget of rounds.
    pub fn fedavg() -> Self {
        let how = Estimator::Algorithm {
            algorithm: AlgorithmKind::Fedavg,
            rounds: AVERAGING.0,
            learning_rate: 1.0,
            local_epochs: AVERAGING.1,
        };
        Self::new(
            "fedavg",
            &format!("FedAvg, {} rounds of {}", AVERAGING.0, AVERAGING.1),
            how,
            SchoolEffects::None,
        )
    }

    /// Averages of the schools' own estimates.
    pub fn meta() -> Self {
        let how = Estimator::Algorithm {
            algorithm: AlgorithmKind::Meta,
            rounds: SGD_ROUNDS,
            learning_rate: 1.0,
            local_epochs: 1,
        };
        Self::new("meta", "meta-analysis", how, SchoolEffects::None)
    }

    /// FedSGD on the trimmed means of the sites' gradients.
    pub fn trimmed() -> Self {
        let how = Estimator::Robust { trimmed: 0.2, rounds: SGD_ROUNDS };
        Self::new("trimmed_mean", "trimmed mean of gradients", how, SchoolEffects::None)
    }

    /// FedSGD on their medians.
    pub fn median() -> Self {
        Self::new(
            "median",
            "median of gradients",
            Estimator::Robust { trimmed: 0.5, rounds: SGD_ROUNDS },
            SchoolEffects::None,
        )
    }

    /// A package of R.
    pub fn external(package: &str) -> Self {
        Self::new(package, package, Estimator::External { package: package.into() }, SchoolEffects::None)
    }

    /// A description in one sentence.
    pub fn sentence(&self) -> String {
        let text = match &self.how {
            Estimator::Likelihood => "Newton's method on the sites' sums".to_owned(),
            Estimator::Pooled => "all rows in one table, maximised by BFGS".to_owned(),
            Estimator::Published { settings, noise_multiplier, .. } => format!(
                "R = {} rounds, q_s = {}, C = {}, learning rate {}, σ = {}, the paper's quadrature (21 bins)",
                settings.rounds,
                settings.sampling_rate,
                settings.clip,
                settings.learning_rates.slope,
                brief(*noise_multiplier, 3)
            ),
            Estimator::Score2 { mu, .. } => format!("two rounds of bounded scores, μ = {}", brief(*mu, 3)),
            Estimator::Algorithm { algorithm: AlgorithmKind::Meta, .. } => {
                "averages of the schools' own estimates, weighted by their students".to_owned()
            }
            Estimator::Algorithm { rounds, learning_rate, local_epochs, .. } => {
                format!("{rounds} rounds of {local_epochs} steps at the sites, learning rate {learning_rate}")
            }
            Estimator::Robust { rounds, .. } => {
                format!("FedSGD, {rounds} rounds; the server must see each site's gradient (plain mode only)")
            }
            Estimator::External { .. } => "a package of R on the pooled rows".to_owned(),
        };
        format!("{}: {text}.", self.label)
    }
}

fn budget(epsilon: f64) -> Result<(Epsilon, Delta), StudyError> {
    Ok((Epsilon::new(epsilon)?, Delta::new(DELTA)?))
}

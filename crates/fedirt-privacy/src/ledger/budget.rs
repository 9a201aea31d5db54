//! Budgets as filters, and what is left of them.
//!
//! A filter stops a sequence of releases, each of which may depend on what came before, so that all of them
//! together keep (ε, δ). It must compare sums of per-release costs with a limit that is fixed beforehand:
//! - **μ²:** if Σμ² ≤ μ_B², everything together is μ_B-GDP (Smith and Thakurta 2022). For q = 1; it loses nothing.
//! - **Rényi at one order:** if Σ D_α ≤ τ_B, everything together has D_α ≤ τ_B (Feldman and Zrnic 2021), α fixed
//!   when the account opens. For sampled rounds.
//!
//! A privacy-loss distribution that is composed as one goes along is no filter.

use super::{Label, Refusal};
use crate::accountant::{AccountantError, Conversion, Delta, Epsilon, GaussianDp, Slack};

/// Rounding of sums of many debits is no reason for a refusal.
const ROUNDING: f64 = 1e-9;

/// (ε, δ), and how it is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// By Σμ² ≤ μ_B², μ_B the largest μ that keeps (ε, δ).
    Gaussian {
        /// ε.
        epsilon: Epsilon,
        /// δ.
        delta: Delta,
    },
    /// By the sum of Rényi divergences of one order.
    Renyi {
        /// ε.
        epsilon: Epsilon,
        /// δ.
        delta: Delta,
        /// α > 1; the best one for the run that is planned is [`crate::accountant::RdpEpsilon::order`].
        order: f64,
    },
}

impl Budget {
    /// ε and δ.
    pub fn epsilon_delta(&self) -> (Epsilon, Delta) {
        match *self {
            Self::Gaussian { epsilon, delta } | Self::Renyi { epsilon, delta, .. } => (epsilon, delta),
        }
    }

    /// μ_B², or τ_B = ε − ln((α−1)/α) + (ln δ + ln α)/(α−1) (the conversion of Canonne, Kamath and Steinke 2020,
    /// proposition 12, solved for τ).
    fn limit(&self) -> Result<f64, AccountantError> {
        match *self {
            Self::Gaussian { epsilon, delta } => Ok(GaussianDp::for_budget(epsilon, delta).mu().powi(2)),
            Self::Renyi { epsilon, delta, order } => {
                let free = Conversion::Improved.epsilon_at(0.0, order, delta)?;
                let limit = epsilon.value() - free;
                if limit > 0.0 { Ok(limit) } else { Err(AccountantError::Order(order)) }
            }
        }
    }

    /// What is set aside for noise in integers ([`Slack`]): η = 10⁻⁶ max(1, ε), and a κ that adds a thousandth
    /// to δ. It comes on top of (ε, δ), see [`Balance::promise`].
    fn reserve(&self) -> Slack {
        let (epsilon, delta) = self.epsilon_delta();
        let eta = 1e-6 * epsilon.value().max(1.0);
        Slack { eta, kappa: 1e-3 * delta.value() / (1.0 + (epsilon.value() + eta).exp()) }
    }
}

impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (epsilon, delta) = self.epsilon_delta();
        let terms = match self {
            Self::Gaussian { .. } => "mu squared".into(),
            Self::Renyi { order, .. } => format!("Rényi divergence of order {order}"),
        };
        write!(f, "{terms}, for epsilon = {} at delta = {:e}", epsilon.value(), delta.value())
    }
}

/// What one release costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cost {
    /// μ² = 1/σ² of a sum that every student takes part in.
    Gaussian {
        /// μ².
        mu_squared: f64,
    },
    /// The Rényi divergence of a sampled sum.
    Renyi {
        /// α.
        order: f64,
        /// D_α, for instance [`crate::accountant::rdp_of_round`].
        divergence: f64,
    },
}

/// An account: its budget, and what is spent of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    /// The budget.
    pub budget: Budget,
    /// μ_B² or τ_B.
    pub limit: f64,
    /// Σμ² or ΣD_α.
    pub spent: f64,
    /// The price of integer noise so far.
    pub slack: Slack,
}

impl Balance {
    pub(super) fn open(budget: Budget) -> Result<Self, AccountantError> {
        Ok(Self { budget, limit: budget.limit()?, spent: 0.0, slack: Slack::NONE })
    }

    /// What is left, in the account's terms.
    pub fn left(&self) -> f64 {
        (self.limit - self.spent).max(0.0)
    }

    /// What an amount in the account's terms is as ε at the account's δ; none where it has no such form of its own.
    pub fn as_epsilon(&self, amount: f64) -> Option<f64> {
        let (_, delta) = self.budget.epsilon_delta();
        match self.budget {
            Budget::Gaussian { .. } if amount <= 0.0 => Some(0.0),
            Budget::Gaussian { .. } => Some(GaussianDp::new(amount.sqrt()).ok()?.epsilon(delta)),
            Budget::Renyi { .. } => None,
        }
    }

    /// The (ε, δ) that the account keeps with everything that may be set aside for noise in integers:
    /// a millionth on ε (2η) and about a thousandth on δ.
    pub fn promise(&self) -> (f64, f64) {
        let (epsilon, delta) = self.budget.epsilon_delta();
        self.budget.reserve().apply(epsilon.value(), delta.value())
    }

    pub(super) fn debit(&mut self, population: &Label, cost: Cost, slack: Slack) -> Result<(), Refusal> {
        let population = || population.clone();
        let asked = match (self.budget, cost) {
            (Budget::Gaussian { .. }, Cost::Gaussian { mu_squared }) => mu_squared,
            // A Gaussian has D_α = αμ²/2 at every order.
            (Budget::Renyi { order, .. }, Cost::Gaussian { mu_squared }) => 0.5 * order * mu_squared,
            (Budget::Renyi { order, .. }, Cost::Renyi { order: of, divergence }) if of == order => divergence,
            _ => {
                return Err(Refusal::OtherTerms { population: population(), budget: Box::new(self.budget) });
            }
        };
        if !(asked.is_finite() && asked > 0.0) {
            return Err(AccountantError::Mu(asked).into());
        }
        if !(slack.eta.is_finite() && slack.kappa.is_finite() && slack.eta >= 0.0 && slack.kappa >= 0.0) {
            return Err(AccountantError::Delta(slack.kappa).into());
        }
        let spent = self.spent + asked;
        if spent > self.limit * (1.0 + ROUNDING) {
            return Err(Refusal::OverBudget {
                population: population(),
                balance: Box::new(self.clone()),
                asked,
            });
        }
        let (total, reserve) = (self.slack.and(slack), self.budget.reserve());
        if total.eta > reserve.eta || total.kappa > reserve.kappa {
            return Err(Refusal::Slack { population: population(), eta: total.eta, kappa: total.kappa });
        }
        (self.spent, self.slack) = (spent, total);
        Ok(())
    }
}

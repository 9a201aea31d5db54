//! Budgets as privacy filters, and what is left of them.
//!
//! A filter stops a sequence of releases, each of which may depend on what came before, so that all of them together
//! keep (ε, δ). It must compare the sum of the costs of all releases with a limit that is fixed beforehand. Here the
//! cost of a release is μ² = 1/σ²: if Σμ² ≤ μ_B², everything together is μ_B-GDP (Smith and Thakurta 2022), and nothing
//! is lost. (A privacy-loss distribution that is composed as one goes along is no filter.)

use super::{Label, LedgerRefusal};
use crate::accountant::{AccountantError, Delta, Epsilon, GaussianDp, Slack};

/// Relative tolerance for the rounding errors of a sum of many debits.
const ROUNDING: f64 = 1e-9;

/// The (ε, δ) that all releases about a population may spend together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// ε.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
}

impl Budget {
    /// What is set aside for noise in integers ([`Slack`]): η = 10⁻⁶ max(1, ε), and a κ that adds a thousandth
    /// to δ. It comes on top of (ε, δ), see [`Balance::promise`].
    fn reserve(&self) -> Slack {
        let epsilon = self.epsilon.value();
        let eta = 1e-6 * epsilon.max(1.0);
        Slack { eta, kappa: 1e-3 * self.delta.value() / (1.0 + (epsilon + eta).exp()) }
    }
}

impl std::fmt::Display for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "mu squared, for epsilon = {} at delta = {:e}", self.epsilon.value(), self.delta.value())
    }
}

/// An account: its budget, and what is spent of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Balance {
    /// The budget.
    pub budget: Budget,
    /// μ_B², where μ_B is the largest μ that keeps (ε, δ).
    pub limit: f64,
    /// Σμ².
    pub spent: f64,
    /// The price of integer noise so far.
    pub slack: Slack,
}

impl Balance {
    pub(super) fn open(budget: Budget) -> Self {
        let limit = GaussianDp::for_budget(budget.epsilon, budget.delta).mu().powi(2);
        Self { budget, limit, spent: 0.0, slack: Slack::NONE }
    }

    /// The μ² that is left.
    pub fn left(&self) -> f64 {
        (self.limit - self.spent).max(0.0)
    }

    /// The ε, at the δ of the account, that corresponds to an amount of μ².
    pub fn as_epsilon(&self, mu_squared: f64) -> f64 {
        GaussianDp::new(mu_squared.sqrt()).map_or(0.0, |gdp| gdp.epsilon(self.budget.delta))
    }

    /// The (ε, δ) that the account keeps with everything that may be set aside for noise in integers:
    /// a millionth on ε (2η) and about a thousandth on δ.
    pub fn promise(&self) -> (f64, f64) {
        self.budget.reserve().apply(self.budget.epsilon.value(), self.budget.delta.value())
    }

    pub(super) fn debit(
        &mut self,
        population: &Label,
        asked: f64,
        slack: Slack,
    ) -> Result<(), LedgerRefusal> {
        let population = || population.clone();
        if !(asked.is_finite() && asked > 0.0) {
            return Err(AccountantError::Mu(asked).into());
        }
        if !(slack.eta.is_finite() && slack.kappa.is_finite() && slack.eta >= 0.0 && slack.kappa >= 0.0) {
            return Err(AccountantError::Delta(slack.kappa).into());
        }
        let spent = self.spent + asked;
        if spent > self.limit * (1.0 + ROUNDING) {
            return Err(LedgerRefusal::OverBudget {
                population: population(),
                balance: Box::new(self.clone()),
                asked,
            });
        }
        let (total, reserve) = (self.slack.and(slack), self.budget.reserve());
        if total.eta > reserve.eta || total.kappa > reserve.kappa {
            return Err(LedgerRefusal::Slack {
                population: population(),
                eta: total.eta,
                kappa: total.kappa,
            });
        }
        (self.spent, self.slack) = (spent, total);
        Ok(())
    }
}

//! Integer noise made in shares: what it costs against one continuous Gaussian.
//!
//! Each of n honest sites adds discrete Gaussian noise of standard deviation s_local lattice steps to its
//! integer vector of d coordinates; the sum has s = √n s_local.

use super::{AccountantError, Delta};
use std::f64::consts::PI;

/// L, the default exponent of the tail that is given up: a probability of 2e^{−L} per round.
pub const TAIL_EXPONENT: f64 = 40.0;

/// The lattice must be this fine for [`DistributedNoise::slack`].
const LEAST_SUM_SD: f64 = 65_536.0;
const LEAST_SHARE_SD: f64 = 4.0;

/// The noise of one round that a coalition cannot subtract.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistributedNoise {
    dimension: u32,
    honest_sites: u32,
    share_sd: f64,
}

impl DistributedNoise {
    /// Of n honest sites (|U| − c), in d coordinates, each share with this standard deviation in lattice steps.
    pub fn new(dimension: u32, honest_sites: u32, share_sd: f64) -> Result<Self, AccountantError> {
        if dimension == 0 || honest_sites == 0 || !(share_sd.is_finite() && share_sd >= 0.5) {
            return Err(AccountantError::Shares { dimension, honest_sites, share_sd });
        }
        Ok(Self { dimension, honest_sites, share_sd })
    }

    /// s, the standard deviation of the honest sum, in lattice steps.
    pub fn sum_sd(&self) -> f64 {
        f64::from(self.honest_sites).sqrt() * self.share_sd
    }

    /// How far a sum of discrete Gaussians is from one discrete Gaussian, per coordinate, as a log-ratio.
    ///
    /// τ = 10 Σ_{k=1}^{n−1} e^{−2π² s_local² k/(k+1)} (Kairouz, Liu and Steinke 2021, proposition 14).
    pub fn tau(&self) -> f64 {
        let term = |k: f64| (-2.0 * PI * PI * self.share_sd * self.share_sd * k / (k + 1.0)).exp();
        10.0 * (1..self.honest_sites).map(|k| term(f64::from(k))).sum::<f64>()
    }

    /// Rényi divergence of order α ≥ 1 of the sum when integer vectors move by at most `sensitivity` (L2, in
    /// lattice steps).
    ///
    /// min{ αΔ₂²/(2s²) + τd, (α/2)(Δ₂²/s² + 2τΔ₁/s + τ²d), (α/2)(Δ₂/s + τ√d)² } (Kairouz, Liu and Steinke
    /// 2021, proposition 14).
    ///
    /// Symbols: s standard deviation of the sum, d coordinates, Δ₂ sensitivity, Δ₁ = min(√d Δ₂, Δ₂²) (the
    /// latter since |x| ≤ x² for integers), τ see [`Self::tau`]. Holds for shares of at least half a step.
    pub fn rdp(&self, order: f64, sensitivity: f64) -> f64 {
        let (d, s, tau) = (f64::from(self.dimension), self.sum_sd(), self.tau());
        let ratio = sensitivity / s;
        let l1 = (d.sqrt() * sensitivity).min(sensitivity * sensitivity);
        let loose = 0.5 * order * ratio * ratio + tau * d;
        let mixed = 0.5 * order * (ratio * ratio + 2.0 * tau * l1 / s + tau * tau * d);
        let square = 0.5 * order * (ratio + tau * d.sqrt()).powi(2);
        loose.min(mixed).min(square)
    }

    /// The bound η on the log-ratio between the honest sum and a rounded Gaussian, in one round, outside a
    /// tail of probability e^{−L} under each.
    ///
    /// η = (d/8 + (√d + √(2L) + √d/(2s))²/24)/s² + τd
    ///
    /// Origin: fedirt's own. A Gaussian of sd s, integrated over a lattice cell at k, is s⁻¹φ(k/s) times
    /// 1 + (k²/s² − 1)/(24 s²) + …; the norm of the noise over s is at most √d + √(2L) except with
    /// probability e^{−L}; τd is the price of shares. Checked in the tests against exact convolutions.
    fn eta(&self, tail_exponent: f64) -> f64 {
        let (d, s) = (f64::from(self.dimension), self.sum_sd());
        let reach = d.sqrt() + (2.0 * tail_exponent).sqrt() + d.sqrt() / (2.0 * s);
        (d / 8.0 + reach * reach / 24.0) / (s * s) + self.tau() * d
    }

    /// What `rounds` of this noise cost on top of the Gaussian accountant, with tail exponent L (by default
    /// [`TAIL_EXPONENT`]). Refuses lattices with s < 2¹⁶ or shares below 4 steps.
    pub fn slack(&self, rounds: u32, tail_exponent: f64) -> Result<Slack, AccountantError> {
        let (sum_sd, share_sd) = (self.sum_sd(), self.share_sd);
        if sum_sd < LEAST_SUM_SD || share_sd < LEAST_SHARE_SD {
            return Err(AccountantError::CoarseLattice { sum_sd, share_sd });
        }
        Ok(self.slack_unchecked(f64::from(rounds), tail_exponent))
    }

    /// Whether `rounds` of this noise keep (ε, δ), the budget, if continuous noise keeps the `inner` one.
    ///
    /// ε_in + 2η ≤ ε and e^η δ_in + 2R(e^{−L} + e^{ε_in+η−L}) ≤ δ ([`Slack::apply`] with κ = 2Re^{−L}), at L = 40 + ε +
    /// ln(1/δ): any L will do, and this one leaves the tail 2Re^{−40} of δ.
    pub fn keeps(
        &self,
        rounds: u32,
        inner: (f64, f64),
        (epsilon, delta): (f64, f64),
    ) -> Result<bool, AccountantError> {
        let tail = TAIL_EXPONENT + epsilon - delta.ln();
        let eta = self.slack(rounds, tail)?.eta;
        let given_up = (-tail).exp() + (inner.0 + eta - tail).exp();
        let spent = eta.exp() * inner.1 + 2.0 * f64::from(rounds) * given_up;
        Ok(inner.0 + 2.0 * eta <= epsilon && spent <= delta)
    }

    fn slack_unchecked(&self, rounds: f64, tail_exponent: f64) -> Slack {
        Slack { eta: rounds * self.eta(tail_exponent), kappa: 2.0 * rounds * (-tail_exponent).exp() }
    }
}

/// The price of integer noise: η on the log-ratio and κ on the probability, summed over rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slack {
    /// η: ε grows by 2η.
    pub eta: f64,
    /// κ: δ grows by (1 + e^{ε+η})κ.
    pub kappa: f64,
}

impl Slack {
    /// No price, as before the first round.
    pub const NONE: Self = Self { eta: 0.0, kappa: 0.0 };

    /// The price of both together.
    pub fn and(self, other: Self) -> Self {
        Self { eta: self.eta + other.eta, kappa: self.kappa + other.kappa }
    }

    /// (ε + 2η, e^η δ + (1 + e^{ε+η}) κ): what integer noise keeps if continuous noise keeps (ε, δ).
    ///
    /// For M the mechanism and G its rounded Gaussian, M ≤ e^η G + κ and G ≤ e^η M + κ on any event; rounding
    /// is post-processing, so G keeps (ε, δ); the three inequalities chain. Sampling mixes both sides alike.
    pub fn apply(self, epsilon: f64, delta: f64) -> (f64, f64) {
        (epsilon + 2.0 * self.eta, self.eta.exp() * delta + (1.0 + (epsilon + self.eta).exp()) * self.kappa)
    }

    /// ε of integer noise at δ, from an accountant of continuous noise (ε at a given δ).
    pub fn epsilon(self, delta: Delta, accountant: impl Fn(Delta) -> f64) -> Result<f64, AccountantError> {
        let mut inner = delta.value() * (-self.eta).exp();
        // Each pass leaves room for the tail at the ε of the pass before; twice that room ends the search.
        for pass in 0..8 {
            let inner_delta = Delta::new(inner).map_err(|_| AccountantError::SlackAboveDelta {
                epsilon: f64::INFINITY,
                delta: delta.value(),
            })?;
            let epsilon = accountant(inner_delta);
            let (with_slack, spent) = self.apply(epsilon, inner);
            if spent <= delta.value() * (1.0 + 1e-12) {
                return Ok(with_slack);
            }
            let room = f64::from(pass + 1) * (1.0 + (epsilon + self.eta).exp()) * self.kappa;
            inner = (delta.value() - room) * (-self.eta).exp();
            if inner <= 0.0 {
                return Err(AccountantError::SlackAboveDelta { epsilon, delta: delta.value() });
            }
        }
        Err(AccountantError::SlackAboveDelta { epsilon: f64::INFINITY, delta: delta.value() })
    }
}

#[cfg(test)]
#[path = "discrete_tests.rs"]
mod tests;

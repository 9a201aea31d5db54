//! Gaussian differential privacy: exact when every student takes part in every round (q = 1).

use super::solve::root;
use super::special::{ln_sqrt_two_pi, mills_ratio, normal_cdf, normal_density};
use super::{AccountantError, Delta, Epsilon, Mechanism};
use std::convert::Infallible;

/// μ-Gaussian differential privacy: telling two neighbours apart is no easier than N(0, 1) from N(μ, 1)
/// (Dong, Roth and Su 2022, definition 2.6).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct GaussianDp(f64);

impl GaussianDp {
    /// Gaussian differential privacy with this μ.
    pub fn new(mu: f64) -> Result<Self, AccountantError> {
        if mu.is_finite() && mu > 0.0 { Ok(Self(mu)) } else { Err(AccountantError::Mu(mu)) }
    }

    /// μ of rounds without subsampling: μ² = Σ rounds/σ² (Dong, Roth and Su 2022, corollary 3.3). `None` when
    /// one of the mechanisms samples, or there is none.
    pub fn of(mechanisms: &[Mechanism]) -> Option<Self> {
        if mechanisms.is_empty() || mechanisms.iter().any(|m| m.sampling_rate() < 1.0) {
            return None;
        }
        let square = |m: &Mechanism| f64::from(m.rounds()) / m.noise_multiplier().powi(2);
        Some(Self(mechanisms.iter().map(square).sum::<f64>().sqrt()))
    }

    /// μ, the parameter of Gaussian differential privacy.
    pub fn mu(self) -> f64 {
        self.0
    }

    /// μ when a student's answers are *replaced* rather than zeroed: the sum moves twice as far.
    pub fn replaced(self) -> Self {
        Self(2.0 * self.0)
    }

    /// ln δ at ε.
    ///
    /// δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2) (Balle and Wang 2018, theorem 8; Dong, Roth and Su 2022,
    /// corollary 2.13). With a = ε/μ − μ/2, b = ε/μ + μ/2 and Mills' ratio R,
    /// e^ε φ(b) = φ(a), so that δ = φ(a) (R(a) − R(b)).
    ///
    /// Numerical note: that form has no e^ε and no underflow, and serves a > 0; otherwise
    /// δ = Φ(−a) − φ(a) R(b). The difference leaves a relative error of about 1e-16 (1 + ε/μ²).
    pub fn ln_delta(self, epsilon: f64) -> f64 {
        let (a, b) = (epsilon / self.0 - 0.5 * self.0, epsilon / self.0 + 0.5 * self.0);
        if a > 0.0 {
            -0.5 * a * a - ln_sqrt_two_pi() + (mills_ratio(a) - mills_ratio(b)).ln()
        } else {
            (normal_cdf(-a) - normal_density(a) * mills_ratio(b)).ln()
        }
    }

    /// δ at ε.
    pub fn delta(self, epsilon: f64) -> f64 {
        self.ln_delta(epsilon).exp()
    }

    /// The smallest ε ≥ 0 at δ.
    ///
    /// Bracket: δ(ε) ≤ Φ(−a) ≤ e^{−a²/2}, so ε = μ²/2 + μ√(2 ln 1/δ) is always enough.
    pub fn epsilon(self, delta: Delta) -> f64 {
        let ln_delta = delta.value().ln();
        let f = |epsilon: f64| self.ln_delta(epsilon) - ln_delta;
        let high = 0.5 * self.0 * self.0 + self.0 * (-2.0 * ln_delta).sqrt();
        let (f_low, f_high) = (f(0.0), f(high));
        if f_low <= 0.0 {
            return 0.0;
        }
        if f_high >= 0.0 {
            return high;
        }
        match root(|e| Ok::<f64, Infallible>(f(e)), (0.0, f_low), (high, f_high), 0.0) {
            Ok(epsilon) => epsilon,
        }
    }

    /// The largest μ that keeps (ε, δ).
    ///
    /// Bracket: μ = √(z² + 2ε) − z with z = √(2 ln 1/δ) always keeps it (the bound of [`Self::epsilon`]).
    pub fn for_budget(epsilon: Epsilon, delta: Delta) -> Self {
        let (epsilon, ln_delta) = (epsilon.value(), delta.value().ln());
        let f = |mu: f64| Self(mu).ln_delta(epsilon) - ln_delta;
        let z = (-2.0 * ln_delta).sqrt();
        let low = 2.0 * epsilon / ((z * z + 2.0 * epsilon).sqrt() + z);
        let mut high = 2.0 * low;
        while f(high) < 0.0 {
            high *= 2.0;
        }
        match root(|mu| Ok::<f64, Infallible>(f(mu)), (low, f(low)), (high, f(high)), 0.0) {
            Ok(mu) => Self(mu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with scipy from Balle and Wang's formula, δ = 1e-6: ε, μ, and the ε of replaced answers.
    const AT_ONE_IN_A_MILLION: [(f64, f64, f64); 5] = [
        (0.5, 0.12411, 1.05),
        (1.0, 0.23670, 2.12),
        (2.0, 0.44833, 4.32),
        (4.0, 0.83786, 8.90),
        (8.0, 1.53155, 18.7),
    ];

    #[test]
    fn budgets_at_one_in_a_million() {
        let delta = Delta::new(1e-6).unwrap();
        for (epsilon, mu, replaced) in AT_ONE_IN_A_MILLION {
            let gdp = GaussianDp::for_budget(Epsilon::new(epsilon).unwrap(), delta);
            assert!((gdp.mu() - mu).abs() < 6e-6, "{epsilon}: {}", gdp.mu());
            assert!((gdp.epsilon(delta) / epsilon - 1.0).abs() < 1e-12);
            let twice = gdp.replaced().epsilon(delta);
            assert!((twice / replaced - 1.0).abs() < 3e-3, "{epsilon}: {twice}");
        }
    }

    #[test]
    fn tails_round_trip() {
        for mu in [1e-3, 0.1, 1.0, 10.0, 200.0] {
            let gdp = GaussianDp::new(mu).unwrap();
            for delta in [0.3, 1e-3, 1e-9, 1e-100, 1e-290] {
                let epsilon = gdp.epsilon(Delta::new(delta).unwrap());
                if epsilon > 0.0 {
                    let back = gdp.ln_delta(epsilon);
                    assert!((back - delta.ln()).abs() < 1e-8, "μ = {mu}, δ = {delta}: {back}");
                } else {
                    assert!(gdp.delta(0.0) <= delta);
                }
            }
        }
    }
}

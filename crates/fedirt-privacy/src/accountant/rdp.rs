//! Rényi differential privacy of the Poisson-subsampled Gaussian, and its conversion to (ε, δ).

use super::solve::minimise;
use super::special::{ln_sqrt_two_pi, ln_sum_exp, softplus};
use super::{AccountantError, Delta, Mechanism};

/// Integer orders up to this one are summed; all others are integrated.
const LARGEST_SUM: f64 = 256.0;

/// Half-width of an integral, in standard deviations beyond the outermost means.
const REACH: f64 = 10.0;

/// How a Rényi curve becomes (ε, δ).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// ε = τ(α) + ln((α−1)/α) − (ln δ + ln α)/(α−1) (Canonne, Kamath and Steinke 2020, proposition 12).
    Improved,
    /// ε = τ(α) − ln δ/(α−1) (Mironov 2017, proposition 3): the published algorithm's.
    Classic,
}

impl Conversion {
    fn epsilon(self, tau: f64, order: f64, ln_delta: f64) -> f64 {
        let t = order - 1.0;
        match self {
            Self::Improved => tau + (t / order).ln() - (ln_delta + order.ln()) / t,
            Self::Classic => tau - ln_delta / t,
        }
    }
}

/// An ε with the order that gave it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RdpEpsilon {
    /// ε ≥ 0.
    pub epsilon: f64,
    /// The order α at which the conversion is smallest.
    pub order: f64,
}

/// ε at δ of mechanisms in sequence, by Rényi DP, at the best real order above 1.
pub fn rdp_epsilon(
    mechanisms: &[Mechanism],
    delta: Delta,
    conversion: Conversion,
) -> Result<RdpEpsilon, AccountantError> {
    if mechanisms.is_empty() {
        return Err(AccountantError::NoMechanism);
    }
    let ln_delta = delta.value().ln();
    let (t, epsilon) = minimise(1e-2, |t| conversion.epsilon(total(mechanisms, 1.0 + t), 1.0 + t, ln_delta));
    Ok(RdpEpsilon { epsilon: epsilon.max(0.0), order: 1.0 + t })
}

fn total(mechanisms: &[Mechanism], order: f64) -> f64 {
    mechanisms
        .iter()
        .map(|m| f64::from(m.rounds()) * round(m.sampling_rate(), m.noise_multiplier(), order))
        .sum()
}

fn round(q: f64, sigma: f64, order: f64) -> f64 {
    if q == 1.0 {
        order / (2.0 * sigma * sigma)
    } else if order.fract() == 0.0 && order <= LARGEST_SUM {
        amplified_rdp(q, order as u32, |l| 0.5 * f64::from(l) / (sigma * sigma))
    } else {
        ln_moment(q, sigma, order) / (order - 1.0)
    }
}

/// Rényi divergence of integer order α ≥ 2 of a mechanism applied to a Poisson sample, from the curve ε(l) of
/// the mechanism itself.
///
/// ε'(α) = (α−1)⁻¹ ln Σ_{l=0}^α C(α, l) (1−q)^{α−l} q^l e^{(l−1) ε(l)}, ε(0) = ε(1) = 0 (Mironov, Talwar and
/// Zhang 2019, section 3.3, for the Gaussian; Zhu and Wang 2019 for noise that is added and symmetric).
///
/// Symbols: q sampling rate, α order.
///
/// Numerical note: the binomial weights sum to 1, so ln(1 + Σ w_l (e^{(l−1)ε(l)} − 1)), of positive terms in
/// logarithms, keeps its digits when the sum is hardly above 1.
pub fn amplified_rdp(q: f64, order: u32, curve: impl Fn(u32) -> f64) -> f64 {
    let alpha = f64::from(order);
    if q >= 1.0 {
        return curve(order);
    }
    let mut choose = alpha.ln();
    let terms: Vec<f64> = (2..=order)
        .map(|l| {
            let x = f64::from(l - 1) * curve(l);
            let k = f64::from(l);
            choose += ((alpha - k + 1.0) / k).ln();
            choose + k * q.ln() + (alpha - k) * (-q).ln_1p() + x + (-(-x).exp_m1()).ln()
        })
        .collect();
    softplus(ln_sum_exp(&terms)) / (alpha - 1.0)
}

/// ln A_α of any real order α > 1.
///
/// A_α = E (1 − q + q e^{(2x−1)/(2σ²)})^α, x ~ N(0, σ²) (Mironov, Talwar and Zhang 2019, section 3.1; it is
/// the larger of the two directions, theorem 5). Their section 3.3 expands it in two alternating series; here
/// it is integrated.
///
/// Symbols: q sampling rate, σ noise multiplier, α order, r the ratio of densities in brackets.
///
/// Numerical note: E r = 1, so A − 1 = E (r^α − 1 − α(r − 1)), whose integrand is never negative. The
/// trapezoid rule errs by no more than 2 e^{−2πy/h + y²/2σ²} A, h the step and y < πσ² half the width of the strip
/// where r has no zero: below 1e-15 for h = min(σ/8, σ²/2).
fn ln_moment(q: f64, sigma: f64, alpha: f64) -> f64 {
    let variance = sigma * sigma;
    let step = (sigma / 8.0).min(variance / 2.0);
    let ln_integrand = |x: f64| {
        let u = (2.0 * x - 1.0) / (2.0 * variance);
        let ln_r = ln_ratio(q, u);
        let x_alpha = alpha * ln_r;
        let ln_gain = if x_alpha < 30.0 {
            (x_alpha.exp_m1() - alpha * ln_r.exp_m1()).max(0.0).ln()
        } else {
            let linear = alpha * -(-ln_r).exp_m1() * (ln_r - x_alpha).exp();
            x_alpha + (-(-x_alpha).exp() - linear).ln_1p()
        };
        ln_gain - 0.5 * x * x / variance
    };
    // Blocks of eight nodes, visited when one of their ends is within e^−60 of the highest.
    let block = 8.0 * step;
    let blocks = ((alpha + 2.0 * REACH * sigma) / block).ceil() as usize;
    let start = -REACH * sigma;
    let ends: Vec<f64> = (0..=blocks).map(|i| ln_integrand(start + i as f64 * block)).collect();
    let top = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for i in 0..blocks {
        if ends[i].max(ends[i + 1]) < top - 60.0 {
            continue;
        }
        sum += (ends[i] - top).exp();
        for node in 1..8 {
            let x = start + i as f64 * block + f64::from(node) * step;
            sum += (ln_integrand(x) - top).exp();
        }
    }
    softplus(top + (sum * step / sigma).ln() - ln_sqrt_two_pi())
}

/// ln(1 − q + q e^u), without overflow and with its digits near u = 0.
pub(super) fn ln_ratio(q: f64, u: f64) -> f64 {
    if q == 1.0 {
        u
    } else if u > 30.0 {
        u + q.ln() + ((1.0 - q) / q * (-u).exp()).ln_1p()
    } else {
        (q * u.exp_m1()).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_integrals_agree_at_integer_orders() {
        for (q, sigma) in [(0.01, 1.0), (0.2, 0.5), (0.5, 4.0), (1e-4, 20.0), (0.9, 0.2)] {
            for order in [2u32, 3, 7, 32, 200] {
                let sum = round(q, sigma, f64::from(order));
                let integral = ln_moment(q, sigma, f64::from(order)) / f64::from(order - 1);
                assert!((sum / integral - 1.0).abs() < 1e-9, "{q} {sigma} {order}: {sum} {integral}");
            }
        }
    }

    #[test]
    fn full_sampling_is_the_limit() {
        let exact = 3.7 / (2.0 * 1.5 * 1.5);
        let near = round(1.0 - 1e-9, 1.5, 3.7);
        assert!((near / exact - 1.0).abs() < 1e-7);
    }
}

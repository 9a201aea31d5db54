//! The normal distribution where doubles run out: logarithms and ratios instead of tiny probabilities.

use std::f64::consts::PI;

/// Below it in absolute value Φ comes from its series, beyond it from Mills' ratio.
const SERIES: f64 = 1.5;

/// ln √(2π).
pub(super) fn ln_sqrt_two_pi() -> f64 {
    0.5 * (2.0 * PI).ln()
}

/// Standard normal density φ(x).
pub(super) fn normal_density(x: f64) -> f64 {
    (-0.5 * x * x - ln_sqrt_two_pi()).exp()
}

/// Standard normal distribution function Φ(x).
pub(crate) fn normal_cdf(x: f64) -> f64 {
    if x.abs() < SERIES {
        0.5 + normal_density(x) * central_series(x)
    } else if x < 0.0 {
        normal_density(x) * mills_ratio(-x)
    } else {
        1.0 - normal_density(x) * mills_ratio(x)
    }
}

/// Mills' ratio R(x) = Φ(−x) / φ(x), the upper tail over the density.
///
/// R(x) = 1/(x + 1/(x + 2/(x + 3/(x + …)))) (Abramowitz and Stegun 1964, 26.2.14).
///
/// Numerical note: sixteen digits need about 180/x² terms; for smaller x the series of Φ serves. It cannot
/// underflow. Not for x < −30, where the density is 0.
pub(super) fn mills_ratio(x: f64) -> f64 {
    if x < SERIES {
        return normal_cdf(-x) / normal_density(x);
    }
    let terms = 30 + (200.0 / (x * x)) as u32;
    1.0 / (1..=terms).rev().fold(x, |below, term| x + f64::from(term) / below)
}

/// (Φ(x) − 1/2)/φ(x) = x + x³/3 + x⁵/(3·5) + … (Abramowitz and Stegun 1964, 26.2.11).
fn central_series(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for k in 1..60 {
        term *= x * x / f64::from(2 * k + 1);
        sum += term;
    }
    sum
}

/// ln Φ(x), finite for any finite x.
pub(super) fn ln_normal_cdf(x: f64) -> f64 {
    if x < -4.0 {
        -0.5 * x * x - ln_sqrt_two_pi() + mills_ratio(-x).ln()
    } else if x > 4.0 {
        (-normal_cdf(-x)).ln_1p()
    } else {
        normal_cdf(x).ln()
    }
}

/// ln Σ exp(x), −∞ for nothing.
pub(super) fn ln_sum_exp(terms: &[f64]) -> f64 {
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()
}

/// ln(1 + e^x).
pub(super) fn softplus(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17's `log_ndtr`.
    #[test]
    fn log_tails_agree_with_scipy() {
        for (x, expected) in [
            (-1.0, -1.8410216450092634),
            (-4.5, -12.592419735713081),
            (-10.0, -53.23128515051248),
            (-40.0, -804.6084420137539),
            (5.0, -2.8665161296376294e-7),
        ] {
            let got = ln_normal_cdf(x);
            assert!(((got - expected) / expected).abs() < 1e-14, "{x}: {got} against {expected}");
        }
    }

    #[test]
    fn series_and_fraction_meet() {
        for x in [-1.0, 1.0] {
            let (below, above) = (normal_cdf(x * (SERIES - 1e-13)), normal_cdf(x * SERIES));
            assert!((below / above - 1.0).abs() < 1e-12, "{below} {above}");
        }
    }
}

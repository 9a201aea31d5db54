//! One round as a pair of distributions on a grid of privacy losses.

use crate::accountant::Mechanism;
use crate::accountant::rdp::ln_ratio;
use crate::accountant::special::{ln_normal_cdf, ln_sqrt_two_pi};

/// Masses on the losses `first`·h, (`first` + 1)·h, …, and what lies beyond them.
#[derive(Debug, Clone)]
pub(super) struct Losses {
    /// Index of the first loss.
    pub first: i64,
    /// Masses.
    pub mass: Vec<f64>,
    /// Mass whose loss is taken to be infinite.
    pub infinite: f64,
}

/// Two-point and three-point Gauss-Legendre rules on (−1, 1).
const TWO: [(f64, f64); 2] = [(-0.577_350_269_189_625_8, 1.0), (0.577_350_269_189_625_8, 1.0)];
const THREE: [(f64, f64); 3] =
    [(-0.774_596_669_241_483_4, 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.774_596_669_241_483_4, 5.0 / 9.0)];

/// ln(dP/dQ) of one round at x.
///
/// L(x) = ln(1 − q + q e^{(2x−1)/(2σ²)}), P = (1−q) N(0, σ²) + q N(1, σ²), Q = N(0, σ²) (Mironov, Talwar and
/// Zhang 2019, section 3.1; Zhu, Dong and Wang 2022 for the pair's dominating every other).
pub(super) fn loss(m: &Mechanism, x: f64) -> f64 {
    ln_ratio(m.sampling_rate(), (2.0 * x - 1.0) / (2.0 * m.noise_multiplier().powi(2)))
}

/// x at which the loss is l; −∞ where no x has it.
fn position(m: &Mechanism, l: f64) -> f64 {
    let q = m.sampling_rate();
    let u = if q == 1.0 {
        l
    } else if l > 30.0 {
        l - q.ln() + (-(1.0 - q) * (-l).exp()).ln_1p()
    } else {
        (l.exp_m1() / q).max(-1.0).ln_1p()
    };
    0.5 + m.noise_multiplier().powi(2) * u
}

/// The range of outcomes that is put on the grid: z standard deviations beyond both means.
pub(super) fn range(m: &Mechanism, z: f64) -> (f64, f64) {
    (-z * m.noise_multiplier(), 1.0 + z * m.noise_multiplier())
}

/// One round on the grid in both directions: the student's row is there (P against Q), or empty (Q against P).
///
/// Mass w at loss l between l_k and l_k + h is divided between the two so that its probability under P *and*
/// under Q is kept: w (e^{l_k + h − l} − 1)/(e^h − 1) below, the rest above. The hockey-stick curve of the
/// result connects the true one's points by straight lines in e^ε and lies nowhere below it (Doroshenko,
/// Ghazi, Kamath, Kumar and Manurangsi 2022, "Connect the Dots"): δ errs upwards, in any composition.
///
/// Symbols: h grid step, z reach in standard deviations; what lies beyond has its loss rounded up, at the
/// upper end to infinity.
///
/// Numerical note: integrals over the bins, by Gauss rules on pieces of at most σ/16, have positive terms
/// only; differences of distribution functions would lose ten digits at h = 1e-5. Both directions are the
/// same split read under P and under Q, kept apart so that neither underflows.
pub(super) fn discretise(m: &Mechanism, h: f64, z: f64) -> [Losses; 2] {
    let sigma = m.noise_multiplier();
    let (start, end) = range(m, z);
    let first = (loss(m, start) / h).floor() as i64;
    let last = (loss(m, end) / h).floor() as i64 + 1;
    let bins = (last - first) as usize;
    let (mut present, mut empty) = (vec![0.0; bins + 1], vec![0.0; bins + 1]);
    let growth = h.exp_m1();
    let ln_norm = -ln_sqrt_two_pi() - sigma.ln();
    let mut x = start;
    for bin in 0..bins {
        let l_k = (first + bin as i64) as f64 * h;
        let edge = position(m, l_k + h).min(end);
        while x < edge {
            let next = (x + sigma / 16.0).min(edge);
            let (middle, half) = (0.5 * (x + next), 0.5 * (next - x));
            let rule: &[(f64, f64)] = if half < sigma / 400.0 { &TWO } else { &THREE };
            for (node, weight) in rule {
                let at = middle + half * node;
                let l = loss(m, at);
                let ln_density = ln_norm - 0.5 * (at / sigma).powi(2);
                let under_p = weight * half * (ln_density + l).exp();
                let under_q = weight * half * ln_density.exp();
                let grown = (l - l_k).clamp(0.0, h).exp_m1();
                let (lower, upper) = (growth - grown, grown);
                let scale = under_p / ((1.0 + grown) * growth);
                present[bin] += scale * lower;
                present[bin + 1] += scale * upper * (1.0 + growth);
                empty[bin] += under_q * lower / growth;
                empty[bin + 1] += under_q * upper / growth;
            }
            x = next;
        }
    }
    // Beyond the range: P is at most `near` on either side, Q is `near` below and `far` above.
    let (near, far) = (ln_normal_cdf(-z).exp(), ln_normal_cdf(-z - 1.0 / sigma).exp());
    let q = m.sampling_rate();
    present[1] += (1.0 - q) * near + q * far;
    empty[bins - 1] += far;
    empty.reverse();
    [Losses { first, mass: present, infinite: near }, Losses { first: -last, mass: empty, infinite: near }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_are_distributions_and_keep_the_other_mass() {
        for (q, sigma, h) in
            [(0.01, 1.0, 1e-4), (0.5, 4.0, 1e-3), (1.0, 2.0, 1e-3), (0.2, 0.3, 1e-2), (0.1, 50.0, 1e-5)]
        {
            let m = Mechanism::new(q, sigma, 1).unwrap();
            for losses in discretise(&m, h, 8.5) {
                let total: f64 = losses.mass.iter().sum();
                assert!((total - 1.0).abs() < 1e-11, "{q} {sigma}: {total}");
                let other: f64 = losses
                    .mass
                    .iter()
                    .enumerate()
                    .map(|(k, p)| p * (-(losses.first + k as i64) as f64 * h).exp())
                    .sum();
                assert!((other - 1.0).abs() < 1e-9, "{q} {sigma}: {other}");
            }
        }
    }

    #[test]
    fn losses_and_positions_are_inverse() {
        for q in [1e-4, 0.3, 1.0] {
            let m = Mechanism::new(q, 0.7, 1).unwrap();
            for x in [-1.0, 0.2, 1.5, 40.0] {
                let back = position(&m, loss(&m, x));
                assert!((back - x).abs() < 1e-6 * x.abs(), "{q}: {x} → {back}");
            }
        }
    }
}

//! The bounds against exact convolutions of two and three discrete Gaussians, on lattices far coarser than
//! the mechanism's, where there is something to see.

use super::*;
use crate::accountant::special::{mills_ratio, normal_cdf, normal_density};
use crate::accountant::{Conversion, GaussianDp, Mechanism, amplified_rdp, rdp_epsilon};

/// Probabilities at −reach..=reach.
struct Pmf {
    reach: i64,
    mass: Vec<f64>,
}

impl Pmf {
    fn discrete_gaussian(sd: f64, reach: i64) -> Self {
        let weight = |k: i64| (-0.5 * (k as f64 / sd).powi(2)).exp();
        let total: f64 = (-reach..=reach).map(weight).sum();
        Self { reach, mass: (-reach..=reach).map(|k| weight(k) / total).collect() }
    }

    fn at(&self, k: i64) -> f64 {
        if k.abs() <= self.reach { self.mass[(k + self.reach) as usize] } else { 0.0 }
    }

    /// All terms are positive: the tails keep their digits.
    fn convolve(&self, other: &Self) -> Self {
        let sum = |k: i64| (-self.reach..=self.reach).map(|j| self.at(j) * other.at(k - j)).sum();
        Self { reach: self.reach, mass: (-self.reach..=self.reach).map(sum).collect() }
    }

    /// Of n shares, far into the tails.
    fn of_shares(n: u32, share_sd: f64) -> Self {
        let reach = (16.0 * share_sd * f64::from(n).sqrt()).ceil() as i64;
        let share = Self::discrete_gaussian(share_sd, reach);
        (1..n).fold(Self::discrete_gaussian(share_sd, reach), |sum, _| sum.convolve(&share))
    }

    /// Hockey-stick divergence of the sum moved by `shift` from the sum.
    fn delta(&self, shift: i64, epsilon: f64) -> f64 {
        let excess = |k: i64| (self.at(k - shift) - epsilon.exp() * self.at(k)).max(0.0);
        (-self.reach - shift..=self.reach + shift).map(excess).sum()
    }

    /// Rényi divergence of the sum moved by `shift` from the sum, within half the reach.
    fn renyi(&self, shift: i64, alpha: f64) -> f64 {
        let half = self.reach * 3 / 4;
        let term = |k: i64| self.at(k - shift).powf(alpha) * self.at(k).powf(1.0 - alpha);
        (-half..=half).map(term).sum::<f64>().ln() / (alpha - 1.0)
    }
}

/// A normal of sd s, rounded to integers, at k.
fn rounded_gaussian(s: f64, k: i64) -> f64 {
    let (a, b) = ((k.abs() as f64 - 0.5) / s, (k.abs() as f64 + 0.5) / s);
    if a < 0.0 {
        normal_cdf(b) - normal_cdf(a)
    } else {
        normal_density(a) * mills_ratio(a) - normal_density(b) * mills_ratio(b)
    }
}

/// (honest sites, sd of a share).
const CASES: [(u32, f64); 7] = [(1, 4.0), (2, 1.0), (2, 2.0), (2, 4.0), (3, 1.0), (3, 2.0), (3, 6.0)];

#[test]
fn log_ratio_to_a_rounded_gaussian_is_at_most_eta() {
    for (n, share_sd) in CASES {
        let exact = Pmf::of_shares(n, share_sd);
        for tail_exponent in [5.0, 20.0, TAIL_EXPONENT] {
            for dimension in [1, 2] {
                let noise = DistributedNoise::new(dimension, n, share_sd).unwrap();
                let (s, d) = (noise.sum_sd(), f64::from(dimension));
                let radius = s * (d.sqrt() + (2.0 * tail_exponent).sqrt());
                let within = |squared: f64| (radius * radius - squared).max(0.0).sqrt() as i64;
                let ratio = |k: i64| (exact.at(k) / rounded_gaussian(s, k)).ln();
                let ratios: Vec<f64> = (0..=within(0.0)).map(ratio).collect();
                let mut worst = 0.0f64;
                for (k, r) in ratios.iter().enumerate() {
                    let reach = if dimension == 1 { 0 } else { within((k * k) as f64) };
                    for j in 0..=reach as usize {
                        let other = if dimension == 1 { 0.0 } else { ratios[j] };
                        worst = worst.max((r + other).abs());
                    }
                }
                let eta = noise.eta(tail_exponent);
                assert!(
                    worst <= eta,
                    "n {n}, share {share_sd}, d {dimension}, L {tail_exponent}: {worst} > {eta}"
                );
                assert!(eta < 60.0 * worst, "the bound is not idle: {worst} against {eta}");
            }
        }
    }
}

#[test]
fn the_tail_given_up_is_at_most_its_bound() {
    for (n, share_sd) in CASES {
        let exact = Pmf::of_shares(n, share_sd);
        let s = f64::from(n).sqrt() * share_sd;
        for tail_exponent in [1.0, 5.0, 20.0] {
            let radius = s * (1.0 + f64::sqrt(2.0 * tail_exponent));
            let outside = |k: &i64| k.abs() as f64 > radius;
            let tail =
                |p: &dyn Fn(i64) -> f64| -> f64 { (-exact.reach..=exact.reach).filter(outside).map(p).sum() };
            let bound = f64::exp(-tail_exponent);
            assert!(tail(&|k| exact.at(k)) <= bound && tail(&|k| rounded_gaussian(s, k)) <= bound);
        }
    }
}

#[test]
fn exact_delta_is_below_the_bound() {
    for (n, share_sd) in CASES {
        let exact = Pmf::of_shares(n, share_sd);
        let noise = DistributedNoise::new(1, n, share_sd).unwrap();
        for tail_exponent in [10.0, TAIL_EXPONENT] {
            let slack = noise.slack_unchecked(1.0, tail_exponent);
            for shift in [1, 3, 6] {
                let gdp = GaussianDp::new(shift as f64 / noise.sum_sd()).unwrap();
                for epsilon in [0.0, 0.3, 1.0, 3.0, 8.0] {
                    let (with_slack, bound) = slack.apply(epsilon, gdp.delta(epsilon));
                    let found = exact.delta(shift, with_slack);
                    assert!(
                        found <= bound,
                        "n {n}, share {share_sd}, shift {shift}, ε {epsilon}: {found} > {bound}"
                    );
                }
            }
        }
    }
}

#[test]
fn exact_renyi_divergence_is_below_the_bound() {
    for (n, share_sd) in CASES.into_iter().chain([(2, 0.5), (3, 0.5)]) {
        let exact = Pmf::of_shares(n, share_sd);
        let noise = DistributedNoise::new(1, n, share_sd).unwrap();
        for shift in [1, 2] {
            for alpha in [1.5, 2.0, 4.0] {
                let (found, bound) = (exact.renyi(shift, alpha), noise.rdp(alpha, shift as f64));
                assert!(
                    found <= bound * (1.0 + 1e-12),
                    "n {n}, share {share_sd}, α {alpha}: {found} > {bound}"
                );
            }
        }
    }
}

/// d = 24, ten honest sites, σC/γ = 2¹⁶ steps: the price of a run is some 1e-9.
#[test]
fn a_fine_lattice_costs_next_to_nothing() {
    let noise = DistributedNoise::new(24, 10, 65_536.0 / 10f64.sqrt() * 1.000_001).unwrap();
    let slack = noise.slack(2, TAIL_EXPONENT).unwrap();
    assert!(slack.eta > 1e-9 && slack.eta < 1e-8, "{}", slack.eta);
    let delta = Delta::new(1e-6).unwrap();
    let gdp = GaussianDp::new(0.2367).unwrap();
    let paid = slack.epsilon(delta, |d| gdp.epsilon(d)).unwrap();
    let free = gdp.epsilon(delta);
    assert!(paid > free && paid < free + 1e-7, "{paid} {free}");
    assert_eq!(slack.and(Slack::NONE), slack);
}

/// Proposition 14 through sampling and composition, against the Gaussian's own Rényi curve.
#[test]
fn shares_cost_the_gaussian_price_under_sampling_too() {
    let (q, sigma, rounds, sensitivity) = (0.1, 4.0, 200u32, 16_384.0);
    let noise = DistributedNoise::new(24, 4, sensitivity * sigma / 2.0).unwrap();
    let delta = Delta::new(1e-6).unwrap();
    let curve = |order| f64::from(rounds) * amplified_rdp(q, order, |l| noise.rdp(f64::from(l), sensitivity));
    // ε at δ by the conversion of Canonne, Kamath and Steinke (2020), at the best of the integer orders.
    let epsilon = |order: u32| {
        let alpha = f64::from(order);
        curve(order) + ((alpha - 1.0) / alpha).ln() - (delta.value() * alpha).ln() / (alpha - 1.0)
    };
    let order = (2..=256).min_by(|a, b| epsilon(*a).total_cmp(&epsilon(*b))).unwrap();
    let gaussian =
        rdp_epsilon(&[Mechanism::new(q, sigma, rounds).unwrap()], delta, Conversion::Improved).unwrap();
    assert!((epsilon(order) / gaussian.epsilon - 1.0).abs() < 1e-3);
    assert!((f64::from(order) - gaussian.order).abs() < 1.0);
}

#[test]
fn coarse_lattices_and_large_epsilons_are_refused() {
    assert!(DistributedNoise::new(0, 1, 4.0).is_err() && DistributedNoise::new(1, 0, 4.0).is_err());
    assert!(DistributedNoise::new(1, 1, 0.4).is_err() && DistributedNoise::new(1, 1, f64::NAN).is_err());
    let coarse = DistributedNoise::new(24, 10, 100.0).unwrap();
    assert!(matches!(coarse.slack(1, TAIL_EXPONENT), Err(AccountantError::CoarseLattice { .. })));
    let fine = DistributedNoise::new(24, 10, 1e6).unwrap().slack(1, TAIL_EXPONENT).unwrap();
    let refused = fine.epsilon(Delta::new(1e-6).unwrap(), |_| 40.0);
    assert!(matches!(refused, Err(AccountantError::SlackAboveDelta { .. })));
    let longer = DistributedNoise::new(24, 10, 1e6).unwrap().slack(1, 80.0).unwrap();
    assert!(longer.epsilon(Delta::new(1e-6).unwrap(), |_| 40.0).unwrap() < 40.1);
}

#[test]
fn a_small_part_of_the_budget_pays_for_integers() {
    for (epsilon, delta) in [(0.1, 1e-9), (1.0, 1e-6), (8.0, 1e-6), (5000.0, 1e-12)] {
        let noise = DistributedNoise::new(200, 10, 65_536.0).unwrap();
        let inner = (epsilon * (1.0 - 1e-6), delta * (1.0 - 1e-4));
        assert_eq!(noise.keeps(2, inner, (epsilon, delta)), Ok(true), "{epsilon}");
        assert_eq!(noise.keeps(2, (epsilon, delta), (epsilon, delta)), Ok(false), "{epsilon}");
    }
    // Too coarse a lattice is no lattice.
    assert!(DistributedNoise::new(5, 2, 3.0).unwrap().keeps(1, (1.0, 1e-6), (1.1, 1e-6)).is_err());
}

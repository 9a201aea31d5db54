//! The three accountants against numbers of others, against each other, and against what must hold.

use fedirt_privacy::accountant::{
    AccountantError, Conversion, Delta, Epsilon, GaussianDp, Mechanism, delta, epsilon, noise_multiplier,
    rdp_epsilon,
};
use proptest::prelude::*;

fn mechanism(q: f64, sigma: f64, rounds: u32) -> Mechanism {
    Mechanism::new(q, sigma, rounds).expect("a valid mechanism")
}

fn one_in_a_million() -> Delta {
    Delta::new(1e-6).expect("a valid delta")
}

/// (q, σ, rounds, δ, ε by the PLD, ε by RDP with the improved conversion at the best real order), computed
/// with Google's `dp-accounting` 0.6: connect-the-dots at intervals of 1e-4, and its RDP moments.
const DP_ACCOUNTING: [(f64, f64, u32, f64, f64, f64); 6] = [
    (0.01, 1.0, 1000, 1e-5, 1.828244, 2.101322),
    (0.01, 1.0, 100, 1e-6, 0.954218, 1.507283),
    (0.1, 1.0, 1, 1e-6, 2.181694, 2.582399),
    (0.2, 0.5, 150, 1e-6, 79.891553, 86.006305),
    (0.5, 8.0, 500, 1e-6, 7.246088, 7.730299),
    (0.1, 3.0, 100, 1e-9, 2.121881, 2.250384),
];

#[test]
fn agrees_with_dp_accounting() {
    for (q, sigma, rounds, delta, pld, rdp) in DP_ACCOUNTING {
        let (m, delta) = (mechanism(q, sigma, rounds), Delta::new(delta).unwrap());
        let found = m.epsilon(delta);
        assert!((found / pld - 1.0).abs() < 3e-5, "PLD of {m:?}: {found} against {pld}");
        let found = rdp_epsilon(&[m], delta, Conversion::Improved).unwrap().epsilon;
        assert!((found / rdp - 1.0).abs() < 1e-6, "RDP of {m:?}: {found} against {rdp}");
    }
}

/// The moments accountant's classic example (Abadi et al. 2016: q = 0.01, σ = 4, 10,000 rounds, δ = 1e-5,
/// ε = 1.26).
#[test]
fn agrees_with_the_moments_accountant() {
    let m = mechanism(0.01, 4.0, 10_000);
    let classic = rdp_epsilon(&[m], Delta::new(1e-5).unwrap(), Conversion::Classic).unwrap().epsilon;
    assert!((classic - 1.26).abs() < 0.01, "{classic}");
}

#[test]
fn near_full_sampling_meets_gaussian_dp() {
    let delta = one_in_a_million();
    for (sigma, rounds) in [(4.0, 4), (1.0, 1), (30.0, 100)] {
        let exact = mechanism(1.0, sigma, rounds).epsilon(delta);
        assert_eq!(exact, GaussianDp::new(f64::from(rounds).sqrt() / sigma).unwrap().epsilon(delta));
        let near = mechanism(1.0 - 1e-9, sigma, rounds).epsilon(delta);
        assert!(near > exact * (1.0 - 1e-7) && near < exact * (1.0 + 1e-5), "{near} against {exact}");
    }
}

/// Without sampling and with, in one composition: the sampled part, q → 1, is then a Gaussian as well.
#[test]
fn mixed_compositions_meet_gaussian_dp() {
    let delta = one_in_a_million();
    let both = [mechanism(1.0, 5.0, 3), mechanism(1.0 - 1e-9, 2.0, 1)];
    let exact = GaussianDp::new((3.0f64 / 25.0 + 0.25).sqrt()).unwrap().epsilon(delta);
    let found = epsilon(&both, delta).unwrap();
    assert!(found > exact * (1.0 - 1e-7) && found < exact * (1.0 + 1e-4), "{found} against {exact}");
}

#[test]
fn one_and_one_rounds_are_two() {
    let d = one_in_a_million();
    for (q, sigma) in [(0.1, 1.0), (0.01, 0.7), (0.5, 3.0), (1.0, 2.0)] {
        let (one, two) = (mechanism(q, sigma, 1), mechanism(q, sigma, 2));
        let (apart, together) = (epsilon(&[one, one], d).unwrap(), two.epsilon(d));
        assert!((apart / together - 1.0).abs() < 1e-8, "{apart} against {together}");
        let (apart, together) = (delta(&[one, one], 0.5).unwrap(), two.delta(0.5));
        assert!((apart / together - 1.0).abs() < 1e-6, "{apart} against {together}");
    }
}

/// One round, where δ(ε) has a closed form: P(x > t) − e^ε Q(x > t) at L(t) = ε.
#[test]
fn a_single_round_matches_its_closed_form() {
    let (q, sigma) = (0.2, 1.3);
    for epsilon in [0.01f64, 0.3, 1.0, 3.0] {
        let t = 0.5 + sigma * sigma * ((epsilon.exp() - 1.0 + q) / q).ln();
        let upper = |mean: f64| 0.5 * slow_erfc((t - mean) / sigma / std::f64::consts::SQRT_2);
        let exact = (1.0 - q) * upper(0.0) + q * upper(1.0) - epsilon.exp() * upper(0.0);
        let found = mechanism(q, sigma, 1).delta(epsilon);
        assert!(found >= exact * (1.0 - 1e-9) && found <= exact * (1.0 + 1e-4), "{epsilon}: {found} {exact}");
    }
}

/// erfc by Simpson's rule: slow, and nobody else's.
fn slow_erfc(x: f64) -> f64 {
    let (n, end) = (20_000, 12.0);
    let h = (end - x) / f64::from(n);
    let f = |i: i32| (-(x + f64::from(i) * h).powi(2)).exp();
    let inner: f64 = (1..n).map(|i| if i % 2 == 1 { 4.0 * f(i) } else { 2.0 * f(i) }).sum();
    (f(0) + inner + f(n)) * h / 3.0 * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn tiny_deltas_keep_their_digits() {
    let m = mechanism(0.05, 1.5, 50);
    for value in [1e-12, 1e-30, 1e-100, 1e-200] {
        let e = m.epsilon(Delta::new(value).unwrap());
        let back = m.delta(e);
        assert!((back / value - 1.0).abs() < 1e-5, "δ = {value:e} came back as {back:e}");
    }
}

#[test]
fn calibration_round_trips() {
    let delta = one_in_a_million();
    for (q, rounds, target) in
        [(0.01, 1000, 1.0), (0.1, 100, 8.0), (0.3, 10, 0.1), (1.0, 100, 2.0), (0.9, 2, 1.0)]
    {
        let sigma = noise_multiplier((Epsilon::new(target).unwrap(), delta), q, rounds).unwrap();
        let found = mechanism(q, sigma, rounds).epsilon(delta);
        assert!((found / target - 1.0).abs() < 1e-6, "q {q}, {rounds} rounds: {found} against {target}");
    }
    // The published studies' σ at ε = 2 over 100 rounds without sampling.
    let sigma = noise_multiplier((Epsilon::new(2.0).unwrap(), delta), 1.0, 100).unwrap();
    assert!((sigma - 22.3).abs() < 0.05, "{sigma}");
}

#[test]
fn replaced_answers_cost_about_twice() {
    let delta = one_in_a_million();
    let full = mechanism(1.0, 1.0 / 0.23670, 1).epsilon_replaced(delta);
    assert!((full - 2.12).abs() < 0.005, "{full}");
    let sampled = mechanism(0.1, 4.0, 200);
    let (zeroed, replaced) = (sampled.epsilon(delta), sampled.epsilon_replaced(delta));
    assert!(replaced > 2.0 * zeroed && replaced < 2.6 * zeroed, "{zeroed} {replaced}");
    // The bound through the empty row is above the exact answer where that is known.
    assert!(
        mechanism(1.0 - 1e-9, 4.0, 4).epsilon_replaced(delta)
            > mechanism(1.0, 4.0, 4).epsilon_replaced(delta)
    );
}

#[test]
fn bad_input_is_refused_with_its_number() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Epsilon::new(bad).is_err());
        assert!(matches!(Mechanism::new(0.5, bad, 1), Err(AccountantError::NoiseMultiplier(_))));
        assert!(GaussianDp::new(bad).is_err());
    }
    for bad in [0.0, 1.0, -1e-6, 2.0, f64::NAN] {
        assert!(Delta::new(bad).is_err());
    }
    for bad in [0.0, 1.1, -0.5, f64::NAN] {
        assert!(matches!(Mechanism::new(bad, 1.0, 1), Err(AccountantError::SamplingRate(_))));
    }
    for bad in [0, u32::MAX] {
        assert_eq!(Mechanism::new(0.5, 1.0, bad), Err(AccountantError::Rounds(bad)));
    }
    assert_eq!(epsilon(&[], one_in_a_million()), Err(AccountantError::NoMechanism));
    assert_eq!(
        Epsilon::new(-1.0).unwrap_err().to_string(),
        "epsilon is -1; it must be a positive, finite number"
    );
    // δ above q: no noise at all would do.
    let budget = (Epsilon::new(1.0).unwrap(), Delta::new(1e-3).unwrap());
    assert!(matches!(noise_multiplier(budget, 1e-4, 1), Err(AccountantError::OutOfReach { .. })));
    let delta = Delta::new(1e-3).unwrap();
    assert!(
        delta.is_large_for(1000).is_err()
            && delta.is_large_for(500).unwrap()
            && !delta.is_large_for(50).unwrap()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn orders_that_must_hold(
        ln_q in -6.0f64..-0.1,
        ln_sigma in -0.5f64..2.5,
        rounds in 1u32..400,
        exponent in 4.0f64..10.0,
    ) {
        let (q, sigma) = (ln_q.exp(), ln_sigma.exp());
        let delta = Delta::new(10f64.powf(-exponent)).unwrap();
        let m = mechanism(q, sigma, rounds);
        let found = m.epsilon(delta);
        let slack = 1.0 + 1e-4;
        prop_assert!(found <= rdp_epsilon(&[m], delta, Conversion::Improved).unwrap().epsilon * slack);
        let improved = rdp_epsilon(&[m], delta, Conversion::Improved).unwrap().epsilon;
        prop_assert!(improved <= rdp_epsilon(&[m], delta, Conversion::Classic).unwrap().epsilon + 1e-12);
        prop_assert!(found <= mechanism(1.0, sigma, rounds).epsilon(delta) * slack);
        prop_assert!(found <= mechanism(q, sigma, 2 * rounds).epsilon(delta) * slack);
        prop_assert!(mechanism(q, 1.2 * sigma, rounds).epsilon(delta) <= found * slack);
        prop_assert!(mechanism(0.8 * q, sigma, rounds).epsilon(delta) <= found * slack);
        if found > 0.0 {
            let back = m.delta(found);
            prop_assert!((back / delta.value() - 1.0).abs() < 1e-3, "δ = {:e} came back as {back:e}", delta.value());
        }
    }
}

/// Replaced answers: ε' = 2ε with (1 + e^ε) δ(ε) = δ, and so it is by the curve of δ. And quickly, however large ε is.
#[test]
fn replaced_answers_follow_the_curve_of_delta() {
    let d = one_in_a_million();
    for (q, sigma, rounds) in [(0.01, 1.0, 100), (0.1, 1.0, 10), (0.5, 4.0, 200), (0.2, 1.0, 50)] {
        let m = mechanism(q, sigma, rounds);
        let half = 0.5 * m.epsilon_replaced(d);
        let found = m.delta(half) * (1.0 + half.exp());
        assert!((found / d.value() - 1.0).abs() < 2e-3, "{m:?}: {half} gives {found:e}");
        assert!(m.epsilon_replaced(d) > m.epsilon(d));
    }
}

/// Every row of a published comparison of accountants is of this size; all figures that the command prints.
#[test]
fn large_plans_are_answered_quickly() {
    for (q, sigma, rounds, delta) in [
        (0.2, 0.5, 150, 1e-6),
        (0.5, 0.7, 50, 1e-6),
        (0.001, 0.6, 5000, 1e-6),
        (0.01, 1.1, 10_000, 1e-5),
        (0.1, 50.0, 20, 1e-6),
        (0.5, 20.0, 300, 1e-6),
        (0.01, 1.0, 10_000_000, 1e-6),
        (0.3, 0.05, 1000, 1e-6),
    ] {
        let (m, delta) = (mechanism(q, sigma, rounds), Delta::new(delta).unwrap());
        let start = std::time::Instant::now();
        let found = (m.epsilon(delta), m.epsilon_replaced(delta));
        let took = start.elapsed();
        println!("{q} {sigma} {rounds}: {found:?} in {took:?}");
        assert!(found.0.is_finite() && found.1 > found.0, "{found:?}");
    }
}

/// With little noise it is plain in which rounds a student took part: k of them, binomially distributed, give the loss
/// N(k/(2σ²) + k ln q + (R − k) ln(1 − q), k/σ²), and δ(ε) = Σ_k Bin(k) (Φ((m − ε)/s) − e^{ε − m + s²/2} Φ((m − s² − ε)/s)).
/// ε by bisection of that sum in another program.
#[test]
fn little_noise_is_told_as_it_is() {
    for (q, sigma, rounds, delta, expected) in [
        (0.2, 0.05, 100, 1e-6, 8_117.727_34),
        (0.1, 0.06, 30, 1e-6, 1_798.170_45),
        (0.5, 0.05, 20, 1e-5, 3_801.739_91),
    ] {
        let found = mechanism(q, sigma, rounds).epsilon(Delta::new(delta).unwrap());
        assert!((found / expected - 1.0).abs() < 1e-3, "{q} {sigma} {rounds}: {found} {expected}");
    }
}

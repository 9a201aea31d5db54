//! Coins against their probabilities, noise against its exact distribution, lattices against their rules.

use super::bernoulli::{below, exp_minus};
use super::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

fn random(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Whether a frequency among n draws is within 4.5 standard errors of a probability.
fn near(count: usize, n: usize, p: f64) -> bool {
    let (n, count) = (n as f64, count as f64);
    (count - n * p).abs() <= 4.5 * (n * p * (1.0 - p)).sqrt().max(0.5)
}

#[test]
fn coins_have_their_probabilities() {
    let (mut random, n) = (random(1), 200_000);
    for (num, den) in [(0, 1), (1, 1000), (1, 3), (1, 1), (5, 2), (7, 1), (1 << 120, (1 << 121) + 12345)] {
        let p = (-(num as f64) / den as f64).exp();
        let count = (0..n).filter(|_| exp_minus(&mut random, num, den)).count();
        assert!(near(count, n, p), "{num}/{den}: {count}");
    }
    for rate in [0.0, 1e-3, 0.3, 0.999, 1.0] {
        let count = (0..n).filter(|_| sample(&mut random, rate)).count();
        assert!(near(count, n, rate), "{rate}: {count}");
    }
    assert!(!sample(&mut random, f64::NAN) && !sample(&mut random, -1.0) && sample(&mut random, 2.0));
    assert!((0..1000).all(|_| !sample(&mut random, 1e-300)));
}

#[test]
fn uniform_numbers_stay_below_and_fill_the_range() {
    let mut random = random(2);
    for n in [1u128, 2, 3, 1 << 63, (1 << 64) - 1, 1 << 64, (1 << 64) + 1, u128::MAX] {
        let draws: Vec<u128> = (0..2000).map(|_| below(&mut random, n)).collect();
        assert!(draws.iter().all(|&d| d < n));
        let upper = draws.iter().filter(|&&d| d >= n - n / 2).count();
        assert!(n == 1 || near(upper, draws.len(), (n / 2) as f64 / n as f64), "{n}: {upper}");
    }
}

/// χ² over the cells −4s..4s and the two tails, against e^{−x²/2s²}/Σ.
#[test]
fn small_noise_has_the_exact_distribution() {
    for (seed, s) in [(3, 1u64), (4, 2), (5, 7), (6, 20)] {
        let (mut random, n, reach) = (random(seed), 300_000, 4 * s as i64);
        let mut counts = vec![0usize; 2 * reach as usize + 1];
        for _ in 0..n {
            let x = discrete_gaussian(&mut random, s).clamp(-reach, reach);
            counts[(x + reach) as usize] += 1;
        }
        let weight = |x: i64| (-0.5 * (x as f64 / s as f64).powi(2)).exp();
        let total: f64 = (-40 * reach..=40 * reach).map(weight).sum();
        let cell = |x: i64| {
            let tail: f64 = (reach + 1..=40 * reach).map(weight).sum();
            (weight(x) + if x.abs() == reach { tail } else { 0.0 }) / total
        };
        let chi: f64 = (-reach..=reach)
            .map(|x| {
                let expected = cell(x) * n as f64;
                (counts[(x + reach) as usize] as f64 - expected).powi(2) / expected
            })
            .sum();
        let df = 2.0 * reach as f64;
        assert!((chi - df).abs() < 4.5 * (2.0 * df).sqrt(), "sd {s}: chi {chi} on {df}");
    }
}

/// The variance that the sampler's page gives, from the probabilities themselves.
#[test]
fn the_variance_is_the_square_of_the_sd() {
    for s in [1.0f64, 2.0, 5.0] {
        let moment = |k: i32| -> f64 {
            let term = |x: i64| (x as f64).powi(k) * (-0.5 * (x as f64 / s).powi(2)).exp();
            (-200..=200).map(term).sum()
        };
        let twice_pi_s_squared = 2.0 * (std::f64::consts::PI * s).powi(2);
        let expected = s * s * (1.0 - 4.0 * twice_pi_s_squared * (-twice_pi_s_squared).exp());
        assert!((moment(2) / moment(0) - expected).abs() < 1e-13 * s * s, "{s}");
    }
}

/// At large sd the distribution is normal to the eye: moments, and quantiles of the normal.
#[test]
fn large_noise_is_normal() {
    // Φ at −2, −1, 0, 1, 2.
    let quantiles =
        [(-2.0, 0.022_750_1), (-1.0, 0.158_655_3), (0.0, 0.5), (1.0, 0.841_344_7), (2.0, 0.977_249_9)];
    for (seed, s) in [(7, 65_536u64), (8, 1 << 40), (9, LARGEST_SD), (10, u64::MAX)] {
        let (mut random, n) = (random(seed), 100_000);
        let unit = s.min(LARGEST_SD) as f64;
        let draws: Vec<f64> = (0..n).map(|_| discrete_gaussian(&mut random, s) as f64 / unit).collect();
        for (x, p) in quantiles {
            assert!(near(draws.iter().filter(|d| **d <= x).count(), n, p), "sd {s} at {x}");
        }
        let moment = |k: i32| draws.iter().map(|d| d.powi(k)).sum::<f64>() / n as f64;
        let root = (n as f64).sqrt();
        assert!(moment(1).abs() < 4.5 / root && (moment(2) - 1.0).abs() < 4.5 * 2f64.sqrt() / root);
        assert!(
            moment(3).abs() < 4.5 * 15f64.sqrt() / root
                && (moment(4) - 3.0).abs() < 4.5 * 96f64.sqrt() / root
        );
    }
    assert_eq!(discrete_gaussian(&mut random(1), 0), 0);
}

/// ```sh
/// cargo test --release -p fedirt-privacy noise_speed -- --nocapture
/// ```
#[test]
fn noise_speed() {
    let mut random = random(11);
    for s in [100u64, 1 << 16, 1 << 30, 1 << 50] {
        let start = std::time::Instant::now();
        let sum: i64 = (0..20_000).map(|_| discrete_gaussian(&mut random, s) >> 8).sum();
        let each = start.elapsed().as_secs_f64() / 20_000.0;
        println!("sd {s}: {:.0} ns a draw ({})", each * 1e9, std::hint::black_box(sum) % 2);
    }
}

#[test]
fn lattices_follow_their_rule() {
    for (clip, sigma) in [(3.0, 22.3), (4.9, 1.0), (0.1, 0.05), (1e6, 1e-4), (1.0, 300.0)] {
        let lattice = Lattice::new(clip, sigma).unwrap();
        let step = lattice.step();
        assert_eq!(step.log2().fract(), 0.0);
        assert!(step <= sigma * clip / 65_536.0 && step <= clip / 2f64.powi(24));
        assert!(2.0 * step > (sigma * clip / 65_536.0).min(clip / 2f64.powi(24)));
        let shares = lattice.shares(24, 10_000, 10, 1).unwrap();
        assert!(shares.noise().sum_sd() >= lattice.sum_sd());
        assert!(shares.noise().sum_sd() <= lattice.sum_sd() + 3.0);
        let slack = shares.slack(100).unwrap();
        assert!(slack.eta < 1e-5, "{}", slack.eta);
        assert_eq!(lattice.decode(&[1, u64::MAX]), [step, -step]);
        assert!(lattice.clipper(24).is_ok());
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
        assert!(Lattice::new(bad, 1.0).is_err() && Lattice::new(1.0, bad).is_err());
    }
}

#[test]
fn shares_need_an_honest_site_and_headroom() {
    let lattice = Lattice::new(3.0, 22.3).unwrap();
    let nobody = NoiseError::NobodyHonest { sites: 2, colluders: 2 };
    assert_eq!(lattice.shares(24, 100, 2, 2), Err(nobody));
    assert!(matches!(lattice.shares(24, 1 << 50, 2, 0), Err(NoiseError::Headroom { .. })));
    assert!(lattice.shares(24, 100_000_000, 1000, 3).is_ok());
    assert!(matches!(lattice.shares(0, 100, 2, 0), Err(NoiseError::Accountant(_))));
    let tiny = Lattice::new(1.0, 1e-12).unwrap();
    assert!(matches!(tiny.shares(24, 1 << 20, 2, 0), Err(NoiseError::Headroom { .. })));
    // With c = 1 of 2 each honest site carries the full noise.
    assert_eq!(lattice.shares(1, 10, 2, 1).unwrap().sd(), lattice.shares(1, 10, 1, 0).unwrap().sd());
    let share = lattice.shares(7, 10, 1, 0).unwrap().draw(&mut random(1));
    assert_eq!((share.width(), format!("{share:?}").as_str()), (7, "NoiseShare(7 secret numbers)"));
}

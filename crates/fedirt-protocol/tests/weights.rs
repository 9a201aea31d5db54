//! Weights: their unit does not matter, zero means absent, and equal weights give the errors of no weights.

mod common;

use common::*;
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::responses::ResponseTable;

const MODELS: &[(&str, usize)] = &[("2pl", 2), ("2pl", 2), ("gpcm", 3), ("2pl", 2), ("2pl", 2)];

fn schools(sizes: &[usize], seed: u64) -> Vec<Vec<Vec<u8>>> {
    let truth = truth(MODELS, seed);
    let mut random = Random(seed ^ 3);
    let effect = |k: usize| 0.4 * k as f64 - 0.5;
    let draw = |(k, n): (usize, &usize)| answers(MODELS, &truth, *n, (effect(k), 1.0), 0.0, &mut random);
    sizes.iter().enumerate().map(draw).collect()
}

fn weighted(rows: &[Vec<Vec<u8>>], weight: impl Fn(usize) -> f64) -> Vec<ResponseTable> {
    rows.iter()
        .map(|site| {
            let weights = (0..site.len()).map(&weight).collect();
            table(site).with_weights(weights).expect("weights are finite")
        })
        .collect()
}

fn errors(f: &Fit) -> Vec<f64> {
    let items = f.items.iter().flat_map(|i| i.se_a.iter().chain(i.se_d.iter().flatten()).copied());
    items.chain(f.sites.iter().filter_map(|s| s.se)).collect()
}

#[test]
fn nearly_equal_weights_give_the_errors_of_no_weights() {
    // Large sites: what a site says of its effect is small beside what it says of items.
    let rows = schools(&[6000; 4], 81);
    for effects in [Effects::Fixed, Effects::None] {
        let plain = fit(plan(named(MODELS), effects), rows.iter().map(|r| table(r)).collect());
        let sandwich =
            fit(plan(named(MODELS), effects), weighted(&rows, |i| if i % 2 == 0 { 1.0 } else { 1.0001 }));
        assert_eq!(sandwich.se_type.as_deref(), Some("sandwich"));
        for (r, (a, b)) in errors(&plain).iter().zip(errors(&sandwich)).enumerate() {
            // The sandwich of 24,000 students differs from the information by sampling, a percent or two.
            assert!((a / b - 1.0).abs() < 0.03, "{effects:?} {r}: {a} {b}");
        }
    }
}

#[test]
fn the_unit_of_the_weights_does_not_matter() {
    let rows = schools(&[150, 200, 120], 82);
    for effects in [Effects::None, Effects::Fixed, Effects::Random] {
        let with = |unit: f64| {
            fit(plan(named(MODELS), effects), weighted(&rows, |i| unit * f64::from(1 + (i % 3) as u8)))
        };
        let one = with(1.0);
        for unit in [1e7, 1e-9, 0.1] {
            let other = with(unit);
            assert!(distance(&one, &other) < 1e-7, "{effects:?} {unit}: {}", distance(&one, &other));
            let (a, b) = (one.loglik.unwrap_or(0.0), other.loglik.unwrap_or(1.0));
            assert!((a - b).abs() < 1e-7 * a.abs(), "{a} {b}");
        }
    }
}

#[test]
fn weights_of_one_are_no_weights() {
    let rows = schools(&[150, 200, 120], 83);
    let plain = fit(plan(named(MODELS), Effects::Fixed), rows.iter().map(|r| table(r)).collect());
    let ones = fit(plan(named(MODELS), Effects::Fixed), weighted(&rows, |_| 1.0));
    // Weighted sums are encoded with one bit less.
    assert!(distance(&plain, &ones) < 1e-10, "{}", distance(&plain, &ones));
    assert_eq!((plain.rounds, plain.n), (ones.rounds, ones.n));
}

#[test]
fn students_of_weight_zero_are_absent() {
    let rows = schools(&[150, 200, 120], 84);
    let kept: Vec<Vec<Vec<u8>>> = rows.iter().map(|site| site.iter().step_by(2).cloned().collect()).collect();
    for effects in [Effects::None, Effects::Fixed, Effects::Random] {
        let zero = fit(
            plan(named(MODELS), effects),
            weighted(&rows, |i| if i % 2 == 0 { 1.0 + (i % 3) as f64 } else { 0.0 }),
        );
        let gone = fit(plan(named(MODELS), effects), weighted(&kept, |i| 1.0 + (2 * i % 3) as f64));
        assert!(distance(&zero, &gone) < 1e-9);
        assert_eq!((zero.n, zero.loglik, zero.site_sd), (gone.n, gone.loglik, gone.site_sd));
    }
}

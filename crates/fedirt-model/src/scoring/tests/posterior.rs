//! EAP against brute force, plausible values against EAP.

use super::*;

/// Mean and SD by 2001 nodes on ±8 prior SDs.
fn brute_force(items: &[ScoredItem], row: &[u8], prior: Prior) -> (f64, f64) {
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for n in 0..2001 {
        let v = 0.008 * f64::from(n) - 8.0;
        let t = prior.mean + prior.sd * v;
        let p = (log_likelihood(items, row, t) - 0.5 * v * v).exp();
        total += p;
        first += p * t;
        second += p * t * t;
    }
    let mean = first / total;
    (mean, (second / total - mean * mean).sqrt())
}

#[test]
fn eap_agrees_with_two_thousand_nodes() {
    let usual = GridSpec::default();
    // Some rows lie 8 SDs from the last prior, where the usual grid's end at 6 SDs can be seen (2e-5).
    let wide = GridSpec { nodes: 81, range: 8.0, ..usual };
    for (mean, sd, spec, tolerance) in
        [(0.0, 1.0, usual, 1e-6), (-0.6, 1.7, usual, 1e-6), (1.2, 0.5, wide, 1e-9)]
    {
        let prior = Prior { mean, sd };
        let scorer = Scorer::new(mixed(), prior, spec).unwrap();
        for row in mixed_rows() {
            let (mean, sd) = score(&scorer, &row, Method::Eap);
            let (want_mean, want_sd) = brute_force(&mixed(), &row, prior);
            let error = (mean - want_mean).abs().max((sd - want_sd).abs());
            assert!(error < tolerance, "{prior:?} {error:e}");
        }
    }
}

#[test]
fn eap_is_that_of_one_rasch_item_by_symmetry() {
    let scorer = scorer(&[item("rasch", &[1.0, 0.0])], STANDARD);
    let (right, wrong) = (score(&scorer, &[1], Method::Eap), score(&scorer, &[0], Method::Eap));
    // E[t·σ(t)]/½ with t ~ N(0, 1), by Stein's identity 2·E[σ'(t)] = 0.413242 (numerical integration).
    assert!((right.0 - 0.413_242).abs() < 1e-6, "{}", right.0);
    assert!((right.0 + wrong.0).abs() < 1e-12 && (right.1 - wrong.1).abs() < 1e-12);
    // E[t²] stays 1 by symmetry.
    assert!((right.0.powi(2) + right.1.powi(2) - 1.0).abs() < 1e-6);
}

#[test]
fn plausible_values_have_the_posterior_mean_and_variance() {
    let prior = Prior { mean: 0.3, sd: 1.2 };
    let long: Vec<ScoredItem> = binary(60);
    let (mixed, mut rng) = (mixed(), seeded(2));
    let mut cases: Vec<(Vec<ScoredItem>, Vec<u8>)> =
        mixed_rows().into_iter().step_by(12).map(|row| (mixed.clone(), row)).collect();
    cases.push((long.clone(), simulate(&long, 1.0, 0.0, &mut rng)));
    cases.push((mixed, vec![MISSING; 7]));
    for (items, row) in cases {
        let scorer = scorer(&items, prior);
        let (mean, sd) = score(&scorer, &row, Method::Pv { draws: 1 });
        let mut draws = vec![0.0; 40_000];
        scorer.row_scorer().plausible_values(&row, &mut rng, &mut draws).unwrap();
        let (got, variance) = mean_and_variance(&draws);
        let n = draws.len() as f64;
        // Four standard errors; the fourth moment of these posteriors is near the normal's 3σ⁴.
        assert!((got - mean).abs() < 4.0 * sd / n.sqrt(), "mean {got} {mean}");
        assert!((variance / (sd * sd) - 1.0).abs() < 4.0 * (2.2 / n).sqrt(), "variance {variance} {sd}");
    }
}

#[test]
fn plausible_values_follow_the_posterior_distribution() {
    let (items, row) = (mixed(), mixed_rows()[30].clone());
    let scorer = scorer(&items, STANDARD);
    let mut draws = vec![0.0; 50_000];
    scorer.row_scorer().plausible_values(&row, &mut seeded(3), &mut draws).unwrap();
    draws.sort_by(f64::total_cmp);
    let density = |t: f64| (log_likelihood(&items, &row, t) - 0.5 * t * t).exp();
    let total: f64 = (-8000..8000).map(|n| density(f64::from(n) / 1000.0)).sum();
    let (mut below, mut worst) = (0.0, 0.0f64);
    for n in -8000..8000 {
        let t = f64::from(n) / 1000.0;
        below += density(t);
        let share = draws.partition_point(|x| *x <= t + 0.0005) as f64 / draws.len() as f64;
        worst = worst.max((share - below / total).abs());
    }
    // Kolmogorov–Smirnov at 0.001: 1.95/√n.
    assert!(worst < 1.95 / (draws.len() as f64).sqrt(), "{worst}");
}

#[test]
fn scores_know_the_shape_of_ability() {
    use crate::population::{Family, Population};
    let family = Family::Mixture { components: 2 };
    let population = Population { family, ..Population::default() };
    let parameters = vec![-0.7, 1.9, -0.3];
    let parts = population.components(&parameters);
    let density = |v: f64| -> f64 {
        parts.iter().map(|c| c.weight * (-0.5 * ((v - c.mean) / c.sd).powi(2)).exp() / c.sd).sum()
    };
    let prior = Prior { mean: 0.4, sd: 1.3 };
    let shape = Shape { population, parameters: parameters.clone() };
    let scorer = scorer(&mixed(), prior).with_shape(shape).unwrap();
    for row in mixed_rows().iter().step_by(5) {
        let points = || (0..8001).map(|n| 0.002 * f64::from(n) - 8.0);
        let posterior = |v: f64| log_likelihood(&mixed(), row, prior.mean + prior.sd * v).exp() * density(v);
        let total: f64 = points().map(posterior).sum();
        let moment = |power: i32| {
            points().map(|v| posterior(v) * (prior.mean + prior.sd * v).powi(power)).sum::<f64>() / total
        };
        let (mean, sd) = score(&scorer, row, Method::Eap);
        let want = (moment(1), (moment(2) - moment(1).powi(2)).sqrt());
        assert!((mean - want.0).abs() < 1e-5 && (sd - want.1).abs() < 1e-5, "{mean} {sd} {want:?}");
        // No point of the fine grid is more likely than the mode.
        let (mode, _) = score(&scorer, row, Method::Map);
        let at_mode = posterior((mode - prior.mean) / prior.sd);
        let best = points().map(posterior).fold(0.0, f64::max);
        assert!(at_mode >= best * (1.0 - 1e-9), "{mode}");
        let mut values = [0.0; 4000];
        scorer.row_scorer().plausible_values(row, &mut seeded(3), &mut values).unwrap();
        let drawn = values.iter().sum::<f64>() / values.len() as f64;
        assert!((drawn - mean).abs() < 5.0 * sd / (values.len() as f64).sqrt(), "{drawn} {mean}");
    }
    let damaged = Shape { population, parameters: vec![0.0] };
    assert!(matches!(scorer_of(prior).with_shape(damaged), Err(ScoringError::Shape(_))));
}

fn scorer_of(prior: Prior) -> Scorer {
    Scorer::new(mixed(), prior, GridSpec::default()).unwrap()
}

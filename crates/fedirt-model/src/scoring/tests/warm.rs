//! Warm's estimate against its equation, the weighted likelihood it maximises, and simulation.

use super::*;

/// J(t) by central differences of the probabilities.
fn j_term(items: &[ScoredItem], row: &[u8], t: f64) -> f64 {
    let h = 1e-4;
    let answered = items.iter().zip(row).filter(|(_, x)| **x != MISSING);
    answered
        .map(|(item, _)| {
            let p = |t: f64| -> Vec<f64> { log_p(item, t).iter().map(|x| x.exp()).collect() };
            let (down, at, up) = (p(t - h), p(t), p(t + h));
            let terms = (0..at.len()).map(|c| {
                let (first, second) =
                    ((up[c] - down[c]) / (2.0 * h), (up[c] - 2.0 * at[c] + down[c]) / (h * h));
                first * second / at[c]
            });
            terms.sum::<f64>()
        })
        .sum()
}

#[test]
fn wle_satisfies_its_equation() {
    let (items, scorer) = (mixed(), scorer(&mixed(), STANDARD));
    let h = 1e-4;
    for row in mixed_rows() {
        let (t, se) = score(&scorer, &row, Method::Wle);
        let slope = (log_likelihood(&items, &row, t + h) - log_likelihood(&items, &row, t - h)) / (2.0 * h);
        let information = information(&items, &row, t);
        let value = slope + j_term(&items, &row, t) / (2.0 * information);
        assert!(value.abs() < 1e-5 * (1.0 + information), "{value} at {t}");
        assert!((se - information.sqrt().recip()).abs() < 1e-5 * se);
    }
}

#[test]
fn wle_maximises_the_weighted_likelihood() {
    let divide_by_total =
        [&binary(8)[..], &[item("gpcm", &[1.2, 0.8, 0.1]), item("pcm", &[1.0, -0.2, -1.5])]].concat();
    let graded = vec![
        item("grm", &[1.8, 2.5, 0.2]),
        item("grm", &[1.1, 0.4, -1.9]),
        item("grm", &[-0.9, 1.0, 0.7, -2.0]),
    ];
    for items in [divide_by_total, graded] {
        let (scorer, mut rng) = (scorer(&items, STANDARD), seeded(4));
        for i in 0..40 {
            let row = simulate(&items, f64::from(i) / 8.0 - 2.5, 0.1, &mut rng);
            let (t, _) = score(&scorer, &row, Method::Wle);
            let f = |t: f64| log_likelihood(&items, &row, t) + 0.5 * information(&items, &row, t).ln();
            let want = golden(f, -10.0, 10.0);
            assert!((t - want).abs() < 1e-4, "{t} {want}");
        }
    }
}

#[test]
fn wle_of_a_symmetrical_test_is_symmetrical_and_finite() {
    let items: Vec<ScoredItem> =
        [-1.5, -0.5, 0.5, 1.5].iter().map(|b| item("2pl", &[1.2, -1.2 * b])).collect();
    let scorer = scorer(&items, STANDARD);
    let wle = |row: &[u8]| score(&scorer, row, Method::Wle).0;
    assert!(wle(&[1, 1, 0, 0]).abs() < 1e-9);
    assert!((wle(&[1, 1, 1, 1]) + wle(&[0, 0, 0, 0])).abs() < 1e-8);
    assert!((wle(&[1, 1, 1, 0]) + wle(&[1, 0, 0, 0])).abs() < 1e-8);
    assert!(wle(&[1, 1, 1, 1]) > wle(&[1, 1, 1, 0]) && wle(&[1, 1, 1, 1]) < 5.0);
}

#[test]
fn wle_of_one_rasch_item_has_a_closed_form() {
    // 1 − p + (1 − 2p)/2 = 0, so p = 3/4: t = b + ln 3.
    let scorer = scorer(&[item("rasch", &[1.0, -0.4])], STANDARD);
    assert!((score(&scorer, &[1], Method::Wle).0 - (0.4 + 3f64.ln())).abs() < 1e-9);
    assert!((score(&scorer, &[0], Method::Wle).0 - (0.4 - 3f64.ln())).abs() < 1e-9);
}

#[test]
fn wle_is_the_highest_of_several_modes() {
    // Two far clusters, the easy one right and the hard one wrong: L·√I has a mode near each.
    let items: Vec<ScoredItem> =
        [-4.0, -4.1, 3.9, 4.0, 4.1].iter().map(|b| item("2pl", &[3.0, -3.0 * b])).collect();
    let scorer = scorer(&items, STANDARD);
    for row in [[1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0, 1, 0, 1, 0]] {
        let f = |t: f64| log_likelihood(&items, &row, t) + 0.5 * information(&items, &row, t).ln();
        let steps = (-600..600).map(|n| f64::from(n) / 100.0);
        let best = steps.max_by(|x, y| f(*x).total_cmp(&f(*y))).unwrap();
        let (t, _) = score(&scorer, &row, Method::Wle);
        assert!((t - best).abs() < 0.011, "{t} {best}");
    }
}

#[test]
fn wle_is_less_biased_than_ml() {
    let items = binary(30);
    let (scorer, mut rng) = (scorer(&items, STANDARD), seeded(5));
    let mut rows = scorer.row_scorer();
    for t in [-1.5, 1.5] {
        let (mut ml, mut wle) = (Vec::new(), Vec::new());
        for _ in 0..10_000 {
            let row = simulate(&items, t, 0.0, &mut rng);
            // Perfect rows, which ML cannot score, are rarer than one in a thousand here.
            ml.extend(rows.score(&row, Method::Ml).unwrap().estimate.map(|x| x - t));
            wle.push(rows.score(&row, Method::Wle).unwrap().estimate.unwrap() - t);
        }
        assert!(ml.len() > 9990);
        let ((ml, variance), (wle, _)) = (mean_and_variance(&ml), mean_and_variance(&wle));
        let error = (variance / 10_000.0).sqrt();
        // ML errs outwards.
        assert!(ml * t.signum() > 4.0 * error, "ml {ml} ± {error}");
        assert!(wle.abs() < 3.0 * error && wle.abs() < ml.abs() / 3.0, "ml {ml}, wle {wle} ± {error}");
    }
}

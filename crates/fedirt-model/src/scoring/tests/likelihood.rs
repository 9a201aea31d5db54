//! ML and MAP against closed forms and golden-section search.

use super::*;

#[test]
fn map_agrees_with_golden_section() {
    for prior in [STANDARD, Prior { mean: -0.6, sd: 1.7 }, Prior { mean: 3.0, sd: 0.4 }] {
        let (items, scorer) = (mixed(), scorer(&mixed(), prior));
        for row in mixed_rows() {
            let (t, se) = score(&scorer, &row, Method::Map);
            let f = |t: f64| log_likelihood(&items, &row, t) - 0.5 * ((t - prior.mean) / prior.sd).powi(2);
            let want = golden(f, prior.mean - 9.0 * prior.sd, prior.mean + 9.0 * prior.sd);
            assert!((t - want).abs() < 1e-6, "{t} {want}");
            let h = 1e-3;
            let curvature = (2.0 * f(t) - f(t + h) - f(t - h)) / (h * h);
            assert!((se - curvature.sqrt().recip()).abs() < 1e-5);
        }
    }
}

#[test]
fn map_of_perfect_rows_is_finite() {
    let scorer = scorer(&binary(40), STANDARD);
    let (top, _) = score(&scorer, &[1; 40], Method::Map);
    let (bottom, _) = score(&scorer, &[0; 40], Method::Map);
    assert!(top > 2.0 && top < 4.0 && bottom < -2.0 && bottom > -4.0);
}

#[test]
fn one_right_of_two_equal_slopes_is_the_midpoint() {
    let items = [item("2pl", &[1.4, 1.4 * 0.8]), item("2pl", &[1.4, -1.4 * 2.2])];
    let scorer = scorer(&items, STANDARD);
    for row in [[1, 0], [0, 1]] {
        let (t, se) = score(&scorer, &row, Method::Ml);
        assert!((t - 0.7).abs() < 1e-12);
        let p = (1.0 + (1.4f64 * 1.5).exp()).recip();
        assert!((se - (2.0 * 1.96 * p * (1.0 - p)).sqrt().recip()).abs() < 1e-12);
    }
}

#[test]
fn rasch_ml_solves_the_raw_score_equation() {
    let items: Vec<ScoredItem> =
        [-2.0, -1.1, -0.3, 0.2, 0.9, 2.4].iter().map(|b| item("rasch", &[1.0, -b])).collect();
    let scorer = scorer(&items, STANDARD);
    let mut previous = f64::NEG_INFINITY;
    for raw in 1..=5usize {
        let row: Vec<u8> = (0..6).map(|j| u8::from(j < raw)).collect();
        let reversed: Vec<u8> = row.iter().rev().copied().collect();
        let (t, _) = score(&scorer, &row, Method::Ml);
        let expected: f64 = items.iter().map(|item| log_p(item, t)[1].exp()).sum();
        assert!((expected - raw as f64).abs() < 1e-10);
        // The raw score is sufficient: which items were right does not matter.
        assert!((score(&scorer, &reversed, Method::Ml).0 - t).abs() < 1e-9);
        assert!(t > previous);
        previous = t;
    }
}

#[test]
fn ml_agrees_with_golden_section() {
    let (items, scorer) = (mixed(), scorer(&mixed(), STANDARD));
    let mut found = 0;
    for row in mixed_rows() {
        let result = scorer.row_scorer().score(&row, Method::Ml).unwrap();
        let want = golden(|t| log_likelihood(&items, &row, t), -30.0, 30.0);
        match result.estimate {
            Some(t) => {
                found += 1;
                assert!((t - want).abs() < 1e-6, "{t} {want}");
            }
            None => assert!(want.abs() > 20.0, "{want}"),
        }
    }
    assert!(found > 40);
}

#[test]
fn ml_does_not_depend_on_the_prior() {
    let (wide, far) = (Prior { mean: 0.0, sd: 3.0 }, Prior { mean: 9.0, sd: 0.7 });
    let row = [1, 0, 0, 2, 1, 2, 1];
    let want = score(&scorer(&mixed(), STANDARD), &row, Method::Ml).0;
    for prior in [wide, far] {
        assert!((score(&scorer(&mixed(), prior), &row, Method::Ml).0 - want).abs() < 1e-8);
    }
}

#[test]
fn ml_is_none_where_the_likelihood_has_no_finite_maximum() {
    let scorer = scorer(&mixed(), STANDARD);
    let none = |row: &[u8]| scorer.row_scorer().score(row, Method::Ml).unwrap() == Score::NONE;
    let top = [1, 0, 1, 3, 0, 3, 0];
    let bottom = [0, 1, 0, 0, 2, 0, 2];
    assert!(none(&top) && none(&bottom));
    assert!(none(&[1, MISSING, MISSING, MISSING, MISSING, MISSING, MISSING]));
    for j in 0..top.len() {
        let mut row = top;
        row[j] = bottom[j];
        assert!(!none(&row), "one answer against the rest bounds it: item {j}");
    }
    // A middle category alone is bounded on both sides; all codes 0 are not all at the bottom here.
    assert!(!none(&[MISSING, MISSING, MISSING, 1, MISSING, MISSING, MISSING]));
    assert!(!none(&[0; 7]));
}

#[test]
fn ml_and_wle_beyond_the_reach_are_none() {
    let items = [item("2pl", &[0.01, 1.0]), item("2pl", &[0.01, 2.0])];
    let scorer = scorer(&items, STANDARD);
    for method in [Method::Ml, Method::Wle] {
        assert_eq!(scorer.row_scorer().score(&[1, 0], method).unwrap(), Score::NONE);
    }
}

#[test]
fn very_steep_items_do_not_derail_the_search() {
    let items: Vec<ScoredItem> = (0..9).map(|j| item("2pl", &[25.0, 25.0 * (4.0 - j as f64)])).collect();
    let scorer = scorer(&items, STANDARD);
    let row: Vec<u8> = (0..9).map(|j| u8::from(j < 6)).collect();
    for method in [Method::Map, Method::Wle, Method::Ml] {
        let (t, _) = score(&scorer, &row, method);
        assert!(t > 1.0 && t < 2.0, "{method:?} {t}");
    }
}

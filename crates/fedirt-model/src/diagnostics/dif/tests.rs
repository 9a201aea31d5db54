use super::*;

/// Answers (wrong, right) of the reference and the focal group at one score.
fn two_by_two(score: f64, [a, b, c, d]: [f64; 4]) -> Stratum {
    Stratum { score, reference: vec![b, a], focal: vec![d, c] }
}

/// The three strata of Mantel & Haenszel's formulas by hand: α = (10·8/30 + 12·9/40)/(5·7/30 + 9·10/40).
#[test]
fn the_odds_ratio_is_that_of_the_formula() {
    let strata = [two_by_two(1.0, [10.0, 5.0, 7.0, 8.0]), two_by_two(2.0, [12.0, 9.0, 10.0, 9.0])];
    let odds = mantel::odds_ratio(&strata).unwrap();
    assert!((odds.alpha - (80.0 / 30.0 + 108.0 / 40.0) / (35.0 / 30.0 + 90.0 / 40.0)).abs() < 1e-12);
    // ΣA − ΣE(A) and ΣVar(A), written out.
    let (difference, variance) = (
        22.0 - (15.0 * 17.0 / 30.0 + 21.0 * 22.0 / 40.0),
        15.0 * 15.0 * 17.0 * 13.0 / (900.0 * 29.0) + 21.0 * 19.0 * 22.0 * 18.0 / (1600.0 * 39.0),
    );
    let z = mantel::mantel(&strata).unwrap();
    assert!((z + difference / f64::sqrt(variance)).abs() < 1e-12, "the focal group does worse");
    assert!((odds.chi2_cc - (difference - 0.5f64).powi(2) / variance).abs() < 1e-12);
    let (gmh, df, _) = mantel::generalised(&strata).unwrap();
    assert!((gmh - z * z).abs() < 1e-12 && df == 1.0);
}

#[test]
fn nothing_is_said_of_tables_that_say_nothing() {
    let strata = [two_by_two(1.0, [10.0, 0.0, 7.0, 0.0]), two_by_two(2.0, [12.0, 3.0, 0.0, 0.0])];
    let row = observed(&strata);
    assert_eq!((row.alpha_mh, row.chi2, row.ets, row.smd), (None, None, None, Some(0.0)));
}

/// A score with two values makes logistic regression with score, group and product a table of four free proportions.
#[test]
fn logistic_regression_fits_a_saturated_table() {
    let strata = [two_by_two(0.0, [4.0, 11.0, 3.0, 12.0]), two_by_two(1.0, [14.0, 6.0, 8.0, 13.0])];
    let ll = |right: f64, wrong: f64| {
        right * (right / (right + wrong)).ln() + wrong * (wrong / (right + wrong)).ln()
    };
    let full = ll(4.0, 11.0) + ll(3.0, 12.0) + ll(14.0, 6.0) + ll(8.0, 13.0);
    let score_alone = ll(7.0, 23.0) + ll(22.0, 19.0);
    let found = logistic::logistic(&strata).unwrap();
    assert!((found.both - 2.0 * (full - score_alone)).abs() < 1e-8);
    assert!((found.uniform + found.nonuniform - found.both).abs() < 1e-8);
    // Three categories, of which nobody is in the last: the same.
    let wider: Vec<Stratum> = strata
        .iter()
        .map(|s| Stratum {
            score: s.score,
            reference: [s.reference.clone(), vec![0.0]].concat(),
            focal: [s.focal.clone(), vec![0.0]].concat(),
        })
        .collect();
    assert!((logistic::logistic(&wider).unwrap().both - found.both).abs() < 1e-10);
}

#[test]
fn classes_follow_size_and_significance() {
    assert_eq!(of_delta(0.2, 2.0, 0.3), "A");
    assert_eq!(of_delta(0.01, 0.9, 0.3), "A");
    assert_eq!(of_delta(0.01, 1.2, 0.3), "B");
    assert_eq!(of_delta(0.001, 1.6, 0.5), "B");
    assert_eq!(of_delta(0.001, 2.0, 0.5), "C");
    assert_eq!(of_mean_difference(0.01, 0.2), "B");
    assert_eq!(of_mean_difference(0.01, 0.3), "C");
}

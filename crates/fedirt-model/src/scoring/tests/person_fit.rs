//! Person fit by hand and under the model.

use super::*;

#[test]
fn two_rasch_items_by_hand() {
    let items = [item("rasch", &[1.0, 1.0]), item("rasch", &[1.0, -0.5])];
    let scorer = scorer(&items, STANDARD);
    let fit = scorer.row_scorer().person_fit(&[0, 1], 0.2).unwrap();
    let p = [1.2f64, -0.3].map(|e| (1.0 + (-e).exp()).recip());
    let q = p.map(|p| 1.0 - p);
    // For two categories E = p ln p + q ln q and V = p q (ln(p/q))².
    let expected: f64 = (0..2).map(|j| p[j] * p[j].ln() + q[j] * q[j].ln()).sum();
    let variance: f64 = (0..2).map(|j| p[j] * q[j] * (p[j] / q[j]).ln().powi(2)).sum();
    let lz = (q[0].ln() + p[1].ln() - expected) / variance.sqrt();
    assert!((fit.lz.unwrap() - lz).abs() < 1e-12);
    let outfit = 0.5 * (p[0] / q[0] + q[1] / p[1]);
    assert!((fit.outfit.unwrap() - outfit).abs() < 1e-12);
    let infit = (p[0] * p[0] + q[1] * q[1]) / (p[0] * q[0] + p[1] * q[1]);
    assert!((fit.infit.unwrap() - infit).abs() < 1e-12);
}

#[test]
fn under_the_model_lz_is_standardised_and_mean_squares_are_one() {
    let items = [binary(12), mixed()].concat();
    let (scorer, mut rng) = (scorer(&items, STANDARD), seeded(6));
    let mut rows = scorer.row_scorer();
    for t in [-1.0, 0.4, 1.5] {
        let (mut lz, mut infit, mut outfit) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..8000 {
            let fit = rows.person_fit(&simulate(&items, t, 0.0, &mut rng), t).unwrap();
            lz.push(fit.lz.unwrap());
            infit.push(fit.infit.unwrap());
            outfit.push(fit.outfit.unwrap());
        }
        let (mean, variance) = mean_and_variance(&lz);
        let fourth = lz.iter().map(|x| (x - mean).powi(4)).sum::<f64>() / 8000.0;
        assert!(mean.abs() < 4.0 * (variance / 8000.0).sqrt(), "mean of lz {mean}");
        assert!((variance - 1.0).abs() < 4.0 * ((fourth - variance.powi(2)) / 8000.0).sqrt(), "{variance}");
        for squares in [infit, outfit] {
            let (mean, variance) = mean_and_variance(&squares);
            assert!((mean - 1.0).abs() < 4.0 * (variance / 8000.0).sqrt(), "mean square {mean}");
        }
    }
}

#[test]
fn a_reversed_row_fits_badly() {
    let scorer = scorer(&binary(20), STANDARD);
    let (good, bad): (Vec<u8>, Vec<u8>) = (0..20).map(|j| (u8::from(j < 10), u8::from(j >= 10))).unzip();
    let mut rows = scorer.row_scorer();
    let (good, bad) = (rows.person_fit(&good, 0.0).unwrap(), rows.person_fit(&bad, 0.0).unwrap());
    assert!(good.lz.unwrap() > 1.0 && bad.lz.unwrap() < -4.0);
    assert!(good.outfit.unwrap() < 0.6 && bad.outfit.unwrap() > 2.5 && bad.infit.unwrap() > 1.8);
}

#[test]
fn there_is_no_fit_without_variance_or_with_one_answer() {
    let scorer = scorer(&mixed(), STANDARD);
    let mut rows = scorer.row_scorer();
    let one = [MISSING, 1, MISSING, MISSING, MISSING, MISSING, MISSING];
    assert_eq!(rows.person_fit(&one, 0.0).unwrap(), PersonFit::default());
    assert_eq!(rows.person_fit(&[1; 7], 1e4).unwrap().outfit, None);
    assert!(matches!(rows.person_fit(&[1; 7], f64::NAN), Err(ScoringError::Ability { .. })));
}

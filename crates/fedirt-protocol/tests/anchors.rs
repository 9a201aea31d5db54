//! Items with given parameters set the scale: the new group's mean and SD are estimated.

mod common;

use common::*;
use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Effects;

const MODELS: &[(&str, usize)] =
    &[("2pl", 2), ("2pl", 2), ("2pl", 2), ("gpcm", 3), ("2pl", 2), ("2pl", 2), ("2pl", 2), ("grm", 3)];

#[test]
fn anchors_recover_mean_and_sd_of_another_population() {
    let truth = truth(MODELS, 51);
    let rows = answers(MODELS, &truth, 6000, (0.7, 1.3), 0.0, &mut Random(52));
    let mut items = named(MODELS);
    for j in 0..4 {
        items[j].anchor = anchor(truth[j][0], &truth[j][1..]);
    }
    let f = fit(plan(items.clone(), Effects::None), vec![table(&rows)]);
    assert_eq!(f.converged, Some(true));
    let (mean, sd) = (&f.latent.mean, &f.latent.sd);
    assert!((mean - 0.7).abs() < 4.0 * f.latent.se_mean.unwrap(), "{mean}");
    assert!((sd - 1.3).abs() < 4.0 * f.latent.se_sd.unwrap(), "{sd}");
    for (j, item) in f.items.iter().enumerate() {
        if j < 4 {
            assert!(item.fixed && item.se_a.is_none());
            assert!((item.a.unwrap() - truth[j][0]).abs() < 1e-9);
            assert!((item.d[0].unwrap() - truth[j][1]).abs() < 1e-9);
        } else {
            assert!((item.a.unwrap() - truth[j][0]).abs() < 4.0 * item.se_a.unwrap());
            assert!((item.d[0].unwrap() - truth[j][1]).abs() < 4.0 * item.se_d[0].unwrap());
        }
    }
    let em = fit(with_algorithm(plan(items, Effects::None), AlgorithmKind::Em), vec![table(&rows)]);
    assert!(distance(&f, &em) < 5e-4);
}

#[test]
fn with_fixed_effects_anchors_set_the_origin() {
    let truth = truth(MODELS, 61);
    let mut random = Random(62);
    let sites: Vec<_> = [0.2, 0.9, 1.4]
        .iter()
        .map(|s| table(&answers(MODELS, &truth, 1500, (*s, 1.0), 0.0, &mut random)))
        .collect();
    let mut items = named(MODELS);
    for j in 0..5 {
        items[j].anchor = anchor(truth[j][0], &truth[j][1..]);
    }
    let f = fit(plan(items, Effects::Fixed), sites);
    for (site, want) in f.sites.iter().zip([0.2, 0.9, 1.4]) {
        assert!((site.effect.unwrap() - want).abs() < 4.0 * site.se.unwrap(), "{site:?}");
        assert!(site.se.unwrap() < 0.1);
    }
}

#[test]
fn all_items_fixed_leaves_only_the_population() {
    let truth = truth(MODELS, 71);
    let rows = answers(MODELS, &truth, 3000, (-0.4, 0.8), 0.2, &mut Random(72));
    let mut items = named(MODELS);
    for (item, psi) in items.iter_mut().zip(&truth) {
        item.anchor = anchor(psi[0], &psi[1..]);
    }
    let f = fit(plan(items, Effects::None), vec![table(&rows)]);
    assert_eq!(f.npar, 2);
    assert!((f.latent.mean + 0.4).abs() < 4.0 * f.latent.se_mean.unwrap());
    assert!((f.latent.sd - 0.8).abs() < 4.0 * f.latent.se_sd.unwrap());
}

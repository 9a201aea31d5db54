//! Linking recovers a line that is known, and agrees with a calculation by hand.

use super::*;
use crate::fit::{FORMAT, Fit, FitItem, Latent, Quadrature};
use crate::items::{ItemModel, Role, model};

fn item(name: &str, model_name: &str, categories: usize, psi: &[f64]) -> FitItem {
    let mut item = FitItem::without_estimates(name, model_name);
    item.categories = categories;
    item.codes = (0..categories as u8).collect();
    item.set_estimates(model(model_name).expect("a model"), psi, None, &vec![true; psi.len()]);
    item
}

fn fit(items: Vec<FitItem>) -> Fit {
    Fit {
        format: FORMAT.into(),
        model: "2pl".into(),
        effects: "none".into(),
        algorithm: "newton".into(),
        mode: "plain".into(),
        n: 500,
        loglik: Some(-100.0),
        npar: items.len(),
        aic: None,
        bic: None,
        sabic: None,
        converged: Some(true),
        rounds: 4,
        exchanges: 5,
        numbers_sent: 0,
        max_gradient: None,
        se_type: None,
        condition_number: None,
        quadrature: Quadrature { nodes: 61, from: -6.0, to: 6.0, weights: "density".into() },
        latent: Latent { mean: 0.3, sd: 1.2, ..Latent::standard_normal() },
        site_sd: None,
        se_site_sd: None,
        site_sd_interval: None,
        items,
        sites: Vec::new(),
        trace: Vec::new(),
        curves: None,
        ability_histogram: None,
        diagnostics: None,
        privacy: None,
        codebook_hash: String::new(),
        warnings: Vec::new(),
        seed: None,
        version: String::new(),
        provenance: None,
    }
}

/// Items of four models on one scale, and the same items on another: θ = 1.3 θ' − 0.4.
fn mixed(line: (f64, f64)) -> (Fit, Fit) {
    let items: [(&str, usize, &[f64]); 6] = [
        ("2pl", 2, &[1.1, 0.4]),
        ("2pl", 2, &[0.7, -1.2]),
        ("2pl", 2, &[1.6, 0.1]),
        ("gpcm", 3, &[0.9, 0.8, 0.2]),
        ("grm", 4, &[1.3, 1.5, 0.2, -1.1]),
        ("nrm", 3, &[0.5, 1.4, 0.3, -0.2]),
    ];
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (k, (name, categories, psi)) in items.into_iter().enumerate() {
        let turned = turned_parameters(model(name).expect("a model"), categories, psi, line);
        second.push(item(&format!("i{k}"), name, categories, psi));
        first.push(item(&format!("i{k}"), name, categories, &turned));
    }
    (fit(first), fit(second))
}

#[test]
fn curve_methods_find_the_line_that_was_put_in() {
    let line = (1.3, -0.4);
    let (first, second) = mixed(line);
    for method in LinkMethod::ALL {
        let found = link(&first, &second, method, DriftLimits::default()).expect("a link");
        let far = (found.slope - line.0).abs().max((found.intercept - line.1).abs());
        assert!(far < 1e-7, "{}: {} {}", method.name(), found.slope, found.intercept);
        assert!(found.drift.iter().all(|d| !d.flagged && d.rmsd < 1e-7));
        assert_eq!(found.drift.len(), 6);
    }
}

/// Difficulties −1, 0, 2 and −2, −1, 3 on the first and second scale: SD √(14/9) and √(42/9), so A = 1/√3; means 1/3 and 0,
/// so B = 1/3.
#[test]
fn mean_sigma_is_what_a_hand_calculates() {
    let of = |b: [f64; 3]| {
        fit(b.iter().enumerate().map(|(k, b)| item(&format!("i{k}"), "2pl", 2, &[1.0, -b])).collect())
    };
    let found =
        link(&of([-1.0, 0.0, 2.0]), &of([-2.0, -1.0, 3.0]), LinkMethod::MeanSigma, DriftLimits::default());
    let found = found.expect("a link");
    assert!((found.slope - 3f64.sqrt().recip()).abs() < 1e-12, "{}", found.slope);
    assert!((found.intercept - 1.0 / 3.0).abs() < 1e-12, "{}", found.intercept);
}

/// The criteria at the line found are minima: steps to either side are worse. The second scale's items differ here from the
/// first's by more than a line.
#[test]
fn curve_methods_end_at_a_minimum_of_their_criterion() {
    let (first, mut second) = mixed((0.8, 0.5));
    second.items[1] = item("i1", "2pl", 2, &[0.9, -0.6]);
    second.items[4] = item("i4", "grm", 4, &[1.0, 1.7, 0.1, -0.9]);
    for method in [LinkMethod::Haebara, LinkMethod::StockingLord] {
        let found = link(&first, &second, method, DriftLimits::default()).expect("a link");
        assert!(found.criterion > 1e-6);
        for (da, db) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3)] {
            // The criterion by its definition: curves of parameters on the first scale, not of turned abilities.
            let by_hand = criterion(&first, &second, method, (found.slope + da, found.intercept + db));
            assert!(by_hand > found.criterion, "{} {da} {db}", method.name());
        }
        let here = criterion(&first, &second, method, (found.slope, found.intercept));
        assert!((here - found.criterion).abs() < 1e-10, "{here} {}", found.criterion);
    }
}

/// The constants of both curve methods against a search on a grid that shares no code with them: logistic curves written
/// out, 241 nodes, squares of 21 by 21 lines around the best one so far, each a fifth as wide.
#[test]
fn curve_methods_find_what_a_search_on_a_grid_finds() {
    let first: [(f64, f64); 5] = [(1.1, -1.2), (0.7, -0.3), (1.6, 0.2), (0.9, 0.9), (1.3, 1.7)];
    let second: [(f64, f64); 5] = [(1.5, -0.6), (0.8, 0.4), (1.9, 0.5), (1.4, 1.3), (1.5, 1.6)];
    let of = |items: &[(f64, f64)]| {
        let of = |(k, (a, b)): (usize, &(f64, f64))| item(&format!("i{k}"), "2pl", 2, &[*a, -a * b]);
        fit(items.iter().enumerate().map(of).collect())
    };
    let p = |(a, b): (f64, f64), theta: f64| 1.0 / (1.0 + (-a * (theta - b)).exp());
    let loss = |method: LinkMethod, (slope, intercept): (f64, f64)| {
        let at = |n: i32| {
            let z = 0.05 * f64::from(n - 120);
            let theta = 0.3 + 1.2 * z;
            let gap = |k: usize| {
                p(first[k], theta) - p((second[k].0 / slope, slope * second[k].1 + intercept), theta)
            };
            let of_items = match method {
                LinkMethod::Haebara => (0..5).map(|k| gap(k).powi(2)).sum::<f64>(),
                LinkMethod::StockingLord | LinkMethod::MeanSigma => (0..5).map(gap).sum::<f64>().powi(2),
            };
            (-0.5 * z * z).exp() * of_items
        };
        (0..241).map(at).sum::<f64>()
    };
    for method in [LinkMethod::Haebara, LinkMethod::StockingLord] {
        let (mut best, mut width) = ((1.0, 0.0), 0.8);
        for _ in 0..12 {
            let around = |k: usize| width * (k as f64 / 10.0 - 1.0);
            let lines = (0..21).flat_map(|i| (0..21).map(move |j| (i, j)));
            let lines = lines.map(|(i, j)| (best.0 + around(i), best.1 + around(j)));
            best = lines.min_by(|x, y| loss(method, *x).total_cmp(&loss(method, *y))).expect("a grid");
            width /= 5.0;
        }
        let found = link(&of(&first), &of(&second), method, DriftLimits::default()).expect("a link");
        let far = (found.slope - best.0).abs().max((found.intercept - best.1).abs());
        assert!(far < 1e-6, "{}: {} {}, {best:?}", method.name(), found.slope, found.intercept);
    }
}

fn criterion(first: &Fit, second: &Fit, method: LinkMethod, line: (f64, f64)) -> f64 {
    use crate::items::{Curves, Order};
    let standard: Vec<f64> = (0..61).map(|n| -6.0 + 0.2 * f64::from(n)).collect();
    let theta: Vec<f64> = standard.iter().map(|v| 0.3 + 1.2 * v).collect();
    let density: Vec<f64> = standard.iter().map(|v| (-0.5 * v * v).exp()).collect();
    let total: f64 = density.iter().sum();
    let (mut by_category, mut scores) = (0.0, vec![0.0; 61]);
    for (one, two) in first.items.iter().zip(&second.items) {
        let (m, psi) = one.estimates().expect("estimates");
        let turned = turned_parameters(m, two.categories, &two.estimates().expect("estimates").1, line);
        let curves = |psi: &[f64]| Curves::new(m, one.categories, psi, &theta, Order::Probability);
        let (a, b) = (curves(&psi), curves(&turned));
        for n in 0..61 {
            for c in 0..one.categories {
                let gap = a.log_p(c)[n].exp() - b.log_p(c)[n].exp();
                by_category += density[n] / total * gap * gap;
                scores[n] += c as f64 * gap;
            }
        }
    }
    match method {
        LinkMethod::Haebara => by_category,
        LinkMethod::StockingLord | LinkMethod::MeanSigma => {
            scores.iter().zip(&density).map(|(s, w)| w / total * s * s).sum()
        }
    }
}

#[test]
fn an_item_that_moved_is_named_and_the_others_are_not() {
    let b = [-2.0, -1.4, -0.9, -0.3, 0.1, 0.6, 1.2, 1.9, 0.0];
    let of = |moved: f64| {
        let item = |(k, b): (usize, &f64)| {
            let noise = [0.02, -0.03, 0.01, 0.04, -0.02][k % 5];
            item(
                &format!("i{k}"),
                "2pl",
                2,
                &[1.2, -1.2 * (b + noise * moved + if k == 8 { moved } else { 0.0 })],
            )
        };
        fit(b.iter().enumerate().map(item).collect())
    };
    let found = link(&of(0.0), &of(0.8), LinkMethod::StockingLord, DriftLimits::default()).expect("a link");
    let flagged: Vec<&str> = found.drift.iter().filter(|d| d.flagged).map(|d| d.item.as_str()).collect();
    assert_eq!(flagged, ["i8"], "{:?}", found.drift);
}

#[test]
fn a_link_needs_common_items_and_spread() {
    let one = fit(vec![item("x", "2pl", 2, &[1.0, 0.0]), item("y", "2pl", 2, &[1.0, 0.0])]);
    let other = fit(vec![item("x", "2pl", 2, &[1.0, 0.0]), item("z", "2pl", 2, &[1.0, 1.0])]);
    let limits = DriftLimits::default();
    assert_eq!(link(&one, &other, LinkMethod::Haebara, limits), Err(LinkError::TooFewItems { common: 1 }));
    assert_eq!(link(&one, &one, LinkMethod::MeanSigma, limits), Err(LinkError::NoSpread));
}

#[test]
fn likelihood_ratios_are_for_nested_models_of_the_same_answers() {
    let all = |name: &str, npar: usize, loglik: f64| {
        let items = (0..3).map(|k| item(&format!("i{k}"), name, 2, &[1.0, 0.1 * k as f64])).collect();
        Fit { npar, loglik: Some(loglik), ..fit(items) }
    };
    // LSAT 7: Rasch and 2PL of mirt 1.45.1 (anova: X2 12.192, df 4, p 0.016).
    let (rasch, two) = (all("rasch", 6, -2_664.900_891), all("2pl", 10, -2_658.805_114));
    let found = likelihood_ratio(&two, &rasch).expect("nested");
    assert!((found.statistic - 12.191_554).abs() < 1e-9 && found.df == 4 && (found.p - 0.016).abs() < 5e-4);
    let random = Fit { effects: "random".into(), npar: 11, ..two.clone() };
    assert!(likelihood_ratio(&two, &random).expect("nested").on_boundary);
    let fixed = Fit { effects: "fixed".into(), npar: 14, ..two.clone() };
    assert!(matches!(likelihood_ratio(&random, &fixed), Err(NotNested::Models { .. })));
    let others = Fit { n: 499, ..rasch.clone() };
    assert!(matches!(likelihood_ratio(&others, &two), Err(NotNested::OtherData { .. })));
    let hidden = Fit { loglik: None, mode: "private".into(), ..rasch.clone() };
    assert!(matches!(likelihood_ratio(&hidden, &two), Err(NotNested::NoLikelihood { which: 1, .. })));
    let stopped = Fit { converged: Some(false), ..rasch };
    assert_eq!(likelihood_ratio(&two, &stopped), Err(NotNested::NotConverged { which: 2 }));
    let (gpcm, grm) = (all("gpcm", 10, -1.0), all("rasch-sd1", 5, -2.0));
    assert!(likelihood_ratio(&gpcm, &grm).is_ok());
}

/// The parameters of an item on the first scale, from those on the second.
fn turned_parameters(
    model: &dyn ItemModel,
    categories: usize,
    psi: &[f64],
    (slope, intercept): (f64, f64),
) -> Vec<f64> {
    let parameters = model.parameters(categories);
    let turn = |(r, x): (usize, &f64)| match parameters[r].role {
        Role::Slope { .. } => x / slope,
        Role::Intercept { slope: at, score } => x - score * psi[at] * intercept / slope,
    };
    psi.iter().enumerate().map(turn).collect()
}

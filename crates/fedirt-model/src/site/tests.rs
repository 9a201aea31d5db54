//! Gradients and Hessians against central differences, on both paths, with missing answers and weights.

use super::evaluate::Depth;
use super::hessian::Hessian;
use super::*;
use crate::design::{Design, DesignItem};
use crate::population::{Family, Population};
use crate::responses::{MISSING, ResponseTable};

pub(crate) fn design(models: &[(&str, usize)]) -> Design {
    let items: Vec<DesignItem> = models
        .iter()
        .enumerate()
        .map(|(column, (model, categories))| DesignItem {
            column,
            model: (*model).to_owned(),
            codes: (0..*categories as u8).collect(),
        })
        .collect();
    Design::try_from(items).unwrap()
}

fn hash(x: usize) -> usize {
    let mut x = (x as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ (x >> 31)) as usize
}

fn table(design: &Design, students: usize, missing_percent: usize) -> ResponseTable {
    let cells = (0..students * design.len())
        .map(|x| {
            let categories = design.categories(x % design.len());
            if hash(x * 7 + 1) % 100 < missing_percent { MISSING } else { (hash(x) % categories) as u8 }
        })
        .collect();
    ResponseTable::new(students, design.len(), cells).unwrap()
}

fn parameters(design: &Design) -> Vec<f64> {
    let mut psi = vec![0.0; design.parameters()];
    for j in 0..design.len() {
        let span = design.span(j);
        psi[span.start] = 0.6 + 0.15 * j as f64 * if j == 2 { -1.0 } else { 1.0 };
        for (k, x) in psi[span.start + 1..span.end].iter_mut().enumerate() {
            *x = 0.8 - 0.7 * k as f64 + 0.1 * j as f64;
        }
    }
    psi
}

fn check(models: &[(&str, usize)], students: usize, missing_percent: usize, weighted: bool) {
    let mixture = Population { family: Family::Mixture { components: 2 }, ..Population::default() };
    check_in(models, students, missing_percent, weighted, &Population::default(), &[]);
    check_in(models, students, missing_percent, weighted, &mixture, &[-0.6, 1.4, -0.3]);
}

fn check_in(
    models: &[(&str, usize)],
    students: usize,
    missing_percent: usize,
    weighted: bool,
    population: &Population,
    shape: &[f64],
) {
    let design = design(models);
    let mut table = table(&design, students, missing_percent);
    if weighted {
        let weights = (0..students).map(|i| 0.5 + (i % 3) as f64).collect();
        table = table.with_weights(weights).unwrap();
    }
    let data = SiteData::new(&table, &design, 1.0);
    let mut psi = parameters(&design);
    psi.extend(shape);
    let s = 0.3;
    let at = |psi: &[f64], s: f64, depth| data.evaluate(psi, s, population, depth);
    let here = at(&psi, s, Depth::Observed);
    let moments = data.moments(&psi, s, population);
    assert!((here.loglik - moments.loglik).abs() < 1e-9 * here.loglik.abs());
    // In the continuum the score of s is Σ w E[V], and its curvature −Σ w (1 − Var V), in a normal population.
    let last = psi.len();
    assert!((here.gradient[last] - moments.mean).abs() < 1e-6 * students as f64);
    let curvature = moments.variance - data.total_weight();
    assert!((here.hessian[(last, last)] - curvature).abs() < 1e-5 * students as f64);
    let by_item = at(&psi, s, Depth::ObservedByItem);
    assert_eq!(by_item.gradient.len(), here.gradient.len());
    for r in 0..=last {
        assert!((by_item.gradient[r] - here.gradient[r]).abs() < 1e-9 * students as f64);
        let own = |k: usize| k < design.parameters() && design.item_of(r) == design.item_of(k);
        for k in (0..=last).filter(|&k| r >= design.parameters() || k >= design.parameters() || own(k)) {
            let (got, want) = (by_item.hessian[(r, k)], here.hessian[(r, k)]);
            assert!((got - want).abs() < 1e-8 * students as f64, "{models:?} {r},{k}: {want} {got}");
        }
    }
    let h = 1e-5;
    for r in 0..=last {
        let moved = |h: f64| {
            let mut psi = psi.clone();
            if r < last {
                psi[r] += h;
                at(&psi, s, Depth::Gradient)
            } else {
                at(&psi, s + h, Depth::Gradient)
            }
        };
        let (up, down) = (moved(h), moved(-h));
        let slope = (up.loglik - down.loglik) / (2.0 * h);
        assert!(
            (slope - here.gradient[r]).abs() < 1e-5 * (1.0 + slope.abs()),
            "{models:?} {r}: {slope} {}",
            here.gradient[r]
        );
        for k in 0..=last {
            let want = (up.gradient[k] - down.gradient[k]) / (2.0 * h);
            let got = here.hessian[(r, k)];
            assert!((want - got).abs() < 1e-5 * (1.0 + want.abs()), "{models:?} {r},{k}: {want} {got}");
        }
    }
}

const BINARY: &[(&str, usize)] =
    &[("2pl", 2), ("2pl", 2), ("2pl", 2), ("1pl", 2), ("2pl", 2), ("rasch", 2), ("2pl", 2)];
const MIXED: &[(&str, usize)] = &[("gpcm", 4), ("2pl", 2), ("gpcm", 3), ("pcm", 5)];
const NOMINAL: &[(&str, usize)] = &[("nrm", 4), ("2pl", 2), ("nrm", 3), ("gpcm", 3)];
const GRADED: &[(&str, usize)] = &[("grm", 4), ("2pl", 2), ("grm", 3), ("gpcm", 3)];

#[test]
fn derivatives_of_complete_panels() {
    check(BINARY, 700, 0, false);
    check(MIXED, 100, 0, true);
}

#[test]
fn derivatives_with_missing_answers() {
    check(BINARY, 60, 30, false);
    check(MIXED, 90, 25, true);
    check(BINARY, 900, 10, true);
    check(NOMINAL, 200, 10, true);
    // So many that the given ones are fewer.
    check(BINARY, 60, 60, false);
}

/// A few missing answers and many are worked with in different ways; the sums are the same.
#[test]
fn missing_answers_taken_away_and_given_ones_added_up_agree() {
    for models in [BINARY, MIXED, NOMINAL] {
        let design = design(models);
        let table = table(&design, 300, 10);
        let mut psi = parameters(&design);
        psi.extend([-0.6, 1.4, -0.3]);
        let mixture = Population { family: Family::Mixture { components: 2 }, ..Population::default() };
        let taken = SiteData::new(&table, &design, 1.0);
        assert!(taken.panels.iter().any(|p| p.missing.as_ref().is_some_and(|missing| !missing.is_empty())));
        let mut added = taken.clone();
        added.panels.iter_mut().for_each(|panel| panel.missing = None);
        let at = |data: &SiteData| data.evaluate(&psi, 0.2, &mixture, Depth::Observed);
        let (a, b) = (at(&taken), at(&added));
        assert!((a.loglik - b.loglik).abs() < 1e-10 * b.loglik.abs());
        let (Hessian::Full(a), Hessian::Full(b)) = (&a.hessian, &b.hessian) else {
            panic!("everything was asked for");
        };
        assert!((a - b).amax() < 1e-9 * b.amax(), "{models:?}");
    }
}

#[test]
fn derivatives_of_graded_items() {
    check(GRADED, 80, 0, false);
    check(GRADED, 80, 30, true);
}

#[test]
fn derivatives_of_nominal_items() {
    check(NOMINAL, 120, 0, true);
    check(NOMINAL, 80, 30, false);
}

#[test]
fn few_answers_of_many_items_are_looked_up_one_by_one() {
    let models: Vec<(&str, usize)> = BINARY.iter().chain(NOMINAL).chain(BINARY).copied().collect();
    let sparse = table(&design(&models), 60, 85);
    let data = SiteData::new(&sparse, &design(&models), 1.0);
    assert!(data.panels.iter().any(|panel| panel.given.is_some()));
    check(&models, 60, 85, true);
    let mut looked_up_in_groups = data.clone();
    looked_up_in_groups.panels.iter_mut().for_each(|panel| panel.given = None);
    let psi = parameters(&design(&models));
    let at = |data: &SiteData| data.evaluate(&psi, 0.2, &Population::default(), Depth::Complete);
    let (a, b) = (at(&data), at(&looked_up_in_groups));
    assert!((a.loglik - b.loglik).abs() < 1e-11 * b.loglik.abs());
    assert!(a.counts.iter().zip(&b.counts).all(|(x, y)| (x - y).abs() < 1e-10));
}

#[test]
fn weights_are_copies() {
    let design = design(MIXED);
    let once = table(&design, 50, 20);
    let weights: Vec<f64> = (0..50).map(|i| (i % 3) as f64).collect();
    let cells: Vec<u8> = (0..50).flat_map(|i| once.row(i).repeat(i % 3)).collect();
    let copies = ResponseTable::new(cells.len() / 4, 4, cells).unwrap();
    let population = Population::default();
    let psi = parameters(&design);
    let a = SiteData::new(&once.with_weights(weights).unwrap(), &design, 1.0).evaluate(
        &psi,
        0.1,
        &population,
        Depth::Observed,
    );
    let b = SiteData::new(&copies, &design, 1.0).evaluate(&psi, 0.1, &population, Depth::Observed);
    assert!((a.loglik - b.loglik).abs() < 1e-10 * b.loglik.abs());
    for r in 0..a.gradient.len() {
        assert!((a.gradient[r] - b.gradient[r]).abs() < 1e-9);
        for k in 0..a.gradient.len() {
            assert!((a.hessian[(r, k)] - b.hessian[(r, k)]).abs() < 1e-8);
        }
    }
}

#[test]
fn integrated_effects_have_exact_gradients_and_close_information() {
    let design = design(GRADED);
    let data = SiteData::new(&table(&design, 40, 10), &design, 1.0);
    let population = Population::default();
    let psi = parameters(&design);
    let p = design.parameters();
    let whole = |x: &[f64]| data.integrate(&x[..p], x[p].exp(), &population, Depth::Observed);
    let at = |x: &[f64]| whole(x).evaluation;
    let mut x = psi.clone();
    x.push(0.6f64.ln());
    let here = at(&x);
    let by_item = data.integrate(&psi, 0.6, &population, Depth::ObservedByItem).evaluation.hessian;
    for r in 0..=p {
        for k in (0..=p).filter(|&k| r == p || k == p || design.item_of(r) == design.item_of(k)) {
            assert!((by_item[(r, k)] - here.hessian[(r, k)]).abs() < 1e-8, "{r},{k}");
        }
    }
    let h = 1e-4;
    for r in 0..=p {
        let moved = |h: f64| {
            let mut x = x.clone();
            x[r] += h;
            at(&x)
        };
        let (up, down) = (moved(h), moved(-h));
        let slope = (up.loglik - down.loglik) / (2.0 * h);
        assert!(
            (slope - here.gradient[r]).abs() < 1e-4 * (1.0 + slope.abs()),
            "{r}: {slope} {}",
            here.gradient[r]
        );
        for k in 0..=p {
            let want = (up.gradient[k] - down.gradient[k]) / (2.0 * h);
            // Three points of the posterior of s stand for all: the mean curvature is close, not exact.
            let scale = (here.hessian[(r, r)] * here.hessian[(k, k)]).abs().sqrt();
            let got = here.hessian[(r, k)];
            assert!((want - got).abs() < 2e-3 * scale, "{r},{k}: {want} {got} {scale}");
        }
    }
}

//! Large banks, about whose pairs of items nothing is asked, have the estimates of the whole information.

mod common;

use common::Random;
use fedirt_model::centre::{Calibration, Enrolled, ItemPlan, Plan, Secrecy, Settings};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::{Covariance, Fit, FitItem};
use fedirt_model::population::{Family, Population};
use fedirt_model::questions::Ask;
use fedirt_model::questions::evaluate::Curvature;
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, Setting, Unobserved};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

const ITEMS: usize = 30;

/// Students of two sites, the second abler by `shift`; each student answers this share of the items.
fn tables(categories: u8, share: f64, shift: f64, seed: u64) -> Vec<(String, ResponseTable)> {
    let random = &mut Random(seed);
    let slopes: Vec<f64> = (0..ITEMS).map(|_| 0.6 + random.uniform()).collect();
    let places: Vec<f64> = (0..ITEMS).map(|_| 3.0 * random.uniform() - 1.5).collect();
    let site = |random: &mut Random, name: &str, students: usize, mean: f64| {
        let mut cells = Vec::with_capacity(students * ITEMS);
        for _ in 0..students {
            let t = mean + random.normal();
            for j in 0..ITEMS {
                let (u, given) = (random.uniform(), random.uniform() < share);
                let above = |c: &u8| u < 1.0 / (1.0 + (-slopes[j] * (t - places[j] - f64::from(*c))).exp());
                let category = (0..categories - 1).filter(above).count() as u8;
                cells.push(if given { category } else { MISSING });
            }
        }
        (name.to_owned(), ResponseTable::new(students, ITEMS, cells).expect("codes of items"))
    };
    vec![site(random, "north", 700, 0.0), site(random, "south", 900, shift)]
}

fn plan(model: &str, effects: Effects, population: Population, pairwise_items: usize) -> Plan {
    let item = |j: usize| ItemPlan {
        name: format!("I{j}"),
        model: Some(model.to_owned()),
        codes: None,
        merged: Vec::new(),
        anchor: None,
    };
    Plan {
        items: (0..ITEMS).map(item).collect(),
        effects,
        population,
        settings: Settings { tolerance: 1e-9, pairwise_items, ..Settings::default() },
        publish_effects: true,
        secrecy: Secrecy::BySite,
        diagnostics: Vec::new(),
        groups: Vec::new(),
        purify: true,
        compare_sites: false,
    }
}

fn fit(
    model: &str,
    effects: Effects,
    population: Population,
    pairwise_items: usize,
    sites: &[(String, ResponseTable)],
) -> (Fit, Covariance) {
    let plan = plan(model, effects, population, pairwise_items);
    let (finished, _) = in_process::run(plan, sites.to_vec(), &mut Unobserved).expect("the fit ends");
    (finished.fit, finished.covariance)
}

#[test]
fn estimates_are_those_of_the_whole_information() {
    let normal = Population::default();
    let mixture = Population { family: Family::Mixture { components: 2 }, ..normal };
    let cases = [
        ("2pl", Effects::None, normal, 2, 1.0),
        ("2pl", Effects::Fixed, normal, 2, 0.4),
        ("2pl", Effects::Random, normal, 2, 0.4),
        ("2pl", Effects::None, mixture, 2, 0.5),
        ("rasch", Effects::Fixed, normal, 2, 0.2),
        ("1pl", Effects::None, normal, 2, 0.5),
        ("grm", Effects::Fixed, normal, 3, 0.5),
        ("gpcm", Effects::None, normal, 3, 0.2),
    ];
    for (seed, (model, effects, population, categories, share)) in cases.into_iter().enumerate() {
        let sites = tables(categories, share, 0.5, seed as u64);
        let (whole, _) = fit(model, effects, population, 500, &sites);
        let (by_item, _) = fit(model, effects, population, ITEMS - 1, &sites);
        let case = format!("{model} {effects:?} {}", population.family);
        assert_eq!((whole.algorithm.as_str(), by_item.algorithm.as_str()), ("newton", "em"));
        assert_eq!(
            (whole.converged, by_item.converged),
            (Some(true), Some(true)),
            "{case}: {:?}",
            by_item.trace.last()
        );
        assert_eq!(by_item.se_type.as_deref(), Some("observed_by_item"));
        assert!(by_item.warnings.iter().any(|warning| warning.code == "large_bank"), "{case}");
        println!("{case}: {} rounds, {} of newton", by_item.rounds, whole.rounds);
        let near = |x: f64, y: f64, what: &str| {
            assert!((x - y).abs() < 2e-5 * (1.0 + y.abs()), "{case}: {what} is {x}, not {y}");
        };
        near(by_item.loglik.unwrap(), whole.loglik.unwrap(), "log-likelihood");
        near(by_item.latent.sd, whole.latent.sd, "SD");
        assert_eq!(by_item.latent.se_sd, None);
        let mut ratios: Vec<f64> = Vec::new();
        for (one, other) in by_item.items.iter().zip(&whole.items) {
            near(one.a.unwrap(), other.a.unwrap(), &one.name);
            for (x, y) in one.d.iter().zip(&other.d) {
                near(x.unwrap(), y.unwrap(), &one.name);
            }
            // That of a common slope is withheld.
            assert_eq!(one.se_a.is_some(), other.se_a.is_some() && model != "1pl", "{case}");
            let errors = |item: &FitItem| -> Vec<Option<f64>> {
                std::iter::once(item.se_a).chain(item.se_d.iter().copied()).collect()
            };
            let pairs = errors(one).into_iter().zip(errors(other));
            ratios.extend(pairs.filter_map(|(x, y)| Some(x? / y?)));
        }
        // What all items share is there to first order.
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
        println!("{case}: errors are {least:.3} to {most:.3} of the whole");
        assert!(least > 0.85 && most < 1.15, "{case}: errors are {least} to {most} of the whole");
        for (one, other) in by_item.sites.iter().zip(&whole.sites) {
            if let (Some(x), Some(y)) = (one.effect, other.effect) {
                near(x, y, &one.name);
                // With random effects it is withheld.
                assert_eq!(one.se.is_some(), effects == Effects::Fixed, "{case}");
                let ratio = one.se.zip(other.se).map_or(1.0, |(x, y)| x / y);
                assert!((0.9..1.1).contains(&ratio), "{case}: SE of {} is {ratio} of the whole", one.name);
            }
        }
    }
}

#[test]
fn covariances_come_by_item() {
    let sites = tables(3, 0.5, 0.3, 9);
    let (fit, covariance) = fit("gpcm", Effects::Fixed, Population::default(), 10, &sites);
    assert_eq!(covariance.names.len(), 3 * ITEMS);
    let sizes: Vec<usize> = covariance.blocks.iter().map(|block| block.nrows()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 3 * ITEMS);
    assert!(sizes.iter().all(|size| *size <= 3));
    assert!((covariance.blocks[4][(0, 0)].sqrt() - fit.items[4].se_a.unwrap()).abs() < 1e-12);
}

#[test]
fn the_schedule_follows_from_the_plan() {
    let enrolled = |(name, table): &(String, ResponseTable)| Enrolled {
        groups: 0,
        name: name.clone(),
        students: table.students() as u64,
        codes: vec![[0, 1].into_iter().collect(); ITEMS],
        weighted: false,
        total_weight: table.students() as f64,
    };
    let sites: Vec<Enrolled> = tables(2, 1.0, 0.0, 3).iter().map(enrolled).collect();
    let curvatures = |pairwise_items: usize| {
        let plan = plan("2pl", Effects::Fixed, Population::default(), pairwise_items);
        let (calibration, request) = Calibration::new(plan, sites.clone()).unwrap();
        let curvatures: Vec<Curvature> = (calibration.schedule().stages().into_iter())
            .filter_map(|(_, ask)| match ask {
                Ask::Evaluate(question) => Some(question.curvature),
                _ => None,
            })
            .collect();
        (matches!(request.ask, Ask::Counts(_)), curvatures)
    };
    assert_eq!(curvatures(ITEMS), (false, vec![Curvature::Observed]));
    assert_eq!(curvatures(ITEMS - 1), (true, vec![Curvature::Complete, Curvature::ObservedByItem]));
}

#[test]
fn sums_under_masks_give_the_same() {
    let mut sites = tables(2, 0.7, 0.3, 5);
    sites.extend(tables(2, 0.7, -0.2, 5).into_iter().map(|(name, table)| (format!("{name} again"), table)));
    let mut plan = plan("2pl", Effects::Fixed, Population::default(), 10);
    plan.settings.tolerance = 1e-6;
    let (open, _) = in_process::run(plan.clone(), sites.clone(), &mut Unobserved).unwrap();
    let random = &mut ChaCha20Rng::from_seed([3; 32]);
    let (masked, _) =
        in_process::run_as(Setting::of(Mode::Secure), plan, sites, random, &mut Unobserved).unwrap();
    assert_eq!(masked.fit.se_type.as_deref(), Some("observed_by_item"));
    for (one, other) in masked.fit.items.iter().zip(&open.fit.items) {
        assert!((one.a.unwrap() - other.a.unwrap()).abs() < 1e-3 * other.se_a.unwrap(), "{}", one.name);
        assert!((one.se_a.unwrap() / other.se_a.unwrap() - 1.0).abs() < 1e-3, "{}", one.name);
    }
}

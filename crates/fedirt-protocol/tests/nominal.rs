//! The nominal model: nested models, the order of categories, site effects, secure sums.

mod common;

use common::{Random, answers, fit, named, plan, table, truth};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, Setting, Unobserved};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const ORDERED: [(&str, usize); 6] =
    [("gpcm", 4), ("gpcm", 3), ("gpcm", 3), ("gpcm", 4), ("gpcm", 3), ("gpcm", 2)];

fn nominal(rows: &[Vec<u8>]) -> Fit {
    fit(plan(named(&ORDERED.map(|(_, categories)| ("nrm", categories))), Effects::None), vec![table(rows)])
}

fn rows() -> Vec<Vec<u8>> {
    let mut random = Random(11);
    answers(&ORDERED, &truth(&ORDERED, 5), 1500, (0.0, 1.0), 0.05, &mut random)
}

#[test]
fn it_contains_the_generalised_partial_credit_model() {
    let rows = rows();
    let gpcm = fit(plan(named(&ORDERED), Effects::None), vec![table(&rows)]);
    let f = nominal(&rows);
    assert_eq!(f.converged, Some(true));
    assert!(f.rounds <= 6, "{} rounds", f.rounds);
    let gain = 2.0 * (f.loglik.unwrap() - gpcm.loglik.unwrap());
    let more = f.npar - gpcm.npar;
    assert_eq!(more, ORDERED.iter().map(|(_, categories)| categories - 2).sum::<usize>());
    // The answers follow the smaller model: a likelihood ratio of 7 degrees of freedom.
    assert!(gain > 0.0 && gain < 25.0, "{gain}");
    for (item, (_, categories)) in f.items.iter().zip(ORDERED) {
        let slopes: Vec<f64> =
            (0..categories).map(|c| item.parameters.get(&format!("bock_a{c}")).unwrap()).collect();
        assert!(slopes.iter().sum::<f64>().abs() < 1e-12 && slopes.is_sorted(), "{slopes:?}");
        let top = categories - 1;
        assert_eq!(item.parameters.get(&format!("ak{top}")), Some(top as f64));
    }
}

#[test]
fn the_order_of_categories_does_not_matter() {
    let rows = rows();
    // Categories 0, 1, 2, 3 are called 2, 0, 3, 1, or 1, 2, 0 where there are three.
    let other = |c: u8, categories: usize| match categories {
        4 => [2, 0, 3, 1][usize::from(c)],
        3 => [1, 2, 0][usize::from(c)],
        _ => 1 - c,
    };
    let renamed: Vec<Vec<u8>> = rows
        .iter()
        .map(|row| {
            let cell = |(c, (_, k)): (&u8, &(&str, usize))| if *c > 3 { *c } else { other(*c, *k) };
            row.iter().zip(&ORDERED).map(cell).collect()
        })
        .collect();
    let (f, g) = (nominal(&rows), nominal(&renamed));
    assert!((f.loglik.unwrap() - g.loglik.unwrap()).abs() < 1e-6);
    // Ability may point the other way when nothing says which end is up.
    let slope = |fit: &Fit, j: usize, c: u8| fit.items[j].parameters.get(&format!("bock_a{c}")).unwrap();
    let sign = (slope(&f, 0, 3) * slope(&g, 0, other(3, 4))).signum();
    for (j, (_, categories)) in ORDERED.iter().enumerate() {
        for c in 0..*categories as u8 {
            let (x, y) = (slope(&f, j, c), sign * slope(&g, j, other(c, *categories)));
            assert!((x - y).abs() < 1e-4, "item {j}, category {c}: {x} {y}");
        }
    }
    assert!(g.rounds <= 6, "{} rounds", g.rounds);
}

#[test]
fn sites_and_their_effects_are_estimated_too() {
    let (truth, mut random) = (truth(&ORDERED, 5), Random(12));
    let site =
        |mean: f64, random: &mut Random| table(&answers(&ORDERED, &truth, 400, (mean, 1.0), 0.0, random));
    let sites: Vec<_> = [-0.5, 0.0, 0.5].into_iter().map(|mean| site(mean, &mut random)).collect();
    for effects in [Effects::Fixed, Effects::Random] {
        let models = ORDERED.map(|(_, categories)| ("nrm", categories));
        let f = fit(plan(named(&models), effects), sites.clone());
        assert!(f.converged == Some(true) && f.rounds <= 7, "{} rounds", f.rounds);
        let found: Vec<f64> = f.sites.iter().map(|s| s.effect.unwrap()).collect();
        assert!(found[0] < -0.2 && found[2] > 0.2, "{found:?}");
    }
}

#[test]
fn secure_sums_give_the_estimates_of_plain_ones() {
    let rows = rows();
    let sites: Vec<_> = rows.chunks(500).map(table).collect();
    let plan = plan(named(&ORDERED.map(|(_, categories)| ("nrm", categories))), Effects::None);
    let plain = fit(plan.clone(), sites.clone());
    let sites = sites.into_iter().enumerate().map(|(k, table)| (format!("S{k}"), table)).collect();
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let setting = Setting::of(Mode::Secure);
    let secure = in_process::run_as(setting, plan, sites, &mut random, &mut Unobserved).expect("a fit").0.fit;
    assert!(secure.converged == Some(true) && secure.rounds <= plain.rounds + 2, "{} rounds", secure.rounds);
    for (one, other) in plain.items.iter().zip(&secure.items) {
        for ((name, x), (_, y)) in one.parameters.iter().zip(other.parameters.iter()) {
            let (x, y) = (x.expect("told"), y.expect("told"));
            let se = one.se.get(name).unwrap_or(1.0);
            assert!((x - y).abs() < 1e-4 * se, "{} {name}: {x} {y}", one.name);
        }
    }
}

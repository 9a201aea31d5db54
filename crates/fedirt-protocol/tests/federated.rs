//! Splitting rows into sites changes nothing; different algorithms find the same maximum.

mod common;

use common::*;
use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Effects;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, Setting, Unobserved};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

const MIXED: &[(&str, usize)] = &[("2pl", 2), ("gpcm", 3), ("grm", 4), ("2pl", 2), ("gpcm", 4), ("2pl", 2)];
const BINARY: &[(&str, usize)] = &[("2pl", 2); 8];

fn data(models: &[(&str, usize)], students: usize, missing: f64, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random(seed);
    answers(models, &truth(models, seed ^ 99), students, (0.0, 1.0), missing, &mut random)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_split_into_sites_gives_the_pooled_fit(
        cuts in prop::collection::vec(1usize..399, 1..6),
        missing in prop_oneof![Just(0.0), Just(0.2)],
        seed in 0u64..1000,
    ) {
        let rows = data(MIXED, 400, missing, seed);
        let pooled = fit(plan(named(MIXED), Effects::None), vec![table(&rows)]);
        let mut cuts = cuts;
        cuts.extend([0, 400]);
        cuts.sort_unstable();
        cuts.dedup();
        let sites: Vec<ResponseTable> = cuts.windows(2).map(|w| table(&rows[w[0]..w[1]])).collect();
        let split = fit(plan(named(MIXED), Effects::None), sites);
        let (a, b) = (pooled.loglik.unwrap(), split.loglik.unwrap());
        prop_assert!((a - b).abs() < 1e-9 * a.abs(), "{a} {b}");
        prop_assert!(distance(&pooled, &split) < 1e-6);
    }
}

#[test]
fn the_order_of_sites_changes_no_bit() {
    let sites: Vec<ResponseTable> =
        (0..4).map(|k| table(&data(BINARY, 60 + 20 * k, 0.1, k as u64))).collect();
    let mut reversed = sites.clone();
    reversed.reverse();
    let (a, b) =
        (fit(plan(named(BINARY), Effects::Fixed), sites), fit(plan(named(BINARY), Effects::Fixed), reversed));
    assert_eq!(a.items, b.items);
    assert_eq!(a.loglik, b.loglik);
    for (x, y) in a.sites.iter().zip(b.sites.iter().rev()) {
        assert_eq!((x.effect, x.se), (y.effect, y.se));
    }
}

fn schools(
    models: &[(&str, usize)],
    sizes: &[usize],
    effects: &[f64],
    missing: f64,
    seed: u64,
) -> Vec<ResponseTable> {
    let truth = truth(models, seed);
    let mut random = Random(seed ^ 7);
    sizes
        .iter()
        .zip(effects)
        .map(|(&n, &s)| table(&answers(models, &truth, n, (s, 1.0), missing, &mut random)))
        .collect()
}

#[test]
fn em_and_bfgs_find_the_maximum_that_newton_finds() {
    let sites = || schools(BINARY, &[120, 150, 100, 130], &[-0.6, 0.1, 0.7, -0.2], 0.0, 5);
    for effects in [Effects::None, Effects::Fixed] {
        let newton = fit(plan(named(BINARY), effects), sites());
        for algorithm in [AlgorithmKind::Em, AlgorithmKind::Bfgs] {
            let other = fit(with_algorithm(plan(named(BINARY), effects), algorithm), sites());
            assert_eq!(other.converged, Some(true), "{algorithm:?}");
            assert!(distance(&newton, &other) < 2e-4, "{algorithm:?} {}", distance(&newton, &other));
            assert!((newton.loglik.unwrap() - other.loglik.unwrap()).abs() < 1e-5);
            assert!(other.rounds > newton.rounds);
            for (x, y) in newton.sites.iter().zip(&other.sites) {
                if effects == Effects::Fixed {
                    assert!((x.effect.unwrap() - y.effect.unwrap()).abs() < 2e-4);
                    assert!((x.se.unwrap() / y.se.unwrap() - 1.0).abs() < 1e-3);
                }
            }
        }
    }
    let newton = fit(plan(named(BINARY), Effects::Random), sites());
    // The origin of four random effects is weakly determined: EM must go a little further to get there.
    let mut patient = with_algorithm(plan(named(BINARY), Effects::Random), AlgorithmKind::Em);
    patient.settings.tolerance = 1e-7;
    let em = fit(patient, sites());
    assert!(distance(&newton, &em) < 2e-4, "{}", distance(&newton, &em));
    assert!((newton.site_sd.unwrap() - em.site_sd.unwrap()).abs() < 1e-3);
}

#[test]
fn averaging_comes_near_and_says_when_it_is_not_there() {
    let sites = || schools(BINARY, &[200, 200, 200], &[-0.3, 0.0, 0.3], 0.0, 11);
    let newton = fit(plan(named(BINARY), Effects::Fixed), sites());
    for algorithm in [AlgorithmKind::Fedsgd, AlgorithmKind::Fedavg] {
        let other = fit(with_algorithm(plan(named(BINARY), Effects::Fixed), algorithm), sites());
        assert!(distance(&newton, &other) < 0.3, "{algorithm:?} {}", distance(&newton, &other));
        assert!(other.loglik.unwrap() <= newton.loglik.unwrap() + 1e-6);
        assert!(other.converged == Some(false) || distance(&newton, &other) < 0.2);
    }
    let meta = fit(with_algorithm(plan(named(BINARY), Effects::Fixed), AlgorithmKind::Meta), sites());
    assert!(distance(&newton, &meta) < 0.6 && meta.rounds == 2);
    // Part of the sites, drawn by a seed: the same seed, the same path.
    let mut plan = with_algorithm(plan(named(BINARY), Effects::Fixed), AlgorithmKind::Fedavg);
    plan.settings.client_fraction = 0.67;
    plan.settings.max_rounds = 30;
    let (a, b) = (fit(plan.clone(), sites()), fit(plan, sites()));
    assert_eq!(a.items, b.items);
    assert_eq!(a.seed, Some(1));
}

#[test]
fn combinations_that_make_no_sense_are_refused_by_name() {
    let sites = || schools(BINARY, &[50, 50], &[0.0, 0.0], 0.0, 3);
    for algorithm in [AlgorithmKind::Bfgs, AlgorithmKind::Fedsgd, AlgorithmKind::Fedavg, AlgorithmKind::Meta]
    {
        let error =
            run(with_algorithm(plan(named(BINARY), Effects::Random), algorithm), sites()).unwrap_err();
        assert!(error.to_string().contains(algorithm.name()), "{error}");
        let mut items = named(BINARY);
        items[0].anchor = anchor(1.0, &[0.0]);
        let error = run(with_algorithm(plan(items, Effects::None), algorithm), sites()).unwrap_err();
        assert!(error.to_string().contains("fixed items"), "{error}");
    }
    let mut items = named(BINARY);
    items[0].model = Some("1pl".into());
    items[1].model = Some("rasch".into());
    let error = run(plan(items, Effects::None), sites()).unwrap_err().to_string();
    assert!(error.contains("1pl") && error.contains("rasch"), "{error}");
}

/// In one process the sites of a `plain` study are asked without messages. The sums are the same integers.
#[test]
fn a_calibration_without_messages_is_the_one_with_them_bit_for_bit() {
    let tables = || schools(MIXED, &[40, 70, 30, 60, 50, 20], &[-0.5, 0.1, 0.6, 0.0, -0.3, 0.4], 0.1, 8);
    let sites =
        || tables().into_iter().enumerate().map(|(k, table)| (format!("S{k}"), table)).collect::<Vec<_>>();
    for effects in [Effects::Fixed, Effects::Random] {
        let plan = plan(named(MIXED), effects);
        let (direct, after) = in_process::run(plan.clone(), sites(), &mut Unobserved).expect("a fit");
        let mut random = ChaCha20Rng::from_seed([1; 32]);
        let setting = Setting::of(Mode::Plain);
        let (sent, told) =
            in_process::run_by_messages(setting, plan, sites(), &mut random, &mut Unobserved).expect("a fit");
        assert_eq!(direct.fit, sent.fit);
        assert_eq!(direct.covariance, sent.covariance);
        for ((a, b), table) in after.iter().zip(&told).zip(tables()) {
            assert!(a.own_effect == b.own_effect && a.table == table);
        }
    }
}

//! `secure` gives the estimates of `plain`, and tells nobody a site's effect.

mod common;

use common::{Random, answers, named, plan, table, with_algorithm};
use fedirt_model::centre::{AlgorithmKind, Plan};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, RunError, Setting, SiteAfter, Unobserved};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

fn sites(count: usize, students: usize) -> (Vec<(&'static str, usize)>, Vec<ResponseTable>) {
    let models = vec![("2pl", 2), ("2pl", 2), ("gpcm", 3), ("grm", 4), ("2pl", 2), ("2pl", 2)];
    let truth = [
        vec![1.0, 0.3],
        vec![1.4, -0.6],
        vec![0.8, 0.7, 0.2],
        vec![1.2, 1.5, 0.1, -1.2],
        vec![0.7, 1.0],
        vec![1.1, -1.1],
    ];
    let mut random = Random(7);
    let tables = (0..count)
        .map(|k| table(&answers(&models, &truth, students, ((k as f64 - 2.0) * 0.3, 1.0), 0.05, &mut random)))
        .collect();
    (models, tables)
}

fn run(mode: Mode, plan: Plan, tables: &[ResponseTable]) -> Result<(Fit, Vec<SiteAfter>), RunError> {
    let sites = tables.iter().enumerate().map(|(k, t)| (format!("S{k}"), t.clone())).collect();
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let (finished, after) = in_process::run_as(Setting::of(mode), plan, sites, &mut random, &mut Unobserved)?;
    Ok((finished.fit, after))
}

fn secure_plan(models: &[(&'static str, usize)], effects: Effects) -> Plan {
    let mut plan = plan(named(models), effects);
    for (item, (_, categories)) in plan.items.iter_mut().zip(models) {
        item.codes = Some((0..*categories as u8).collect());
    }
    plan.publish_effects = false;
    plan
}

#[test]
fn secure_sums_give_the_plain_estimates() {
    for (count, effects, algorithm) in [
        (4, Effects::Fixed, AlgorithmKind::Newton),
        (4, Effects::Fixed, AlgorithmKind::Em),
        (8, Effects::Random, AlgorithmKind::Newton),
        (4, Effects::Random, AlgorithmKind::Em),
        (4, Effects::Random, AlgorithmKind::Newton),
        (3, Effects::None, AlgorithmKind::Newton),
    ] {
        let (models, tables) = sites(count, 150);
        let mut plan = with_algorithm(secure_plan(&models, effects), algorithm);
        // The two start differently: EM, which stops on a slope, must be let run.
        plan.settings.tolerance = 1e-8;
        let (secure, after) = run(Mode::Secure, plan.clone(), &tables).expect("a secure fit");
        let mut open = plan;
        open.publish_effects = true;
        let (plain, _) = run(Mode::Plain, open, &tables).expect("a plain fit");
        let what = format!("{count} {effects:?} {algorithm:?}");
        let far = common::distance(&secure, &plain);
        let near = if algorithm == AlgorithmKind::Em { 2e-5 } else { 1e-6 };
        assert!(far < near, "{what}: {far:e}");
        assert!((secure.loglik.unwrap() - plain.loglik.unwrap()).abs() < 1e-5, "{what}");
        assert_eq!(secure.mode, "secure");
        assert_eq!(secure.converged, Some(true), "{what}");
        for (a, b) in secure.items.iter().zip(&plain.items) {
            assert!((a.se_a.unwrap() - b.se_a.unwrap()).abs() < 1e-4, "{what}");
        }
        for ((told, known), site) in secure.sites.iter().zip(&plain.sites).zip(&after) {
            assert_eq!((told.effect, told.se), (None, None), "{what}: an effect was published");
            let place = site.own_effect.expect("the site knows its own effect");
            assert_eq!(place.effect.is_some(), effects != Effects::None);
            if let (Some(own), Some(published)) = (place.effect, known.effect) {
                assert!((own - published).abs() < 2e-4, "{what}: {own} {published}");
                assert!((place.se.unwrap() - known.se.unwrap()).abs() < 1e-3, "{what}");
            }
        }
    }
}

#[test]
fn secure_rounds_cost_at_most_two_more() {
    let (models, tables) = sites(7, 200);
    let plan = secure_plan(&models, Effects::Fixed);
    let (plain, _) = run(Mode::Plain, plan.clone(), &tables).unwrap();
    let (secure, _) = run(Mode::Secure, plan, &tables).unwrap();
    assert!(secure.rounds <= plain.rounds + 2, "{} {}", secure.rounds, plain.rounds);
}

#[test]
fn effects_can_be_published_by_the_plan() {
    let (models, tables) = sites(4, 150);
    let mut plan = secure_plan(&models, Effects::Fixed);
    plan.publish_effects = true;
    let (fit, _) = run(Mode::Secure, plan, &tables).unwrap();
    let sum: f64 = fit.sites.iter().map(|s| s.effect.unwrap()).sum();
    assert!(sum.abs() < 1e-9, "{sum}");
}

#[test]
fn what_needs_single_sites_is_refused_by_name() {
    let (models, tables) = sites(4, 60);
    for algorithm in [AlgorithmKind::Bfgs, AlgorithmKind::Fedsgd, AlgorithmKind::Fedavg, AlgorithmKind::Meta]
    {
        let plan = with_algorithm(secure_plan(&models, Effects::Fixed), algorithm);
        let error = run(Mode::Secure, plan, &tables).unwrap_err().to_string();
        assert!(error.contains(algorithm.name()) && error.contains("plain"), "{error}");
    }
    let plan = secure_plan(&models, Effects::Fixed);
    let error = run(Mode::Secure, plan, &tables[..2]).unwrap_err().to_string();
    assert!(error.contains("two sites"), "{error}");
}

#[test]
fn the_masks_do_not_touch_a_bit_of_the_result() {
    let (models, tables) = sites(5, 100);
    let plan = secure_plan(&models, Effects::Fixed);
    let sites = |order: &[usize]| -> Vec<(String, ResponseTable)> {
        order.iter().map(|&k| (format!("S{k}"), tables[k].clone())).collect()
    };
    let fit = |seed: u64, order: &[usize]| {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let run = in_process::run_as(
            Setting::of(Mode::Secure),
            plan.clone(),
            sites(order),
            &mut random,
            &mut Unobserved,
        );
        run.unwrap().0.fit
    };
    let (one, other) = (fit(1, &[0, 1, 2, 3, 4]), fit(2, &[4, 2, 0, 1, 3]));
    assert_eq!(one.items, other.items);
    assert_eq!(one.loglik, other.loglik);
}

/// Digits that leave in `secure` are those that the tolerance needs, and the estimates stay where they are.
#[test]
fn fewer_digits_move_no_estimate_by_a_ten_thousandth_of_its_standard_error() {
    for (count, students, effects) in [
        (3, 40, Effects::Fixed),
        (5, 150, Effects::Random),
        (4, 2000, Effects::Fixed),
        (30, 30, Effects::Fixed),
    ] {
        let (models, tables) = sites(count, students);
        let plan = secure_plan(&models, effects);
        let (secure, _) = run(Mode::Secure, plan.clone(), &tables).expect("a secure fit");
        // The two start differently: the plain one is run to the end, so that what differs is not its own tolerance.
        let mut fine = plan;
        fine.settings.tolerance = 1e-9;
        let (plain, _) = run(Mode::Plain, fine, &tables).expect("a plain fit");
        assert_eq!(secure.converged, Some(true));
        for (item, known) in secure.items.iter().zip(&plain.items) {
            let numbers = |i: &fedirt_model::fit::FitItem| -> Vec<f64> {
                [i.a].iter().chain(&i.d).flatten().copied().collect()
            };
            let errors = [known.se_a].iter().chain(&known.se_d).flatten().copied().collect::<Vec<f64>>();
            assert_eq!(errors.len(), numbers(known).len(), "{}", item.name);
            for ((told, exact), se) in numbers(item).iter().zip(numbers(known)).zip(errors) {
                let far = (told - exact).abs() / se;
                assert!(far < 1e-4, "{count} × {students} {effects:?}, {}: {far:e} SE", item.name);
            }
        }
    }
}

//! `private` through the machines: noisy sums, and nothing else.

mod common;

use common::{Random, answers, named, plan, table};
use fedirt_model::centre::Plan;
use fedirt_model::exchange::Effects;
use fedirt_model::fit::Fit;
use fedirt_model::private::MissingAnswers;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{self, Observer, RunError, Sent, Setting, Unobserved};
use fedirt_protocol::message::{Question, Turn};
use fedirt_protocol::private::PrivateTerms;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const ITEMS: usize = 6;

fn data(sites: usize, students: usize, seed: u64) -> Vec<ResponseTable> {
    let models = vec![("2pl", 2); ITEMS];
    let truth: Vec<Vec<f64>> = (0..ITEMS).map(|j| vec![1.2, 0.5 * j as f64 - 1.25]).collect();
    let mut random = Random(seed);
    let mean = |k: usize| 0.4 * (k as f64 - (sites - 1) as f64 / 2.0);
    (0..sites).map(|k| table(&answers(&models, &truth, students, (mean(k), 1.0), 0.0, &mut random))).collect()
}

fn private_plan(effects: Effects) -> Plan {
    let mut plan = plan(named(&[("2pl", 2); ITEMS]), effects);
    plan.items.iter_mut().for_each(|item| item.codes = Some(vec![0, 1]));
    plan
}

fn terms(epsilon: f64) -> PrivateTerms {
    PrivateTerms {
        epsilon,
        delta: 1e-6,
        mixture: false,
        missing: MissingAnswers::Wrong,
        site_sd: 0.0,
        booklets: Vec::new(),
        method: fedirt_model::private::PrivateMethod::default(),
        seed: 1,
    }
}

fn run(
    private: PrivateTerms,
    colluders: usize,
    effects: Effects,
    tables: &[ResponseTable],
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Fit, RunError> {
    let sites = tables.iter().enumerate().map(|(k, t)| (format!("S{k}"), t.clone())).collect();
    let setting = Setting { mode: Mode::Private, private: Some(private), colluders };
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    Ok(in_process::run_as(setting, private_plan(effects), sites, &mut random, observer)?.0.fit)
}

#[test]
fn with_little_noise_the_estimates_are_the_plain_ones() {
    let tables = data(3, 700, 5);
    let sites = tables.iter().enumerate().map(|(k, t)| (format!("S{k}"), t.clone())).collect();
    let plain = in_process::run(private_plan(Effects::Fixed), sites, &mut Unobserved).unwrap().0.fit;
    let private = run(terms(5000.0), 0, Effects::Fixed, &tables, 1, &mut Unobserved).unwrap();
    for (a, b) in private.items.iter().zip(&plain.items) {
        let (a, b, se) = (a.a.unwrap(), b.a.unwrap(), b.se_a.unwrap());
        assert!((a - b).abs() < 0.6 * se, "{a} {b} {se}");
    }
    for (a, b) in private.sites.iter().zip(&plain.sites) {
        assert!((a.effect.unwrap() - b.effect.unwrap()).abs() < 0.05);
    }
}

/// ε for replaced answers: from the table of Balle and Wang's formula at δ = 1e-6.
#[test]
fn results_say_what_replaced_answers_cost() {
    for (epsilon, replaced) in [(1.0, 2.12), (2.0, 4.32), (8.0, 18.7)] {
        let found = terms(epsilon).epsilon_replaced().unwrap();
        assert!((found / replaced - 1.0).abs() < 5e-3, "{found}");
    }
}

#[test]
fn what_private_does_not_release_is_null() {
    let fit = run(terms(1.0), 0, Effects::Fixed, &data(4, 200, 6), 2, &mut Unobserved).unwrap();
    assert!((fit.privacy.as_ref().unwrap().epsilon_replaced / 2.12 - 1.0).abs() < 5e-3);
    assert_eq!((fit.loglik, fit.aic, fit.bic, fit.sabic), (None, None, None, None));
    assert_eq!((fit.max_gradient, fit.condition_number), (None, None));
    // Post-processing of the noisy sums.
    assert!(fit.converged.is_some());
    assert!(fit.curves.is_none() && fit.ability_histogram.is_none() && fit.seed.is_none());
    assert!(fit.items.iter().all(|i| i.n.is_none() && i.se_a.is_some()));
    assert!(fit.trace.iter().all(|t| t.loglik.is_none() && t.slowest_items.is_empty()));
    let privacy = fit.privacy.unwrap();
    assert_eq!((privacy.epsilon, privacy.delta, privacy.rounds), (1.0, 1e-6, 2));
    assert!(privacy.adjacency.contains("zero-out") && privacy.mechanism.contains("sites"));
}

/// Counts what leaves.
#[derive(Default)]
struct Wire(Vec<(u32, usize, usize)>);

impl Observer for Wire {
    fn round(&mut self, _entry: &fedirt_model::fit::TraceEntry) {}
    fn declared(&mut self, _site: &str, declaration: &Declaration) {
        assert!(declaration.codes.iter().all(|codes| codes.iter().eq([0, 1])), "codes that occur were told");
    }
    fn sent(&mut self, _site: &str, turn: Turn, question: &Question, sent: Sent<'_>) {
        let Sent::Masked(bytes) = sent else { panic!("something left without a mask") };
        self.0.push((turn.round, question.summed_len(), bytes.len()));
    }
    fn wants_numbers(&self) -> bool {
        true
    }
}

/// Number and size of messages say nothing about the answers.
#[test]
fn messages_do_not_depend_on_answers() {
    let shape = |tables: &[ResponseTable]| {
        let mut wire = Wire::default();
        run(terms(1.0), 0, Effects::Fixed, tables, 3, &mut wire).unwrap();
        wire.0
    };
    let ordinary = data(3, 50, 7);
    let ones: Vec<ResponseTable> =
        (0..3).map(|_| ResponseTable::new(50, ITEMS, vec![1; 50 * ITEMS]).unwrap()).collect();
    assert_eq!(shape(&ordinary), shape(&ones));
    assert_eq!(shape(&ordinary).len(), 6);
}

/// One or two sites may take part: each carries the whole noise. Colluders raise everybody's share.
#[test]
fn few_sites_and_colluders_are_allowed() {
    for (sites, colluders) in [(1, 0), (2, 0), (5, 3)] {
        let fit = run(terms(4.0), colluders, Effects::Fixed, &data(sites, 300, 8), 4, &mut Unobserved);
        let fit = fit.unwrap();
        assert!(fit.items.iter().all(|i| i.a.is_some_and(f64::is_finite)), "{sites}");
        assert_eq!(fit.effects, if sites == 1 { "none" } else { "fixed" });
    }
}

/// Against whom ε holds stands in every result: the sites, how many may collude, and what another site could do.
#[test]
fn results_say_against_whom_epsilon_holds() {
    for (sites, colluders, known, wanted) in [
        (1, 0, 0, "everybody outside the site"),
        (2, 0, 1, "the coordinator together with the other site"),
        // μ(1)·√(3/2) = 0.2899.
        (3, 0, 0, "each of the 3 sites could remove its own part of the noise, and against it ε is 1.245"),
        (4, 1, 1, "the coordinator together with any one of the 4 sites"),
        (5, 3, 3, "the coordinator together with any 3 of the 5 sites"),
    ] {
        let tables = data(sites, 60, 8);
        let fit = run(terms(1.0), colluders, Effects::Fixed, &tables, 4, &mut Unobserved).unwrap();
        let privacy = fit.privacy.unwrap();
        assert_eq!((privacy.sites, privacy.colluders), (sites, known), "{sites} sites");
        assert!(privacy.holds_against.contains(wanted), "{}", privacy.holds_against);
    }
}

#[test]
fn weights_are_refused() {
    let weighted: Vec<ResponseTable> = data(3, 50, 10)
        .into_iter()
        .map(|t| t.with_weights((0..50).map(|i| 1.0 + f64::from(i % 3)).collect()).unwrap())
        .collect();
    let error = run(terms(1.0), 0, Effects::Fixed, &weighted, 7, &mut Unobserved).unwrap_err();
    assert!(error.to_string().contains("weight"), "{error}");
}

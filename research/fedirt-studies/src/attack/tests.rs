//! The attacks against the model's own numbers, and the study as a whole.

use super::equations::{Block, Equations};
use super::patterns::{self, Point, answer, probabilities, published};
use super::transcript::{Transcript, asked};
use super::whole::rounded;
use super::*;
use crate::harness::{Journal, Unwatched};
use fedirt_model::centre::{AlgorithmKind, Plan, Secrecy, Settings};
use fedirt_model::exchange::{Effects, Request};
use fedirt_model::fit::TraceEntry;
use fedirt_model::quadrature::{Grid, GridSpec};
use fedirt_model::questions::{Ask, Evaluate};
use fedirt_model::statistics::Mode;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{self, Observer, Sent, Setting};
use fedirt_protocol::message::{Question, Turn};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

fn point() -> Point {
    let psi = vec![1.2, -0.4, 0.7, 0.9, 1.8, 0.1, 1.0, -1.3];
    Point { psi, effect: 0.35, grid: GridSpec::default() }
}

/// log Σ_n w_n Π_j p_j(t_n), written out.
fn log_likelihood(point: &Point, pattern: usize) -> f64 {
    let grid = Grid::new(point.grid);
    let nodes = grid.nodes().iter().zip(grid.log_weights());
    let of_node = |(v, w): (&f64, &f64)| {
        let items = point.psi.chunks_exact(2).enumerate();
        let log_p = items.map(|(j, i)| {
            let eta = i[0] * (v + point.effect) + i[1];
            let sign = if answer(pattern, j) == 1 { 1.0 } else { -1.0 };
            -(1.0 + (-sign * eta).exp()).ln()
        });
        (w + log_p.sum::<f64>()).exp()
    };
    nodes.map(of_node).sum::<f64>().ln()
}

#[test]
fn what_a_pattern_adds_is_its_likelihood_and_its_derivatives() {
    let at = point();
    let table = published(&at);
    assert_eq!((table.rows(), table.columns()), (10, 16));
    let h = 1e-5;
    for (pattern, column) in table.each().enumerate() {
        assert!((column[0] - log_likelihood(&at, pattern)).abs() < 1e-12);
        for r in 0..=at.psi.len() {
            let moved = |by: f64| {
                let mut to = at.clone();
                match to.psi.get_mut(r) {
                    Some(x) => *x += by,
                    None => to.effect += by,
                }
                log_likelihood(&to, pattern)
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            assert!((column[1 + r] - slope).abs() < 1e-8, "pattern {pattern}, parameter {r}");
        }
    }
    assert!((probabilities(&at).iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn counts_times_patterns_are_what_the_school_sent() {
    for condition in &Condition::quick()[..2] {
        let data = condition.data(3);
        let run = Transcript::of(&data, AlgorithmKind::Bfgs, condition.effects, 1e-6).expect("a fit");
        let rounds = run.published();
        assert!(rounds.len() > 10);
        for site in [0, 2] {
            let counts = patterns::counts([&data.tables[site]], condition.items);
            for round in &rounds {
                let at = asked(&round.request, site).expect("a published round");
                let sums = published(&at).times(&counts);
                let sent = round.of_site(site);
                assert_eq!(sums.len(), sent.len());
                sums.iter().zip(&sent).for_each(|(x, y)| assert!((x - y).abs() < 1e-10, "{x} {y}"));
            }
        }
    }
}

#[test]
fn counts_come_back_from_few_equations() {
    let at = |shift: f64| Point { effect: shift, ..point() };
    let mut truth = vec![0.0; 16];
    [(0, 3.0), (5, 1.0), (15, 4.0)].iter().for_each(|(x, n)| truth[*x] = *n);
    let blocks: Vec<Block> = [0.0, 0.5]
        .iter()
        .map(|shift| {
            let by_pattern = published(&at(*shift));
            let told = by_pattern.times(&truth);
            Block { precision: vec![1e-12; told.len()], told, by_pattern }
        })
        .collect();
    for decimals in [None, Some(7), Some(4)] {
        let equations = Equations::new(&blocks, 8.0, decimals, |number| number > 0);
        assert_eq!(equations.len(), 19);
        let found = rounded(&equations.solve().x);
        assert_eq!(found, truth);
        assert!(equations.explained_by(&found));
        assert!(!equations.explained_by(&[0.5; 16]));
    }
}

/// The questions of a run, whatever hides the answers.
#[derive(Default)]
struct Questions(Vec<Request>);

impl Observer for Questions {
    fn round(&mut self, _entry: &TraceEntry) {}
    fn declared(&mut self, _site: &str, _declaration: &Declaration) {}
    fn sent(&mut self, _site: &str, _turn: Turn, question: &Question, _sent: Sent<'_>) {
        if let Question::Sums(request) = question
            && self.0.last() != Some(request)
        {
            self.0.push(request.clone());
        }
    }
    fn wants_numbers(&self) -> bool {
        true
    }
}

#[test]
fn a_secure_run_asks_for_the_sums_that_are_attacked() {
    let condition = &Condition::quick()[2];
    let data = condition.data(1);
    let open = Transcript::of(&data, AlgorithmKind::Newton, Effects::None, 1e-6).expect("a fit");
    let plan = Plan {
        items: data.items(),
        effects: Effects::None,
        population: GridSpec::default().into(),
        settings: Settings { tolerance: 1e-6, ..Settings::default() },
        publish_effects: false,
        secrecy: Secrecy::BySite,
        diagnostics: Vec::new(),
        groups: Vec::new(),
        purify: true,
        compare_sites: false,
    };
    let mut seen = Questions::default();
    let mut random = ChaCha20Rng::from_seed([5; 32]);
    in_process::run_as(Setting::of(Mode::Secure), plan, data.sites(), &mut random, &mut seen).expect("a fit");
    let asked: Vec<&Request> = open.exchanges().map(|e| &e.request).collect();
    assert_eq!(asked.len(), seen.0.len());
    for (open, hidden) in asked.iter().zip(&seen.0) {
        assert_eq!(open.tensors(), hidden.tensors());
        // Sums of `secure` have fewer digits, so their maximisation takes nearly the same steps, not the very same.
        if let (Ask::Evaluate(a), Ask::Evaluate(b)) = (&open.ask, &hidden.ask) {
            let numbers =
                |e: &Evaluate| e.points.iter().flat_map(|point| point.psi.clone()).collect::<Vec<f64>>();
            assert_eq!(numbers(a).len(), numbers(b).len());
            assert!(numbers(a).iter().zip(numbers(b)).all(|(x, y)| (x - y).abs() < 1e-4), "{a:?} {b:?}");
        }
    }
}

fn quick() -> Options {
    Options { replications: 2, ..Options::quick() }
}

#[test]
fn the_published_protocol_gives_all_rows_away_and_noise_none() {
    let records = run(&quick(), Journal::none(), &Unwatched).expect("attacks");
    let cells = cells(&records);
    let last = |protocol, attack: &str| -> Vec<&Cell> {
        cells
            .iter()
            .filter(|c| c.protocol == protocol && c.attack == attack)
            .filter(|c| c.decimals.is_none() && c.rounds_limit.is_none())
            .collect()
    };
    for attack in ["log-likelihoods and gradients", "gradients alone"] {
        let published = last(Protocol::Published, attack);
        assert_eq!(published.len(), 2);
        for cell in published {
            assert!(cell.all_found() && cell.certain == cell.seeds, "{cell:?}");
            assert!(cell.guess_range.1 < cell.rows, "{cell:?}");
        }
    }
    let secure = last(Protocol::Secure, "opening and Newton and closing sums");
    assert!(secure.iter().all(|c| c.all_found()), "{secure:?}");
    let private: Vec<&Cell> = cells.iter().filter(|c| c.epsilon == Some(1.0)).collect();
    assert_eq!(private.len(), 4);
    for cell in private {
        assert!(!cell.beyond_the_guess(), "{cell:?}");
        // And the comparison is sharp enough to have seen a row in twenty.
        let (low, high) = cell.beyond_limits.expect("limits");
        assert!(high - low < 0.1 * cell.rows as f64 && high < 0.05 * cell.rows as f64, "{cell:?}");
    }
    // Without the noise the same attack finds more: it is no weak attack that noise is held against.
    let control = last(Protocol::Private, "least squares of one school");
    assert!(control.iter().any(|c| c.epsilon.is_none() && c.beyond_the_guess()), "{control:?}");
    // Nobody finds more rows than there are.
    assert!(records.iter().all(|r| r.found <= r.rows && r.guess <= r.rows));
}

#[test]
fn threads_and_stops_change_no_byte() {
    let options = Options { replications: 1, ..Options::quick() };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut journal = Vec::new();
        let begun = Journal::begin(&options.identity().expect("settings"), &mut journal).expect("a journal");
        let records = pool.install(|| run(&options, begun, &Unwatched)).expect("attacks");
        (report(&options, &records).expect("files"), journal)
    };
    let (one, two) = (with(1), with(2));
    assert_eq!(one.0, two.0);
    let names: Vec<&str> = one.0.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "attack.csv",
            "cells.csv",
            "attack.json",
            "rebuilt.svg",
            "rebuilt.png",
            "rounds.svg",
            "rounds.png",
            "index.html"
        ]
    );
    let csv = String::from_utf8(one.0.files[0].1.clone()).expect("text");
    assert!(csv.starts_with("protocol,items,") && csv.lines().count() > 20);
    // Stopped in the middle of a record, and resumed.
    let text = String::from_utf8(two.1).expect("text");
    let part = &text[..2 * text.len() / 3];
    let resumed =
        Journal::resume(&options.identity().expect("settings"), part, Vec::new()).expect("a journal");
    let records = run(&options, resumed, &Unwatched).expect("attacks");
    assert_eq!(report(&options, &records).expect("files"), one.0);
}

//! What a site's preview names is what the site then sends, in the same rounds: for every algorithm and mode.

mod common;

use common::lab::{Lab, terms as bench_terms};
use common::{Random, answers, named, plan, table};
use fedirt_model::centre::{AlgorithmKind, Plan, Stage};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::TraceEntry;
use fedirt_model::population::{Family, Population};
use fedirt_model::private::{MissingAnswers, PrivateMechanism, PrivateMethod};
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{self, Observer, Sent, Setting};
use fedirt_protocol::message::{Question, Turn};
use fedirt_protocol::policy::Policy;
use fedirt_protocol::preview::{self, RoundPreview};
use fedirt_protocol::private::PrivateTerms;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::BTreeMap;

const MODELS: &[(&str, usize)] = &[("2pl", 2), ("2pl", 2), ("gpcm", 3), ("2pl", 2), ("2pl", 2), ("2pl", 2)];
const BINARY: &[(&str, usize)] = &[("2pl", 2); 6];

const ALGORITHMS: [AlgorithmKind; 6] = [
    AlgorithmKind::Newton,
    AlgorithmKind::Em,
    AlgorithmKind::Bfgs,
    AlgorithmKind::Fedsgd,
    AlgorithmKind::Fedavg,
    AlgorithmKind::Meta,
];

/// Most passes in which groups are compared, as [`Stage::Groups`] says.
const PASSES: usize = 3;

/// Names and sizes of what one site sent, round by round.
type Rounds = BTreeMap<u32, Vec<(&'static str, usize)>>;

/// Watches one site.
struct Watch {
    site: &'static str,
    rounds: Rounds,
}

impl Observer for Watch {
    fn round(&mut self, _entry: &TraceEntry) {}
    fn declared(&mut self, _site: &str, _declaration: &Declaration) {}

    fn sent(&mut self, site: &str, turn: Turn, question: &Question, sent: Sent<'_>) {
        if site != self.site {
            return;
        }
        let statistics = match sent {
            Sent::Numbers(numbers) => numbers.iter().map(|(s, v)| (s.name, v.len())).collect(),
            Sent::Masked(_) => question.statistics().iter().map(|(s, len)| (s.name, *len)).collect(),
        };
        let before = self.rounds.insert(turn.round, statistics);
        assert!(before.is_none(), "one answer per round");
    }

    fn wants_numbers(&self) -> bool {
        true
    }
}

fn sites(models: &[(&str, usize)], count: usize, weighted: bool) -> Vec<(String, ResponseTable)> {
    let truth = common::truth(models, 5);
    let mut random = Random(11);
    let mut one = |k: usize| {
        let mean = 0.2 * (k as f64 - (count - 1) as f64 / 2.0);
        let rows = table(&answers(models, &truth, 120, (mean, 1.0), 0.0, &mut random));
        let weights = || (0..120).map(|i| 1.0 + f64::from(i % 3)).collect();
        let rows = if weighted { rows.with_weights(weights()).expect("sound weights") } else { rows };
        (format!("S{k}"), rows)
    };
    (0..count).map(&mut one).collect()
}

fn study(models: &[(&str, usize)], algorithm: AlgorithmKind, effects: Effects, publish: bool) -> Plan {
    let mut plan = plan(named(models), effects);
    for (item, (_, categories)) in plan.items.iter_mut().zip(models) {
        item.codes = Some((0..*categories as u8).collect());
    }
    plan.settings.algorithm = algorithm;
    plan.settings.max_rounds = 60;
    plan.publish_effects = publish;
    plan.diagnostics = Diagnostic::ALL.to_vec();
    plan
}

/// The preview of the first site, and what it sent in a whole run; errors where the study cannot be.
fn both(
    setting: &Setting,
    plan: &Plan,
    sites: &[(String, ResponseTable)],
) -> (Result<Vec<RoundPreview>, String>, Result<Rounds, String>) {
    let names: Vec<String> = sites.iter().map(|(name, _)| name.clone()).collect();
    let terms = in_process::terms(plan.clone(), setting.clone(), &names).expect("sound terms");
    let own = terms.sites.keys().next().expect("a site");
    let shown = preview::rounds(&terms, own, &sites[0].1).map_err(|error| error.to_string());
    let mut watch = Watch { site: "S0", rounds: Rounds::new() };
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let run = in_process::run_as(setting.clone(), plan.clone(), sites.to_vec(), &mut random, &mut watch);
    (shown, run.map(|_| watch.rounds).map_err(|error| error.to_string()))
}

fn statistics(round: &RoundPreview) -> Vec<(&'static str, usize)> {
    round.statistics.iter().map(|s| (s.name, s.count)).collect()
}

fn names(statistics: &[(&'static str, usize)]) -> Vec<&'static str> {
    statistics.iter().map(|(name, _)| *name).collect()
}

/// Every round of the run stands on the preview, and every round of the preview took place.
fn assert_same(what: &str, shown: &[RoundPreview], sent: &Rounds) {
    let last = sent.len() as u32;
    assert_eq!(sent.keys().copied().collect::<Vec<_>>(), (1..=last).collect::<Vec<_>>(), "{what}");
    let iterations = shown.iter().position(|r| matches!(r.stage, Some(Stage::Iterations { .. })));
    let iterations = iterations.unwrap_or_else(|| panic!("{what}: no iterations"));
    assert_eq!((iterations, shown[0].stage), (1, Some(Stage::Opening)), "{what}");
    assert_eq!(shown.last().and_then(|r| r.stage), Some(Stage::Closing), "{what}");
    assert_eq!(sent[&1], statistics(&shown[0]), "{what}: round 1");
    let mut turn = last;
    for round in shown[2..].iter().rev() {
        let expected = statistics(round);
        // Groups are compared in up to three passes; later ones match by fewer items, and so by fewer sums.
        let passes = if round.stage == Some(Stage::Groups) { PASSES } else { 1 };
        let mut pass = 0;
        while sent[&turn] != expected && pass + 1 < passes {
            assert_eq!(
                names(&sent[&turn]),
                names(&expected),
                "{what}: round {turn} of {last}, {}",
                round.name
            );
            let fewer = sent[&turn].iter().zip(&expected).all(|(sent, shown)| sent.1 <= shown.1);
            assert!(fewer, "{what}: round {turn} of {last} sends more than the preview shows");
            (turn, pass) = (turn - 1, pass + 1);
        }
        assert_eq!(sent[&turn], expected, "{what}: round {turn} of {last}, {}", round.name);
        turn -= 1;
    }
    assert!(turn >= 2, "{what}: {last} rounds, and the preview names more");
    let once = statistics(&shown[1]);
    let iterated = turn;
    for turn in 2..=iterated {
        // Newton may begin at several points, which the preview says.
        let points = sent[&turn].len() / once.len();
        assert!(points == 1 || turn == 2, "{what}: round {turn} asks at {points} points");
        assert_eq!(sent[&turn], once.repeat(points), "{what}: round {turn} of {last}");
    }
    if shown[1].stage == Some(Stage::Iterations { one_round: true }) {
        assert_eq!(iterated, 2, "{what}");
    }
}

#[test]
fn plain_studies_send_what_the_preview_names() {
    let setting = Setting::of(Mode::Plain);
    for algorithm in ALGORITHMS {
        for effects in [Effects::None, Effects::Fixed, Effects::Random] {
            for (weighted, publish) in [(false, true), (true, true), (false, false)] {
                let what = format!("plain {algorithm:?} {effects:?} weights {weighted} publish {publish}");
                let plan = study(MODELS, algorithm, effects, publish);
                match both(&setting, &plan, &sites(MODELS, 4, weighted)) {
                    (Ok(shown), Ok(sent)) => assert_same(&what, &shown, &sent),
                    (Err(shown), Err(sent)) => {
                        let general = matches!(algorithm, AlgorithmKind::Newton | AlgorithmKind::Em);
                        assert!(effects == Effects::Random && !general, "{what}: {shown}; {sent}");
                        assert_eq!(shown, sent, "{what}");
                    }
                    (shown, sent) => panic!("{what}: {:?}, {:?}", shown.err(), sent.err()),
                }
            }
        }
    }
}

#[test]
fn secure_studies_send_what_the_preview_names() {
    let setting = Setting::of(Mode::Secure);
    for algorithm in ALGORITHMS {
        let general = matches!(algorithm, AlgorithmKind::Newton | AlgorithmKind::Em);
        for effects in [Effects::None, Effects::Fixed, Effects::Random] {
            // Sums of squares over sites are asked for where six or more share them.
            for (count, weighted, publish) in [(4, false, false), (4, true, true), (7, true, false)] {
                let what = format!("secure {algorithm:?} {effects:?} {count} sites weights {weighted}");
                let plan = study(MODELS, algorithm, effects, publish);
                match both(&setting, &plan, &sites(MODELS, count, weighted)) {
                    (Ok(shown), Ok(sent)) => assert_same(&what, &shown, &sent),
                    (Err(shown), Err(sent)) => {
                        assert!(!general, "{what}: {shown}; {sent}");
                        assert_eq!(shown, sent, "{what}");
                    }
                    (shown, sent) => panic!("{what}: {:?}, {:?}", shown.err(), sent.err()),
                }
            }
        }
    }
}

/// What plans may ask for beside the plain calibration: groups, sites compared, other shapes of ability, large banks.
#[test]
fn what_plans_add_is_in_the_preview() {
    let grouped = |tables: Vec<(String, ResponseTable)>| -> Vec<(String, ResponseTable)> {
        let groups = |t: &ResponseTable| (0..t.students()).map(|i| u8::from(i % 3 == 0)).collect();
        let with = |(name, t): (String, ResponseTable)| {
            let groups = groups(&t);
            (name, t.with_groups(groups).expect("a group for each row"))
        };
        tables.into_iter().map(with).collect()
    };
    let shape = |family| Population { family, ..Population::default() };
    type Change<'a> = (&'a str, bool, &'a dyn Fn(&mut Plan));
    let groups = |plan: &mut Plan| {
        plan.groups = vec!["one".into(), "other".into()];
        plan.population = shape(Family::Groups { groups: 2 });
    };
    let changes: [Change<'_>; 6] = [
        ("groups", true, &groups),
        ("groups without purification", true, &|plan| {
            groups(plan);
            plan.purify = false;
        }),
        ("sites", false, &|plan| plan.compare_sites = true),
        ("a mixture", false, &|plan| plan.population = shape(Family::Mixture { components: 2 })),
        ("a Davidian curve", false, &|plan| plan.population = shape(Family::Davidian { degree: 2 })),
        ("a large bank", false, &|plan| plan.settings.pairwise_items = 4),
    ];
    for mode in [Mode::Plain, Mode::Secure] {
        for (name, with_groups, change) in changes {
            let what = format!("{mode:?}, {name}");
            let mut plan = study(MODELS, AlgorithmKind::Newton, Effects::None, false);
            change(&mut plan);
            let tables = sites(MODELS, 7, false);
            let tables = if with_groups { grouped(tables) } else { tables };
            let (shown, sent) = both(&Setting::of(mode), &plan, &tables);
            let (shown, sent) = (shown.expect("a preview"), sent.expect("a run"));
            assert_same(&what, &shown, &sent);
        }
    }
}

#[test]
fn private_studies_send_what_the_preview_names() {
    for (effects, mechanism) in [
        (Effects::None, PrivateMechanism::Optimal),
        (Effects::Fixed, PrivateMechanism::Optimal),
        (Effects::None, PrivateMechanism::Score2),
        (Effects::Fixed, PrivateMechanism::Score2),
    ] {
        for mixture in [false, true] {
            let what = format!("private {effects:?} {mechanism:?} mixture {mixture}");
            let private = PrivateTerms {
                epsilon: 8.0,
                delta: 1e-6,
                mixture,
                missing: MissingAnswers::Wrong,
                site_sd: 0.0,
                booklets: Vec::new(),
                method: PrivateMethod { mechanism, ..PrivateMethod::default() },
                seed: 1,
            };
            let setting = Setting { mode: Mode::Private, private: Some(private), colluders: 0 };
            let plan = study(BINARY, AlgorithmKind::Newton, effects, true);
            let (shown, sent) = both(&setting, &plan, &sites(BINARY, 3, false));
            let (shown, sent) = (shown.expect("a preview"), sent.expect("a run"));
            assert_eq!(shown.len(), sent.len(), "{what}");
            for (round, sent) in shown.iter().zip(sent.values()) {
                assert_eq!(statistics(round), *sent, "{what}");
                assert!(round.statistics.iter().all(|s| s.numbers.is_empty()), "{what}");
            }
        }
    }
}

/// The numbers of the first round are those of the preview, too: the sites agree on everything but the weights' unit.
#[test]
fn the_first_numbers_of_a_plain_study_are_those_of_the_preview() {
    struct First(Vec<f64>);
    impl Observer for First {
        fn round(&mut self, _entry: &TraceEntry) {}
        fn declared(&mut self, _site: &str, _declaration: &Declaration) {}
        fn sent(&mut self, site: &str, turn: Turn, _question: &Question, sent: Sent<'_>) {
            if let (Sent::Numbers(numbers), "S0", 1) = (sent, site, turn.round) {
                self.0 = numbers.iter().flat_map(|(_, v)| v).copied().collect();
            }
        }
        fn wants_numbers(&self) -> bool {
            true
        }
    }
    for algorithm in ALGORITHMS {
        let plan = study(MODELS, algorithm, Effects::Fixed, true);
        let tables = sites(MODELS, 3, false);
        let mut first = First(Vec::new());
        in_process::run(plan.clone(), tables.clone(), &mut first).expect("a fit");
        let names: Vec<String> = tables.iter().map(|(name, _)| name.clone()).collect();
        let terms = in_process::terms(plan, Setting::of(Mode::Plain), &names).expect("sound terms");
        let own = terms.sites.keys().next().expect("a site");
        let shown = preview::rounds(&terms, own, &tables[0].1).expect("a preview");
        let shown: Vec<f64> = shown[0].statistics.iter().flat_map(|s| s.numbers.clone()).collect();
        assert_eq!(shown.len(), first.0.len());
        assert!(shown.iter().zip(&first.0).all(|(a, b)| (a - b).abs() < 1e-9), "{algorithm:?}");
    }
}

/// The limits of a default policy hold for the parameters of every question, and no honest study runs into them.
#[test]
fn a_default_policy_lets_every_algorithm_through() {
    let policy = Policy { modes: vec![Mode::Plain, Mode::Secure], ..Policy::default() };
    for algorithm in ALGORITHMS {
        let mut terms = bench_terms(Mode::Plain, 3, 6);
        terms.plan.settings.algorithm = algorithm;
        terms.plan.settings.max_rounds = 50;
        terms.plan.diagnostics = Diagnostic::ALL.to_vec();
        let tables: Vec<ResponseTable> = sites(BINARY, 3, false).into_iter().map(|(_, t)| t).collect();
        let mut lab = Lab::new(terms, &policy, &tables);
        for _ in 0..400 {
            lab.turn(&[0, 1, 2]);
        }
        let result = lab.result.expect("an end");
        assert!(result.is_ok(), "{algorithm:?}: {result:?}");
    }
}

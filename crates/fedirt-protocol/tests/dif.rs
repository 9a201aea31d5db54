//! Comparisons of groups are functions of sums: however rows are split into sites, and whether or not the sums are masked, they
//! are the same. What would tell a rare group is not told.

mod common;

use common::lab::terms as bench_terms;
use common::{Random, answers, assert_size, named, plan, table, truth};
use fedirt_model::centre::{ItemPlan, Plan};
use fedirt_model::comparison::test_group;
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::{Effects, Point, Request};
use fedirt_model::fit::{Dif, Fit};
use fedirt_model::population::{Family, Population};
use fedirt_model::questions::start::BetweenSites;
use fedirt_model::questions::{Ask, Dif as DifQuestion, Unplanned};
use fedirt_model::responses::{MISSING, ResponseTable};
use fedirt_model::site::Site;
use fedirt_model::statistics::Mode;
use fedirt_protocol::in_process::{self, Setting, Unobserved};
use fedirt_protocol::message::Turn;
use fedirt_protocol::policy::{Policy, PolicyRefusal};
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const MIXED: &[(&str, usize)] =
    &[("2pl", 2), ("gpcm", 3), ("grm", 4), ("2pl", 2), ("2pl", 2), ("2pl", 2), ("2pl", 2), ("2pl", 2)];

/// Rows of two groups, of which the second is less able and finds the first item harder than its ability suggests.
fn rows(models: &[(&str, usize)], students: usize, dif: f64, seed: u64) -> (Vec<Vec<u8>>, Vec<u8>) {
    let truth = truth(models, 3);
    let mut random = Random(seed);
    let mut harder = truth.clone();
    harder[0].iter_mut().skip(1).for_each(|d| *d -= dif);
    let groups: Vec<u8> = (0..students).map(|i| u8::from(i % 5 > 2)).collect();
    let row = |group: &u8| {
        let (truth, mean) = if *group == 1 { (&harder, -0.5) } else { (&truth, 0.0) };
        answers(models, truth, 1, (mean, 1.0), 0.0, &mut random).swap_remove(0)
    };
    (groups.iter().map(row).collect(), groups)
}

fn with_groups(rows: &[Vec<u8>], groups: &[u8]) -> ResponseTable {
    table(rows).with_groups(groups.to_vec()).expect("a group for each row")
}

fn compared(models: &[(&str, usize)]) -> Plan {
    let mut plan = plan(named(models), Effects::None);
    for (item, (_, categories)) in plan.items.iter_mut().zip(models) {
        item.codes = Some((0..*categories as u8).collect());
    }
    plan.groups = vec!["one".into(), "other".into()];
    plan.population = Population { family: Family::Groups { groups: 2 }, ..Population::default() };
    plan
}

fn run(mode: Mode, plan: Plan, sites: Vec<ResponseTable>) -> Fit {
    let sites = sites.into_iter().enumerate().map(|(k, t)| (format!("S{k}"), t)).collect();
    let mut random = ChaCha20Rng::seed_from_u64(3);
    in_process::run_as(Setting::of(mode), plan, sites, &mut random, &mut Unobserved).expect("a fit").0.fit
}

fn found(fit: &Fit) -> &[Dif] {
    fit.diagnostics.as_ref().and_then(|d| d.dif.as_deref()).expect("a comparison")
}

/// What stands where there is no number: far from every number there is.
const NO_NUMBER: f64 = 1e300;

/// Every number of a comparison, and of the groups.
fn numbers(fit: &Fit) -> Vec<f64> {
    let of = |row: &Dif| {
        let l = row.logistic.expect("a logistic regression");
        let observed =
            [row.chi2, row.p_adjusted, row.gmh, row.smd_sd, row.score, row.expected_score_difference];
        // A score test whose information is not positive definite has no number, and must have none in any split.
        let mut out: Vec<f64> = observed.into_iter().map(|x| x.unwrap_or(NO_NUMBER)).collect();
        out.extend(row.alpha_mh.into_iter().chain(row.se_log_alpha_mh).chain(row.chi2_cc));
        out.extend([l.uniform, l.nonuniform, l.delta_r2_uniform, l.delta_r2_nonuniform]);
        out
    };
    let groups = fit
        .latent
        .groups
        .iter()
        .flat_map(|g| [g.students, g.mean.expect("estimated"), g.sd.expect("estimated")]);
    found(fit).iter().flat_map(of).chain(groups).collect()
}

fn farthest(a: &Fit, b: &Fit) -> f64 {
    let (a, b) = (numbers(a), numbers(b));
    assert_eq!(a.len(), b.len());
    a.iter().zip(&b).map(|(x, y)| (x - y).abs() / x.abs().max(1.0)).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn any_split_into_sites_gives_the_pooled_comparison(
        cuts in prop::collection::vec(1usize..399, 1..6),
        seed in 0u64..1000,
    ) {
        let (rows, groups) = rows(MIXED, 400, 0.8, seed);
        let mut cuts = cuts;
        cuts.extend([0, 400]);
        cuts.sort_unstable();
        cuts.dedup();
        let sites = cuts.windows(2).map(|w| with_groups(&rows[w[0]..w[1]], &groups[w[0]..w[1]])).collect();
        let pooled = run(Mode::Plain, compared(MIXED), vec![with_groups(&rows, &groups)]);
        let split = run(Mode::Plain, compared(MIXED), sites);
        prop_assert!(farthest(&pooled, &split) < 1e-9, "{:e}", farthest(&pooled, &split));
    }
}

#[test]
fn secure_gives_the_comparison_of_plain() {
    let (rows, groups) = rows(MIXED, 1000, 0.8, 4);
    let sites: Vec<ResponseTable> =
        rows.chunks(250).zip(groups.chunks(250)).map(|(rows, groups)| with_groups(rows, groups)).collect();
    let plain = run(Mode::Plain, compared(MIXED), sites.clone());
    let secure = run(Mode::Secure, compared(MIXED), sites);
    // `secure` sends fewer digits; see `Precision::Needed`.
    assert!(farthest(&plain, &secure) < 1e-4, "{:e}", farthest(&plain, &secure));
}

#[test]
fn the_item_that_works_differently_is_found_and_taken_out_of_the_match() {
    let (rows, groups) = rows(MIXED, 3000, 1.2, 7);
    let fit = run(Mode::Plain, compared(MIXED), vec![with_groups(&rows, &groups)]);
    let flagged: Vec<&str> =
        found(&fit).iter().filter(|row| row.flagged).map(|row| row.item.as_str()).collect();
    assert_eq!(flagged, ["I1"]);
    let first = &found(&fit)[0];
    assert!(
        !first.anchor && first.delta_mh.expect("a difference") < -1.5 && first.score_p.expect("a p") < 1e-6
    );
    assert!(first.expected_score_difference.expect("a difference") < -0.1);
    let findings = fit.diagnostics.as_ref().expect("diagnostics").findings.iter();
    assert!(
        findings
            .filter(|finding| finding.code == "dif")
            .any(|finding| finding.message.contains("I1 (harder for other"))
    );
    // The groups' means come back, and the first group fixes the scale.
    let [one, other] = &fit.latent.groups[..] else { panic!("two groups") };
    assert_eq!((one.mean, one.sd, one.se_mean), (Some(0.0), Some(1.0), None));
    let (mean, se) = (other.mean.expect("a mean"), other.se_mean.expect("an error"));
    assert!((mean + 0.5).abs() < 4.0 * se && se < 0.1, "{mean} {se}");
}

/// Seven sites of other ability, of which one finds the first item harder.
fn differing_sites(count: usize) -> Vec<ResponseTable> {
    let models = [("2pl", 2); 10];
    let truth = truth(&models, 3);
    let mut harder = truth.clone();
    harder[0][1] -= 2.0;
    let site = |k: usize| {
        let truth = if k == 1 { &harder } else { &truth };
        table(&answers(&models, truth, 300, (0.3 * k as f64 - 0.9, 1.0), 0.0, &mut Random(40 + k as u64)))
    };
    (0..count).map(site).collect()
}

#[test]
fn an_item_that_differs_between_sites_is_named_and_no_site() {
    let plan = |effects| Plan { compare_sites: true, ..plan(named(&[("2pl", 2); 10]), effects) };
    let between = |mode, count| {
        run(mode, plan(Effects::Fixed), differing_sites(count)).diagnostics.expect("diagnostics")
    };
    let plain = between(Mode::Plain, 7);
    let rows = plain.site_heterogeneity.as_ref().expect("a comparison");
    assert!(rows.iter().all(|row| row.df == 12.0));
    let found: Vec<&str> = rows
        .iter()
        .filter(|row| row.p_adjusted.is_some_and(|p| p < 0.01))
        .map(|row| row.item.as_str())
        .collect();
    assert_eq!(found, ["I1"]);
    assert!(rows[0].i2 > 0.5 && plain.findings.iter().any(|finding| finding.code == "site_heterogeneity"));
    // Each site rounds its terms to three digits.
    let secure = between(Mode::Secure, 7).site_heterogeneity.expect("a comparison");
    for (plain, secure) in rows.iter().zip(&secure) {
        assert!((plain.q - secure.q).abs() < 5e-3 * plain.q + 1e-3, "{} {}", plain.q, secure.q);
    }
    // Fewer than six sites could be named by their squares.
    let few = between(Mode::Secure, 4);
    assert_eq!(few.site_heterogeneity, None);
    assert!(few.not_available.iter().any(|missing| missing.name == "site_heterogeneity"));
}

fn question(groups: usize) -> DifQuestion {
    let point = Point { psi: [1.0, 0.0].repeat(4), site_sd: 0.0 };
    let (anchors, free) = (vec![0, 1, 2, 3], Vec::new());
    DifQuestion { point, groups, anchors, free, first: true, between: BetweenSites::Withheld }
}

fn request(population: Population, ask: Ask) -> Request {
    let item = |column| DesignItem { column, model: "2pl".into(), codes: vec![0, 1] };
    Request {
        design: Design::try_from((0..4).map(item).collect::<Vec<_>>()).expect("a design"),
        parts: vec![0; 4],
        population,
        weight_scale: 1.0,
        weighted: false,
        effects: Effects::None,
        ask,
    }
}

/// A site with one student of the second group says nothing of that student, and nothing from which it would follow.
#[test]
fn a_group_of_one_is_told_by_no_number() {
    let policy = Policy::default();
    let rows: Vec<Vec<u8>> = (0..60u8).map(|i| vec![i % 2, i / 2 % 2, i / 3 % 2, 1]).collect();
    let summary = |odd: [u8; 4]| {
        let mut rows = rows.clone();
        rows[7] = odd.to_vec();
        let groups = (0..60).map(|i| u8::from(i == 7)).collect::<Vec<u8>>();
        let site = policy.with_open_groups(with_groups(&rows, &groups));
        let ask = question(2).into();
        Site::new(site).answer(&request(Population::default(), ask)).expect("an answer")
    };
    // Whatever the one student has answered, every number of the reply is the same.
    assert_eq!(summary([1, 1, 1, 1]), summary([0, 0, 0, 0]));
    let students: Vec<f64> = summary([1, 1, 1, 1])
        .tensors()
        .filter(|(t, _)| t.statistic.name == "group_students")
        .flat_map(|(_, n)| n.to_vec())
        .collect();
    assert_eq!(students, [59.0, 0.0]);
}

/// Ten students of a group of whom one alone has answered every item: the table of complete rows stays closed for both.
#[test]
fn a_complete_row_alone_in_its_group_is_not_told() {
    let policy = Policy::default();
    let mut rows: Vec<Vec<u8>> = (0..60u8).map(|i| vec![i % 2, i / 2 % 2, i / 3 % 2, 1]).collect();
    let groups: Vec<u8> = (0..60).map(|i| u8::from(i < 12)).collect();
    rows[1..12].iter_mut().for_each(|row| row[3] = MISSING);
    let site = policy.with_open_groups(with_groups(&rows, &groups));
    let summary =
        Site::new(site).answer(&request(Population::default(), question(2).into())).expect("an answer");
    let table = summary.tensors().find(|(t, _)| t.statistic.name == "group_score_table").expect("a table").1;
    assert!(table.iter().all(|n| *n == 0.0));
    let students = summary.tensors().find(|(t, _)| t.statistic.name == "group_students").expect("sizes").1;
    assert_eq!(students, [48.0, 12.0]);
}

#[test]
fn groups_that_the_plan_does_not_compare_are_refused() {
    let mut terms = bench_terms(Mode::Plain, 3, 4);
    terms.plan.effects = Effects::None;
    let policy = Policy { modes: vec![Mode::Plain], ..Policy::default() };
    let turn = Turn { round: 2, attempt: 1 };
    let check = |terms: &fedirt_protocol::Terms, groups| {
        let request = request(terms.plan.population, question(groups).into());
        policy.check_request(terms, turn, &request, 3, &[[2f64.asinh(), 0.0].repeat(4)])
    };
    assert_eq!(check(&terms, 2), Err(PolicyRefusal::Unplanned(Unplanned::Groups)));
    terms.plan.groups = vec!["one".into(), "other".into()];
    assert_eq!(check(&terms, 2), Ok(()));
    // As many groups as students: a group of one each.
    assert_eq!(check(&terms, 20), Err(PolicyRefusal::Unplanned(Unplanned::Groups)));
}

/// How many data sets are fitted by hand.
fn sets() -> u64 {
    std::env::var("FEDIRT_SETS").ok().and_then(|n| n.parse().ok()).unwrap_or(1000)
}

/// Whether a test rejects at 5 %.
fn rejects(p: Option<f64>) -> f64 {
    f64::from(u8::from(p.expect("a test") < 0.05))
}

/// How often a true model is rejected at 5 %: prints the shares. By hand, as it fits 1,000 data sets.
#[test]
#[ignore = "fits 1,000 data sets (FEDIRT_SETS: fewer); cargo test --release -p fedirt-protocol --test dif -- --ignored --nocapture true_model"]
fn a_true_model_is_rejected_about_as_often_as_it_should_be() {
    let models = [("2pl", 2); 20];
    let (mut mantel, mut corrected, mut score, mut logistic, mut tests) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for set in 0..sets() {
        let (rows, groups) = rows(&models, 1000, 0.0, 1_000 + set);
        let mut plan = compared(&models);
        plan.purify = false;
        let fit = run(Mode::Plain, plan, vec![with_groups(&rows, &groups)]);
        for row in found(&fit) {
            tests += 1.0;
            mantel += f64::from(u8::from(row.chi2.expect("a test") > 3.841_458_8));
            corrected += rejects(row.p);
            score += rejects(row.score_p);
            logistic += rejects(row.logistic.map(|l| l.both_p));
        }
    }
    println!(
        "{} data sets: Mantel–Haenszel {:.4} (with correction {:.4}), score {:.4}, logistic {:.4} of {tests} tests",
        sets(),
        mantel / tests,
        corrected / tests,
        score / tests,
        logistic / tests
    );
    for rejected in [mantel, corrected, score, logistic] {
        assert_size(rejected / tests, sets() as f64);
    }
}

/// The same for likelihood ratio and Wald, from a fit for each item in which the second group's answers to it stand in a column of
/// their own.
#[test]
#[ignore = "fits 21,000 times (FEDIRT_SETS: fewer sets); cargo test --release -p fedirt-protocol --test dif -- --ignored --nocapture refits"]
fn refits_reject_a_true_model_about_as_often_as_they_should() {
    let models = [("2pl", 2); 20];
    let (mut ratio, mut wald, mut tests) = (0.0, 0.0, 0.0);
    for set in 0..sets() {
        let (rows, groups) = rows(&models, 1000, 0.0, 1_000 + set);
        let plan = Plan { groups: Vec::new(), ..compared(&models) };
        let run = |plan: &Plan, table| {
            in_process::run(plan.clone(), vec![("S".to_owned(), table)], &mut Unobserved).expect("a fit").0
        };
        let constrained = run(&plan, with_groups(&rows, &groups)).fit;
        for item in 0..models.len() {
            let split = |(row, group): (&Vec<u8>, &u8)| {
                let mut row = row.clone();
                let own = if *group == 1 { std::mem::replace(&mut row[item], MISSING) } else { MISSING };
                row.push(own);
                row
            };
            let split: Vec<Vec<u8>> = rows.iter().zip(&groups).map(split).collect();
            let mut wider = plan.clone();
            wider.items.push(ItemPlan { name: "own".into(), ..plan.items[item].clone() });
            let free = run(&wider, with_groups(&split, &groups));
            let mut row = Dif { item: plan.items[item].name.clone(), ..Dif::default() };
            let before = (constrained.loglik.expect("plain"), constrained.npar);
            test_group(&mut row, before, "own", &free.fit, &free.covariance);
            assert_eq!(row.lr_df, Some(2.0));
            tests += 1.0;
            ratio += rejects(row.lr_p);
            wald += rejects(row.wald_p);
        }
    }
    println!(
        "{} data sets: likelihood ratio {:.4}, Wald {:.4} of {tests} tests",
        sets(),
        ratio / tests,
        wald / tests
    );
    for rejected in [ratio, wald] {
        assert_size(rejected / tests, sets() as f64);
    }
}

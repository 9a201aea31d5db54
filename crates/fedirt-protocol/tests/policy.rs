//! A site's limits on parameters hold for every question that carries some; and the bytes of questions stay the same.

mod common;

use common::lab::terms;
use fedirt_model::design::{Design, DesignItem};
use fedirt_model::exchange::{Effects, Point, Request};
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::questions::evaluate::Curvature;
use fedirt_model::questions::start::BetweenSites;
use fedirt_model::questions::{
    Ask, Close, Counts, Diagnose, Evaluate, LocalFit, Products, Published, Start, Train, Unplanned,
};
use fedirt_model::statistics::Mode;
use fedirt_protocol::codec;
use fedirt_protocol::message::Turn;
use fedirt_protocol::policy::{Policy, PolicyRefusal};
use fedirt_protocol::site::Refusal;

const ITEMS: usize = 5;

/// Every question that carries parameters, at these slopes and difficulties.
fn questions(slope: f64, difficulty: f64) -> Vec<Ask> {
    let psi = [slope, -slope * difficulty].repeat(ITEMS);
    let (items, effects) = ([slope, difficulty].repeat(ITEMS), vec![0.0; 3]);
    let point = Point { psi: psi.clone(), site_sd: 0.0 };
    let points = vec![point.clone()];
    let train = Train { items, effects: effects.clone(), chosen: vec![0], epochs: 1, learning_rate: 1.0 };
    vec![
        Evaluate { points, curvature: Curvature::Observed, effect_totals: false }.into(),
        Published { psi, effects, chosen: None }.into(),
        train.into(),
        Products { point: point.clone(), effect_unit: 1.0, rounded: false }.into(),
        Close { point: point.clone(), sd: 1.0, errors: None, effects: None, publish_effects: false }.into(),
        Diagnose { point, wanted: vec![Diagnostic::Q3], covariance: Vec::new(), by_name: false }.into(),
    ]
}

fn check(ask: Ask, earlier: &[Vec<f64>]) -> Result<(), PolicyRefusal> {
    let mut terms = terms(Mode::Plain, 3, ITEMS);
    terms.plan.diagnostics = vec![Diagnostic::Q3];
    let item = |column| DesignItem { column, model: "2pl".into(), codes: vec![0, 1] };
    let request = Request {
        design: Design::try_from((0..ITEMS).map(item).collect::<Vec<_>>()).expect("a design"),
        parts: vec![0; ITEMS],
        population: terms.plan.population,
        weight_scale: 1.0,
        weighted: false,
        effects: Effects::Fixed,
        ask,
    };
    let policy = Policy { modes: vec![Mode::Plain], ..Policy::default() };
    policy.check_request(&terms, Turn { round: 2, attempt: 1 }, &request, 3, earlier)
}

#[test]
fn limits_hold_for_every_question_with_parameters() {
    // Slopes 1 and intercepts 0 in the coordinates of the centre.
    let start = vec![[2f64.asinh(), 0.0].repeat(ITEMS)];
    for (k, ask) in questions(1.0, 0.0).into_iter().enumerate() {
        assert_eq!(check(ask, &start), Ok(()), "question {k}");
    }
    for (slope, difficulty, word) in
        [(8.5, 0.0, "slope"), (1e-8, 0.0, "plain counts"), (1.0, 30.0, "intercepts"), (1.0, 4.0, "a step of")]
    {
        for ask in questions(slope, difficulty) {
            let refusal = check(ask.clone(), &start).expect_err("parameters beyond the limits");
            assert!(matches!(refusal, PolicyRefusal::Parameters(_)), "{ask:?}: {refusal}");
            assert!(refusal.to_string().contains(word), "{ask:?}: {refusal}");
        }
    }
    for ask in [Counts.into(), LocalFit { tolerance: 1e-6, iterations: 10 }.into()] {
        assert_eq!(check(ask, &start), Ok(()));
    }
}

#[test]
fn diagnostics_that_the_plan_does_not_list_are_refused() {
    let start = vec![[2f64.asinh(), 0.0].repeat(ITEMS)];
    let point = Point { psi: [1.0, 0.0].repeat(ITEMS), site_sd: 0.0 };
    let ask = |wanted: &[Diagnostic]| {
        Diagnose { point: point.clone(), wanted: wanted.to_vec(), covariance: Vec::new(), by_name: false }
            .into()
    };
    assert_eq!(check(ask(&[Diagnostic::Q3]), &start), Ok(()));
    let refusal = check(ask(&[Diagnostic::Q3, Diagnostic::ItemFit]), &start).expect_err("more than the plan");
    assert_eq!(refusal, PolicyRefusal::Unplanned(Unplanned::Diagnostics));
}

/// Running studies hold questions as bytes. These are those of version 1, from before questions were types.
#[test]
fn questions_keep_their_bytes() {
    let bytes = |ask: Ask| codec::encode(&ask).expect("bytes")[5..].to_vec();
    assert_eq!(bytes(Counts.into()), [0]);
    assert_eq!(bytes(Start { between: BetweenSites::Rounded }.into()), [1, 1]);
    let one = 1f64.to_le_bytes();
    let number = |bytes: &mut Vec<u8>| bytes.extend(one);
    let point = || Point { psi: vec![1.0], site_sd: 1.0 };
    let mut want = vec![2, 1, 1];
    (0..2).for_each(|_| number(&mut want));
    want.extend([2, 1]);
    let evaluate = Evaluate { points: vec![point()], curvature: Curvature::Observed, effect_totals: true };
    assert_eq!(bytes(evaluate.into()), want);
    let mut want = vec![3, 1];
    number(&mut want);
    want.extend([0, 1, 1, 4]);
    let published = Published { psi: vec![1.0], effects: Vec::new(), chosen: Some(vec![4]) };
    assert_eq!(bytes(published.into()), want);
    let mut want = vec![4, 0, 0, 1, 2, 5];
    number(&mut want);
    let (items, effects) = (Vec::new(), Vec::new());
    assert_eq!(bytes(Train { items, effects, chosen: vec![2], epochs: 5, learning_rate: 1.0 }.into()), want);
    let mut want = vec![5];
    number(&mut want);
    want.push(9);
    assert_eq!(bytes(LocalFit { tolerance: 1.0, iterations: 9 }.into()), want);
    let mut want = vec![6, 1];
    (0..3).for_each(|_| number(&mut want));
    want.push(1);
    assert_eq!(bytes(Products { point: point(), effect_unit: 1.0, rounded: true }.into()), want);
    let mut want = vec![7, 1];
    (0..3).for_each(|_| number(&mut want));
    want.extend([0, 0, 1]);
    let close = Close { point: point(), sd: 1.0, errors: None, effects: None, publish_effects: true };
    assert_eq!(bytes(close.into()), want);
}

/// How many rows a booklet has is told exactly: who skipped what in a booklet of one would be told with it.
#[test]
fn booklets_of_few_rows_are_refused_and_their_number_stays_here() {
    let policy = Policy::default();
    assert_eq!(policy.check_booklets(&[40, 10, 0]), None, "enough, or none");
    assert_eq!(policy.check_booklets(&[3]), None, "without booklets all rows are in one");
    let refusal = policy.check_booklets(&[40, 9, 12]).expect("nine rows are few");
    assert_eq!(refusal, PolicyRefusal::BookletRows { booklet: 1, rows: 9, least: 10 });
    assert!(refusal.to_string().contains("booklet 2 of the plan would have 9 rows"), "{refusal}");
    let told = Refusal::Policy(refusal).for_the_coordinator();
    assert!(!told.contains(char::is_numeric), "{told}");
    let lenient = Policy { fewest_booklet_rows: 0, ..policy };
    assert_eq!(lenient.check_booklets(&[40, 1]), None);
}

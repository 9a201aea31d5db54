//! A hostile coordinator asks about other items, effects or points than the plan: the table of two of twenty items, read
//! out of eight points in one round.

mod common;

use common::lab::{Lab, altered, terms};
use common::{Random, answers, table};
use fedirt_model::design::Design;
use fedirt_model::exchange::{Effects, Point, Request};
use fedirt_model::questions::{Ask, Evaluate};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::message::{Question, ToSite};
use fedirt_protocol::policy::{Differs, Policy, PolicyRefusal};
use fedirt_protocol::site::Refusal;
use std::sync::Arc;

const ITEMS: usize = 20;

fn tables() -> Vec<ResponseTable> {
    let truth: Vec<Vec<f64>> = (0..ITEMS).map(|j| vec![1.0, 0.1 * j as f64 - 1.0]).collect();
    let mut random = Random(5);
    (0..4).map(|_| table(&answers(&[("2pl", 2); ITEMS], &truth, 40, (0.0, 1.0), 0.0, &mut random))).collect()
}

fn lab(starts: usize) -> Lab {
    let mut terms = terms(Mode::Secure, 4, ITEMS);
    terms.plan.settings.starts = starts;
    Lab::new(terms, &Policy::default(), &tables())
}

fn asked(open: &ToSite, alter: impl Fn(&mut Request)) -> Arc<ToSite> {
    altered(open, |told| match &mut told.question {
        Question::Sums(request) => alter(request),
        Question::Scores { .. } => panic!("exact sums are asked for here"),
    })
}

/// The first items alone, with the parameters that belong to them.
fn only(request: &mut Request, items: usize) {
    request.design = Design::try_from(request.design.items()[..items].to_vec()).expect("a design");
    request.parts.truncate(items);
    if let Ask::Evaluate(Evaluate { points, .. }) = &mut request.ask {
        points.iter_mut().for_each(|point| point.psi.truncate(2 * items));
    }
}

fn several(request: &mut Request, count: usize) {
    let Ask::Evaluate(Evaluate { points, .. }) = &mut request.ask else { panic!("an evaluation") };
    let first = points[0].clone();
    let at = |k: usize| Point {
        psi: first.psi.iter().map(|x| x + 0.1 * k as f64).collect(),
        site_sd: first.site_sd,
    };
    *points = (0..count).map(at).collect();
}

fn refusal(lab: &mut Lab, message: &Arc<ToSite>) -> Refusal {
    let sent = lab.sites[0].hear(message);
    assert!(sent.iter().all(|message| message.kind() == "refuse"), "something left: {sent:?}");
    lab.sites[0].refusals.pop().expect("a refusal")
}

#[test]
fn the_table_of_two_items_is_not_read_out_of_a_plan_of_twenty() {
    let mut lab = lab(1);
    let open = lab.until("open", 2);
    let attack = asked(&open, |request| {
        only(request, 2);
        several(request, 8);
        request.effects = Effects::None;
    });
    assert!(matches!(refusal(&mut lab, &attack), Refusal::Policy(_)));
    // Each part of it by itself.
    let effects = asked(&open, |request| request.effects = Effects::None);
    assert_eq!(refusal(&mut lab, &effects), Refusal::Policy(PolicyRefusal::Differs(Differs::Effects)));
    for points in [2, 8] {
        assert_eq!(
            refusal(&mut lab, &asked(&open, |request| several(request, points))),
            Refusal::Policy(PolicyRefusal::Points { asked: points, planned: 1 })
        );
    }
    let two = asked(&open, |request| only(request, 2));
    assert_eq!(refusal(&mut lab, &two), Refusal::OtherItems);
    // That it uses an item is all that this refusal tells: the site answers nothing more.
    assert!(lab.sites[0].machine.is_over());
    assert!(lab.sites[0].hear(&open).is_empty());
}

#[test]
fn one_item_less_or_a_closed_category_is_refused_too_and_so_is_the_first_question_about_few_items() {
    for alter in [(|request: &mut Request| only(request, ITEMS - 1)) as fn(&mut Request), |request| {
        let mut items = request.design.items().to_vec();
        items[0].codes.truncate(1);
        // A design of one category is none; a code that the plan does not have stands for the other.
        items[0].codes.push(7);
        request.design = Design::try_from(items).expect("a design");
    }] {
        let mut lab = lab(1);
        let open = lab.until("open", 2);
        let found = refusal(&mut lab, &asked(&open, alter));
        assert!(
            matches!(found, Refusal::OtherItems | Refusal::Policy(PolicyRefusal::Differs(_))),
            "{found:?}"
        );
    }
    let mut lab = lab(1);
    let open = lab.until("open", 1);
    assert_eq!(refusal(&mut lab, &asked(&open, |request| only(request, 2))), Refusal::OtherItems);
}

/// What the honest coordinator leaves out is left out: items that everybody answered alike.
#[test]
fn items_that_everybody_answered_alike_may_be_left_out() {
    let alike = |table: &ResponseTable| {
        let rows: Vec<Vec<u8>> = table.rows().map(|row| [&[1], &row[1..]].concat()).collect();
        common::table(&rows)
    };
    let tables: Vec<ResponseTable> = tables().iter().map(alike).collect();
    let mut lab = Lab::new(terms(Mode::Secure, 4, ITEMS), &Policy::default(), &tables);
    for _ in 0..200 {
        lab.turn(&[0, 1, 2, 3]);
    }
    let fit = lab.result.expect("an end").expect("a result");
    assert_eq!(fit.converged, Some(true));
    assert!(fit.warnings.iter().any(|warning| warning.code == "item_dropped"), "{:?}", fit.warnings);
}

#[test]
fn two_starting_values_are_compared_where_the_plan_says_so() {
    let mut lab = lab(2);
    let open = lab.until("open", 2);
    let three = asked(&open, |request| several(request, 3));
    assert_eq!(refusal(&mut lab, &three), Refusal::Policy(PolicyRefusal::Points { asked: 3, planned: 2 }));
    let two = asked(&open, |request| several(request, 2));
    assert_eq!(lab.sites[0].hear(&two)[0].kind(), "upload");
}

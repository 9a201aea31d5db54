//! A hostile coordinator asks about other items, effects or points than the plan, or the same question with other choices again
//! and again: the table of two of twenty items, read out of eight points in one round, or of two items that students are matched
//! by.

mod common;

use common::lab::{BenchSite, Lab, altered, terms, turn_of};
use common::{Random, answers, table};
use fedirt_model::design::Design;
use fedirt_model::exchange::{Effects, Point, Request};
use fedirt_model::population::{Family, Population};
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_model::questions::{Ask, Diagnose, Dif, Evaluate};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::message::{Broadcast, Notice, Question, ToCoordinator, ToSite, Turn};
use fedirt_protocol::policy::{Differs, Policy, PolicyRefusal};
use fedirt_protocol::site::Refusal;
use fedirt_protocol::{Terms, codec};
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

/// A study that compares two groups of fifty students each at four sites, and looks at the fit of its items.
fn comparing(mode: Mode) -> Terms {
    let mut terms = terms(mode, 4, 8);
    terms.plan.effects = Effects::None;
    terms.plan.groups = vec!["one".into(), "other".into()];
    terms.plan.population = Population { family: Family::Groups { groups: 2 }, ..Population::default() };
    terms.plan.diagnostics = vec![Diagnostic::ItemFit, Diagnostic::Scores];
    terms
}

fn comparing_lab(terms: Terms) -> Lab {
    let truth: Vec<Vec<f64>> = (0..8).map(|j| vec![1.0, 0.3 * f64::from(j) - 1.0]).collect();
    let mut random = Random(8);
    let groups: Vec<u8> = (0..100).map(|i| i % 2).collect();
    let mut site = || {
        let rows = answers(&[("2pl", 2); 8], &truth, 100, (0.0, 1.0), 0.0, &mut random);
        table(&rows).with_groups(groups.clone()).expect("a group for each row")
    };
    let tables: Vec<ResponseTable> = (0..4).map(|_| site()).collect();
    let policy = Policy { modes: vec![Mode::Plain, Mode::Secure], ..Policy::default() };
    Lab::new(terms, &policy, &tables)
}

fn question(open: &ToSite) -> Ask {
    let Notice::Open { broadcast, .. } = &open.notice else { panic!("an opening") };
    let told: Broadcast = codec::decode(broadcast).expect("a broadcast");
    match told.question {
        Question::Sums(request) => request.ask,
        Question::Scores { .. } => panic!("exact sums are asked for here"),
    }
}

/// The study goes on honestly until this question is open.
fn until_asked(lab: &mut Lab, name: &str) -> Arc<ToSite> {
    for round in 1..60 {
        let open = lab.until("open", round);
        if question(&open).name() == name {
            return open;
        }
    }
    panic!("{name} is never asked");
}

/// What a coordinator sends that asks in one more round what it likes: all sites say hello to it.
fn another_round(lab: &mut Lab, like: &ToSite, alter: impl Fn(&mut Ask)) -> Arc<ToSite> {
    let last = turn_of(&like.notice).expect("a turn");
    let next = Turn { round: last.round + 1, attempt: 1 };
    let mut call = like.clone();
    call.notice = Notice::Call { turn: next, roster: None };
    let call = Arc::new(call);
    let mut said = Vec::new();
    for site in lab.sites.iter_mut().filter(|_| lab.terms.mode == Mode::Secure) {
        if let ToCoordinator::Hello(bytes) = &*site.hear(&call)[0] {
            said.push(bytes.clone());
        }
    }
    let mut open = (*asked(like, |request| alter(&mut request.ask))).clone();
    if let Notice::Open { turn, hellos, .. } = &mut open.notice {
        (*turn, *hellos) = (next, said);
    }
    Arc::new(open)
}

fn matched_by(anchors: &[usize], first: bool) -> impl Fn(&mut Ask) {
    move |ask| {
        let Ask::Dif(question) = ask else { panic!("a comparison of groups") };
        *question = Dif { anchors: anchors.to_vec(), first, ..question.clone() };
    }
}

/// Items 1 and 2 as anchors, round after round, would give every cell of group × sum of both × item × answer.
#[test]
fn two_anchor_tables_are_not_read_out() {
    for mode in [Mode::Secure, Mode::Plain] {
        let mut lab = comparing_lab(comparing(mode));
        let first = until_asked(&mut lab, "dif");
        let not_this_pass = Refusal::OtherPass("dif");
        for pass in
            [matched_by(&[0, 1], true), matched_by(&[0, 1], false), matched_by(&[1, 2, 3, 4, 5, 6, 7], true)]
        {
            let attack = asked(&first, |request| pass(&mut request.ask));
            assert_eq!(refusal(&mut lab, &attack), not_this_pass);
        }
        assert_eq!(lab.sites[0].hear(&first)[0].kind(), "upload");
        // A second pass: fewer items, but at least half of them, at the same parameters.
        let pass = |lab: &mut Lab, like: &ToSite, anchors: &[usize], first| {
            another_round(lab, like, matched_by(anchors, first))
        };
        for (anchors, opens) in
            [(vec![0, 1], false), (vec![0, 1, 2], false), ((0..8).collect(), false), ((0..8).collect(), true)]
        {
            let again = pass(&mut lab, &first, &anchors, opens);
            assert_eq!(refusal(&mut lab, &again), not_this_pass, "{anchors:?}");
        }
        let elsewhere = another_round(&mut lab, &first, |ask| {
            matched_by(&[0, 1, 2, 3, 4, 5], false)(ask);
            let Ask::Dif(question) = ask else { panic!("a comparison of groups") };
            question.point.psi[0] += 0.01;
        });
        assert_eq!(refusal(&mut lab, &elsewhere), not_this_pass);
        let second = pass(&mut lab, &first, &[0, 1, 2, 3, 4, 5], false);
        assert_eq!(lab.sites[0].hear(&second)[0].kind(), "upload");
        assert_eq!(lab.sites[0].hear(&second)[0].kind(), "upload", "the same attempt is answered again");
        // An item that was left out stays out.
        let back = pass(&mut lab, &second, &[0, 1, 2, 3, 6], false);
        assert_eq!(refusal(&mut lab, &back), not_this_pass);
        let third = pass(&mut lab, &second, &[0, 1, 2, 3, 4], false);
        assert_eq!(lab.sites[0].hear(&third)[0].kind(), "upload");
        let fourth = pass(&mut lab, &third, &[0, 1, 2, 3], false);
        let last = turn_of(&third.notice).expect("a turn");
        assert_eq!(refusal(&mut lab, &fourth), Refusal::AskedBefore("dif", last));
    }
}

#[test]
fn a_plan_of_one_pass_has_one() {
    let mut terms = comparing(Mode::Secure);
    terms.plan.purify = false;
    let mut lab = comparing_lab(terms);
    let first = until_asked(&mut lab, "dif");
    assert_eq!(lab.sites[0].hear(&first)[0].kind(), "upload");
    let second = another_round(&mut lab, &first, matched_by(&[0, 1, 2, 3, 4, 5], false));
    let last = turn_of(&first.notice).expect("a turn");
    assert_eq!(refusal(&mut lab, &second), Refusal::AskedBefore("dif", last));
}

/// Sums of residuals at many points, or what would change without a site by many covariances.
#[test]
fn diagnose_is_asked_once() {
    for mode in [Mode::Secure, Mode::Plain] {
        let mut lab = comparing_lab(comparing(mode));
        let first = until_asked(&mut lab, "diagnose");
        assert_eq!(lab.sites[0].hear(&first)[0].kind(), "upload");
        let last = turn_of(&first.notice).expect("a turn");
        let same = another_round(&mut lab, &first, |_| {});
        assert_eq!(refusal(&mut lab, &same), Refusal::AskedBefore("diagnose", last));
        let elsewhere = another_round(&mut lab, &first, |ask| {
            let Ask::Diagnose(Diagnose { point, .. }) = ask else { panic!("diagnostics") };
            point.psi[0] += 0.1;
        });
        assert_eq!(refusal(&mut lab, &elsewhere), Refusal::AskedBefore("diagnose", last));
    }
}

/// What a site remembers is in its journal: a machine that starts again refuses the same.
#[test]
fn what_was_asked_is_remembered_after_a_restart() {
    let mut lab = comparing_lab(comparing(Mode::Plain));
    let first = until_asked(&mut lab, "diagnose");
    lab.sites[0].hear(&first);
    let kept = std::mem::take(&mut lab.sites[0].events);
    lab.sites[0] = comparing_lab(comparing(Mode::Plain)).sites.swap_remove(0);
    lab.sites[0].machine.restore(&kept).expect("its own journal");
    let last = turn_of(&first.notice).expect("a turn");
    let again = another_round(&mut lab, &first, |_| {});
    assert_eq!(refusal(&mut lab, &again), Refusal::AskedBefore("diagnose", last));
}

/// A plan may expect a hundred thousand students and list items that nobody gives: what counts is what is declared and asked.
#[test]
fn small_sums_are_refused_whatever_the_plan_expected() {
    let mut lab = lab(1);
    lab.sites[0] = BenchSite::strict(&lab.terms, 0, Policy::default(), tables().remove(0));
    lab.sites[0].machine.introduce();
    for message in lab.sites[0].outputs() {
        lab.tell(0, &message).expect("a declaration again");
    }
    for _ in 0..40 {
        lab.turn(&[0, 1, 2, 3]);
    }
    let small = |refusal: &Refusal| matches!(refusal, Refusal::Policy(PolicyRefusal::SmallSums { .. }));
    assert!(lab.sites[0].refusals.iter().any(small), "{:?}", lab.sites[0].refusals);
    assert!(lab.sites[0].debits.is_empty(), "nothing was released");
}

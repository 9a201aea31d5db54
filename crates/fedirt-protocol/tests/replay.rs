//! A coordinator that is restarted repeats what it has announced, byte for byte, whatever it would compute now.

mod common;

use common::lab::{Lab, NOW, terms};
use common::{Random, answers, table};
use fedirt_model::exchange::Point;
use fedirt_model::fit::Fit;
use fedirt_model::questions::{Ask, Close, Evaluate, Products};
use fedirt_model::statistics::Mode;
use fedirt_protocol::codec;
use fedirt_protocol::coordinator::{Coordinator, Output, ReplayRefusal};
use fedirt_protocol::message::{Announcement, Broadcast, Notice, Question, Turn};
use fedirt_protocol::policy::Policy;
use std::collections::BTreeMap;

/// A stored question with every parameter moved.
fn moved(bytes: &[u8], move_it: impl Fn(f64) -> f64) -> Vec<u8> {
    let mut told: Broadcast = codec::decode(bytes).expect("a broadcast");
    let Question::Sums(request) = &mut told.question else { panic!("exact sums") };
    let shift = |point: &mut Point| point.psi.iter_mut().for_each(|x| *x = move_it(*x));
    match &mut request.ask {
        Ask::Evaluate(Evaluate { points, .. }) => points.iter_mut().for_each(shift),
        Ask::Products(Products { point, .. }) | Ask::Close(Close { point, .. }) => shift(point),
        _ => {}
    }
    codec::encode(&told).expect("a broadcast")
}

fn new_lab(mode: Mode) -> Lab {
    let policy = Policy { modes: vec![mode], ..Policy::default() };
    let models = [("2pl", 2); 5];
    let truth: Vec<Vec<f64>> = (0..5).map(|j| vec![1.0, 0.5 * j as f64 - 1.0]).collect();
    let mut random = Random(11);
    let mut rows = |effect| table(&answers(&models, &truth, 80, (effect, 1.0), 0.0, &mut random));
    Lab::new(terms(mode, 3, 5), &policy, &[rows(0.0), rows(0.4), rows(-0.3)])
}

/// A new coordinator from the log of the old one. Gives every broadcast that it sent on the way.
fn restart(lab: &mut Lab) -> Result<BTreeMap<Turn, Vec<u8>>, ReplayRefusal> {
    let mut coordinator = Coordinator::new(lab.terms.clone(), NOW);
    let mut sent = BTreeMap::new();
    for (at, input, announced) in lab.log.clone() {
        coordinator.replay(at, input, announced)?;
        while let Some(output) = coordinator.poll() {
            match output {
                Output::Send { to, message } => {
                    if let Notice::Open { turn, broadcast, .. } = &message.notice {
                        sent.insert(*turn, broadcast.clone());
                    }
                    lab.inbox.insert(to, message);
                }
                Output::Finished(result) => {
                    lab.result = Some(result.map(|f| f.fit).map_err(|e| e.to_string()));
                }
                Output::Persist { .. } | Output::Progress(_) => {}
            }
        }
    }
    lab.coordinator = coordinator;
    Ok(sent)
}

/// Runs a study whose coordinator is restarted after every announcement. What it has stored by then differs in the last
/// bits from what it computes in the replay, as if another processor had computed it.
fn run_on_changing_processors(mode: Mode) -> (Lab, usize) {
    let mut lab = new_lab(mode);
    let mut known = BTreeMap::new();
    let (mut announced, mut restarts) = (0, 0);
    while lab.result.is_none() {
        let questions =
            |lab: &Lab| lab.log.iter().filter(|(.., a)| matches!(a, Some(Announcement::Question(_)))).count();
        if questions(&lab) > announced {
            announced = questions(&lab);
            let last = lab.log.iter_mut().rev().find_map(|(.., announced)| announced.as_mut());
            let Some(Announcement::Question(bytes)) = last else { panic!("a question was announced last") };
            *bytes = moved(bytes, f64::next_up);
            let sent = restart(&mut lab).expect("the replay goes through");
            restarts += 1;
            for (turn, bytes) in &known {
                assert_eq!(sent.get(turn), Some(bytes), "{mode:?}: {turn} was announced differently");
            }
            known = sent;
        }
        lab.turn(&[0, 1, 2]);
        for site in &lab.sites {
            assert_eq!(site.refusals, [], "{mode:?}");
        }
    }
    (lab, restarts)
}

fn undisturbed(mode: Mode) -> Fit {
    let mut lab = new_lab(mode);
    while lab.result.is_none() {
        lab.turn(&[0, 1, 2]);
    }
    lab.result.expect("an end").expect("a fit")
}

#[test]
fn another_processor_does_not_break_a_running_study() {
    for mode in [Mode::Plain, Mode::Secure] {
        let (lab, restarts) = run_on_changing_processors(mode);
        let fit = lab.result.expect("an end").expect("a fit");
        let want = undisturbed(mode);
        assert!(restarts > 4, "{restarts}");
        assert_eq!((fit.converged, fit.rounds), (want.converged, want.rounds));
        assert!(common::distance(&fit, &want) < 1e-9, "{}", common::distance(&fit, &want));
    }
}

#[test]
fn a_program_that_asks_other_questions_does_not_go_on() {
    let mut lab = new_lab(Mode::Plain);
    lab.until("open", 3);
    for (.., announced) in &mut lab.log {
        if let Some(Announcement::Question(bytes)) = announced {
            *bytes = moved(bytes, |x| x + 0.01);
        }
    }
    let refusal = restart(&mut lab).expect_err("another question");
    assert!(matches!(refusal, ReplayRefusal::Diverged { turn: Some(turn) } if turn.round == 2), "{refusal}");
}

#[test]
fn the_result_is_the_one_that_was_announced() {
    let mut lab = new_lab(Mode::Plain);
    while lab.result.is_none() {
        lab.turn(&[0, 1, 2]);
    }
    let Some((.., Some(Announcement::Result(fit)))) = lab.log.last_mut() else { panic!("a result") };
    fit.items[0].a = fit.items[0].a.map(f64::next_up);
    let told = fit.clone();
    restart(&mut lab).expect("the replay goes through");
    assert_eq!(lab.result, Some(Ok(*told.clone())));
    assert!(lab.inbox.values().all(|m| matches!(&m.notice, Notice::Finished(fit) if *fit == told)));
}

/// A store of a version that kept no announcements.
#[test]
fn without_announcements_questions_are_computed_anew() {
    let mut lab = new_lab(Mode::Secure);
    lab.until("open", 3);
    let sent = restart(&mut lab).expect("the replay goes through");
    lab.log.iter_mut().for_each(|(.., announced)| *announced = None);
    assert_eq!(restart(&mut lab).expect("the replay goes through"), sent);
}

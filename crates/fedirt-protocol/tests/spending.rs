//! `private`: what a hostile coordinator can make a site spend, and what it gets for it.

mod common;

use common::lab::{BenchSite, Lab, altered, id, terms};
use common::{Random, answers, table};
use fedirt_model::exchange::Effects;
use fedirt_model::private::{MissingAnswers, PrivateError, ScoreRequest, each_row_statistic};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::{Cohort, Roster, RoundKey, SignedHello, Upload};
use fedirt_protocol::declaration::{Declaration, Declarations};
use fedirt_protocol::message::{Broadcast, Notice, Question, Sums, ToCoordinator, ToSite, Turn};
use fedirt_protocol::policy::{Policy, PolicyRefusal};
use fedirt_protocol::private::{self, PrivateRefusal, PrivateTerms};
use fedirt_protocol::site::{Refusal, SiteEvent};
use fedirt_protocol::{Terms, codec};
use std::collections::BTreeSet;
use std::sync::Arc;

const STUDENTS: usize = 40;

fn tables(count: usize) -> Vec<ResponseTable> {
    let truth: Vec<Vec<f64>> = (0..5).map(|j| vec![1.0, 0.5 * j as f64 - 1.0]).collect();
    let mut random = Random(11);
    let answers = |random: &mut Random| answers(&[("2pl", 2); 5], &truth, STUDENTS, (0.0, 1.0), 0.0, random);
    (0..count).map(|_| table(&answers(&mut random))).collect()
}

fn private_terms(sites: usize) -> Terms {
    let mut terms = terms(Mode::Private, sites, 5);
    terms.plan.effects = Effects::None;
    terms.private = Some(PrivateTerms {
        epsilon: 1.0,
        delta: 1e-6,
        mixture: false,
        missing: MissingAnswers::Wrong,
        site_sd: 0.0,
        booklets: Vec::new(),
        method: fedirt_model::private::PrivateMethod::default(),
        seed: 1,
    });
    terms
}

/// μ² of the plan.
fn planned(terms: &Terms) -> f64 {
    terms.private.as_ref().expect("a sound test").mu().expect("a sound test").powi(2)
}

fn debited(site: &BenchSite) -> f64 {
    site.debits.iter().filter_map(|release| release.cost).map(|cost| cost.mu_squared).sum()
}

/// Another attempt at an opening, with these sites.
fn again(lab: &mut Lab, open: &ToSite, turn: Turn, sites: &[usize]) -> Arc<ToSite> {
    let call = Arc::new(ToSite { step: 60, notice: Notice::Call { turn, roster: None } });
    let hello = |message: &ToCoordinator| match message {
        ToCoordinator::Hello(bytes) => bytes.clone(),
        other => panic!("{}", other.kind()),
    };
    let said: Vec<Vec<u8>> = sites.iter().map(|&k| hello(&lab.sites[k].hear(&call)[0])).collect();
    let mut message = open.clone();
    if let Notice::Open { turn: shown, hellos, .. } = &mut message.notice {
        (*shown, *hellos) = (turn, said);
    }
    Arc::new(message)
}

/// Questions that cannot be answered cost nothing, however often they are asked.
#[test]
fn a_question_of_the_wrong_shape_is_refused_before_the_ledger_is_asked() {
    let terms = private_terms(3);
    let mut lab = Lab::new(terms, &Policy::default(), &tables(3));
    let open = lab.until("open", 1);
    let spoil: [fn(&mut ScoreRequest); 3] = [
        |request| request.statistic = fedirt_model::private::RowStatistic::scores(1),
        |request| request.theta.push(0.0),
        |request| request.theta.clear(),
    ];
    for attempt in 2..40 {
        let opened = again(&mut lab, &open, Turn { round: 1, attempt }, &[0, 1, 2]);
        let bad = altered(&opened, |told| match &mut told.question {
            Question::Scores { stage, request } => {
                *stage = 1;
                spoil[attempt as usize % spoil.len()](request);
            }
            Question::Sums(_) => panic!("a private question"),
        });
        let sent = lab.sites[0].hear(&bad);
        assert!(sent.iter().all(|message| message.kind() == "refuse"), "{sent:?}");
        let refusal = lab.sites[0].refusals.pop().expect("a refusal");
        assert!(
            matches!(refusal, Refusal::Private(PrivateRefusal::Model(_) | PrivateRefusal::Question(_))),
            "{refusal:?}"
        );
    }
    assert_eq!(lab.sites[0].debits.len(), 0, "nothing was spent");
    assert!(!lab.sites[0].events.iter().any(|event| matches!(event, SiteEvent::Committed { .. })));
}

/// An attempt that is debited counts, even if nothing ever comes of it: the plan's ε is the most that can go.
#[test]
fn attempts_that_lead_nowhere_exhaust_the_plan_and_no_more() {
    let terms = private_terms(3);
    let mut lab = Lab::new(terms.clone(), &Policy::default(), &tables(3));
    let open = lab.until("open", 1);
    let mut refused = 0;
    for attempt in 2..12 {
        let opened = again(&mut lab, &open, Turn { round: 1, attempt }, &[0, 1, 2]);
        lab.sites[0].ledger_fails = attempt % 2 == 0;
        lab.sites[0].hear(&opened);
        refused += usize::from(matches!(lab.sites[0].refusals.pop(), Some(Refusal::BeyondThePlan { .. })));
    }
    assert_eq!(refused, 7, "three attempts at 30 % each, and no fourth");
    assert!(debited(&lab.sites[0]) <= planned(&terms) * (1.0 + 1e-9));
    // Started again from what was written down, the site has not forgotten it.
    let mut restarted = BenchSite::new(&terms, 0, Policy::default(), tables(3).remove(0));
    restarted.machine.restore(&lab.sites[0].events).expect("a sound test");
    lab.sites[0] = restarted;
    let opened = again(&mut lab, &open, Turn { round: 1, attempt: 20 }, &[0, 1, 2]);
    lab.sites[0].hear(&opened);
    assert!(matches!(lab.sites[0].refusals.pop(), Some(Refusal::BeyondThePlan { .. })));
    assert!(lab.sites[0].debits.is_empty());
}

#[test]
fn weights_are_refused_before_anything_is_spent() {
    let terms = private_terms(3);
    let mut lab = Lab::new(terms.clone(), &Policy::default(), &tables(3));
    let open = lab.until("open", 1);
    // An honest coordinator takes no such declaration; a hostile one may.
    let weighted = tables(3).remove(0).with_weights(vec![2.0; STUDENTS]).expect("a sound test");
    let mut site = BenchSite::new(&terms, 0, Policy::default(), weighted);
    site.machine.restore(&lab.sites[0].events).expect("a sound test");
    lab.sites[0] = site;
    lab.sites[0].hear(&open);
    let refusal = lab.sites[0].refusals.pop().expect("a refusal");
    assert!(matches!(refusal, Refusal::Private(PrivateRefusal::Model(PrivateError::Weights))), "{refusal:?}");
    assert!(lab.sites[0].debits.is_empty());
}

/// The site's own rules are asked in every round, not at joining alone.
#[test]
fn the_policy_acts_in_private_rounds() {
    let noisy = Policy { refused_statistics: vec!["noisy_scores".into()], ..Policy::default() };
    let mut lab = Lab::new(private_terms(3), &noisy, &tables(3));
    let open = lab.until("open", 1);
    lab.sites[0].hear(&open);
    let refusal = lab.sites[0].refusals.pop().expect("a refusal");
    assert!(matches!(refusal, Refusal::Policy(PolicyRefusal::Statistic("noisy_scores"))), "{refusal:?}");
    let mut terms = private_terms(3);
    terms.plan.publish_effects = true;
    let mut lab = Lab::new(terms, &Policy::default(), &tables(3));
    let open = lab.until("open", 1);
    lab.sites[0].hear(&open);
    let refusal = lab.sites[0].refusals.pop().expect("a refusal");
    assert!(matches!(refusal, Refusal::Policy(PolicyRefusal::Risk("effects_by_name"))), "{refusal:?}");
    assert!(lab.sites[0].debits.is_empty());
}

/// δ is judged by the students that sites declare, not by those that the plan expected.
#[test]
fn delta_is_checked_against_the_declared_students() {
    let mut terms = private_terms(3);
    terms.private.as_mut().expect("a sound test").delta = 1.0 / (3.0 * STUDENTS as f64);
    let mut lab = Lab::new(terms, &Policy::default(), &tables(3));
    lab.turn(&[0, 1, 2]);
    let refusal = lab.sites[0].refusals.pop().expect("a refusal");
    assert!(matches!(refusal, Refusal::Private(PrivateRefusal::Accountant(_))), "{refusal:?}");
    let mut terms = private_terms(3);
    terms.private.as_mut().expect("a sound test").delta = 1.0 / (5.0 * 3.0 * STUDENTS as f64);
    let mut lab = Lab::new(terms, &Policy::default(), &tables(3));
    lab.until("open", 1);
    let caution = lab.sites[0].cautions.pop().expect("the officer is told");
    assert!(caution.contains("120 students"), "{caution}");
}

/// Every row is in a booklet, whatever it answers: N does not tell who answered nothing, or strangely.
#[test]
fn no_row_vanishes_from_the_booklets() {
    const NONE: u8 = fedirt_model::responses::MISSING;
    let mut terms = private_terms(3);
    terms.private.as_mut().expect("a sound test").booklets = vec![vec![0, 1, 2], vec![2, 3, 4]];
    let usual = [[1, 0, 1, NONE, NONE], [NONE, NONE, 0, 1, 1], [0, 0, 0, NONE, NONE]];
    for other in [[NONE; 5], [1, NONE, NONE, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, NONE, NONE]] {
        let cells: Vec<u8> = usual.iter().chain([&other]).flatten().copied().collect();
        let table = ResponseTable::new(4, 5, cells).expect("a sound test");
        let declared = Declaration::of(&table, &terms);
        assert_eq!((declared.students, declared.booklets.iter().sum::<u64>()), (4, 4), "{other:?}");
    }
}

/// What site 0 sent, without its mask and without its rows: the noise, in steps of the lattice.
fn noise_of(lab: &Lab, table: &ResponseTable, open: &ToSite, answer: &ToCoordinator) -> (Vec<f64>, f64) {
    let Notice::Open { turn, hellos, broadcast } = &open.notice else { panic!("an opening") };
    let (mut secret, mut shared) = (None, None);
    for event in &lab.sites[0].events {
        match event {
            SiteEvent::Hello { turn: said, secret: key, .. } if said == turn => secret = Some(*key),
            SiteEvent::Pinned(roster) => shared = Some(roster.clone()),
            _ => {}
        }
    }
    let (secret, shared) = (secret.expect("a key"), shared.expect("a roster"));
    let roster = Roster::decode(&shared.roster).expect("a sound test");
    let signed: Vec<SignedHello> = hellos.iter().map(|h| SignedHello::decode(h).expect("a hello")).collect();
    let protection = lab.terms.protection().expect("a protection");
    let cohort = Cohort::open(&lab.terms.round(*turn), &roster, &signed, &protection).expect("a cohort");
    let sites: BTreeSet<_> = cohort.sites();
    let ToCoordinator::Upload { sums: Sums::Masked(bytes), .. } = answer else { panic!("an upload") };
    let words = Upload::decode(bytes).expect("an upload").words().to_vec();
    let zeros = vec![0; words.len()];
    let mask = RoundKey::from_secret(&secret).mask(&id(0), &cohort.bind(broadcast), zeros).expect("a mask");
    let told: Broadcast = codec::decode(broadcast).expect("a sound test");
    let Question::Scores { stage, request } = &told.question else { panic!("a question of score2") };
    let declarations = Declarations::verify(&roster, &shared.declarations, 5).expect("a sound test");
    let plan = private::plan_of(&lab.terms, &declarations, &sites).expect("a plan");
    let noise = private::noise(&lab.terms, &plan, *stage).expect("a noise");
    let mut clipper = noise.lattice.clipper(words.len()).expect("a clipper");
    each_row_statistic(table, 0, request, |row| clipper.add(row)).expect("scores");
    let rows = clipper.finish().exact_sum_for_a_trusted_server();
    let own = words.iter().zip(mask.words()).zip(rows);
    let own = own.map(|((y, mask), q)| y.wrapping_sub(*mask).wrapping_sub(q) as i64 as f64);
    (own.collect(), noise.shares.sd() as f64)
}

/// The same stage again with a site fewer: paid for again, and with noise that knows nothing of the first.
#[test]
fn an_attempt_with_another_cohort_is_charged_and_freshly_noised() {
    let tables = tables(4);
    let (mut first, mut second, mut sds) = (Vec::new(), Vec::new(), (0.0, 0.0));
    for seed in 0..60 {
        let mut lab = Lab::new(private_terms(4), &Policy::default(), &tables);
        let open = lab.until("open", 1);
        lab.sites[0].reseed(1000 + seed);
        let answer = lab.sites[0].hear(&open);
        let (noise, sd) = noise_of(&lab, &tables[0], &open, &answer[0]);
        first.extend(noise);
        // The coordinator claims that the last site is lost.
        let opened = again(&mut lab, &open, Turn { round: 1, attempt: 2 }, &[0, 1, 2]);
        let smaller = altered(&opened, |told| {
            told.cohort.pop();
            (told.bounds.students, told.bounds.sites) = (3 * STUDENTS as u64, 3);
            if let Question::Scores { request, .. } = &mut told.question {
                request.sites = 3;
            }
        });
        let answer = lab.sites[0].hear(&smaller);
        assert_eq!(answer[0].kind(), "upload", "{:?}", lab.sites[0].refusals);
        let (noise, smaller_sd) = noise_of(&lab, &tables[0], &smaller, &answer[0]);
        second.extend(noise);
        sds = (sd, smaller_sd);
        let debits = &lab.sites[0].debits;
        assert_eq!(debits.len(), 2);
        assert_eq!((debits[0].cohort.len(), debits[1].cohort.len()), (4, 3));
        assert!(debits[0].question != debits[1].question && debits[0].cost.is_some());
        assert_eq!(debits[1].cost.map(|c| c.mu_squared), debits[0].cost.map(|c| c.mu_squared));
    }
    assert!(sds.1 > 1.1 * sds.0, "each of the fewer sites makes more noise: {sds:?}");
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>() / x.len() as f64;
    let n = first.len() as f64;
    for (noise, sd) in [(&first, sds.0), (&second, sds.1)] {
        let ratio = product(noise, noise).sqrt() / sd;
        assert!((ratio - 1.0).abs() < 5.0 / (2.0 * n).sqrt(), "{ratio}");
    }
    let correlation = product(&first, &second) / (sds.0 * sds.1);
    assert!(correlation.abs() < 5.0 / n.sqrt(), "{correlation}");
    assert!(first.iter().zip(&second).all(|(x, y)| x != y));
}

/// "Private" with an ε of a million would be exact sums under another name.
#[test]
fn an_epsilon_that_promises_nothing_is_refused() {
    let mut terms = private_terms(4);
    for (epsilon, refused) in [(1.0, false), (10.0, false), (10.5, true), (1e6, true)] {
        terms.private.as_mut().expect("a private plan").epsilon = epsilon;
        let refusals = Policy::default().check_plan(&terms, 100, false);
        let named = refusals.iter().any(|refusal| matches!(refusal, PolicyRefusal::Epsilon { .. }));
        assert_eq!(named, refused, "{epsilon}: {refusals:?}");
    }
}

//! A hostile coordinator, a clumsy or false site: each ends in a named refusal on the right side.

mod common;

use common::lab::{BenchSite, Lab, NOW, altered, id, terms};
use common::{Random, answers, table};
use fedirt_model::exchange::{Point, Request};
use fedirt_model::questions::evaluate::Curvature;
use fedirt_model::questions::start::BetweenSites;
use fedirt_model::questions::{Ask, Close, Evaluate, LocalFit, Published, Start};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::fixed_point;
use fedirt_privacy::secure::{ChainRefusal, Upload};
use fedirt_protocol::Timestamp;
use fedirt_protocol::coordinator::{Input, Rejection};
use fedirt_protocol::message::{Notice, Question, Sums, ToCoordinator, ToSite};
use fedirt_protocol::policy::{Policy, PolicyRefusal};
use fedirt_protocol::site::{EntryError, Refusal, SiteEvent};
use fedirt_protocol::terms::OnLoss;
use std::collections::BTreeSet;
use std::sync::Arc;

fn tables(count: usize) -> Vec<ResponseTable> {
    let models = [("2pl", 2); 5];
    let truth: Vec<Vec<f64>> = (0..5).map(|j| vec![1.0, 0.5 * j as f64 - 1.0]).collect();
    let mut random = Random(11);
    (0..count).map(|_| table(&answers(&models, &truth, 40, (0.0, 1.0), 0.0, &mut random))).collect()
}

fn lab(sites: usize, on_loss: OnLoss) -> Lab {
    let mut terms = terms(Mode::Secure, sites, 5);
    terms.on_loss = on_loss;
    Lab::new(terms, &Policy { allow_reveal_lost_site: true, ..Policy::default() }, &tables(sites))
}

fn sums(question: &mut Question) -> &mut Request {
    match question {
        Question::Sums(request) => request,
        Question::Scores { .. } => panic!("exact sums are asked for here"),
    }
}

/// The words of an answer.
fn words(answer: &ToCoordinator) -> Vec<u64> {
    match answer {
        ToCoordinator::Upload { sums: Sums::Masked(bytes), .. } => {
            Upload::decode(bytes).expect("a sound test").words().to_vec()
        }
        other => panic!("{}", other.kind()),
    }
}

fn refusal_of(lab: &mut Lab, k: usize, message: &Arc<ToSite>) -> Refusal {
    let sent = lab.sites[k].hear(message);
    assert!(sent.iter().all(|m| matches!(**m, ToCoordinator::Refuse { .. })), "something left: {sent:?}");
    assert!(
        !lab.sites[k].events.iter().any(
            |e| matches!(e, SiteEvent::Released(r) if Some(r.turn) == common::lab::turn_of(&message.notice))
        ),
        "a release was recorded"
    );
    lab.sites[k].refusals.pop().expect("a refusal")
}

/// A coordinator that tells each site something else learns noise: masks cancel only if all were told the same.
#[test]
fn different_parameters_at_two_sites_leave_noise() {
    let mut lab = lab(3, OnLoss::Wait);
    let open = lab.until("open", 2);
    let honest: Vec<Vec<u64>> = (0..3).map(|k| words(&lab.sites[k].hear(&open)[0])).collect();
    let add = |all: &[Vec<u64>]| {
        let mut total = vec![0; all[0].len()];
        all.iter().for_each(|w| fixed_point::add(&mut total, w));
        total
    };
    let truth = add(&honest);

    let mut lab = self::lab(3, OnLoss::Wait);
    let open = lab.until("open", 2);
    let other = altered(&open, |told| match &mut sums(&mut told.question).ask {
        Ask::Evaluate(Evaluate { points, .. }) => points[0].psi[0] += 1e-12,
        other => panic!("{other:?}"),
    });
    let told = [&other, &open, &open];
    let each: Vec<Vec<u64>> = (0..3).map(|k| words(&lab.sites[k].hear(told[k])[0])).collect();
    let noise = add(&each);
    // Sums of this study stay far below 2⁶²; uniform words do not.
    assert!(truth.iter().all(|w| (*w as i64).unsigned_abs() < 1 << 62));
    let large = noise.iter().filter(|w| (**w as i64).unsigned_abs() > 1 << 61).count();
    assert!(large > noise.len() / 2, "{large} of {}", noise.len());
    assert!(noise.iter().zip(&truth).all(|(a, b)| a != b));
}

#[test]
fn a_cohort_that_differs_is_refused_or_leaves_noise() {
    let mut lab = lab(4, OnLoss::Wait);
    let open = lab.until("open", 1);
    // One site fewer in the hellos than in the broadcast.
    let mut fewer = (*open).clone();
    if let Notice::Open { hellos, .. } = &mut fewer.notice {
        hellos.pop();
    }
    assert_eq!(
        refusal_of(&mut lab, 0, &Arc::new(fewer.clone())),
        Refusal::Mismatch("the hellos are not those of the cohort")
    );
    // And in both: the site answers, as it cannot know better; the sum does not open with the others' answers.
    let consistent = altered(&fewer, |told| {
        told.cohort.pop();
        told.bounds.sites -= 1;
        told.bounds.students -= 40;
    });
    let answer = lab.sites[0].hear(&consistent).remove(0);
    let error = lab.tell(0, &answer).unwrap_err().to_string();
    assert!(error.contains("parameters, cohort or attempt differ"), "{error}");
}

#[test]
fn a_claim_that_a_site_dropped_is_refused() {
    let mut lab = lab(4, OnLoss::Wait);
    lab.until("call", 2);
    // The coordinator pretends that site 3 is gone, and calls the others.
    let mut gone = Vec::new();
    for k in 0..3 {
        let call = lab.inbox.remove(&id(k)).expect("a sound test");
        let hello = lab.sites[k].hear(&call).remove(0);
        gone.push(hello);
    }
    let hellos: Vec<Vec<u8>> = gone
        .iter()
        .map(|m| if let ToCoordinator::Hello(bytes) = &**m { bytes.clone() } else { panic!() })
        .collect();
    for k in 0..3 {
        lab.tell(k, &gone[k]).expect("a sound test");
    }
    let call = lab.inbox.remove(&id(3)).expect("a sound test");
    for message in lab.sites[3].hear(&call) {
        lab.tell(3, &message).expect("a sound test");
    }
    let open = lab.inbox[&id(0)].clone();
    let without = altered(&open, |told| {
        told.cohort.pop();
        told.bounds.sites -= 1;
        told.bounds.students -= 40;
    });
    let mut without = (*without).clone();
    if let Notice::Open { hellos: shown, .. } = &mut without.notice {
        *shown = hellos;
    }
    let refusal = refusal_of(&mut lab, 0, &Arc::new(without));
    assert!(matches!(refusal, Refusal::Chain(ChainRefusal::TooFewRemoved { .. })), "{refusal:?}");
    let text = refusal.to_string();
    assert!(text.contains("site3") && text.contains("would show what they sent"), "{text}");
}

/// a = 1e-8 makes the gradient the item totals; other read-outs are steep slopes, far thresholds, long steps.
#[test]
fn parameters_that_read_out_answers_are_refused() {
    let mut lab = lab(3, OnLoss::Wait);
    let open = lab.until("open", 3);
    let with = |psi: &dyn Fn(&mut Vec<f64>)| {
        altered(&open, |told| match &mut sums(&mut told.question).ask {
            Ask::Evaluate(Evaluate { points, .. }) => psi(&mut points[0].psi),
            other => panic!("{other:?}"),
        })
    };
    for (message, word) in [
        (with(&|psi| psi.iter_mut().step_by(2).for_each(|a| *a = 1e-8)), "plain counts"),
        (with(&|psi| psi[0] = 8.5), "slope"),
        (with(&|psi| psi[1] = 40.0), "intercepts"),
        (with(&|psi| psi[1] += 6.0), "a step of"),
        (with(&|psi| psi[0] = f64::NAN), "finite"),
        (with(&|psi| psi.truncate(3)), "finite parameters"),
    ] {
        let refusal = refusal_of(&mut lab, 0, &message);
        assert!(matches!(refusal, Refusal::Policy(_)), "{refusal:?}");
        assert!(refusal.to_string().contains(word), "{refusal}");
    }
    // The honest question is answered after all that.
    assert_eq!(lab.sites[0].hear(&open)[0].kind(), "upload");
}

#[test]
fn statistics_outside_plan_and_mode_are_refused() {
    let mut lab = lab(4, OnLoss::Wait);
    let open = lab.until("open", 2);
    let with = |alter: &dyn Fn(&mut Request)| altered(&open, |told| alter(sums(&mut told.question)));
    let close = |publish| {
        move |request: &mut Request| {
            let psi = vec![1.0; request.design.parameters()];
            request.ask = Ask::Close(Close {
                point: Point { psi, site_sd: 0.0 },
                sd: 1.0,
                errors: None,
                effects: None,
                publish_effects: publish,
            });
        }
    };
    for (message, word) in [
        (with(&close(true)), "effects_by_name"),
        (with(&|r| r.ask = Ask::LocalFit(LocalFit { tolerance: 1e-6, iterations: 10 })), "local_weights"),
        (with(&|r| r.ask = Ask::Start(Start { between: BetweenSites::Exact })), "rounded"),
        (with(&|r| r.ask = Ask::Start(Start { between: BetweenSites::Rounded })), "fewer than six"),
        (with(&|r| r.population.nodes = 21), "grid"),
        (with(&|r| r.weight_scale = -1.0), "weights"),
        (with(&|r| r.parts = vec![0; 2]), "linked parts"),
        (
            with(&|r| {
                r.ask = Ask::Published(Published { psi: vec![1.0; 10], effects: vec![0.0; 4], chosen: None })
            }),
            "effect_gradient",
        ),
    ] {
        let refusal = refusal_of(&mut lab, 1, &message);
        assert!(matches!(refusal, Refusal::Policy(_)), "{refusal:?}");
        assert!(refusal.to_string().contains(word), "{word}: {refusal}");
    }
}

#[test]
fn a_policy_of_the_sites_own_always_wins() {
    let policy = Policy { refused_statistics: vec!["pair_table".into()], ..Policy::default() };
    let mut lab = Lab::new(terms(Mode::Secure, 3, 5), &policy, &tables(3));
    let open = lab.until("open", 1);
    let refusal = refusal_of(&mut lab, 0, &open);
    assert_eq!(refusal, Refusal::Policy(PolicyRefusal::Statistic("pair_table")));
    let few = Policy { max_rounds: 2, ..Policy::default() };
    let mut lab = Lab::new(terms(Mode::Secure, 3, 5), &few, &tables(3));
    let all = [0, 1, 2];
    for _ in 0..20 {
        lab.turn(&all);
    }
    let ended = lab.result.expect("a sound test").unwrap_err();
    assert!(ended.contains("round 6, attempt 1 is beyond the 5 rounds"), "{ended}");
}

#[test]
fn sums_over_effects_are_given_once() {
    let mut lab = lab(3, OnLoss::Wait);
    let open = lab.until("open", 2);
    let totals = altered(&open, |told| {
        if let Ask::Evaluate(Evaluate { effect_totals, curvature, .. }) = &mut sums(&mut told.question).ask {
            (*effect_totals, *curvature) = (true, Curvature::Observed);
        }
    });
    assert_eq!(lab.sites[0].hear(&totals)[0].kind(), "upload");
    // In the next round again: refused.
    let mut second = Lab::new(terms(Mode::Secure, 3, 5), &Policy::default(), &tables(3));
    second.until("open", 2);
    for k in 0..3 {
        let message = second.inbox.remove(&id(k)).expect("a sound test");
        let asked = altered(&message, |told| {
            if let Ask::Evaluate(Evaluate { effect_totals, .. }) = &mut sums(&mut told.question).ask {
                *effect_totals = true;
            }
        });
        // The coordinator that asked is not the honest one on this bench: its word counts for this site only.
        second.sites[k].hear(&asked);
    }
    let mut call = (*open).clone();
    call.notice =
        Notice::Call { turn: fedirt_protocol::message::Turn { round: 3, attempt: 1 }, roster: None };
    let mut hellos = Vec::new();
    for site in &mut second.sites {
        if let ToCoordinator::Hello(bytes) = &*site.hear(&Arc::new(call.clone()))[0] {
            hellos.push(bytes.clone());
        }
    }
    let mut again = (*totals).clone();
    if let Notice::Open { turn, hellos: shown, .. } = &mut again.notice {
        turn.round = 3;
        *shown = hellos;
    }
    let refusal = refusal_of(&mut second, 0, &Arc::new(again));
    assert_eq!(
        refusal,
        Refusal::AskedBefore("evaluate", fedirt_protocol::message::Turn { round: 2, attempt: 1 })
    );
}

#[test]
fn attempts_are_never_lowered_and_repetitions_are_the_same_bytes() {
    let mut lab = lab(3, OnLoss::Wait);
    let old = lab.until("open", 1);
    let first = lab.sites[0].hear(&old)[0].clone();
    // The same attempt with another question: the old bytes, not a second vector under the same masks.
    let other = altered(&old, |told| sums(&mut told.question).weight_scale = 2.0);
    assert_eq!(lab.sites[0].hear(&other)[0], first);
    lab.tell(0, &first).expect("a sound test");
    lab.until("open", 2);
    let refusal = {
        assert!(lab.sites[0].hear(&old).is_empty(), "a lower attempt was answered");
        lab.sites[0].refusals.pop().expect("a sound test")
    };
    assert!(matches!(refusal, Refusal::LowerAttempt { .. }), "{refusal:?}");
    let mut call = (*old).clone();
    call.notice =
        Notice::Call { turn: fedirt_protocol::message::Turn { round: 1, attempt: 9 }, roster: None };
    assert!(lab.sites[0].hear(&Arc::new(call)).is_empty());
    assert!(lab.sites[0].refusals.pop().expect("a sound test").is_replay());
}

#[test]
fn a_restored_back_up_is_noticed() {
    let mut lab = lab(3, OnLoss::Wait);
    let call = lab.until("call", 2);
    let saved: Vec<SiteEvent> = lab.sites[0].events.clone();
    let hello = lab.sites[0].hear(&call).remove(0);
    lab.tell(0, &hello).expect("a sound test");
    // The disk is restored from before the hello: a fresh key for the same attempt.
    let mut restored = BenchSite::new(&lab.terms, 0, Policy::default(), tables(3).remove(0));
    restored.machine.restore(&saved).expect("a sound test");
    let mut skipped = rand_chacha::ChaCha20Rng::from_seed([9; 32]);
    use rand_chacha::rand_core::SeedableRng;
    restored.machine.handle(NOW, &mut skipped, &call);
    let again = restored.outputs().remove(0);
    let rejection = lab.tell(0, &again).unwrap_err();
    assert_eq!(rejection, Rejection::Restored { site: id(0) });
    assert!(rejection.to_string().contains("must enrol again"));
}

#[test]
fn a_forged_key_does_not_pass() {
    let mut lab = lab(3, OnLoss::Wait);
    let call = lab.until("call", 2);
    // Site 1's place, another key.
    let mut forger = BenchSite::new(&lab.terms, 1, Policy::default(), tables(3).remove(1));
    let mut random = rand_chacha::ChaCha20Rng::from_seed([4; 32]);
    use rand_chacha::rand_core::SeedableRng;
    let identity = fedirt_privacy::secure::Identity::generate(&mut random);
    let table = tables(3).remove(1);
    forger.machine =
        fedirt_protocol::SiteMachine::new(id(1), identity, lab.terms.clone(), Policy::default(), table)
            .expect("a sound test");
    forger.machine.introduce();
    for message in forger.outputs() {
        let rejection = lab.tell(1, &message).unwrap_err();
        assert!(matches!(rejection, Rejection::AnotherKey { .. } | Rejection::NotNow), "{rejection:?}");
    }
    forger.machine.restore(&lab.sites[1].events.clone()).expect("a sound test");
    for message in forger.hear(&call) {
        let rejection = lab.tell(1, &message).unwrap_err();
        assert!(matches!(rejection, Rejection::Invalid(_)), "{rejection:?}");
    }
    // The true site goes on.
    lab.until("open", 2);
}

#[test]
fn a_roster_with_another_key_for_a_site_is_refused_there() {
    let terms = terms(Mode::Secure, 3, 5);
    let mut lab = Lab::new(terms, &Policy::default(), &tables(3));
    let shown = lab.inbox[&id(0)].clone();
    let Notice::Roster(shared) = &shown.notice else { panic!("{:?}", shown.notice.kind()) };
    // The coordinator swaps its own key in for site 0, and shows that roster to site 0 and to site 1.
    let mut random = rand_chacha::ChaCha20Rng::from_seed([5; 32]);
    use rand_chacha::rand_core::SeedableRng;
    let own = fedirt_privacy::secure::Identity::generate(&mut random);
    let roster = fedirt_privacy::secure::Roster::decode(&shared.roster).expect("a sound test");
    let entries = roster
        .entries()
        .iter()
        .map(|(site, key)| (site.clone(), if *site == id(0) { own.public() } else { *key }));
    let false_roster = fedirt_privacy::secure::Roster::of(roster.study().clone(), roster.edition(), entries)
        .expect("a sound test");
    let mut forged = shared.clone();
    forged.roster = false_roster.encode();
    let message = |shared| Arc::new(ToSite { step: 99, notice: Notice::Roster(shared) });
    lab.sites[0].hear(&message(forged.clone()));
    assert_eq!(lab.sites[0].refusals.pop(), Some(Refusal::NotApprovedHere));
    lab.sites[1].hear(&message(forged));
    // Site 0's declaration is not signed by the key that is shown for it.
    assert!(matches!(lab.sites[1].refusals.pop(), Some(Refusal::Declaration(_))));
}

#[test]
fn a_site_that_vanishes_before_the_first_upload_is_left_behind() {
    let mut lab = lab(4, OnLoss::Wait);
    lab.until("call", 1);
    // Site 3 says nothing any more.
    let others = [0, 1, 2];
    lab.turn(&others);
    lab.input(Timestamp(1001), Input::Deadline).expect("a sound test");
    for _ in 0..60 {
        lab.turn(&others);
    }
    let fit = lab.result.expect("a sound test").expect("the study goes on without it");
    assert_eq!(fit.sites.len(), 3);
    assert!(fit.warnings.iter().any(|w| w.code == "sites_missing" && w.message.contains("site3")));
}

#[test]
fn after_the_first_upload_the_plan_decides_about_a_lost_site() {
    let others = [0, 1, 2];
    let lose = |on_loss| {
        let mut lab = lab(4, on_loss);
        lab.until("call", 2);
        lab.turn(&others);
        lab.input(Timestamp(5000), Input::Deadline).expect("a sound test");
        for _ in 0..60 {
            lab.turn(&others);
        }
        lab
    };
    let waits = lose(OnLoss::Wait);
    assert!(waits.result.is_none());
    assert_eq!(waits.coordinator.status().waiting_for, ["site3"]);
    let ends = lose(OnLoss::End).result.expect("a sound test").unwrap_err();
    assert!(ends.contains("site3") && ends.contains("would show what they sent"), "{ends}");
    let mut reveals = lose(OnLoss::RevealLostSite);
    let fit = reveals.result.take().expect("a sound test").expect("a result without the lost site");
    assert_eq!(fit.sites.len(), 3);
    // Nobody can be left out on the operator's word alone.
    let mut lab = lab(4, OnLoss::Wait);
    lab.until("call", 2);
    let rejection = lab.input(NOW, Input::Drop { sites: BTreeSet::from([id(3)]) }).unwrap_err();
    assert!(matches!(rejection, Rejection::Chain(ChainRefusal::TooFewRemoved { .. })), "{rejection:?}");
}

#[test]
fn an_item_that_few_sites_give_is_never_summed() {
    // Items 4 and 5 are given by two of five sites only.
    let mut given = tables(5);
    for table in &mut given[2..] {
        let cells: Vec<u8> = table
            .rows()
            .flat_map(|row| {
                row.iter()
                    .enumerate()
                    .map(|(j, c)| if j >= 3 { fedirt_model::responses::MISSING } else { *c })
                    .collect::<Vec<_>>()
            })
            .collect();
        *table = ResponseTable::new(40, 5, cells).expect("a sound test");
    }
    let mut lab = Lab::new(terms(Mode::Secure, 5, 5), &Policy::default(), &given);
    for _ in 0..60 {
        lab.turn(&[0, 1, 2, 3, 4]);
    }
    let fit = lab.result.expect("a sound test").expect("a sound test");
    assert!(
        fit.warnings.iter().any(|w| w.code == "item_suppressed" && w.message.contains("I4")),
        "{:?}",
        fit.warnings
    );
    let estimated: Vec<bool> = fit.items.iter().map(|i| i.a.is_some()).collect();
    assert_eq!(estimated[3..], [false, false], "{:?}", fit.items);
    // A coordinator that asks for them all the same gets zeros there: site 0's numbers of item 4 are suppressed.
    let mut lab = Lab::new(terms(Mode::Secure, 5, 5), &Policy::default(), &given);
    let open = lab.until("open", 1);
    let all = altered(&open, |told| {
        let request = sums(&mut told.question);
        let item =
            |column| fedirt_model::design::DesignItem { column, model: "2pl".into(), codes: vec![0, 1] };
        request.design = (0..5).map(item).collect::<Vec<_>>().try_into().expect("a sound test");
        request.parts = vec![0; 5];
    });
    let refusal = refusal_of(&mut lab, 0, &all);
    assert!(matches!(refusal, Refusal::FewGivers(..)), "{refusal:?}");
    // So is a single item that one site gives, however it is wrapped.
    let one = altered(&open, |told| {
        let request = sums(&mut told.question);
        let item = fedirt_model::design::DesignItem { column: 4, model: "2pl".into(), codes: vec![0, 1] };
        request.design = vec![item].try_into().expect("a sound test");
        request.parts = vec![0];
    });
    assert!(matches!(refusal_of(&mut lab, 0, &one), Refusal::FewGivers(..)));
}

/// A factor on weights that nobody declared would push numbers over their bounds, or hide others below rounding; and a
/// refusal must not tell what it is about.
#[test]
fn refusals_tell_nothing_of_the_data() {
    let mut lab = lab(3, OnLoss::Wait);
    let open = lab.until("open", 2);
    let scaled = altered(&open, |told| sums(&mut told.question).weight_scale = 1e9);
    assert_eq!(refusal_of(&mut lab, 0, &scaled), Refusal::WeightScale);
    // Data that do not fit their bounds: the site's journal may know, the coordinator gets a fixed sentence.
    let error = fedirt_protocol::encoding::EncodingError::FixedPoint {
        statistic: "loglik",
        error: fixed_point::FixedPoint::for_bound(1.0)
            .expect("a sound test")
            .encode(&[-271.828_18])
            .unwrap_err(),
    };
    assert!(!Refusal::Encoding(error.clone()).to_string().contains("2.718"));
    let told = Refusal::Encoding(error).for_the_coordinator();
    assert!(!told.contains("loglik") && !told.chars().any(|c| c.is_ascii_digit()), "{told}");
    let ledger = Refusal::Ledger(Box::new(EntryError::NoPrice.into())).for_the_coordinator();
    assert!(!ledger.contains("0.3"), "{ledger}");
}

/// Effects that the coordinator chooses site by site would make two sums differ by one site.
#[test]
fn effects_chosen_for_single_sites_are_refused() {
    let mut lab = lab(3, OnLoss::Wait);
    let open = lab.until("open", 2);
    let close = altered(&open, |told| {
        let request = sums(&mut told.question);
        let psi = vec![1.0; request.design.parameters()];
        request.ask = Ask::Close(Close {
            point: Point { psi, site_sd: 0.0 },
            sd: 1.0,
            errors: None,
            effects: Some(vec![1.0, 0.0, 0.0]),
            publish_effects: false,
        });
    });
    let refusal = refusal_of(&mut lab, 0, &close);
    assert!(refusal.to_string().contains("effects of single sites"), "{refusal}");
}

/// An attempt has one question, attempts count as rounds, and items stay the same.
#[test]
fn attempts_are_no_way_round_the_limits() {
    use fedirt_protocol::message::Turn;
    let policy = Policy { max_rounds: 3, ..Policy::default() };
    let mut lab = Lab::new(terms(Mode::Secure, 3, 5), &policy, &tables(3));
    let open = lab.until("open", 2);
    for k in 0..3 {
        lab.sites[k].hear(&open);
    }
    // The next attempts at the same round, one after the other: each is a release.
    let mut refusal = None;
    for attempt in 2..9 {
        let turn = Turn { round: 2, attempt };
        let call = Arc::new(ToSite { step: 50, notice: Notice::Call { turn, roster: None } });
        let hellos: Vec<Vec<u8>> = (0..3)
            .filter_map(|k| match lab.sites[k].hear(&call).first().map(|m| (**m).clone()) {
                Some(ToCoordinator::Hello(bytes)) => Some(bytes),
                _ => None,
            })
            .collect();
        let mut again = (*open).clone();
        if let Notice::Open { turn: shown, hellos: sent, .. } = &mut again.notice {
            (*shown, *sent) = (turn, hellos);
        }
        let again = Arc::new(again);
        for k in 0..3 {
            lab.sites[k].hear(&again);
        }
        refusal = lab.sites[0].refusals.pop().or(refusal);
    }
    assert!(matches!(refusal, Some(Refusal::Policy(PolicyRefusal::Rounds { .. }))), "{refusal:?}");
    let released = lab.sites[0].events.iter().filter(|e| matches!(e, SiteEvent::Released(_))).count();
    // Three of estimation and three that close a study: no attempt adds to them.
    assert_eq!(released, 6);

    // Another list of items in a later round.
    let mut lab = self::lab(3, OnLoss::Wait);
    let open = lab.until("open", 3);
    let fewer = altered(&open, |told| {
        let request = sums(&mut told.question);
        let items = request.design.items()[..4].to_vec();
        request.design = items.try_into().expect("a sound test");
        request.parts.pop();
        if let Ask::Evaluate(Evaluate { points, .. }) = &mut request.ask {
            points[0].psi.truncate(8);
        }
    });
    assert_eq!(refusal_of(&mut lab, 0, &fewer), Refusal::AnotherDesign);
}

/// A site that was restarted after its answer does not say hello to a lower attempt, or to the same one again.
#[test]
fn a_restarted_site_knows_what_it_has_answered() {
    use fedirt_protocol::message::Turn;
    let mut lab = lab(3, OnLoss::Wait);
    let open = lab.until("open", 2);
    lab.sites[0].hear(&open);
    // What an agent keeps after an upload: everything but the hellos.
    let kept: Vec<SiteEvent> =
        lab.sites[0].events.iter().filter(|e| !matches!(e, SiteEvent::Hello { .. })).cloned().collect();
    let mut restarted = BenchSite::new(&lab.terms, 0, Policy::default(), tables(3).remove(0));
    restarted.machine.restore(&kept).expect("a sound test");
    for turn in [Turn { round: 1, attempt: 7 }, Turn { round: 2, attempt: 1 }] {
        let call = Arc::new(ToSite { step: 50, notice: Notice::Call { turn, roster: None } });
        assert!(restarted.hear(&call).is_empty());
        assert!(restarted.refusals.pop().expect("a sound test").is_replay());
    }
    assert_eq!(restarted.hear(&open)[0].kind(), "upload");
}

/// `private`: the plan's privacy cannot be overspent, and an attempt's price is that of its one question.
#[test]
fn the_plans_privacy_is_spent_once() {
    use fedirt_protocol::message::Turn;
    use fedirt_protocol::private::PrivateTerms;
    let mut terms = terms(Mode::Private, 3, 5);
    terms.private = Some(PrivateTerms {
        epsilon: 1.0,
        delta: 1e-6,
        mixture: false,
        missing: fedirt_model::private::MissingAnswers::Wrong,
        site_sd: 0.0,
        booklets: Vec::new(),
        method: fedirt_model::private::PrivateMethod::default(),
        seed: 1,
    });
    let mut lab = Lab::new(terms, &Policy::default(), &tables(3));
    let open = lab.until("open", 2);
    assert_eq!(lab.sites[0].hear(&open)[0].kind(), "upload");
    // Another attempt at the same stage: the plan's privacy is spent.
    let turn = Turn { round: 2, attempt: 2 };
    let call = Arc::new(ToSite { step: 60, notice: Notice::Call { turn, roster: None } });
    for k in 1..3 {
        lab.sites[k].hear(&open);
    }
    let hellos: Vec<Vec<u8>> = (0..3)
        .filter_map(|k| match (*lab.sites[k].hear(&call)[0]).clone() {
            ToCoordinator::Hello(bytes) => Some(bytes),
            _ => None,
        })
        .collect();
    let mut again = (*open).clone();
    if let Notice::Open { turn: shown, hellos: sent, .. } = &mut again.notice {
        (*shown, *sent) = (turn, hellos);
    }
    let refusal = refusal_of(&mut lab, 0, &Arc::new(again));
    assert!(matches!(refusal, Refusal::BeyondThePlan { .. }), "{refusal:?}");
}

/// A false site ends the study with a reason: what is passed on to the others is short, and has nothing that cannot be seen.
#[test]
fn a_reason_of_64_mib_is_passed_on_to_nobody() {
    let mut lab = lab(3, OnLoss::Wait);
    let open = lab.until("open", 2);
    let turn = common::lab::turn_of(&open.notice).expect("a turn");
    let refuse = |reason: String| ToCoordinator::Refuse { turn, reason };
    let rejection = lab.tell(0, &refuse("a".repeat(64 << 20))).expect_err("far too long");
    assert!(matches!(rejection, Rejection::Invalid(_)) && rejection.to_string().len() < 200, "{rejection}");
    assert!(lab.result.is_none(), "the study goes on");
    lab.tell(0, &refuse(format!("\u{202e}{}\n", "b".repeat(3000)))).expect("a reason");
    let told = lab.result.as_ref().expect("an end").as_ref().expect_err("no result").clone();
    assert!((500..700).contains(&told.chars().count()), "{} characters", told.chars().count());
    assert!(!told.contains('\u{202e}'), "no character turns the text around");
    let heard = lab.inbox[&id(1)].clone();
    let Notice::Ended { reason } = &heard.notice else { panic!("{}", heard.notice.kind()) };
    assert!(reason.chars().count() < 700);
}

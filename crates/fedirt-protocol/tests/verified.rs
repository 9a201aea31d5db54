//! A coordinator that invents the other sites: whom nobody has called counts as its own.

mod common;

use common::lab::{Lab, id, terms};
use common::{Random, answers, table};
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::Thresholds;
use fedirt_protocol::message::{Notice, ToCoordinator};
use fedirt_protocol::policy::{Policy, PolicyRefusal};
use fedirt_protocol::private::PrivateTerms;
use fedirt_protocol::site::{Refusal, SiteEvent};
use fedirt_protocol::terms::Terms;

fn tables(count: usize) -> Vec<ResponseTable> {
    let truth: Vec<Vec<f64>> = (0..5).map(|j| vec![1.0, 0.5 * j as f64 - 1.0]).collect();
    let mut random = Random(11);
    (0..count).map(|_| table(&answers(&[("2pl", 2); 5], &truth, 40, (0.0, 1.0), 0.0, &mut random))).collect()
}

fn one_colluder(mode: Mode, sites: usize) -> Terms {
    let mut terms = terms(mode, sites, 5);
    terms.thresholds = Thresholds::new(3, 1).expect("thresholds");
    if mode == Mode::Private {
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
    }
    terms
}

#[test]
fn a_roster_of_inventions_is_not_signed() {
    for mode in [Mode::Secure, Mode::Private] {
        let mut lab = Lab::new(one_colluder(mode, 6), &Policy::default(), &tables(6));
        let shown = lab.inbox[&id(0)].clone();
        assert!(matches!(shown.notice, Notice::Roster(_)));
        // One call, and its own name, which counts for nothing.
        lab.sites[0].verified = Some([id(0), id(1)].into());
        assert!(lab.sites[0].hear(&shown).is_empty());
        let refusal = lab.sites[0].refusals.pop().expect("a refusal");
        assert_eq!(
            refusal,
            Refusal::Unverified { unverified: (2..6).map(|k| id(k).to_string()).collect(), missing: 3 }
        );
        assert!(!lab.sites[0].events.iter().any(|event| matches!(event, SiteEvent::Approved { .. })));
        // All but one, as many as the plan reckons with.
        lab.sites[0].verified = Some((1..5).map(id).collect());
        assert!(matches!(*lab.sites[0].hear(&shown)[0], ToCoordinator::Approve { .. }));
        lab.until("open", 1);
    }
}

/// A signature that was given before calls were counted does not pin the roster.
#[test]
fn an_approval_of_an_earlier_version_is_asked_for_again() {
    let mut lab = Lab::new(one_colluder(Mode::Secure, 4), &Policy::default(), &tables(4));
    let shown = lab.inbox[&id(0)].clone();
    let Notice::Roster(shared) = &shown.notice else { panic!("a roster") };
    let roster = fedirt_privacy::secure::Roster::decode(&shared.roster).expect("a roster");
    let fingerprint = *roster.fingerprint().as_bytes();
    let approved = [SiteEvent::Approved { fingerprint, verified: Vec::new() }];
    lab.sites[0].machine.restore(&approved).expect("an approval");
    lab.sites[0].verified = Some([id(1)].into());
    assert!(lab.sites[0].hear(&shown).is_empty());
    assert!(matches!(lab.sites[0].refusals.pop(), Some(Refusal::Unverified { missing: 1, .. })));
}

#[test]
fn own_noise_has_a_floor() {
    let refusals = |sites, least_own_noise| {
        let policy = Policy { least_own_noise, ..Policy::default() };
        policy.check_plan(&one_colluder(Mode::Private, sites), 100, false)
    };
    assert!(refusals(51, 0.02).is_empty());
    let told = refusals(52, 0.02);
    assert!(matches!(told[..], [PolicyRefusal::OwnNoise { sites: 52, .. }]), "{told:?}");
    assert!(told[0].to_string().contains("2.0 % of the noise"), "{told:?}");
    assert!(refusals(2, 0.9).is_empty(), "each of two sites makes the whole noise");
}

//! What the officer is told about what leaves is what leaves: the messages of whole studies are captured, and compared with what was
//! derived before them; and of the bytes, what the sentences say of them.

mod common;

use common::lab::{Lab, id, terms};
use common::{Random, answers, table};
use fedirt_model::exchange::Effects;
use fedirt_model::private::MissingAnswers;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::leaves::{self, Form, Leaf, Leaves};
use fedirt_protocol::message::{Broadcast, Notice, ToCoordinator, ToSite};
use fedirt_protocol::policy::Policy;
use fedirt_protocol::private::PrivateTerms;
use fedirt_protocol::{Terms, codec, preview};
use std::collections::BTreeMap;
use std::sync::Arc;

fn tables() -> Vec<ResponseTable> {
    let truth: Vec<Vec<f64>> = (0..5).map(|j| vec![1.0, 0.5 * j as f64 - 1.0]).collect();
    let mut random = Random(11);
    (0..3).map(|_| table(&answers(&[("2pl", 2); 5], &truth, 300, (0.0, 1.0), 0.0, &mut random))).collect()
}

fn terms_of(mode: Mode) -> Terms {
    let mut terms = terms(mode, 3, 5);
    if mode == Mode::Private {
        terms.plan.effects = Effects::None;
        terms.private = Some(PrivateTerms {
            epsilon: 8.0,
            delta: 1e-6,
            mixture: false,
            missing: MissingAnswers::Wrong,
            site_sd: 0.0,
            booklets: Vec::new(),
            method: fedirt_model::private::PrivateMethod::default(),
            seed: 1,
        });
    }
    terms
}

/// A message of the first site, with the question that it heard before.
type Sent = (Arc<ToCoordinator>, Option<Broadcast>);

fn question(message: &ToSite) -> Option<Broadcast> {
    let Notice::Open { broadcast, .. } = &message.notice else { return None };
    Some(codec::decode(broadcast).expect("the coordinator's own bytes"))
}

/// Everything that the first site sends in a whole study.
fn captured(terms: &Terms, tables: &[ResponseTable]) -> Vec<Sent> {
    let policy = Policy { modes: vec![Mode::Plain, Mode::Secure, Mode::Private], ..Policy::default() };
    let mut lab = Lab::new(terms.clone(), &policy, tables);
    // What it introduced itself with went to the coordinator before anything could be captured: it is sent again by another one.
    let mut own = common::lab::BenchSite::new(terms, 0, policy, tables[0].clone());
    own.machine.introduce();
    let mut sent: Vec<Sent> = own.outputs().into_iter().map(|message| (message, None)).collect();
    for _ in 0..400 {
        if lab.result.is_some() {
            break;
        }
        if let Some(message) = lab.inbox.remove(&id(0)) {
            for answer in lab.sites[0].hear(&message) {
                sent.push((answer.clone(), question(&message)));
                // A study that is over takes no more.
                let _ = lab.tell(0, &answer);
            }
        }
        lab.turn(&[1, 2]);
    }
    lab.result.expect("an end").expect("a result");
    sent
}

#[test]
fn what_leaves_is_what_was_said_in_every_mode() {
    let tables = tables();
    for mode in [Mode::Plain, Mode::Secure, Mode::Private] {
        let terms = terms_of(mode);
        let rounds = preview::rounds(&terms, &id(0), &tables[0]).expect("a preview");
        let said = leaves::of_plan(&terms, &Declaration::of(&tables[0], &terms), &rounds);
        let sent = captured(&terms, &tables);
        let mut left = Leaves::new();
        for (message, question) in &sent {
            left.extend(
                leaves::of_message(&terms, message, question.as_ref()).expect("the site's own bytes"),
            );
        }
        assert_eq!(said, left, "{mode:?}");
        let kinds: Vec<&str> = sent.iter().map(|(message, _)| message.kind()).collect();
        assert!(kinds.contains(&"upload") && kinds.contains(&"join"), "{kinds:?}");
        let codes = if mode == Mode::Plain { Leaf::CodesThatOccur } else { Leaf::ItemsGiven };
        assert!(said.contains(&(codes, Form::Open)));
        let open = said.iter().any(|(leaf, form)| matches!(leaf, Leaf::Statistic(..)) && *form == Form::Open);
        assert_eq!(open, mode == Mode::Plain, "sums are readable in plain alone");
    }
}

/// A code that no student of a site has: in `plain` the declaration says so, elsewhere it says what the plan says.
#[test]
fn codes_that_occur_are_told_in_plain_alone() {
    let full = tables();
    let rows: Vec<Vec<u8>> = full[0].rows().map(|row| [&[1][..], &row[1..]].concat()).collect();
    let narrow = table(&rows);
    for mode in [Mode::Plain, Mode::Secure, Mode::Private] {
        let terms = terms_of(mode);
        let (full, narrow) = (Declaration::of(&full[0], &terms), Declaration::of(&narrow, &terms));
        assert_eq!(full.codes == narrow.codes, mode != Mode::Plain, "{mode:?}");
    }
}

/// The same study with another answer: what is masked differs everywhere, and what is open does not depend on the answer in `secure` and
/// `private`.
#[test]
fn bytes_of_open_messages_do_not_depend_on_answers_under_masks() {
    let tables = tables();
    let mut rows: Vec<Vec<u8>> = tables[0].rows().map(<[u8]>::to_vec).collect();
    rows[0][0] = 1 - rows[0][0];
    let mut other = tables.clone();
    other[0] = table(&rows);
    for mode in [Mode::Secure, Mode::Private] {
        let terms = terms_of(mode);
        let by_kind = |tables: &[ResponseTable]| {
            let mut kinds: BTreeMap<&'static str, Vec<Vec<u8>>> = BTreeMap::new();
            for (message, _) in captured(&terms, tables) {
                kinds.entry(message.kind()).or_default().push(codec::encode(&*message).expect("a message"));
            }
            kinds
        };
        let (one, two) = (by_kind(&tables), by_kind(&other));
        for kind in ["enrol", "join"] {
            assert_eq!(one[kind], two[kind], "{mode:?}: {kind}");
        }
        assert_ne!(one["upload"][0], two["upload"][0], "{mode:?}");
        assert_eq!(one["upload"][0].len(), two["upload"][0].len(), "{mode:?}: the length tells nothing");
    }
}

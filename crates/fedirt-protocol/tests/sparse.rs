//! Large cohorts in which each site masks with a few others: the same result, and a hostile coordinator at the machines.

mod common;

use common::lab::{Lab, id, terms, turn_of};
use common::{Random, answers, table};
use fedirt_model::fit::Fit;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::secure::CohortError;
use fedirt_protocol::codec;
use fedirt_protocol::message::{Broadcast, Notice, SparseView, ToCoordinator, ToSite, Turn};
use fedirt_protocol::policy::Policy;
use fedirt_protocol::site::Refusal;
use fedirt_protocol::terms::Masking;
use std::sync::Arc;

const SITES: usize = 100;

fn tables() -> Vec<ResponseTable> {
    let models = [("2pl", 2); 4];
    let truth: Vec<Vec<f64>> = (0..4).map(|j| vec![1.0, 0.5 * j as f64 - 1.0]).collect();
    let mut random = Random(11);
    (0..SITES).map(|_| table(&answers(&models, &truth, 12, (0.0, 1.0), 0.0, &mut random))).collect()
}

fn lab(masking: Masking) -> Lab {
    let mut terms = terms(Mode::Secure, SITES, 4);
    terms.masking = masking;
    Lab::new(terms, &Policy::unlimited(), &tables())
}

fn finished(mut lab: Lab) -> Fit {
    let all: Vec<usize> = (0..SITES).collect();
    for _ in 0..200 {
        if let Some(result) = lab.result {
            return result.expect("a fit");
        }
        lab.turn(&all);
    }
    panic!("no end in sight: {:?}", lab.coordinator.status());
}

/// The view and the question of an opening.
fn opened(message: &ToSite) -> (Turn, SparseView, Broadcast) {
    let Notice::OpenSparse { turn, view, broadcast } = &message.notice else {
        panic!("a {} to {:?}", message.notice.kind(), turn_of(&message.notice))
    };
    (*turn, view.clone(), codec::decode(broadcast).expect("a sound test"))
}

#[test]
fn the_result_is_that_of_masks_with_everybody() {
    let (full, sparse) = (finished(lab(Masking::Full)), finished(lab(Masking::Sparse)));
    assert_eq!(full, sparse);
}

#[test]
fn a_site_is_shown_its_neighbours_alone_and_refuses_anything_else() {
    let mut lab = lab(Masking::Sparse);
    lab.until("open", 1);
    let mail: Vec<Arc<ToSite>> = (0..3).map(|k| lab.inbox[&id(k)].clone()).collect();
    let (turn, view, told) = opened(&mail[0]);
    assert!(told.cohort.is_empty() && view.hellos.len() == 35, "{}", view.hellos.len());
    let bytes = codec::encode(&told).expect("a sound test");
    let shown = |view: SparseView| Notice::OpenSparse { turn, view, broadcast: bytes.clone() };
    let edited = |edit: &dyn Fn(&mut SparseView)| {
        let mut view = view.clone();
        edit(&mut view);
        shown(view)
    };
    let of_another = |k: usize| mail[k].notice.clone();
    let named = Broadcast { cohort: vec!["site0".into()], ..told.clone() };
    let named = codec::encode(&named).expect("a sound test");
    let forged = [
        // All hellos, as in a cohort in which everybody masks with everybody; and a few of them, to mask with those alone.
        Notice::Open { turn, hellos: view.hellos.clone(), broadcast: bytes.clone() },
        Notice::OpenSparse { turn, view: view.clone(), broadcast: named },
        // More bits than sites, fewer, and a cohort that is too small for a few neighbours.
        edited(&|view| view.members.push(0)),
        edited(&|view| view.members[12] |= 0x10),
        edited(&|view| view.members.truncate(5)),
        edited(&|view| view.members[3] = 0),
        // What is for another site, another order, fewer neighbours.
        of_another(1),
        of_another(2),
        edited(&|view| view.root[7] ^= 1),
        edited(&|view| view.hellos.truncate(20)),
        edited(&|view| view.path[0] = [0; 32]),
    ];
    for (number, notice) in forged.into_iter().enumerate() {
        let sent = lab.sites[0].hear(&Arc::new(ToSite { step: 1000, notice }));
        assert!(sent.iter().all(|m| matches!(**m, ToCoordinator::Refuse { .. })), "{number}: {sent:?}");
        let refusal = lab.sites[0].refusals.pop().expect("a refusal");
        let in_order = match number {
            0..6 => matches!(refusal, Refusal::Mismatch(_)),
            6..9 => matches!(refusal, Refusal::Cohort(CohortError::OtherNeighbours { .. })),
            9 => matches!(refusal, Refusal::Cohort(CohortError::OtherNeighbours { .. })),
            _ => matches!(refusal, Refusal::Cohort(CohortError::NotUnderRoot { .. })),
        };
        assert!(in_order, "{number}: {refusal:?}");
    }
    // What is in order is answered, and again with the same bytes; another question of the same attempt is not.
    let answer = lab.sites[0].hear(&mail[0]);
    assert!(matches!(*answer[0], ToCoordinator::Upload { .. }));
    assert_eq!(lab.sites[0].hear(&mail[0]), answer);
    let again =
        lab.sites[0].hear(&Arc::new(ToSite { step: 1001, notice: edited(&|view| view.root[0] ^= 1) }));
    assert_eq!(again, answer);
}

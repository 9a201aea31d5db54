//! Decoders bear anything: random bytes, and honest messages with bytes changed, cut or added. The same decoders are
//! fuzzed for longer in `fuzz/` (`cargo +nightly fuzz run to_site`).

mod common;

use common::lab::{Lab, terms};
use common::{Random, answers, table};
use fedirt_model::statistics::Mode;
use fedirt_privacy::ledger::Ledger;
use fedirt_privacy::secure::{Enrolment, Roster, SignedHello, SignedStatement, Upload};
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::envelope::{self, EnrolRequest, Poll};
use fedirt_protocol::invitation::Invitation;
use fedirt_protocol::message::{Broadcast, Notice, Question, Sums, ToCoordinator, ToSite};
use fedirt_protocol::plan::StudyPlan;
use fedirt_protocol::policy::Policy;
use fedirt_protocol::site::SiteEvent;
use fedirt_protocol::{Timestamp, codec};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Puts bytes through every decoder.
fn decode_all(bytes: &[u8]) {
    let _ = codec::decode::<ToSite>(bytes);
    let _ = codec::decode::<ToCoordinator>(bytes);
    if let Ok(told) = codec::decode::<Broadcast>(bytes)
        && let Question::Sums(request) = &told.question
        && request.check(64).is_ok()
    {
        assert_eq!(request.needs().len(), told.question.summed_len());
    }
    let _ = codec::decode::<Declaration>(bytes);
    let _ = codec::decode::<SiteEvent>(bytes);
    let _ = codec::decode::<Poll>(bytes);
    let _ = codec::decode::<EnrolRequest>(bytes);
    let _ = envelope::sender(bytes);
    let _ = Ledger::read(bytes);
    if let Ok(hello) = SignedHello::decode(bytes) {
        assert_eq!(hello.encode(), bytes);
    }
    if let Ok(upload) = Upload::decode(bytes) {
        assert_eq!(upload.encode(), bytes);
    }
    if let Ok(roster) = Roster::decode(bytes) {
        assert_eq!(roster.encode(), bytes);
    }
    if let Ok(statement) = SignedStatement::decode(bytes) {
        assert_eq!(statement.encode(), bytes);
    }
    let _ = Enrolment::decode(bytes);
    let text = String::from_utf8_lossy(bytes);
    let _ = Invitation::from_text(&text);
    let _ = StudyPlan::parse(&text);
    let _ = toml::from_str::<Policy>(&text);
}

/// Honest messages of every kind, as bytes.
static HONEST: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let models = [("2pl", 2); 4];
    let truth: Vec<Vec<f64>> = (0..4).map(|j| vec![1.0, 0.5 * j as f64 - 1.0]).collect();
    let mut random = Random(3);
    let tables: Vec<_> =
        (0..3).map(|_| table(&answers(&models, &truth, 20, (0.0, 1.0), 0.0, &mut random))).collect();
    let mut lab = Lab::new(terms(Mode::Secure, 3, 4), &Policy::default(), &tables);
    let mut found = Vec::new();
    for (kind, round) in [("roster", 0), ("call", 1), ("open", 1), ("open", 2)] {
        let message = lab.until(kind, round);
        found.push(codec::encode(&*message).expect("a sound test"));
        if let Notice::Open { broadcast, hellos, .. } = &message.notice {
            found.push(broadcast.clone());
            found.extend(hellos.iter().cloned());
            for answer in lab.sites[0].hear(&message) {
                found.push(codec::encode(&*answer).expect("a sound test"));
                if let ToCoordinator::Upload { sums: Sums::Masked(bytes), .. } = &*answer {
                    found.push(bytes.clone());
                }
                lab.tell(0, &answer).expect("a sound test");
            }
        }
        if let Notice::Roster(shared) = &message.notice {
            found.push(shared.roster.clone());
            found.extend(shared.declarations.iter().cloned());
        }
    }
    found.extend(lab.sites[1].events.iter().map(|event| codec::encode(event).expect("a sound test")));
    let invitation = Invitation {
        address: "https://localhost:8443".parse().expect("a sound test"),
        study: "s".into(),
        site: "north".into(),
        plan_hash: [1; 32],
        secret: [2; 32],
        expires: Timestamp(5),
        authority: Some(vec![1, 2, 3]),
    };
    let text = invitation.to_text().expect("a sound test");
    assert_eq!(Invitation::from_text(&format!(" {}\n{} ", &text[..40], &text[40..])), Ok(invitation));
    found.push(text.into_bytes());
    found
});

proptest! {
    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        decode_all(&bytes);
    }

    #[test]
    fn damaged_messages_do_no_harm(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        how in 0..3,
    ) {
        let mut bytes = which.get(&HONEST[..]).clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        match how {
            0 => bytes.truncate(cut.index(bytes.len())),
            1 => bytes.push(0),
            _ => {}
        }
        decode_all(&bytes);
    }
}

#[test]
fn other_versions_and_left_over_bytes_are_named() {
    let mut bytes = codec::encode(&Poll { seen: 1, wait_seconds: 2 }).expect("a sound test");
    bytes[4] = 9;
    assert!(codec::decode::<Poll>(&bytes).unwrap_err().to_string().contains("version 9"));
    bytes[4] = codec::VERSION;
    bytes.push(0);
    assert_eq!(codec::decode::<Poll>(&bytes), Err(codec::CodecError::Malformed));
    assert_eq!(codec::decode::<Poll>(b"GET /"), Err(codec::CodecError::NotOurs));
    let long = vec![0; codec::MAX_BYTES + 1];
    assert!(matches!(codec::decode::<Poll>(&long), Err(codec::CodecError::TooLong { .. })));
}

#[test]
fn secrets_do_not_print() {
    let event = SiteEvent::Hello {
        turn: fedirt_protocol::message::Turn { round: 1, attempt: 1 },
        secret: [171; 32],
        hello: vec![205; 8],
    };
    let request = EnrolRequest { secret: [171; 32], enrolment: vec![205; 8] };
    let shown = format!("{event:?} {request:?}");
    assert!(!shown.contains("171") && !shown.contains("ab") && !shown.contains("205"), "{shown}");
}

//! Statements: signed, decoded in one way, and believed for one topic, study and site only.

use super::*;
use proptest::prelude::*;

fn statement(world: &World, from: usize, topic: &str) -> SignedStatement {
    let (study, site) = (world.round.study.clone(), world.sites[from].name.clone());
    Statement { study, site, topic: topic.into(), bytes: b"37".to_vec() }.sign(&world.sites[from].identity)
}

#[test]
fn a_statement_is_believed() {
    let world = World::new(5, 3);
    let sent = statement(&world, 1, "rows enrolled").encode();
    let got = SignedStatement::decode(&sent).unwrap();
    assert_eq!((got.site(), got.topic()), (&world.sites[1].name, "rows enrolled"));
    assert_eq!(got.verify(&world.roster, "rows enrolled").unwrap().bytes, b"37");
    assert_eq!(got.encode(), sent);
}

#[test]
fn a_statement_is_not_moved() {
    let world = World::new(5, 3);
    let signed = statement(&world, 1, "rows enrolled");
    let other_topic = signed.verify(&world.roster, "items").unwrap_err();
    assert!(matches!(other_topic, StatementError::WrongTopic { .. }));
    // Signed by site 2 in the name of site 1.
    let (study, site) = (world.round.study.clone(), world.sites[1].name.clone());
    let as_another = Statement { study: study.clone(), site, topic: "items".into(), bytes: vec![] };
    let refused = as_another.clone().sign(&world.sites[2].identity).verify(&world.roster, "items").cloned();
    assert!(matches!(refused, Err(StatementError::Signature { .. })));
    let unknown =
        Statement { site: super::site("nobody"), ..as_another.clone() }.sign(&world.sites[1].identity);
    assert!(matches!(unknown.verify(&world.roster, "items"), Err(StatementError::UnknownSite { .. })));
    let study = StudyId::try_from("another").unwrap();
    let elsewhere = Statement { study, ..as_another }.sign(&world.sites[1].identity);
    assert!(matches!(elsewhere.verify(&world.roster, "items"), Err(StatementError::WrongStudy { .. })));
}

proptest! {
    #[test]
    fn any_changed_byte_is_refused(at in 0usize..10_000, bit in 0u8..8) {
        let world = World::new(6, 2);
        let mut bytes = statement(&world, 0, "t").encode();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        let believed = SignedStatement::decode(&bytes).is_ok_and(|s| s.verify(&world.roster, "t").is_ok());
        prop_assert!(!believed);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(SignedStatement::decode(&bytes).is_err());
    }
}

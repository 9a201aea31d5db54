//! What a lying coordinator, a lying site and a broken line may send, and the refusal each gets.

use super::*;
use zeroize::Zeroizing;

fn verify(world: &World, signed: &SignedHello) -> HelloError {
    signed.verify(&world.round, &world.roster).unwrap_err()
}

/// A hello whose key, name or attempt was changed after signing.
fn forged(world: &World, change: impl Fn(&mut Hello)) -> SignedHello {
    let s = &world.sites[0];
    let mut hello = Hello { round: world.round.clone(), site: s.name.clone(), key: s.round_key().public() };
    let bytes = hello.clone().sign(&s.identity).encode();
    let signature = bytes[bytes.len() - SIGNATURE_BYTES..].to_vec();
    change(&mut hello);
    let mut bytes = hello.sign(&s.identity).encode();
    let start = bytes.len() - SIGNATURE_BYTES;
    bytes[start..].copy_from_slice(&signature);
    SignedHello::decode(&bytes).unwrap()
}

#[test]
fn hellos_for_something_else_are_refused() {
    let world = World::new(1, 3);
    let s = &world.sites[0];
    let name = || s.name.clone();
    // Replays of hellos that were valid in another attempt, round, plan or study.
    let mut other = world.round.clone();
    other.attempt = 1;
    let error = HelloError::WrongAttempt { site: name(), got: 1, want: 2 };
    assert_eq!(verify(&world, &s.hello(&other)), error);
    other.round = 2;
    let error = HelloError::WrongRound { site: name(), got: 2, want: 3 };
    assert_eq!(verify(&world, &s.hello(&other)), error);
    other.plan[0] ^= 1;
    assert_eq!(verify(&world, &s.hello(&other)), HelloError::WrongPlan { site: name() });
    other.study = StudyId::try_from("reading-2027").unwrap();
    let error =
        HelloError::WrongStudy { site: name(), got: other.study.clone(), want: world.round.study.clone() };
    assert_eq!(verify(&world, &s.hello(&other)), error);
    // A roster of another study serves no hello.
    let elsewhere = World::with_sites(other.clone(), World::new(1, 3).sites);
    let error = s.hello(&world.round).verify(&world.round, &elsewhere.roster).unwrap_err();
    assert!(matches!(error, HelloError::WrongStudy { .. }));
}

#[test]
fn forged_hellos_are_refused() {
    let world = World::new(1, 3);
    let s = &world.sites[0];
    let bad =
        |site: &SiteId| HelloError::Signature { site: site.clone(), error: IdentityError::BadSignature };
    let other_key = world.sites[1].round_key().public();
    assert_eq!(verify(&world, &forged(&world, |h| h.key = other_key)), bad(&s.name));
    let other_name = &world.sites[1].name;
    assert_eq!(verify(&world, &forged(&world, |h| h.site = other_name.clone())), bad(other_name));
    // A key pair that is not the enrolled one.
    let stranger = World::new(9, 3);
    assert_eq!(verify(&world, &stranger.sites[0].hello(&world.round)), bad(&s.name));
    let unknown = forged(&world, |h| h.site = site("nobody"));
    assert_eq!(verify(&world, &unknown), HelloError::UnknownSite { site: site("nobody") });
    // An enrolment or approval is no hello, and no signature of one serves another.
    let approval = SignedRoster::approval(&world.roster, &s.identity);
    let mut bytes = s.hello(&world.round).encode();
    let start = bytes.len() - SIGNATURE_BYTES;
    bytes[start..].copy_from_slice(&approval);
    assert_eq!(verify(&world, &SignedHello::decode(&bytes).unwrap()), bad(&s.name));
}

/// The points of low order in all their encodings of 255 bits, and with the top bit set, which X25519 ignores.
fn low_order() -> Vec<[u8; 32]> {
    let hex = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ];
    let byte = |h: &str, i: usize| u8::from_str_radix(&h[2 * i..2 * i + 2], 16).unwrap();
    let points = hex.map(|h| std::array::from_fn(|i| byte(h, i)));
    let topped = points.map(|mut p: [u8; 32]| {
        p[31] |= 0x80;
        p
    });
    points.into_iter().chain(topped).collect()
}

#[test]
fn keys_of_low_order_are_refused_twice() {
    let world = World::new(1, 3);
    let s = &world.sites[0];
    for bytes in low_order() {
        // When a hello is read, by the list ...
        assert!(RoundPublicKey::from_bytes(bytes).is_err(), "{bytes:?}");
        let key = RoundPublicKey::unchecked(bytes);
        let hello = Hello { round: world.round.clone(), site: s.name.clone(), key }.sign(&s.identity);
        let error = SignedHello::decode(&hello.encode()).unwrap_err();
        assert!(matches!(error, HelloError::Key { .. }), "{error:?}");
        // ... and, had it come through, when the mask is made.
        assert_eq!(s.round_key().shared(&key).unwrap_err(), RoundKeyError::LowOrder);
        let hellos = [hello, world.sites[1].hello(&world.round), world.sites[2].hello(&world.round)];
        let cohort = world.cohort_of(&hellos, b"");
        let error = world.sites[1].round_key().mask(&world.sites[1].name, &cohort, vec![1]).unwrap_err();
        assert_eq!(error, MaskError::Key { site: s.name.clone(), error: RoundKeyError::LowOrder });
    }
    let mut second_form_of_nine = [0xff; 32];
    (second_form_of_nine[0], second_form_of_nine[31]) = (0xf6, 0x7f);
    assert_eq!(RoundPublicKey::from_bytes(second_form_of_nine), Err(RoundKeyError::NotCanonical));
}

#[test]
fn weak_and_malformed_identities_are_refused() {
    let mut one = [0; 32];
    one[0] = 1;
    assert_eq!(PublicIdentity::from_bytes(&one), Err(IdentityError::WeakKey));
    assert_eq!(PublicIdentity::from_bytes(&[0; 32]), Err(IdentityError::WeakKey));
    let mut second_form_of_one = [0xff; 32];
    (second_form_of_one[0], second_form_of_one[31]) = (0xee, 0x7f);
    assert_eq!(PublicIdentity::from_bytes(&second_form_of_one), Err(IdentityError::NotAKey));
    let off_curve = (0..=255).map(|b| PublicIdentity::from_bytes(&[b; 32]));
    assert!(off_curve.filter(|k| *k == Err(IdentityError::NotAKey)).count() > 50);
}

#[test]
fn cohorts_with_two_of_anything_are_refused() {
    let world = World::new(1, 4);
    let open = |hellos: &[SignedHello]| {
        Cohort::open(&world.round, &world.roster, hellos, &Protection::Noise).unwrap_err()
    };
    let mut hellos = world.hellos();
    hellos.push(hellos[1].clone());
    assert_eq!(open(&hellos), CohortError::DuplicateSite { site: world.sites[1].name.clone() });
    // A site that copies another's round key.
    let (site, key) = (world.sites[0].name.clone(), world.sites[1].round_key().public());
    let copied = Hello { round: world.round.clone(), site, key }.sign(&world.sites[0].identity);
    let error = open(&[copied, world.sites[1].hello(&world.round)]);
    assert!(matches!(error, CohortError::DuplicateKey { .. }));
    // Exact sums need three sites and the plan's n_min.
    let exact = Protection::Sums(Thresholds::new(4, 1).unwrap());
    let size = |n: usize| Cohort::open(&world.round, &world.roster, &world.hellos()[..n], &exact);
    assert_eq!(size(2).unwrap_err(), CohortError::Size(ThresholdError::TwoSites));
    assert_eq!(size(3).unwrap_err(), CohortError::Size(ThresholdError::TooFewSites { sites: 3, n_min: 4 }));
    assert!(size(4).is_ok());
}

#[test]
fn whatever_differs_gives_another_context() {
    let world = World::new(1, 4);
    let context = world.cohort(b"theta").context();
    assert_ne!(world.cohort(b"thetb").context(), context, "an altered byte of the broadcast");
    assert_ne!(world.cohort(b"theta\0").context(), context, "a byte more");
    assert_ne!(world.cohort_of(&world.hellos()[..3], b"theta").context(), context, "another cohort");
    for (r, a) in [(3, 3), (4, 2)] {
        let mut other = World::new(1, 4);
        other.round = round(r, a);
        assert_ne!(other.cohort(b"theta").context(), context, "another round or attempt");
    }
    // Two sites with their keys swapped: the same set of names and the same set of keys.
    let mut swapped = World::new(1, 4);
    let secret = swapped.sites[0].round_secret;
    swapped.sites[0].round_secret = swapped.sites[1].round_secret;
    swapped.sites[1].round_secret = secret;
    assert_ne!(swapped.cohort(b"theta").context(), context, "swapped keys");
    let mut hellos = world.hellos();
    hellos.reverse();
    assert_eq!(world.cohort_of(&hellos, b"theta").context(), context, "the order of hellos is nothing");
}

#[test]
fn a_site_masks_only_for_its_own_hello() {
    let world = World::new(1, 4);
    let s = &world.sites[0];
    let without = world.cohort_of(&world.hellos()[1..], b"theta");
    let error = s.round_key().mask(&s.name, &without, vec![1]).unwrap_err();
    assert_eq!(error, MaskError::NotInCohort { site: s.name.clone() });
    // A valid hello of this site, with a key from another attempt's store.
    let error = world.sites[1].round_key().mask(&s.name, &world.cohort(b""), vec![1]).unwrap_err();
    assert_eq!(error, MaskError::NotOurKey { site: s.name.clone() });
}

#[test]
fn uploads_that_are_not_the_answer_are_refused() {
    let world = World::new(1, 4);
    let (cohort, name) = (world.cohort(b"theta"), || world.sites[0].name.clone());
    let upload = world.sites[0].upload(&cohort, &[1, 2, 3]);
    let bad = UploadError::Signature { site: name(), error: IdentityError::BadSignature };
    assert!(upload.verify(&cohort, 3).is_ok());
    let length = UploadError::Length { site: name(), got: 3, want: 4 };
    assert_eq!(upload.verify(&cohort, 4).unwrap_err(), length);
    let wrong = UploadError::WrongContext { site: name() };
    assert_eq!(upload.verify(&world.cohort(b"other"), 3).unwrap_err(), wrong);
    let outside = world.cohort_of(&world.hellos()[1..], b"theta");
    assert_eq!(upload.verify(&outside, 3).unwrap_err(), UploadError::NotInCohort { site: name() });
    // One bit of the words, or of the signature.
    let bytes = upload.encode();
    for back in [1, SIGNATURE_BYTES + 8 + 1] {
        let mut altered = bytes.clone();
        let place = altered.len() - back;
        altered[place] ^= 1;
        assert_eq!(Upload::decode(&altered).unwrap().verify(&cohort, 3).unwrap_err(), bad);
    }
    // Words that another site signs in this one's name.
    let masked = world.sites[0].round_key().mask(&name(), &cohort, vec![1, 2, 3]).unwrap();
    assert_eq!(masked.sign(&world.sites[1].identity).verify(&cohort, 3).unwrap_err(), bad);
}

#[test]
fn truncated_and_extended_encodings_are_refused() {
    let world = World::new(1, 3);
    let (hello, upload) =
        (world.hellos()[0].encode(), world.sites[0].upload(&world.cohort(b""), &[1]).encode());
    let roster = world.roster.encode();
    for n in 0..hello.len() {
        assert!(SignedHello::decode(&hello[..n]).is_err());
    }
    for n in 0..upload.len() {
        assert!(Upload::decode(&upload[..n]).is_err());
    }
    for n in 0..roster.len() {
        assert!(Roster::decode(&roster[..n]).is_err());
    }
    let longer = |bytes: &[u8]| [bytes, &[0]].concat();
    let trailing = DecodeError::Trailing { bytes: 1 };
    assert_eq!(SignedHello::decode(&longer(&hello)), Err(HelloError::Decode(trailing.clone())));
    assert_eq!(Upload::decode(&longer(&upload)), Err(UploadError::Decode(trailing.clone())));
    assert_eq!(Roster::decode(&longer(&roster)), Err(RosterError::Decode(trailing)));
    // One kind of message is not another, and another version is refused by name.
    let label = DecodeError::Label { expected: "fedirt signed hello" };
    assert_eq!(SignedHello::decode(&upload), Err(HelloError::Decode(label)));
    let mut newer = roster.clone();
    newer[8 + "fedirt roster".len() + 8] = 2;
    assert_eq!(Roster::decode(&newer), Err(RosterError::Decode(DecodeError::Version { got: 2 })));
    // A length that no memory holds.
    let mut huge = hello.clone();
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(SignedHello::decode(&huge).is_err());
}

#[test]
fn rosters_are_signed_by_all_and_hold_ones_own_key() {
    let world = World::new(1, 3);
    let (me, own) = (&world.sites[0].name, world.sites[0].identity.public());
    let mut signed = SignedRoster::new(world.roster.clone());
    for s in &world.sites[..2] {
        signed.approve(&s.name, SignedRoster::approval(&world.roster, &s.identity)).unwrap();
    }
    let missing = [world.sites[2].name.clone()].into();
    assert_eq!(signed.accept(me, &own), Err(RosterError::NotApproved { missing }));
    let forged = SignedRoster::approval(&world.roster, &world.sites[0].identity);
    assert!(matches!(signed.approve(&world.sites[2].name, forged), Err(RosterError::Signature { .. })));
    let genuine = SignedRoster::approval(&world.roster, &world.sites[2].identity);
    signed.approve(&world.sites[2].name, genuine).unwrap();
    assert_eq!(signed.accept(me, &own).unwrap(), &world.roster);
    let not_ours = Err(RosterError::NotOurKey { site: me.clone() });
    assert_eq!(signed.accept(me, &world.sites[1].identity.public()), not_ours);
}

#[test]
fn rosters_refuse_entries_that_are_not_what_they_say() {
    let world = World::new(1, 2);
    let study = || world.round.study.clone();
    let entry = |k: usize, name: &str| Enrolment::sign(study(), site(name), &world.sites[k].identity);
    let roster = |entries: &[Enrolment]| {
        Roster::of(study(), 1, entries.iter().map(|e| (e.site.clone(), e.key))).unwrap_err()
    };
    assert_eq!(roster(&[entry(0, "a"), entry(1, "a")]), RosterError::DuplicateName { site: site("a") });
    let same = RosterError::DuplicateKey { first: site("a"), second: site("b") };
    assert_eq!(roster(&[entry(0, "a"), entry(0, "b")]), same);
    let mut stolen = entry(0, "a");
    stolen.key = world.sites[1].identity.public();
    assert!(matches!(stolen.verify(), Err(RosterError::Signature { .. })));
}

#[test]
fn stored_keys_come_back() {
    let world = World::new(1, 1);
    let s = &world.sites[0];
    let stored: (Zeroizing<[u8; 32]>, Zeroizing<[u8; 32]>) = (s.identity.secret(), s.round_key().secret());
    assert_eq!(Identity::from_secret(&stored.0).public(), s.identity.public());
    assert_eq!(RoundKey::from_secret(&stored.1).public(), s.round_key().public());
}

//! Version 1 against values that vectors_v1.py computed with other libraries. A change that breaks these is a
//! new version of the protocol.

use super::super::mask::{apply, pair_key};
use super::vectors_v1 as v1;
use super::*;
use sha2::{Digest, Sha256};

const SITES: [&str; 3] = ["Alba", "Borgo", "Città"];
const BROADCAST: &[u8] = b"theta and all that was asked for";

fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|b| format!("{b:02x}")).collect()
}

fn words_hex(words: &[u64]) -> String {
    words.iter().map(|w| hex(w.to_le_bytes())).collect()
}

fn world() -> World {
    let secret = |kind: &str, name: &str| -> [u8; 32] { Sha256::digest(format!("{kind} {name}")).into() };
    let sites = SITES.map(|name| Site {
        name: site(name),
        identity: Identity::from_secret(&secret("identity", name)),
        round_secret: secret("round key", name),
    });
    World::with_sites(round(3, 2), sites.into())
}

fn input(k: usize, length: usize) -> Vec<u64> {
    let k = k as i64;
    (0..length as i64).map(|n| if n % 2 == 0 { k * 1000 + n } else { -(k + 1) * n } as u64).collect()
}

#[test]
fn identities_rosters_and_hellos() {
    let world = world();
    for (k, s) in world.sites.iter().enumerate() {
        assert_eq!(hex(s.identity.public().to_bytes()), v1::PUBLIC_IDENTITIES[k]);
        assert_eq!(s.identity.public().fingerprint().to_string(), v1::FINGERPRINTS[k]);
        assert_eq!(hex(s.round_key().public().as_bytes()), v1::ROUND_PUBLIC_KEYS[k]);
        assert!(hex(s.hello(&world.round).encode()).ends_with(v1::HELLO_SIGNATURES[k]));
    }
    assert_eq!(hex(world.roster.fingerprint().as_bytes()), v1::ROSTER_HASH);
}

#[test]
fn context_and_pair_keys() {
    let world = world();
    let cohort = world.cohort(BROADCAST);
    assert_eq!(hex(cohort.context().as_bytes()), v1::CONTEXT);
    for (pair, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
        let (low, high) = (&world.sites[i], &world.sites[j]);
        for (mine, theirs) in [(low, high), (high, low)] {
            let shared = mine.round_key().shared(&theirs.round_key().public()).unwrap();
            let key = pair_key(&shared, &cohort.context(), &low.name, &high.name);
            assert_eq!(hex(*key), v1::PAIR_KEYS[pair]);
            let mut word = [0];
            apply(&mut word, 0, &key, true);
            assert_eq!(words_hex(&word), v1::FIRST_MASK_WORDS[pair]);
        }
    }
}

#[test]
fn uploads_and_sum() {
    let world = world();
    let cohort = world.cohort(BROADCAST);
    let inputs: Vec<Vec<u64>> = (0..3).map(|k| input(k, 11)).collect();
    let uploads: Vec<Upload> =
        world.sites.iter().zip(&inputs).map(|(s, words)| s.upload(&cohort, words)).collect();
    for (k, upload) in uploads.iter().enumerate() {
        assert_eq!(words_hex(upload.words()), v1::MASKED[k]);
        assert_eq!(hex(upload.signature()), v1::UPLOAD_SIGNATURES[k]);
        assert_eq!(Upload::decode(&upload.encode()).unwrap(), *upload);
        let long = world.sites[k].upload(&cohort, &input(k, 1030));
        assert_eq!(hex(long.hash()), v1::LONG_MASKED_HASHES[k]);
    }
    let sum = open(&cohort, 11, &uploads).unwrap();
    assert_eq!(words_hex(&sum), v1::SUM);
    assert_eq!(sum, plain_sum(&inputs));
}

#[test]
fn pieces_of_a_vector_get_pieces_of_one_keystream() {
    let (key, mut whole) = ([7; 32], vec![1u64; 5000]);
    let mut pieces = whole.clone();
    apply(&mut whole, 0, &key, false);
    for (start, length) in [(0, 2048), (2048, 2048), (4096, 904)] {
        apply(&mut pieces[start..start + length], start, &key, false);
    }
    assert_eq!(whole, pieces);
}

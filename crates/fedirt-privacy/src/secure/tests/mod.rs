//! A small study to test with, and tests of each part.

mod negative;
mod properties;
mod rules;
mod sparse;
mod speed;
mod statements;
mod vectors;
mod vectors_v1;

use super::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

/// A study whose sites can do all that sites do.
pub(super) struct World {
    pub(super) round: RoundId,
    pub(super) roster: Roster,
    pub(super) sites: Vec<Site>,
}

pub(super) struct Site {
    pub(super) name: SiteId,
    pub(super) identity: Identity,
    round_secret: [u8; 32],
}

impl Site {
    /// The round key, as a site would read it back from its store.
    pub(super) fn round_key(&self) -> RoundKey {
        RoundKey::from_secret(&self.round_secret)
    }

    pub(super) fn hello(&self, round: &RoundId) -> SignedHello {
        let (site, key) = (self.name.clone(), self.round_key().public());
        Hello { round: round.clone(), site, key }.sign(&self.identity)
    }

    pub(super) fn upload(&self, cohort: &BoundCohort, words: &[u64]) -> Upload {
        self.round_key().mask(&self.name, cohort, words.to_vec()).unwrap().sign(&self.identity)
    }
}

pub(super) fn site(name: &str) -> SiteId {
    SiteId::try_from(name).unwrap()
}

pub(super) fn round(round: u64, attempt: u64) -> RoundId {
    use sha2::{Digest, Sha256};
    let study = StudyId::try_from("reading-2026").unwrap();
    RoundId { study, plan: Sha256::digest(b"plan").into(), round, attempt }
}

impl World {
    /// Sites with keys from a seed.
    pub(super) fn new(seed: u64, count: usize) -> Self {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let sites = (0..count).map(|k| {
            let identity = Identity::generate(&mut random);
            let round_secret = *RoundKey::generate(&mut random).secret();
            Site { name: site(&format!("site {k}")), identity, round_secret }
        });
        Self::with_sites(round(3, 2), sites.collect())
    }

    pub(super) fn with_sites(round: RoundId, sites: Vec<Site>) -> Self {
        let enrolments: Vec<Enrolment> =
            sites.iter().map(|s| Enrolment::sign(round.study.clone(), s.name.clone(), &s.identity)).collect();
        enrolments.iter().for_each(|enrolment| enrolment.verify().unwrap());
        let roster =
            Roster::of(round.study.clone(), 1, enrolments.into_iter().map(|e| (e.site, e.key))).unwrap();
        Self { round, roster, sites }
    }

    pub(super) fn hellos(&self) -> Vec<SignedHello> {
        self.sites.iter().map(|s| s.hello(&self.round)).collect()
    }

    /// The cohort of all sites. Protected by noise, so that two sites are allowed.
    pub(super) fn cohort(&self, broadcast: &[u8]) -> BoundCohort {
        self.cohort_of(&self.hellos(), broadcast)
    }

    pub(super) fn cohort_of(&self, hellos: &[SignedHello], broadcast: &[u8]) -> BoundCohort {
        Cohort::open(&self.round, &self.roster, hellos, &Protection::Noise).unwrap().bind(broadcast)
    }
}

/// The sum of a cohort's uploads, each verified, as a coordinator opens it.
pub(super) fn open(cohort: &BoundCohort, length: usize, uploads: &[Upload]) -> Result<Vec<u64>, UploadError> {
    let mut total = vec![0; length];
    for upload in uploads {
        upload.verify(cohort, length)?;
        crate::fixed_point::add(&mut total, upload.words());
    }
    Ok(total)
}

/// Sums of columns modulo 2⁶⁴.
pub(super) fn plain_sum(inputs: &[Vec<u64>]) -> Vec<u64> {
    let mut total = vec![0; inputs[0].len()];
    inputs.iter().for_each(|words| crate::fixed_point::add(&mut total, words));
    total
}

#[test]
fn secrets_do_not_print() {
    let world = World::new(1, 3);
    for s in &world.sites {
        let shown = format!("{:?} {:?}", s.identity, s.round_key());
        for secret in [*s.identity.secret(), s.round_secret] {
            let hex: String = secret.iter().map(|b| format!("{b:02x}")).collect();
            assert!(!shown.contains(&hex) && !shown.contains(&format!("{secret:?}")), "{shown}");
        }
    }
    assert_eq!(format!("{:?}", world.sites[0].round_key()), "RoundKey(secret)");
}

#[test]
fn fingerprints_are_compared_as_they_are_spoken() {
    let fingerprint = World::new(2, 1).sites[0].identity.public().fingerprint();
    let shown = fingerprint.to_string();
    assert_eq!((shown.len(), shown.split(' ').count()), (47, 8));
    assert!(fingerprint.matches(&shown.replace(' ', "-")));
    assert!(!fingerprint.matches(&shown[1..]));
    assert!(!fingerprint.matches(""));
}

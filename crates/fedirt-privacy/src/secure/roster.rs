//! Who takes part in a study, and under which keys.
//!
//! Each site signs its own entry, which shows that it holds the key. The collected roster is then signed by
//! every site on it: a site that has compared one other site's fingerprint learns from that site's signature
//! that both see the same list. What a signature cannot give is the first comparison: keys whose fingerprints
//! nobody compared are keys on the coordinator's word.

use super::encoding::{DecodeError, Fields, Reader};
use super::identity::{Fingerprint, Identity, IdentityError, PublicIdentity, SIGNATURE_BYTES};
use super::name::{SiteId, StudyId, list};
use std::collections::{BTreeMap, BTreeSet};

const ENROLMENT: &str = "fedirt enrolment";
const SIGNED_ENROLMENT: &str = "fedirt signed enrolment";
const ROSTER: &str = "fedirt roster";
const APPROVAL: &str = "fedirt roster approval";

/// Why a roster, or an entry of it, is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RosterError {
    /// The entry or roster is for another study.
    #[error("{site} enrolled in the study {got}, not in {want}")]
    WrongStudy {
        /// The site.
        site: SiteId,
        /// Study of the entry.
        got: StudyId,
        /// Study of the roster.
        want: StudyId,
    },
    /// A signature does not belong to the site's key.
    #[error("{site}: {error}")]
    Signature {
        /// The site.
        site: SiteId,
        /// The underlying error.
        error: IdentityError,
    },
    /// A name appears twice.
    #[error("two sites are called {site}")]
    DuplicateName {
        /// The name that occurs twice.
        site: SiteId,
    },
    /// Two sites show the same key: one of them does not exist.
    #[error("{first} and {second} have the same key")]
    DuplicateKey {
        /// One of the two sites.
        first: SiteId,
        /// The other site.
        second: SiteId,
    },
    /// The site is not on the roster.
    #[error("{site} is not on the roster")]
    UnknownSite {
        /// The site.
        site: SiteId,
    },
    /// The roster holds another key for this site than the one the site made.
    #[error("the roster holds a key for {site} that {site} did not make")]
    NotOurKey {
        /// This site.
        site: SiteId,
    },
    /// Sites have not signed the roster.
    #[error("the roster is not signed by {}", list(missing))]
    NotApproved {
        /// The sites that have not signed.
        missing: BTreeSet<SiteId>,
    },
    /// The bytes cannot be decoded as a roster.
    #[error("roster: {0}")]
    Decode(#[from] DecodeError),
}

/// A site's entry, signed with the key it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrolment {
    /// The study.
    pub study: StudyId,
    /// The site.
    pub site: SiteId,
    /// The site's public key.
    pub key: PublicIdentity,
    /// Signature over study, site and key.
    pub signature: [u8; SIGNATURE_BYTES],
}

impl Enrolment {
    /// Signs the enrolment of a site.
    pub fn sign(study: StudyId, site: SiteId, identity: &Identity) -> Self {
        let key = identity.public();
        let signature = identity.sign(&Self::message(&study, &site, &key));
        Self { study, site, key, signature }
    }

    fn message(study: &StudyId, site: &SiteId, key: &PublicIdentity) -> Vec<u8> {
        Fields::new(ENROLMENT)
            .bytes(study.as_str().as_bytes())
            .bytes(site.as_str().as_bytes())
            .bytes(&key.to_bytes())
            .finish()
    }

    /// The bytes to send.
    pub fn encode(&self) -> Vec<u8> {
        Fields::new(SIGNED_ENROLMENT)
            .bytes(self.study.as_str().as_bytes())
            .bytes(self.site.as_str().as_bytes())
            .bytes(&self.key.to_bytes())
            .bytes(&self.signature)
            .finish()
    }

    /// Reads what was sent. Nothing in it is known to be true before [`Enrolment::verify`].
    pub fn decode(bytes: &[u8]) -> Result<Self, RosterError> {
        let mut reader = Reader::new(bytes, SIGNED_ENROLMENT)?;
        let (study, site) = (reader.name("the study")?, reader.name::<SiteId>("the site")?);
        let key = PublicIdentity::from_bytes(&reader.array("the key")?)
            .map_err(|error| RosterError::Signature { site: site.clone(), error })?;
        let signature = reader.array("the signature")?;
        reader.finish()?;
        Ok(Self { study, site, key, signature })
    }

    /// Whether the site holds the key that it names.
    pub fn verify(&self) -> Result<(), RosterError> {
        self.key
            .verify(&Self::message(&self.study, &self.site, &self.key), &self.signature)
            .map_err(|error| RosterError::Signature { site: self.site.clone(), error })
    }
}

/// The sites of a study and their keys. A site that enrols again (a lost disk, a restored back-up) makes a new
/// edition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    study: StudyId,
    edition: u64,
    entries: BTreeMap<SiteId, PublicIdentity>,
}

impl Roster {
    /// A roster of keys whose enrolments have been verified.
    pub fn of(
        study: StudyId,
        edition: u64,
        entries: impl IntoIterator<Item = (SiteId, PublicIdentity)>,
    ) -> Result<Self, RosterError> {
        Self::from_entries(study, edition, entries.into_iter().collect())
    }

    fn from_entries(
        study: StudyId,
        edition: u64,
        list: Vec<(SiteId, PublicIdentity)>,
    ) -> Result<Self, RosterError> {
        let mut owners: BTreeMap<[u8; 32], SiteId> = BTreeMap::new();
        let mut entries = BTreeMap::new();
        for (site, key) in list {
            if let Some(first) = owners.insert(key.to_bytes(), site.clone()) {
                return Err(if first == site {
                    RosterError::DuplicateName { site }
                } else {
                    RosterError::DuplicateKey { first, second: site }
                });
            }
            if entries.insert(site.clone(), key).is_some() {
                return Err(RosterError::DuplicateName { site });
            }
        }
        Ok(Self { study, edition, entries })
    }

    /// The study.
    pub fn study(&self) -> &StudyId {
        &self.study
    }

    /// The edition; a site never goes back to a lower one.
    pub fn edition(&self) -> u64 {
        self.edition
    }

    /// The sites and their keys, in the order of their names.
    pub fn entries(&self) -> &BTreeMap<SiteId, PublicIdentity> {
        &self.entries
    }

    /// A site's key.
    pub fn key(&self, site: &SiteId) -> Option<&PublicIdentity> {
        self.entries.get(site)
    }

    /// The roster as bytes, in one way only.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Fields::new(ROSTER);
        fields.bytes(self.study.as_str().as_bytes()).number(self.edition).number(self.entries.len() as u64);
        for (site, key) in &self.entries {
            fields.bytes(site.as_str().as_bytes()).bytes(&key.to_bytes());
        }
        fields.finish()
    }

    /// Reads a roster; entries must be sorted.
    pub fn decode(bytes: &[u8]) -> Result<Self, RosterError> {
        let mut reader = Reader::new(bytes, ROSTER)?;
        let (study, edition) = (reader.name("the study")?, reader.number("the edition")?);
        let mut entries: Vec<(SiteId, PublicIdentity)> = Vec::new();
        for _ in 0..reader.number("the number of sites")? {
            let site: SiteId = reader.name("a site")?;
            let key = PublicIdentity::from_bytes(&reader.array("a key")?)
                .map_err(|error| RosterError::Signature { site: site.clone(), error })?;
            if entries.last().is_some_and(|(last, _)| *last > site) {
                return Err(DecodeError::Malformed { field: "the order of sites" }.into());
            }
            entries.push((site, key));
        }
        reader.finish()?;
        Self::from_entries(study, edition, entries)
    }

    /// SHA-256 of the encoding: what a site pins and an officer compares.
    pub fn fingerprint(&self) -> Fingerprint {
        use sha2::{Digest, Sha256};
        Fingerprint(Sha256::digest(self.encode()).into())
    }
}

/// A roster with the signatures of the sites on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRoster {
    roster: Roster,
    approvals: BTreeMap<SiteId, [u8; SIGNATURE_BYTES]>,
}

impl SignedRoster {
    /// A roster that nobody has signed yet.
    pub fn new(roster: Roster) -> Self {
        Self { roster, approvals: BTreeMap::new() }
    }

    fn message(roster: &Roster) -> Vec<u8> {
        Fields::new(APPROVAL).bytes(roster.fingerprint().as_bytes()).finish()
    }

    /// A site's signature, once its officer has compared the fingerprints.
    pub fn approval(roster: &Roster, identity: &Identity) -> [u8; SIGNATURE_BYTES] {
        identity.sign(&Self::message(roster))
    }

    /// Adds a signature, checked.
    pub fn approve(&mut self, site: &SiteId, signature: [u8; SIGNATURE_BYTES]) -> Result<(), RosterError> {
        let key = self.roster.key(site).ok_or_else(|| RosterError::UnknownSite { site: site.clone() })?;
        key.verify(&Self::message(&self.roster), &signature)
            .map_err(|error| RosterError::Signature { site: site.clone(), error })?;
        self.approvals.insert(site.clone(), signature);
        Ok(())
    }

    /// The signatures so far, to be passed on.
    pub fn approvals(&self) -> &BTreeMap<SiteId, [u8; SIGNATURE_BYTES]> {
        &self.approvals
    }

    /// The roster, if every site has signed it and it holds this site's own key: now it may be pinned.
    pub fn accept(&self, site: &SiteId, own: &PublicIdentity) -> Result<&Roster, RosterError> {
        match self.roster.key(site) {
            None => return Err(RosterError::UnknownSite { site: site.clone() }),
            Some(key) if key != own => return Err(RosterError::NotOurKey { site: site.clone() }),
            Some(_) => {}
        }
        let missing: BTreeSet<SiteId> =
            self.roster.entries.keys().filter(|s| !self.approvals.contains_key(*s)).cloned().collect();
        if missing.is_empty() { Ok(&self.roster) } else { Err(RosterError::NotApproved { missing }) }
    }
}

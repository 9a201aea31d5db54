//! The sites of one attempt, and the hash that binds their masks to everything they were told.

use super::encoding::Fields;
use super::hello::{Hello, HelloError, RoundId, SignedHello};
use super::identity::PublicIdentity;
use super::name::SiteId;
use super::roster::Roster;
use super::round_key::RoundPublicKey;
use super::thresholds::{Protection, ThresholdError};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

const CONTEXT: &str = "fedirt context";

/// Why a set of hellos does not make a cohort.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CohortError {
    /// A hello is refused.
    #[error(transparent)]
    Hello(#[from] HelloError),
    /// There are too few sites.
    #[error(transparent)]
    Size(#[from] ThresholdError),
    /// One site sent two hellos.
    #[error("two hellos carry the name {site}")]
    DuplicateSite {
        /// The name that occurs twice.
        site: SiteId,
    },
    /// Two sites with one round key: one has copied the other's.
    #[error("{first} and {second} sent the same round key")]
    DuplicateKey {
        /// One of the two sites.
        first: SiteId,
        /// The other site.
        second: SiteId,
    },
    /// A large cohort without this site's own hello.
    #[error("the cohort that {site} was shown does not have the hello that {site} sent")]
    NotUnderRoot {
        /// This site.
        site: SiteId,
    },
    /// Hellos of a large cohort that are not those of the sites to mask with.
    #[error("the hellos that {site} was shown are not those of its neighbours in this attempt")]
    OtherNeighbours {
        /// This site.
        site: SiteId,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) identity: PublicIdentity,
    pub(super) key: RoundPublicKey,
}

/// The sites of one attempt: every hello verified against the pinned roster, and enough of them.
///
/// Not checked here: that the cohort follows from the last one ([`super::Chain`]), and that this site's own
/// hello is in it, which [`super::RoundKey::mask`] checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cohort {
    round: RoundId,
    members: BTreeMap<SiteId, Member>,
}

impl Cohort {
    /// Verifies the hellos that the coordinator returned.
    pub fn open(
        round: &RoundId,
        roster: &Roster,
        hellos: &[SignedHello],
        protection: &Protection,
    ) -> Result<Self, CohortError> {
        // One by one and not as a batch: a batch accepts some signatures that strict verification refuses.
        let verified: Vec<_> = hellos.par_iter().map(|signed| signed.verify(round, roster)).collect();
        let hellos = verified.into_iter().collect::<Result<Vec<&Hello>, HelloError>>()?;
        Self::of_verified(round, roster, hellos, protection)
    }

    /// The cohort of hellos that [`SignedHello::verify`] has found in order, one by one as they came.
    pub fn of_verified<'a>(
        round: &RoundId,
        roster: &Roster,
        hellos: impl IntoIterator<Item = &'a Hello>,
        protection: &Protection,
    ) -> Result<Self, CohortError> {
        let cohort = Self::gathered(round, roster, hellos)?;
        protection.check_size(cohort.members.len())?;
        Ok(cohort)
    }

    /// Verified hellos by site, however many: no two from one site or with one key.
    pub(super) fn gathered<'a>(
        round: &RoundId,
        roster: &Roster,
        hellos: impl IntoIterator<Item = &'a Hello>,
    ) -> Result<Self, CohortError> {
        let mut members = BTreeMap::new();
        let mut owners: BTreeMap<RoundPublicKey, SiteId> = BTreeMap::new();
        for hello in hellos {
            let site = hello.site.clone();
            let identity =
                *roster.key(&site).ok_or_else(|| HelloError::UnknownSite { site: site.clone() })?;
            if members.insert(site.clone(), Member { identity, key: hello.key }).is_some() {
                return Err(CohortError::DuplicateSite { site });
            }
            if let Some(first) = owners.insert(hello.key, site.clone()) {
                return Err(CohortError::DuplicateKey { first, second: site });
            }
        }
        Ok(Self { round: round.clone(), members })
    }

    /// The attempt at the round.
    pub fn round(&self) -> &RoundId {
        &self.round
    }

    /// The sites, in the order of their names.
    pub fn sites(&self) -> BTreeSet<SiteId> {
        self.members.keys().cloned().collect()
    }

    pub(super) fn members(&self) -> &BTreeMap<SiteId, Member> {
        &self.members
    }

    /// Binds the cohort to what was broadcast: *every* byte on which the answer depends (parameters,
    /// statistics asked for, codebook hash, matrices, noise), as the site received it. What is left out here
    /// can differ between sites unnoticed.
    pub fn bind(self, broadcast: &[u8]) -> BoundCohort {
        let broadcast: [u8; 32] = Sha256::digest(broadcast).into();
        let mut fields = Fields::new(CONTEXT);
        self.round.write(&mut fields);
        fields.bytes(&broadcast).number(self.members.len() as u64);
        for (site, member) in &self.members {
            fields.bytes(site.as_str().as_bytes()).bytes(member.key.as_bytes());
        }
        self.bound(Context(fields.hash()))
    }

    pub(super) fn bound(self, context: Context) -> BoundCohort {
        BoundCohort { cohort: self, context }
    }
}

/// SHA-256 of (version, study, plan hash, round, attempt, SHA-256 of the broadcast, sorted names and round
/// keys of the cohort). Public: it is the salt of every mask, and no secret.
///
/// The study is in it besides the plan, for two studies may have the same plan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Context([u8; 32]);

impl Context {
    /// The hash as bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// A cohort and the context of its masks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundCohort {
    cohort: Cohort,
    context: Context,
}

impl BoundCohort {
    /// The cohort of sites.
    pub fn cohort(&self) -> &Cohort {
        &self.cohort
    }

    /// The context: the hash that binds the masks to what was broadcast.
    pub fn context(&self) -> Context {
        self.context
    }

    /// The same cohort with another context, to test that masks then do not cancel.
    #[cfg(test)]
    pub(super) fn with_context(&self, context: [u8; 32]) -> Self {
        Self { cohort: self.cohort.clone(), context: Context(context) }
    }
}

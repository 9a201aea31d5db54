//! Secure aggregation: a fixed cohort, all or nothing.
//!
//! Each round has two messages from every site. A site says [`hello`](SignedHello) with a fresh X25519 key,
//! signed with the key it was enrolled with; the signed hellos that come back define the [`Cohort`]. Every
//! pair of sites then shares a secret, from which both draw the same mask; one adds it and the other
//! subtracts it. An [`Upload`] is the site's vector under the masks of all its pairs. The sum over the whole
//! cohort has no masks left; a sum over fewer sites is uniform noise.
//!
//! ```text
//! Identity ─ Enrolment ─ Roster ─ SignedRoster            once, at enrolment
//! RoundKey ─ Hello ─ SignedHello ─ Cohort ─ BoundCohort   each attempt of each round
//! words ─ Masked ─ Upload ─ verified and added ─ words
//! ```
//!
//! **Promised**, against a coordinator that works together with any c ≤ |U| − 2 sites of the cohort U, as long
//! as the pinned roster holds the true keys: nothing is learnt beyond the sum over U. The masks depend on
//! every byte that was broadcast, on the cohort and on its keys, so a coordinator that shows two sites
//! different parameters, cohorts or keys gets noise. Where a plan lets a large cohort mask with a few neighbours
//! ([`Sparse`]), the promise is against a third of the plan's sites, or the plan's c if that is more, decided on before they say hello.
//!
//! **Not promised:**
//! - that the sum itself is harmless: pooled answers can be inferred from exact sums, and two sums over
//!   cohorts that differ by one site give that site's numbers. [`Chain`] and [`sendable`] keep the second in
//!   bounds; only noise protects against the first;
//! - honest inputs: a site may send anything, and nobody can tell;
//! - availability: one missing upload and the sum stays closed. There is no recovery of masks, because
//!   completing without a lost site is the leak above;
//! - that memory holds no trace of a secret: keys and keystream are wiped when dropped, copies that the
//!   compiler or the libraries leave on the stack are not.
//!
//! This module has no files, clocks or randomness of its own. What must be on disk before what is sent is
//! written at [`RoundKey`] and [`Masked`].

mod chain;
mod cohort;
mod coverage;
mod encoding;
mod hello;
mod identity;
mod mask;
mod name;
mod roster;
mod round_key;
mod sparse;
mod statement;
mod thresholds;
mod upload;

#[cfg(test)]
mod tests;

pub use chain::{Chain, ChainRefusal, CohortChange, check_other_study};
pub use cohort::{BoundCohort, Cohort, CohortError, Context};
pub use coverage::{CoverageRefusal, check_coordinate_steps, sendable, suppress};
pub use encoding::DecodeError;
pub use hello::{Hello, HelloError, RoundId, SignedHello};
pub use identity::{Fingerprint, Identity, IdentityError, PublicIdentity, SIGNATURE_BYTES};
pub use mask::{MaskError, Masked};
pub use name::{NameError, SiteId, StudyId, has_unseen, is_unseen};
pub use roster::{Enrolment, Roster, RosterError, SignedRoster};
pub use round_key::{RoundKey, RoundKeyError, RoundPublicKey};
pub use sparse::{Neighbourhood, Neighbourhoods, Shown, Sparse};
pub use statement::{SignedStatement, Statement, StatementError};
pub use thresholds::{Protection, ThresholdError, Thresholds};
pub use upload::{Upload, UploadError};

/// Version of everything that is signed, hashed or derived here. Another layout is another version.
pub const VERSION: u64 = 1;

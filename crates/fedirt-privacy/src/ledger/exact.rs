//! Exact releases: which sums may follow which, across studies of one population.

use super::{ExactMode, ExactRelease, Ledger, Refusal};
use crate::secure::check_other_study;
use sha2::{Digest, Sha256};
use std::cmp::Ordering;

/// Rows that must differ between two exact releases, if any do.
pub const FEWEST_CHANGED_ROWS: usize = 10;

/// A fingerprint of a row: eight bytes of SHA-256 of a salt that never leaves the site, and the row's bytes.
/// It tells whether a row changed and, without the salt, nothing else. Put the student's number into the bytes
/// where there is one.
pub fn row_fingerprint(salt: &[u8; 32], row: &[u8]) -> u64 {
    let hash: [u8; 32] = Sha256::new().chain_update(salt).chain_update(row).finalize().into();
    hash.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// How many are in both of two sorted lists, equal ones counted as often as they are there.
pub(super) fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (i, j, both) = (i + 1, j + 1, both + 1),
        }
    }
    both
}

/// How many are in one of two sorted lists only.
fn symmetric_difference(a: &[u64], b: &[u64]) -> usize {
    a.len() + b.len() - 2 * shared(a, b)
}

impl Ledger {
    /// Whether exact sums may leave; rows are sorted. Only `secure` has something to keep: which sites and which students a
    /// difference of two sums is about. It is compared with every earlier exact release of the population, in
    /// whatever mode. Within a study the chain of cohorts is [`crate::secure::Chain`]'s affair; rows may not
    /// change a little there either.
    pub(super) fn check_exact(&self, release: &ExactRelease) -> Result<(), Refusal> {
        let ExactMode::Secure(thresholds) = release.mode else { return Ok(()) };
        for (_, earlier) in self.exact.iter().filter(|(_, e)| e.population == release.population) {
            if earlier.study != release.study {
                let strictest = match earlier.mode {
                    ExactMode::Secure(other) if other.n_min() > thresholds.n_min() => other,
                    _ => thresholds,
                };
                check_other_study(strictest, &earlier.cohort, &release.cohort)?;
            }
            let changed = symmetric_difference(&earlier.rows, &release.rows);
            if (1..FEWEST_CHANGED_ROWS).contains(&changed) {
                let (population, study) = (release.population.clone(), earlier.study.clone());
                return Err(Refusal::FewRowsChanged { population, study, changed });
            }
        }
        Ok(())
    }
}

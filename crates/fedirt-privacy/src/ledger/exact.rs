//! Exact releases: which sums may follow which, across studies of one population.

use super::{Debit, ExactMode, ExactRelease, Label, Ledger, LedgerRefusal, Member, Students};
use crate::secure::{ChainRefusal, SiteId, StudyId, Thresholds, check_other_study};
use sha2::{Digest, Sha256};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

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
pub(super) fn symmetric_difference(a: &[u64], b: &[u64]) -> usize {
    a.len() + b.len() - 2 * shared(a, b)
}

/// Rows that must be there before the same rows are taken for the same students.
const ROWS_THAT_TELL: usize = 10;

impl ExactRelease {
    /// The sites with their keys; none in `plain`, where sites know no keys of others.
    fn by_key(&self) -> BTreeMap<[u8; 32], (&SiteId, bool)> {
        let known = |(site, member): (_, &Member)| (member.key, (site, member.verified));
        self.cohort.iter().zip(&self.members).map(known).collect()
    }

    /// The fewest students that have changed since an earlier release, by any measure that sees a change. None: the earlier one was entered by a version that
    /// noted rows over the items of its plan alone, and these rows are all others.
    fn changed_since(&self, earlier: &Self) -> Option<usize> {
        match (&earlier.students, &self.students) {
            (Some(before), Some(now)) => Some(before.fewest_changed(now)),
            _ if earlier.study != self.study && shared(&earlier.rows, &self.rows) == 0 => {
                (earlier.rows.is_empty() || self.rows.is_empty() || self.students.is_none())
                    .then(|| symmetric_difference(&earlier.rows, &self.rows))
            }
            _ => Some(symmetric_difference(&earlier.rows, &self.rows)),
        }
    }

    /// Whether the sum of two studies' cohorts differs by a few sites. Sites are known by their keys, which a coordinator does
    /// not choose; what it can invent are sites that nobody has verified, so the verified ones are counted by themselves too.
    fn check_cohort(&self, earlier: &Self, thresholds: Thresholds) -> Result<(), LedgerRefusal> {
        let strictest = match earlier.mode {
            ExactMode::Secure(other) if other.n_min() > thresholds.n_min() => other,
            _ => thresholds,
        };
        let (before, now) = (earlier.by_key(), self.by_key());
        if now.is_empty() || earlier.mode == ExactMode::Plain {
            return Ok(check_other_study(strictest, &earlier.cohort, &self.cohort)?);
        }
        if before.is_empty() {
            let (population, study) = (self.population.clone(), earlier.study.clone());
            return Err(LedgerRefusal::EarlierVersion { population, study });
        }
        let verified =
            |key: &[u8; 32]| [&before, &now].iter().any(|all| all.get(key).is_some_and(|(_, v)| *v));
        let keys = || before.keys().chain(now.keys());
        let differ: BTreeSet<&[u8; 32]> =
            keys().filter(|key| before.contains_key(*key) != now.contains_key(*key)).collect();
        let names = |keys: &dyn Fn(&[u8; 32]) -> bool| -> BTreeSet<SiteId> {
            let name = |key: &&[u8; 32]| before.get(*key).or(now.get(*key)).map(|(site, _)| (*site).clone());
            differ.iter().filter(|key| keys(key)).filter_map(name).collect()
        };
        let n_min = strictest.n_min();
        for count in [differ.len(), differ.iter().filter(|key| verified(key)).count()] {
            if (1..n_min).contains(&count) {
                let sites = names(&|key| count == differ.len() || verified(key));
                return Err(ChainRefusal::NearlyTheSame { sites, n_min }.into());
            }
        }
        Ok(())
    }
}

impl Ledger {
    /// Whether exact sums may leave; rows are sorted. Only `secure` has something to keep: which sites and which students a
    /// difference of two sums is about. It is compared with every earlier exact release of the population, in
    /// whatever mode. Within a study the chain of cohorts is [`crate::secure::Chain`]'s affair; students may not
    /// change a little there either.
    pub(super) fn check_exact(&self, release: &ExactRelease) -> Result<(), LedgerRefusal> {
        self.check_private_before(release)?;
        let ExactMode::Secure(thresholds) = release.mode else { return Ok(()) };
        for (_, earlier) in self.exact.iter().filter(|(_, e)| e.population == release.population) {
            if earlier.study != release.study {
                release.check_cohort(earlier, thresholds)?;
            }
            let (population, study) = (release.population.clone(), earlier.study.clone());
            match release.changed_since(earlier) {
                None => return Err(LedgerRefusal::EarlierVersion { population, study }),
                Some(changed) if (1..FEWEST_CHANGED_ROWS).contains(&changed) => {
                    return Err(LedgerRefusal::FewStudentsChanged { population, study, changed });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Exact sums of students to whom an ε was promised: the promise would be void.
    fn check_private_before(&self, release: &ExactRelease) -> Result<(), LedgerRefusal> {
        // Entries of earlier versions were not asked.
        if release.after_private_releases != Some(false) {
            return Ok(());
        }
        let of_these = |(population, ..): &&(Label, StudyId, u64, u64)| *population == release.population;
        let studies: BTreeSet<StudyId> =
            self.debited.keys().filter(of_these).map(|(_, study, ..)| study.clone()).collect();
        if studies.is_empty() {
            return Ok(());
        }
        Err(LedgerRefusal::PrivateReleased { population: release.population.clone(), studies })
    }

    /// Whether these students have an account, or releases, under another name.
    pub(super) fn check_other_accounts(
        &self,
        population: &Label,
        rows: &[u64],
        students: Option<&Students>,
    ) -> Result<(), LedgerRefusal> {
        // Entries of earlier versions were not asked.
        let Some(students) = students else { return Ok(()) };
        let refuse = |other: &Label, shared| {
            let (population, other) = (population.clone(), other.clone());
            Err(LedgerRefusal::OtherAccount { population, other, shared })
        };
        for (_, other, known) in self.students.iter().filter(|(_, other, _)| other != population) {
            let shared = known.in_common(students);
            if shared > 0 {
                return refuse(other, shared);
            }
        }
        let same = |there: &[u64]| there == rows && rows.len() >= ROWS_THAT_TELL;
        match self.rows.iter().find(|(_, other, there)| other != population && same(there)) {
            Some((_, other, _)) => refuse(other, rows.len()),
            None => Ok(()),
        }
    }

    /// Everything about a debit's students; the budget is checked apart.
    pub(super) fn check_students(&self, debit: &Debit) -> Result<(), LedgerRefusal> {
        self.check_other_accounts(&debit.population, &debit.rows, debit.students.as_ref())
    }
}

//! What a line of the ledger says.

use super::budget::Budget;
use super::students::Students;
use crate::accountant::Slack;
use crate::secure::{NameError, SiteId, StudyId, Thresholds};
use std::collections::BTreeSet;

/// A short visible text: a population, a statistic, a time. It follows the rules of names of studies, so it has
/// no tabs and no line breaks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(String);

impl Label {
    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for Label {
    type Error = NameError;

    fn try_from(text: &str) -> Result<Self, NameError> {
        StudyId::try_from(text).map(|_| Self(text.into()))
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// An entry of the ledger, which is one line.
#[derive(Debug, Clone, PartialEq)]
pub enum LedgerEntry {
    /// The officer sets a budget, once and for all.
    Open(AccountOpening),
    /// Noisy sums are about to be uploaded.
    Debit(Debit),
    /// Exact sums are about to be uploaded.
    Exact(ExactRelease),
}

/// A budget for a population.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountOpening {
    /// The population: the students that the account is about.
    pub population: Label,
    /// The budget.
    pub budget: Budget,
    /// The time, as text.
    pub time: Label,
}

/// One attempt's noisy sum. Every uploaded attempt is debited, whether or not its sum opened.
#[derive(Clone, PartialEq)]
pub struct Debit {
    /// The population: the students that the account is about.
    pub population: Label,
    /// The study.
    pub study: StudyId,
    /// The round.
    pub round: u64,
    /// The attempt at the round.
    pub attempt: u64,
    /// |U|, the number of sites in the cohort.
    pub cohort: u32,
    /// SHA-256 of what the attempt was asked: it has one question.
    pub question: [u8; 32],
    /// What it costs: μ² = 1/σ² of a sum in which every student takes part.
    pub mu_squared: f64,
    /// The additional price of noise in integers.
    pub slack: Slack,
    /// The officer has accepted that exact sums were released before: ε is "for this release alone".
    pub after_exact_releases: bool,
    /// A fingerprint of each row ([`super::row_fingerprint`]), in any order; they never leave the site.
    pub rows: Vec<u64>,
    /// The students, for comparison with other releases. Entries of earlier versions have none.
    pub students: Option<Students>,
    /// The time, as text.
    pub time: Label,
}

impl std::fmt::Debug for Debit {
    /// Leaves out the fingerprints of rows.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { population, study, round, attempt, mu_squared, time, .. } = self;
        write!(
            f,
            "Debit({population}, {study}, round {round}, attempt {attempt}, mu squared {mu_squared}, {time})"
        )
    }
}

/// How exact sums leave the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactMode {
    /// The coordinator sees the site's sums.
    Plain,
    /// The coordinator sees sums over the cohort.
    Secure(Thresholds),
}

/// A site of a cohort, known by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Hash of the key.
    pub key: [u8; 32],
    /// Whether this site's officer has verified that it is who it says.
    pub verified: bool,
}

/// Exact sums of a study.
#[derive(Clone, PartialEq, Eq)]
pub struct ExactRelease {
    /// The population: the students that the account is about.
    pub population: Label,
    /// The study.
    pub study: StudyId,
    /// Who sees the sums.
    pub mode: ExactMode,
    /// Names of the statistics.
    pub statistics: BTreeSet<Label>,
    /// U, the sites in the cohort.
    pub cohort: BTreeSet<SiteId>,
    /// Its sites by their keys, in the order of `cohort`; empty in `plain`, where sites see no keys of others, and in entries of
    /// earlier versions.
    pub members: Vec<Member>,
    /// A fingerprint of each row ([`super::row_fingerprint`]), in any order; they never leave the site.
    pub rows: Vec<u64>,
    /// The students, for comparison with other releases. Entries of earlier versions have none.
    pub students: Option<Students>,
    /// Whether the officer has accepted that an ε was promised to these students before, which exact sums undo. Entries of
    /// earlier versions do not say.
    pub after_private_releases: Option<bool>,
    /// Hash of the question, as the study's journal has it. Entries of earlier versions have none.
    pub question: Option<[u8; 32]>,
    /// The time, as text.
    pub time: Label,
}

impl std::fmt::Debug for ExactRelease {
    /// Leaves out the fingerprints of rows.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { population, study, mode, time, .. } = self;
        write!(f, "ExactRelease({population}, {study}, {mode:?}, {} rows, {time})", self.rows.len())
    }
}

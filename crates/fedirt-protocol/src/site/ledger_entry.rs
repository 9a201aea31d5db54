//! How a release stands in a site's ledger. Agents and the fault simulator use this one mapping.

use super::Release;
use crate::SiteId;
use crate::message::Turn;
use crate::terms::Terms;
use fedirt_model::statistics::Mode;
use fedirt_privacy::accountant::Slack;
use fedirt_privacy::ledger::{
    Debit, ExactMode, ExactRelease, Label, LedgerEntry, LedgerRefusal, Member, Students,
};
use fedirt_privacy::secure::{NameError, StudyId};
use std::collections::BTreeSet;

/// Of whom a release is, as the site's ledger knows them.
#[derive(Debug, Clone)]
pub struct Subjects {
    /// What the officer calls them.
    pub population: Label,
    /// Fingerprints of their rows.
    pub rows: Vec<u64>,
    /// Fingerprints of the students. None: the entry cannot be compared with releases about other items.
    pub students: Option<Students>,
    /// Whether the officer accepts exact sums and private releases of the same students (`allow_exact_and_private`).
    pub exact_and_private: bool,
}

/// Why a release cannot be entered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EntryError {
    /// A private release without a price.
    #[error("the round has no price, and a private one must have")]
    NoPrice,
    /// A name or a time that the ledger cannot hold.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// Why nothing is sent on the strength of a site's ledger.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DebitRefusal {
    /// The release cannot be entered.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// The ledger refuses the entry.
    #[error(transparent)]
    Ledger(#[from] LedgerRefusal),
    /// The round was paid for, and what is asked now is something else.
    #[error(
        "{turn} of {study} was paid for with another question: a second answer would be a release for nothing. The study's folder was set back; it cannot go on here"
    )]
    PaidForAnotherQuestion {
        /// The round and attempt.
        turn: Turn,
        /// The study.
        study: StudyId,
    },
    /// The ledger has entries of a study that has no journal.
    #[error(
        "a study called {0} has released numbers of this home before, and its journal is not here: the coordinator must give the new study another name"
    )]
    JournalLost(StudyId),
}

impl Release {
    /// The entry of this release: of whom, and when.
    pub fn ledger_entry(
        &self,
        terms: &Terms,
        subjects: &Subjects,
        time: &str,
    ) -> Result<LedgerEntry, EntryError> {
        let Subjects { population, rows, students, exact_and_private } = subjects.clone();
        let study = terms.study.clone();
        let time = Label::try_from(time)?;
        let mode = match terms.mode {
            Mode::Plain => ExactMode::Plain,
            Mode::Secure => ExactMode::Secure(terms.thresholds),
            Mode::Private => {
                let cost = self.cost.ok_or(EntryError::NoPrice)?;
                return Ok(LedgerEntry::Debit(Debit {
                    population,
                    study,
                    round: u64::from(self.turn.round),
                    attempt: u64::from(self.turn.attempt),
                    cohort: u32::try_from(self.cohort.len()).unwrap_or(u32::MAX),
                    question: self.question,
                    mu_squared: cost.mu_squared,
                    slack: Slack { eta: cost.eta, kappa: cost.kappa },
                    after_exact_releases: exact_and_private,
                    rows,
                    students,
                    time,
                }));
            }
        };
        let statistics = self.statistics.iter().map(|(name, _)| Label::try_from(name.as_str()));
        let cohort = self.cohort.iter().map(|name| SiteId::try_from(name.as_str()));
        Ok(LedgerEntry::Exact(ExactRelease {
            population,
            study,
            mode,
            statistics: statistics.collect::<Result<_, _>>()?,
            cohort: cohort.collect::<Result<BTreeSet<_>, _>>()?,
            members: self.keys.iter().map(|&(key, verified)| Member { key, verified }).collect(),
            after_private_releases: students.is_some().then_some(exact_and_private),
            question: Some(self.question),
            rows,
            students,
            time,
        }))
    }
}

//! Why a ledger cannot be read, and why an entry is refused.

use super::text::LineError;
use super::{Balance, FEWEST_CHANGED_ROWS, Label};
use crate::accountant::AccountantError;
use crate::secure::{ChainRefusal, StudyId};
use std::collections::BTreeSet;

/// Why a text cannot be read as a ledger.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LedgerError {
    /// The text ends within a line: a crash in the middle of an append.
    #[error(
        "the ledger ends in the middle of line {line}: the program or the machine stopped while it was written. \
         Nothing was sent on the strength of that line, for lines are on disk before anything is sent. Keep a \
         copy of the file, cut it to its first {whole_bytes} bytes, and start again"
    )]
    Torn {
        /// The unfinished line.
        line: usize,
        /// Bytes of whole lines before it.
        whole_bytes: usize,
    },
    /// A hash does not follow from what is before it.
    #[error(
        "line {line} of the ledger does not follow from the line before it: the file was changed after it was \
         written. What was spent is no longer known; restore the file from a copy, and do not mend it by hand"
    )]
    Broken {
        /// The number of the line.
        line: usize,
    },
    /// The chain holds, but this is no entry that this program writes.
    #[error("line {line} of the ledger is not an entry that this program knows: {reason}")]
    Malformed {
        /// The number of the line.
        line: usize,
        /// What is wrong with it.
        reason: LineError,
    },
    /// The chain holds, but the entry should have been refused when it was made.
    #[error("line {line} of the ledger should not be there: {refusal}")]
    NotAllowed {
        /// The number of the line.
        line: usize,
        /// The reason.
        refusal: Box<LedgerRefusal>,
    },
    /// A line that was proposed before another one was applied.
    #[error("the ledger has grown since this line was proposed; propose it again")]
    Stale,
}

/// Why an entry is refused. Nothing is sent then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LedgerRefusal {
    /// Nobody has opened an account.
    #[error("no privacy budget has been set for {population}; the privacy officer opens an account first")]
    NoAccount {
        /// The population: the students that the account is about.
        population: Label,
    },
    /// The account is there already: a budget is set once.
    #[error("{population} has a budget already, and a budget is not changed")]
    AlreadyOpen {
        /// The population: the students that the account is about.
        population: Label,
    },
    /// The budget does not suffice.
    #[error("the budget of {population} does not reach: {}", shortfall(balance, *asked))]
    OverBudget {
        /// The population: the students that the account is about.
        population: Label,
        /// The account as it stands.
        balance: Box<Balance>,
        /// The μ² that the entry would spend.
        asked: f64,
    },
    /// The price of integer noise, summed over all debits, is beyond what the account sets aside.
    #[error(
        "the account of {population} sets aside too little for noise in integers (eta {eta:e}, kappa {kappa:e} in \
         all): use a finer lattice or a larger tail exponent"
    )]
    Slack {
        /// The population: the students that the account is about.
        population: Label,
        /// The sum of η over all debits.
        eta: f64,
        /// The sum of κ over all debits.
        kappa: f64,
    },
    /// The attempt has been debited. Where the question is the same, the program stopped before it answered, and may
    /// answer now; another question under the same debit would be a release for nothing.
    #[error(
        "round {round}, attempt {attempt} of {study} is in the ledger already; send again what was stored"
    )]
    AlreadyDebited {
        /// The study.
        study: StudyId,
        /// The round.
        round: u64,
        /// The attempt at the round.
        attempt: u64,
        /// SHA-256 of the question that was debited.
        question: [u8; 32],
    },
    /// Exact sums were released before.
    #[error(
        "exact sums of {population} were released on {}: an epsilon would not describe what is known about these \
         students. The officer may allow it as an epsilon for this release alone",
        dates(times)
    )]
    ExactReleased {
        /// The population: the students that the account is about.
        population: Label,
        /// The time, as text.
        times: Vec<Label>,
    },
    /// A sum that would show a few sites.
    #[error(transparent)]
    Cohort(#[from] ChainRefusal),
    /// A sum that would show a few students.
    #[error(
        "few students of {population}, or of their answers, changed since {study}: the difference of the two sums would be \
         about them alone, whatever the items. At least {FEWEST_CHANGED_ROWS} must differ, or none"
    )]
    FewStudentsChanged {
        /// The population: the students that the account is about.
        population: Label,
        /// The earlier study.
        study: StudyId,
        /// In one of the two only, at least; a student with another answer counts twice.
        changed: usize,
    },
    /// Exact sums after private ones.
    #[error(
        "{population} took part in {} in mode private: exact sums of the same students would undo the epsilon that was \
         promised to them. The officer may allow it (allow_exact_and_private in policy.toml)",
        names(studies)
    )]
    PrivateReleased {
        /// The population: the students that the account is about.
        population: Label,
        /// The private studies.
        studies: BTreeSet<StudyId>,
    },
    /// The same students under another name.
    #[error(
        "{shared} of these students are known here as {other:?}: under a second name, {population:?}, they would have a second \
         budget, and what is promised to them would hold for neither. Call them by the first name; if they are other students, \
         give them ids that differ",
        other = other.as_str(), population = population.as_str()
    )]
    OtherAccount {
        /// The name that was given now.
        population: Label,
        /// The name by which they are known.
        other: Label,
        /// How many.
        shared: usize,
    },
    /// An entry that says too little for comparison.
    #[error(
        "exact sums of {population} left in {study}, which an earlier version of fedirt entered without the sites' keys and \
         without what tells single students apart: whether the two studies differ by a few sites or students cannot be told. \
         Take part in mode private; or, if these are other students, call them by another name"
    )]
    EarlierVersion {
        /// The population: the students that the account is about.
        population: Label,
        /// The earlier study.
        study: StudyId,
    },
    /// A number that cannot be debited or budgeted.
    #[error(transparent)]
    Number(#[from] AccountantError),
}

/// How far a budget is from reaching, in ε and in μ².
fn shortfall(balance: &Balance, asked: f64) -> String {
    format!(
        "epsilon = {:.2} is spent, and with this it would be {:.2}, of {} at delta = {:e} [{} is spent and {} is asked for, of {} ({})]",
        balance.as_epsilon(balance.spent),
        balance.as_epsilon(balance.spent + asked),
        balance.budget.epsilon.value(),
        balance.budget.delta.value(),
        figure(balance.spent),
        figure(asked),
        figure(balance.limit),
        balance.budget
    )
}

/// Five digits, whatever the size.
fn figure(x: f64) -> String {
    if x == 0.0 || x >= 1e-3 { format!("{x:.5}") } else { format!("{x:.4e}") }
}

fn names(studies: &BTreeSet<StudyId>) -> String {
    studies.iter().map(StudyId::as_str).collect::<Vec<_>>().join(", ")
}

fn dates(times: &[Label]) -> String {
    times.iter().map(Label::as_str).collect::<Vec<_>>().join(", ")
}

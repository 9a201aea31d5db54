//! The ledger: what a site has given away about a population, in a file that only grows.
//!
//! It is a filter: each debit is checked against the budget of the population before anything is sent, and
//! what would go beyond it is refused. A population is what the officer says it is (a cohort of students), never
//! the hash of a file: the same students in another file have the same budget. Nothing is refunded.
//!
//! ```text
//! propose(entry) ─ a line ─ append, fsync ─ apply ─ only now send
//! ```
//!
//! A line is the SHA-256 of (label, hash of the line before, rest of the line), a tab, and the entry as
//! tab-separated `key=value` (see `text.rs`). The hash of the last line is the [`Head`]; results quote it. A line
//! that was changed, inserted or taken out breaks the chain, and such a ledger is refused. Lines cut off the
//! *end* leave a whole chain: a site that has kept an earlier head (results do) asks [`Ledger::contains`].
//!
//! Two kinds of entries:
//! - **Private releases** debit μ² from an account ([`Budget`]).
//! - **Exact releases** (`plain`, `secure`) count as ε = ∞ against the coordinator. Private results on
//!   that population are refused afterwards, unless the debit says that the officer accepts an ε "for this
//!   release alone". A `secure` study is refused when, subtracted from an earlier one, it would show a few
//!   sites or a few students.
//!
//! This module has no files and no clock: the caller appends, synchronises and gives the time.

mod budget;
mod entry;
mod exact;
mod line;
mod refusal;
mod students;
mod text;

pub use crate::hash_chain::Head;
pub use budget::{Balance, Budget};
pub use entry::{AccountOpening, Debit, ExactMode, ExactRelease, Label, LedgerEntry, Member};
pub use exact::{FEWEST_CHANGED_ROWS, row_fingerprint};
pub use line::Line;
pub use refusal::{LedgerError, LedgerRefusal};
pub use students::{NoStudents, Students};
pub use text::LineError;

use crate::accountant::Slack;
use crate::hash_chain::{lines, whole_lines};
use crate::secure::StudyId;
use std::collections::{BTreeMap, BTreeSet};

/// A ledger that was read and replayed.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    heads: Vec<Head>,
    accounts: BTreeMap<Label, Balance>,
    /// Attempts that are paid for, with the hash of their question.
    debited: BTreeMap<(Label, StudyId, u64, u64), [u8; 32]>,
    /// With the numbers of their lines; rows are sorted.
    exact: Vec<(usize, ExactRelease)>,
    /// Rows as lines spell them out, sorted, with the line and its population.
    rows: Vec<(usize, Label, Vec<u64>)>,
    /// Students as lines spell them out.
    students: Vec<(usize, Label, Students)>,
}

impl Ledger {
    /// A ledger without lines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a ledger: verifies the chain, and replays every entry by the rules that held when it was made.
    /// The bytes of the file as they are: one that was torn may end within a letter.
    pub fn read(text: impl AsRef<[u8]>) -> Result<Self, LedgerError> {
        let (text, mut ledger) = (text.as_ref(), Self::new());
        let whole = whole_lines(text);
        for line in lines(whole) {
            let number = ledger.heads.len() + 1;
            let broken = LedgerError::Broken { line: number };
            let body = line.and_then(|line| line::follow(ledger.head(), line)).ok_or(broken)?;
            let entry = text::parse(body, &ledger)
                .map_err(|reason| LedgerError::Malformed { line: number, reason })?;
            let not_allowed = |refusal| LedgerError::NotAllowed { line: number, refusal: Box::new(refusal) };
            let line = ledger.propose(entry).map_err(not_allowed)?;
            if line.body() != body {
                return Err(LedgerError::Malformed { line: number, reason: LineError::Spelling });
            }
            ledger.apply(line)?;
        }
        if whole.len() < text.len() {
            return Err(LedgerError::Torn { line: ledger.heads.len() + 1, whole_bytes: whole.len() });
        }
        Ok(ledger)
    }

    /// The hash of the last line, or of nothing. Results quote it.
    pub fn head(&self) -> Head {
        self.heads.last().copied().unwrap_or(Head::EMPTY)
    }

    /// Whether this was the head at some time: false for a head that a result quotes means that lines were cut
    /// off the end.
    pub fn contains(&self, head: Head) -> bool {
        head == Head::EMPTY || self.heads.contains(&head)
    }

    /// Lines.
    pub fn lines(&self) -> usize {
        self.heads.len()
    }

    /// What is spent, and of what.
    pub fn balance(&self, population: &Label) -> Option<&Balance> {
        self.accounts.get(population)
    }

    /// Whether a whole run fits, before it begins: each planned round costs this μ² and this much for noise in integers.
    pub fn fits(&self, population: &Label, debits: &[(f64, Slack)]) -> Result<(), LedgerRefusal> {
        let mut balance = self.account(population)?.clone();
        debits.iter().try_for_each(|(mu_squared, slack)| balance.debit(population, *mu_squared, *slack))
    }

    fn account(&self, population: &Label) -> Result<&Balance, LedgerRefusal> {
        self.accounts
            .get(population)
            .ok_or_else(|| LedgerRefusal::NoAccount { population: population.clone() })
    }

    /// Checks an entry and gives the line to be appended. **Append it and synchronise the file, then
    /// [`Self::apply`] it, then send**, in this order.
    pub fn propose(&self, mut entry: LedgerEntry) -> Result<Line, LedgerRefusal> {
        match &mut entry {
            LedgerEntry::Open(opening) => {
                let population = opening.population.clone();
                if self.accounts.contains_key(&population) {
                    return Err(LedgerRefusal::AlreadyOpen { population });
                }
            }
            LedgerEntry::Debit(debit) => {
                debit.rows.sort_unstable();
                // First: what is paid for already asks for nothing more.
                self.check_new(debit)?;
                self.account(&debit.population)?.clone().debit(
                    &debit.population,
                    debit.mu_squared,
                    debit.slack,
                )?;
                self.check_exact_before(debit)?;
                self.check_students(debit)?;
            }
            LedgerEntry::Exact(release) => {
                release.rows.sort_unstable();
                self.check_exact(release)?;
                self.check_other_accounts(&release.population, &release.rows, release.students.as_ref())?;
            }
        }
        Ok(Line::new(self.head(), text::body(&entry, self), entry))
    }

    /// Takes up a line that is on disk.
    pub fn apply(&mut self, line: Line) -> Result<(), LedgerError> {
        if line.previous() != self.head() {
            return Err(LedgerError::Stale);
        }
        let number = self.heads.len() + 1;
        let not_allowed = |refusal| LedgerError::NotAllowed { line: number, refusal: Box::new(refusal) };
        let head = line.head();
        match line.into_entry() {
            LedgerEntry::Open(opening) => {
                self.accounts.insert(opening.population, Balance::open(opening.budget));
            }
            LedgerEntry::Debit(Debit {
                population,
                study,
                round,
                attempt,
                question,
                mu_squared,
                slack,
                rows,
                students,
                ..
            }) => {
                if let Some(balance) = self.accounts.get_mut(&population) {
                    balance.debit(&population, mu_squared, slack).map_err(not_allowed)?;
                }
                self.keep_rows(number, &population, &rows);
                self.keep_students(number, &population, students.as_ref());
                self.debited.insert((population, study, round, attempt), question);
            }
            LedgerEntry::Exact(release) => {
                self.keep_rows(number, &release.population, &release.rows);
                self.keep_students(number, &release.population, release.students.as_ref());
                self.exact.push((number, release));
            }
        }
        self.heads.push(head);
        Ok(())
    }

    fn keep_rows(&mut self, line: usize, population: &Label, rows: &[u64]) {
        if !self.rows.iter().any(|(_, known, there)| known == population && there == rows) {
            self.rows.push((line, population.clone(), rows.to_vec()));
        }
    }

    fn keep_students(&mut self, line: usize, population: &Label, students: Option<&Students>) {
        if let Some(students) = students
            && !self.students.iter().any(|(_, known, there)| known == population && there == students)
        {
            self.students.push((line, population.clone(), students.clone()));
        }
    }

    fn check_new(&self, debit: &Debit) -> Result<(), LedgerRefusal> {
        let Debit { population, study, round, attempt, .. } = debit;
        let key = (population.clone(), study.clone(), *round, *attempt);
        match self.debited.get(&key) {
            None => Ok(()),
            Some(question) => Err(LedgerRefusal::AlreadyDebited {
                study: study.clone(),
                round: *round,
                attempt: *attempt,
                question: *question,
            }),
        }
    }

    fn check_exact_before(&self, debit: &Debit) -> Result<(), LedgerRefusal> {
        let population = &debit.population;
        let times = self.exact_release_times(population);
        if times.is_empty() || debit.after_exact_releases {
            Ok(())
        } else {
            Err(LedgerRefusal::ExactReleased { population: population.clone(), times })
        }
    }

    /// Whether a study has an entry.
    pub fn knows_study(&self, study: &StudyId) -> bool {
        self.debits_of(study).next().is_some()
            || self.exact.iter().any(|(_, release)| release.study == *study)
    }

    /// Rounds and attempts of a study that are paid for.
    pub fn debits_of(&self, study: &StudyId) -> impl Iterator<Item = (u64, u64)> {
        let of_study = move |(_, known, _, _): &&(Label, StudyId, u64, u64)| known == study;
        self.debited.keys().filter(of_study).map(|(_, _, round, attempt)| (*round, *attempt))
    }

    /// The questions of a study that exact sums answered, where its lines name them.
    pub fn questions_of(&self, study: &StudyId) -> impl Iterator<Item = [u8; 32]> {
        let of_study = move |release: &&ExactRelease| release.study == *study;
        self.exact.iter().map(|(_, release)| release).filter(of_study).filter_map(|release| release.question)
    }

    /// Other populations under which some of these rows are known, with the most that one of their lines shares.
    pub fn other_names(&self, population: &Label, rows: &[u64]) -> BTreeMap<&Label, usize> {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        let mut names = BTreeMap::new();
        for (_, other, there) in self.rows.iter().filter(|(_, other, _)| other != population) {
            let shared = exact::shared(&sorted, there);
            let most = names.entry(other).or_insert(0);
            *most = shared.max(*most);
        }
        names.retain(|_, shared| *shared > 0);
        names
    }

    /// Whether a head, as text, is one of this ledger's.
    pub fn has_head(&self, head: &str) -> bool {
        self.heads.iter().any(|known| known.to_string() == head)
    }

    /// The populations that have an account or releases, in the order of their names.
    pub fn populations(&self) -> BTreeSet<&Label> {
        let released = self.exact.iter().map(|(_, release)| &release.population);
        self.accounts.keys().chain(released).collect()
    }

    /// When exact sums of a population were released, each time once.
    pub fn exact_release_times(&self, population: &Label) -> Vec<Label> {
        let mut times: Vec<Label> = self
            .exact
            .iter()
            .filter(|(_, r)| r.population == *population)
            .map(|(_, r)| r.time.clone())
            .collect();
        times.dedup();
        times
    }
}

#[cfg(test)]
mod tests;

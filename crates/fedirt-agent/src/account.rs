//! The ledger in the store: an entry before anything leaves, under a lock that studies of one home share.

use super::AgentError;
use super::home::{Home, LEDGER, LEDGER_HEAD};
use super::journal::JournalEvent;
use super::responses::OwnResponses;
use super::store::{Lock, Readers};
use super::study::{Study, StudyFolder};
use data_encoding::HEXLOWER;
use fedirt_data::Audience;
use fedirt_privacy::accountant::{Delta, Epsilon, Slack};
use fedirt_privacy::hash_chain::{Head, whole_lines};
use fedirt_privacy::ledger::{AccountOpening, Budget, Label, Ledger, LedgerEntry, LedgerRefusal};
use fedirt_privacy::secure::StudyId;
use fedirt_protocol::Terms;
use fedirt_protocol::message::Turn;
use fedirt_protocol::policy::Policy;
use fedirt_protocol::preview;
use fedirt_protocol::site::{DebitRefusal, PrivateCost, Release, Subjects};

/// The account of one population in one study.
#[derive(Debug)]
pub(super) struct Account {
    home: Home,
    subjects: Subjects,
    /// What each planned round costs; empty where sums are exact.
    planned: Vec<PrivateCost>,
}

/// The ledger's answer: its head with the new entry, or why it refuses.
pub(super) type LedgerAnswer = Result<String, DebitRefusal>;

/// Waits for the lock of the ledger.
fn lock(home: &Home) -> Result<Lock, AgentError> {
    Ok(home.store().lock("ledger.lock")?)
}

/// Reads a ledger under its lock. A torn last line is cut off: nothing was sent on the strength of it. Without the
/// lock, it could be a line that another study is about to finish.
fn read_and_mend(home: &Home, _held: &Lock) -> Result<Ledger, AgentError> {
    let bytes = home.store().read(LEDGER)?.unwrap_or_default();
    let whole = whole_lines(&bytes);
    if whole.len() < bytes.len() {
        home.store().replace(LEDGER, whole, Readers::Owner)?;
    }
    parsed(home, whole)
}

fn parsed(home: &Home, whole: &[u8]) -> Result<Ledger, AgentError> {
    Ledger::read(whole).map_err(|error| AgentError::Ledger { location: home.location(LEDGER), error })
}

/// Reads and verifies a ledger, and changes nothing; an empty one if there is none. A last line that is not finished is
/// passed over: it may be one that is being written. Gives the text of the whole lines too.
pub(super) fn read_with_text(home: &Home) -> Result<(Ledger, Vec<u8>), AgentError> {
    let mut bytes = home.store().read(LEDGER)?.unwrap_or_default();
    bytes.truncate(whole_lines(&bytes).len());
    Ok((parsed(home, &bytes)?, bytes))
}

fn read(home: &Home) -> Result<Ledger, AgentError> {
    read_with_text(home).map(|(ledger, _)| ledger)
}

impl Account {
    /// The account of a population with these answers, in a study.
    pub(super) fn new(
        home: &Home,
        population: &str,
        study: &Study,
        own: &OwnResponses,
        policy: &Policy,
    ) -> Result<Self, AgentError> {
        let population = Label::try_from(population)
            .map_err(|error| AgentError::BadPopulation { population: population.to_owned(), error })?;
        let salt = home.salt()?;
        // Who counts in the sums is compared with who counted earlier: a student who is left out of one study is one who has gone.
        let counted = own.with_open_groups(policy);
        let subjects = Subjects {
            population,
            rows: counted.fingerprints(&study.plan, &salt),
            students: Some(counted.students(&study.plan, &salt)),
            exact_and_private: policy.allow_exact_and_private,
        };
        let planned = preview::planned_costs(&study.terms, &own.table)
            .map_err(|error| AgentError::Mismatch(error.to_string()))?;
        Ok(Self { home: home.clone(), subjects, planned })
    }

    /// Fingerprints of the rows.
    pub(super) fn rows(&self) -> &[u64] {
        &self.subjects.rows
    }

    /// Checks the ledger before anything is sent at all: whether a release with these sites would be refused, and
    /// whether the budget reaches for all planned rounds.
    pub(super) fn foresee(&self, terms: &Terms) -> Result<LedgerAnswer, AgentError> {
        let ledger = read(&self.home)?;
        if ledger.knows_study(&terms.study) {
            return Ok(Err(DebitRefusal::JournalLost(terms.study.clone())));
        }
        let first = Release {
            turn: Turn { round: 1, attempt: 1 },
            question: [0; 32],
            cohort: terms.sites.keys().map(ToString::to_string).collect(),
            // Nobody's keys are known yet; with them the cohort is compared at every round.
            keys: Vec::new(),
            statistics: Vec::new(),
            points: Vec::new(),
            asked: None,
            by_name: false,
            design: None,
            place: None,
            cost: self.planned.first().copied(),
        };
        let price = |cost: &PrivateCost| (cost.mu_squared, Slack { eta: cost.eta, kappa: cost.kappa });
        let planned: Vec<_> = self.planned.iter().map(price).collect();
        if !planned.is_empty()
            && let Err(refusal) = ledger.fits(&self.subjects.population, &planned)
        {
            return Ok(Err(refusal.into()));
        }
        let proposed = self.entry(terms, &first).and_then(|entry| Ok(ledger.propose(entry)?));
        Ok(proposed.map(|line| line.head().to_string()))
    }

    /// Enters a release; it is on the disk when this returns.
    pub(super) fn debit(&self, terms: &Terms, release: &Release) -> Result<LedgerAnswer, AgentError> {
        let entry = match self.entry(terms, release) {
            Ok(entry) => entry,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let lock = lock(&self.home)?;
        // Read afresh: another study of this home may have written to it.
        let ledger = read_and_mend(&self.home, &lock)?;
        match ledger.propose(entry) {
            // The program stopped after this line, before anything was sent on the strength of it.
            Err(LedgerRefusal::AlreadyDebited { question, .. }) if question == release.question => {
                Ok(Ok(ledger.head().to_string()))
            }
            Err(LedgerRefusal::AlreadyDebited { .. }) => Ok(Err(DebitRefusal::PaidForAnotherQuestion {
                turn: release.turn,
                study: terms.study.clone(),
            })),
            Err(refusal) => Ok(Err(refusal.into())),
            Ok(line) => {
                self.home.store().append(LEDGER, line.text().as_bytes())?;
                note_head(&self.home, line.head())?;
                Ok(Ok(line.head().to_string()))
            }
        }
    }

    fn entry(&self, terms: &Terms, release: &Release) -> Result<LedgerEntry, DebitRefusal> {
        let time = self.home.now().to_string();
        Ok(release.ledger_entry(terms, &self.subjects, &time)?)
    }
}

/// Keeps the ledger's head beside it: lines that are cut off its end are missed even where the journal that knew them is gone too.
fn note_head(home: &Home, head: Head) -> Result<(), AgentError> {
    Ok(home.store().replace(LEDGER_HEAD, head.to_string().as_bytes(), Readers::Owner)?)
}

/// Whether the ledger has every line that a journal of this home has seen: one that was cut, removed or restored from a
/// back-up would give spent budget back.
pub fn check_ledger(home: &Home) -> Result<(), AgentError> {
    let ledger = read(home)?;
    let noted = home.store().read(LEDGER_HEAD)?.and_then(|bytes| String::from_utf8(bytes).ok());
    if noted.is_some_and(|head| !ledger.has_head(&head)) {
        return Err(AgentError::Mismatch(format!(
            "{}: lines are missing that {} has seen: the ledger was cut, removed or restored from a back-up. Restore its newest copy; without it, what these students have spent is not known",
            home.location(LEDGER),
            home.location(LEDGER_HEAD)
        )));
    }
    for study in home.studies()? {
        for entry in home.study(&study)?.entries()? {
            if let JournalEvent::Debited { ledger_head, turn, .. } = &entry.record
                && !ledger.has_head(ledger_head)
            {
                return Err(AgentError::Mismatch(format!(
                    "{}: lines are missing that the journal of {study} has seen ({turn}, {}): the ledger was cut, removed or restored from a back-up. Restore its newest copy; without it, what these students have spent is not known",
                    home.location(LEDGER),
                    entry.time
                )));
            }
        }
    }
    Ok(())
}

/// Whether a study's journal knows every question in the ledger: one that was set back has forgotten what it answered, and would
/// answer it again: in `private` with fresh noise and for nothing, in `secure` in another cohort or at another point.
pub fn check_journal(home: &Home, study: &StudyFolder) -> Result<(), AgentError> {
    let Ok(name) = StudyId::try_from(study.name()) else { return Ok(()) };
    let ledger = read(home)?;
    let entries = study.entries()?;
    for (round, attempt) in ledger.debits_of(&name) {
        let known = entries.iter().any(|entry| {
            matches!(&entry.record, JournalEvent::Committed { turn, .. }
                if (u64::from(turn.round), u64::from(turn.attempt)) == (round, attempt))
        });
        if !known {
            return Err(AgentError::Mismatch(format!(
                "{}: the ledger has paid for round {round}, attempt {attempt}, and this journal does not know of it: the study's folder was set back or replaced. It cannot go on here; to take part again, the coordinator must give the study a new name",
                study.location("")
            )));
        }
    }
    for question in ledger.questions_of(&name) {
        let hash = HEXLOWER.encode(&question);
        let known = entries.iter().any(|entry| {
            matches!(&entry.record, JournalEvent::Committed { question_sha256, .. } if *question_sha256 == hash)
        });
        if !known {
            return Err(AgentError::Mismatch(format!(
                "{}: the ledger has an answer of this study that this journal does not know of: the study's folder was set back or replaced. It cannot go on here; to take part again, the coordinator must give the study a new name",
                study.location("")
            )));
        }
    }
    Ok(())
}

/// Other names under which the ledger knows some of these rows: sentences for the officer.
pub fn other_names(
    home: &Home,
    study: &Study,
    own: &OwnResponses,
    population: &str,
    audience: Audience,
) -> Result<Vec<String>, AgentError> {
    let option = match audience {
        Audience::CommandLine => " (--population)",
        Audience::Page | Audience::Library => "",
    };
    let account = Account::new(home, population, study, own, &home.policy()?)?;
    let ledger = read(home)?;
    let names = ledger.other_names(&account.subjects.population, account.rows());
    let sentence = |(other, shared): (&Label, usize)| {
        format!(
            "{shared} of these {} rows already have an account under {:?}: the same students under two names have two budgets, and what is promised to them holds for neither alone. Is {population:?} right{option}?",
            account.rows().len(),
            other.as_str()
        )
    };
    Ok(names.into_iter().map(sentence).collect())
}

/// Whether the ledger would refuse what a study plans with these rows: why, if so.
pub fn foreseen(
    home: &Home,
    study: &Study,
    own: &OwnResponses,
    population: &str,
) -> Result<Option<DebitRefusal>, AgentError> {
    let account = Account::new(home, population, study, own, &home.policy()?)?;
    Ok(account.foresee(&study.terms)?.err())
}

/// The names of students that the ledger knows.
pub fn known_populations(home: &Home) -> Result<Vec<String>, AgentError> {
    let ledger = read(home)?;
    Ok(ledger.populations().into_iter().map(|name| format!("{:?}", name.as_str())).collect())
}

/// Whether a population has a budget.
pub fn has_budget(home: &Home, population: &str) -> Result<bool, AgentError> {
    let ledger = read(home)?;
    Ok(Label::try_from(population).is_ok_and(|population| ledger.balance(&population).is_some()))
}

/// Opens the account of a population: a budget is set once, and never changed.
pub fn open_account(home: &Home, population: &str, epsilon: f64, delta: f64) -> Result<(), AgentError> {
    let wrong = |text: String| AgentError::Mismatch(text);
    let budget = Budget {
        epsilon: Epsilon::new(epsilon).map_err(|e| wrong(e.to_string()))?,
        delta: Delta::new(delta).map_err(|e| wrong(e.to_string()))?,
    };
    let label = |text: &str| Label::try_from(text).map_err(|e| wrong(e.to_string()));
    let lock = lock(home)?;
    check_ledger(home)?;
    let ledger = read_and_mend(home, &lock)?;
    let (population, time) = (label(population)?, label(&home.now().to_string())?);
    let line = ledger.propose(LedgerEntry::Open(AccountOpening { population, budget, time }));
    let line = line.map_err(|refusal| wrong(refusal.to_string()))?;
    home.store().append(LEDGER, line.text().as_bytes())?;
    note_head(home, line.head())
}

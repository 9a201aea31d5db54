//! The ledger on the disk: an entry before anything leaves, under a lock that studies of one home share.

use super::durable::{self, Readers};
use super::home::Home;
use super::journal::Record;
use super::lock::Lock;
use super::{AgentError, clock};
use fedirt_model::private::ROUND_SHARES;
use fedirt_model::statistics::Mode;
use fedirt_privacy::accountant::{Delta, Epsilon, Slack};
use fedirt_privacy::ledger::{
    AccountOpening, Budget, Cost, Debit, Entry, ExactMode, ExactRelease, Label, Ledger, LedgerError, Refusal,
};
use fedirt_privacy::secure::{NameError, SiteId};
use fedirt_protocol::Terms;
use fedirt_protocol::message::Turn;
use fedirt_protocol::site::{PrivateCost, Release};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The account of one population in one study.
#[derive(Debug)]
pub(super) struct Account {
    path: PathBuf,
    population: Label,
    rows: Vec<u64>,
}

/// The ledger's word: its head with the new entry, or why it refuses.
pub(super) type Word = Result<String, String>;

/// Reads a ledger. A torn last line is cut off: nothing was sent on the strength of it.
fn read_and_mend(path: &Path) -> Result<Ledger, AgentError> {
    let bytes = durable::read(path)?.unwrap_or_default();
    match Ledger::read(&bytes) {
        Ok(ledger) => Ok(ledger),
        Err(LedgerError::Torn { whole_bytes, .. }) => {
            let file = durable::open_to_append(path, Readers::Owner)?;
            file.set_len(whole_bytes as u64).and_then(|()| file.sync_all()).map_err(AgentError::at(path))?;
            read(path)
        }
        Err(error) => Err(AgentError::Ledger { path: path.to_path_buf(), error }),
    }
}

/// Reads and verifies a ledger; an empty one if there is none.
pub(super) fn read(path: &Path) -> Result<Ledger, AgentError> {
    let bytes = durable::read(path)?.unwrap_or_default();
    Ledger::read(&bytes).map_err(|error| AgentError::Ledger { path: path.to_path_buf(), error })
}

impl Account {
    /// The account of a population with these rows.
    pub(super) fn new(home: &Home, population: &str, rows: Vec<u64>) -> Result<Self, AgentError> {
        let population = Label::try_from(population)
            .map_err(|error| AgentError::Mismatch(format!("--population {population:?}: {error}")))?;
        Ok(Self { path: home.ledger_path(), population, rows })
    }

    /// Checks the ledger before anything is sent at all: whether a release with these sites would be refused, and
    /// whether the budget reaches for all planned rounds.
    pub(super) fn foresee(&self, terms: &Terms) -> Result<Word, AgentError> {
        let ledger = read_and_mend(&self.path)?;
        if ledger.knows_study(&terms.study) {
            return Ok(Err(format!(
                "a study called {} has released numbers of this home before, and its journal is not here: the coordinator must give the new study another name",
                terms.study
            )));
        }
        let costs = match planned_costs(terms) {
            Ok(costs) => costs,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let first = Release {
            turn: Turn { round: 1, attempt: 1 },
            cohort: terms.sites.keys().map(ToString::to_string).collect(),
            statistics: Vec::new(),
            points: Vec::new(),
            effect_totals: false,
            by_name: false,
            design: None,
            place: None,
            cost: costs.first().map(|mu_squared| PrivateCost {
                mu_squared: *mu_squared,
                eta: 0.0,
                kappa: 0.0,
            }),
        };
        let planned: Vec<_> = costs
            .iter()
            .map(|mu_squared| (Cost::Gaussian { mu_squared: *mu_squared }, Slack::NONE))
            .collect();
        if !planned.is_empty()
            && let Err(refusal) = ledger.fits(&self.population, &planned)
        {
            return Ok(Err(advice(&refusal)));
        }
        let proposed = self.entry(terms, &first).map(|entry| ledger.propose(entry));
        Ok(proposed.and_then(|line| line.map(|line| line.head().to_string()).map_err(|e| advice(&e))))
    }

    /// Enters a release; it is on the disk when this returns.
    pub(super) fn debit(&self, terms: &Terms, release: &Release) -> Result<Word, AgentError> {
        let entry = match self.entry(terms, release) {
            Ok(entry) => entry,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let _lock = Lock::wait(&self.path.with_extension("lock"))?;
        // Read afresh: another study of this home may have written to it.
        let ledger = read_and_mend(&self.path)?;
        match ledger.propose(entry) {
            // The program stopped after this line, before anything was sent on the strength of it.
            Err(Refusal::AlreadyDebited { .. }) => Ok(Ok(ledger.head().to_string())),
            Err(refusal) => Ok(Err(advice(&refusal))),
            Ok(line) => {
                let mut file = durable::open_to_append(&self.path, Readers::Owner)?;
                durable::append(&mut file, &self.path, &line.text())?;
                Ok(Ok(line.head().to_string()))
            }
        }
    }

    fn entry(&self, terms: &Terms, release: &Release) -> Result<Entry, String> {
        let name = |e: NameError| e.to_string();
        let (population, study) = (self.population.clone(), terms.study.clone());
        let time = Label::try_from(clock::text(clock::now()).as_str()).map_err(name)?;
        let mode = match terms.mode {
            Mode::Plain => ExactMode::Plain,
            Mode::Secure => ExactMode::Secure(terms.thresholds),
            Mode::Private => {
                let cost = release.cost.ok_or("the round has no price, and a private one must have")?;
                return Ok(Entry::Debit(Debit {
                    population,
                    study,
                    round: u64::from(release.turn.round),
                    attempt: u64::from(release.turn.attempt),
                    cohort: u32::try_from(release.cohort.len()).unwrap_or(u32::MAX),
                    cost: Cost::Gaussian { mu_squared: cost.mu_squared },
                    slack: Slack { eta: cost.eta, kappa: cost.kappa },
                    after_exact_releases: false,
                    time,
                }));
            }
        };
        let statistics = release.statistics.iter().map(|(text, _)| Label::try_from(text.as_str()));
        let cohort = release.cohort.iter().map(|text| SiteId::try_from(text.as_str()));
        Ok(Entry::Exact(ExactRelease {
            population,
            study,
            mode,
            statistics: statistics.collect::<Result<_, _>>().map_err(name)?,
            cohort: cohort.collect::<Result<BTreeSet<_>, _>>().map_err(name)?,
            rows: self.rows.clone(),
            time,
        }))
    }
}

/// μ² of each planned round; none where sums are exact.
fn planned_costs(terms: &Terms) -> Result<Vec<f64>, String> {
    match (&terms.private, terms.mode) {
        (Some(private), Mode::Private) => {
            let mu = private.mu().map_err(|e| e.to_string())?;
            Ok(ROUND_SHARES.iter().map(|share| mu * mu * share).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// A refusal with what the officer can do.
fn advice(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoAccount { population } => {
            format!("{refusal} (`fedirt site budget \"{population}\" --epsilon E`)")
        }
        _ => refusal.to_string(),
    }
}

/// Whether the ledger has every line that a journal of this home has seen: one that was cut, removed or restored from a
/// back-up would give spent budget back.
pub fn check_ledger(home: &Home) -> Result<(), AgentError> {
    let ledger = read_and_mend(&home.ledger_path())?;
    for study in home.studies()? {
        for entry in home.study(&study)?.entries()? {
            if let Record::Debited { ledger_head, turn, .. } = &entry.record
                && !ledger.has_head(ledger_head)
            {
                return Err(AgentError::Mismatch(format!(
                    "{}: lines are missing that the journal of {study} has seen ({turn}, {}): the ledger was cut, removed or restored from a back-up. Restore its newest copy; without it, what these students have spent is not known",
                    home.ledger_path().display(),
                    entry.time
                )));
            }
        }
    }
    Ok(())
}

/// Opens the account of a population: a budget is set once, and never changed.
pub fn open_account(home: &Home, population: &str, epsilon: f64, delta: f64) -> Result<(), AgentError> {
    let wrong = |text: String| AgentError::Mismatch(text);
    let budget = Budget::Gaussian {
        epsilon: Epsilon::new(epsilon).map_err(|e| wrong(e.to_string()))?,
        delta: Delta::new(delta).map_err(|e| wrong(e.to_string()))?,
    };
    let label = |text: &str| Label::try_from(text).map_err(|e| wrong(e.to_string()));
    let path = home.ledger_path();
    let _lock = Lock::wait(&path.with_extension("lock"))?;
    check_ledger(home)?;
    let ledger = read_and_mend(&path)?;
    let (population, time) = (label(population)?, label(&clock::text(clock::now()))?);
    let line = ledger.propose(Entry::Open(AccountOpening { population, budget, time }));
    let line = line.map_err(|refusal| wrong(refusal.to_string()))?;
    let mut file = durable::open_to_append(&path, Readers::Owner)?;
    durable::append(&mut file, &path, &line.text())
}

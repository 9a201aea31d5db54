//! Where a study stands, from its folder alone.

use super::AgentError;
use super::journal::{Entry, Record};
use super::study::StudyFolder;
use fedirt_protocol::site::Release;
use serde::Serialize;

/// A study's state at this site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StudyStatus {
    /// Study.
    pub study: String,
    /// This site's name there.
    pub site: String,
    /// The coordinator's address.
    pub address: String,
    /// Mode.
    pub mode: String,
    /// What has happened last, in words.
    pub stage: String,
    /// What to do next.
    pub next: String,
    /// When the last thing happened.
    pub since: Option<String>,
    /// Rounds answered.
    pub rounds_answered: usize,
    /// Population under which releases are entered in the ledger.
    pub population: Option<String>,
    /// Refusals so far.
    pub refusals: Vec<String>,
    /// Files of results.
    pub results: Vec<String>,
}

/// Reads where a study stands.
pub fn status(folder: &StudyFolder) -> Result<StudyStatus, AgentError> {
    let study = folder.load()?;
    let entries = folder.entries()?;
    let (stage, next) = stage(&entries, folder.name());
    let mut results: Vec<String> = std::fs::read_dir(folder.results())
        .map(|files| files.flatten().filter_map(|f| f.file_name().into_string().ok()).collect())
        .unwrap_or_default();
    results.sort();
    let mut status = StudyStatus {
        study: folder.name().to_owned(),
        site: study.connection.site,
        address: study.connection.address,
        mode: study.plan.mode.name().to_owned(),
        stage,
        next,
        since: entries.last().map(|entry| entry.time.clone()),
        rounds_answered: 0,
        population: None,
        refusals: Vec::new(),
        results,
    };
    for entry in entries {
        match entry.record {
            Record::Upload { .. } => status.rounds_answered += 1,
            Record::Joined { population, .. } => status.population = Some(population),
            Record::Refused { reason, .. } => status.refusals.push(reason),
            _ => {}
        }
    }
    Ok(status)
}

fn stage(entries: &[Entry], study: &str) -> (String, String) {
    let join = format!("fedirt site join {study} FILE");
    let last =
        entries.iter().rev().find(|e| !matches!(e.record, Record::Refused { .. } | Record::Debited { .. }));
    let (stage, next) = match last.map(|entry| &entry.record) {
        None => ("the key is made; whether it arrived is not known", "repeat fedirt site enrol".to_owned()),
        Some(Record::Enrolled { .. }) => {
            ("enrolled", format!("look with fedirt site preview {study} FILE, then {join}"))
        }
        Some(Record::Consented { .. }) => ("what is sent is approved", join),
        Some(Record::Joined { .. }) => ("joined; the roster is not approved yet", join),
        Some(Record::Approved { .. }) => ("the roster is approved here, not yet by everybody", join),
        Some(Record::Pinned { .. }) => ("the roster is signed by everybody", join),
        Some(Record::Over) => ("over", String::new()),
        Some(Record::Withdrawn) => ("withdrawn; the keys are wiped", String::new()),
        Some(
            Record::Hello { turn, .. }
            | Record::Committed { turn, .. }
            | Record::Released(Release { turn, .. })
            | Record::Upload { turn, .. },
        ) => {
            return (format!("in {turn}"), join);
        }
        Some(Record::Refused { .. } | Record::Debited { .. }) => ("", join),
    };
    (stage.to_owned(), next)
}

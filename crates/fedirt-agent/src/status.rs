//! Where a study stands, from its folder alone.

use super::AgentError;
use super::journal::JournalEvent;
use super::study::StudyFolder;
use super::study_state::{OfficerChoices, StudyState};
use serde::Serialize;

/// A study's state at this site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SiteStudyStatus {
    /// Study.
    pub study: String,
    /// This site's name there.
    pub site: String,
    /// The coordinator's address.
    pub address: String,
    /// Mode.
    pub mode: String,
    /// The state that the words below are about.
    #[serde(skip)]
    pub state: StudyState,
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

/// Reads where a study stands, with what the officer chose on the pages.
pub fn status(folder: &StudyFolder, officer: OfficerChoices) -> Result<SiteStudyStatus, AgentError> {
    let study = folder.load()?;
    let entries = folder.entries()?;
    let state = folder.state_after(&entries, officer)?;
    let address = &study.connection.address;
    let mut status = SiteStudyStatus {
        study: folder.name().to_owned(),
        site: study.connection.site,
        address: address.to_string(),
        mode: study.plan.mode.name().to_owned(),
        state,
        stage: state.in_words(),
        next: state.next_command(folder.name(), address),
        since: entries.last().map(|entry| entry.time.clone()),
        rounds_answered: 0,
        population: None,
        refusals: Vec::new(),
        results: folder.results()?,
    };
    for entry in entries {
        match entry.record {
            JournalEvent::Upload { .. } => status.rounds_answered += 1,
            JournalEvent::Joined { population, .. } => status.population = Some(population),
            JournalEvent::Refused { reason, .. } => status.refusals.push(reason),
            _ => {}
        }
    }
    Ok(status)
}

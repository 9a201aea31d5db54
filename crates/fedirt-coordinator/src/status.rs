//! What a study is doing, as the server writes it down for `fedirt coordinator status`.

use crate::store::{EventLog, SqliteLog};
use crate::{Error, Folder};
use fedirt_protocol::coordinator::Phase;
use fedirt_protocol::message::Turn;
use serde::{Deserialize, Serialize};

/// A study for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyStatus {
    /// Name.
    pub study: String,
    /// `plain`, `secure` or `private`.
    pub mode: String,
    /// SHA-256 of the plan.
    pub plan: String,
    /// Where it stands.
    pub phase: Phase,
    /// The round, once there is one.
    pub turn: Option<Turn>,
    /// Whom the study waits for.
    pub waiting_for: Vec<String>,
    /// Fingerprint of the roster, once there is one: every site sees the same.
    pub roster: Option<String>,
    /// Whether sums have left a site.
    pub released: bool,
    /// How it ended, once it has: `finished`, `finished, not converged`, or the reason.
    pub outcome: Option<Ending>,
    /// Where the results are.
    pub results: Option<String>,
    /// The sites.
    pub sites: Vec<SiteStatus>,
    /// When this was written (milliseconds since 1970).
    pub updated_ms: u64,
}

/// How a study ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Ending {
    /// With results.
    Finished {
        /// Whether the estimates are a maximum. A private study, where that is not known, counts as converged.
        converged: bool,
    },
    /// Without results.
    Ended {
        /// Why.
        reason: String,
    },
}

const CONVERGED: &str = "finished";
const NOT_CONVERGED: &str = "finished, not converged";

impl From<String> for Ending {
    fn from(text: String) -> Self {
        match text.as_str() {
            CONVERGED => Self::Finished { converged: true },
            NOT_CONVERGED => Self::Finished { converged: false },
            _ => Self::Ended { reason: text },
        }
    }
}

impl From<Ending> for String {
    fn from(ending: Ending) -> Self {
        ending.to_string()
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Finished { converged: true } => CONVERGED,
            Self::Finished { converged: false } => NOT_CONVERGED,
            Self::Ended { reason } => reason,
        })
    }
}

/// A site of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteStatus {
    /// Name.
    pub name: String,
    /// Fingerprint of the key that it enrolled with.
    pub key: Option<String>,
    /// Whether it fell out.
    pub lost: bool,
    /// When it was last heard of (milliseconds since 1970).
    pub last_seen_ms: Option<u64>,
}

/// What the studies of a folder were last said to be doing: all, or one.
pub fn read(folder: &Folder, study: Option<&str>) -> Result<Vec<StudyStatus>, Error> {
    let log = SqliteLog::open(&folder.store())?;
    let known = log.studies()?;
    if let Some(study) = study
        && !known.iter().any(|s| s.study == study)
    {
        let names: Vec<&str> = known.iter().map(|s| s.study.as_str()).collect();
        let names = if names.is_empty() {
            "there is none yet".into()
        } else {
            format!("known: {}", names.join(", "))
        };
        return Err(Error::Told(format!(
            "no study is called {study} ({names}); plans are in {}",
            folder.plans().display()
        )));
    }
    let mut found = Vec::new();
    for known in known.iter().filter(|s| study.is_none_or(|name| s.study == name)) {
        let text = log.status_of(&known.study)?;
        if let Some(status) = text.and_then(|text| serde_json::from_str(&text).ok()) {
            found.push(status);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_written_as_they_are_read() {
        let endings = [
            (Ending::Finished { converged: true }, "\"finished\""),
            (Ending::Finished { converged: false }, "\"finished, not converged\""),
            (Ending::Ended { reason: "a site withdrew".into() }, "\"a site withdrew\""),
        ];
        for (ending, text) in endings {
            assert_eq!(serde_json::to_string(&ending).expect("text"), text);
            assert_eq!(serde_json::from_str::<Ending>(text).expect("an ending"), ending);
        }
    }
}

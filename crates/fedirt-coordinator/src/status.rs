//! What a study is doing, as the server writes it down for `fedirt coordinator status`.

use crate::store::{EventLog, SqliteLog};
use crate::{Error, Folder};
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
    /// `gathering`, `approving`, `calling`, `open` or `over`.
    pub phase: String,
    /// The round, once there is one.
    pub turn: Option<Turn>,
    /// Whom the study waits for.
    pub waiting_for: Vec<String>,
    /// Fingerprint of the roster, once there is one: every site sees the same.
    pub roster: Option<String>,
    /// Whether sums have left a site.
    pub released: bool,
    /// `finished`, or why it ended.
    pub outcome: Option<String>,
    /// Where the results are.
    pub results: Option<String>,
    /// The sites.
    pub sites: Vec<SiteStatus>,
    /// When this was written (milliseconds since 1970).
    pub updated_ms: u64,
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

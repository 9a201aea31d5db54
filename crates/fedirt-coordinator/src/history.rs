//! What happened in a study, from the store alone: for back-ups, auditors, and results that were lost.

use crate::store::{Event, EventLog, SqliteLog, for_each_event};
use crate::study::{Machine, Outcome};
use crate::{Error, Folder};
use data_encoding::HEXLOWER;
use fedirt_protocol::codec;
use fedirt_protocol::coordinator::StoredInput;
use fedirt_protocol::plan::StudyPlan;
use sha2::{Digest, Sha256};

/// A study's past.
#[derive(Debug)]
pub struct History {
    /// The plan's text.
    pub plan: String,
    /// What happened, in order.
    pub entries: Vec<HistoryEntry>,
    /// How it ended, if it has.
    pub outcome: Option<Box<Outcome>>,
}

/// One event, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Number.
    pub seq: i64,
    /// When.
    pub time: String,
    /// What kind of input.
    pub kind: &'static str,
    /// From which site.
    pub site: Option<String>,
    /// How many bytes.
    pub bytes: usize,
    /// Their SHA-256.
    pub sha256: String,
}

/// The past of a study. Works beside a coordinator that runs.
pub fn read(folder: &Folder, study: &str) -> Result<History, Error> {
    let path = folder.store();
    let log = SqliteLog::open(&path)?;
    let known = log.studies()?;
    let Some(known) = known.into_iter().find(|s| s.study == study) else {
        return Err(Error::Told(format!(
            "no study is called {study}; plans are in {}",
            folder.plans().display()
        )));
    };
    let wrong = |e: &dyn std::fmt::Display| Error::content(&path, format!("{study}: {e}"));
    let plan = StudyPlan::parse(&known.plan).map_err(|e| wrong(&e))?;
    let terms = plan.terms(&known.plan).map_err(|e| wrong(&e))?;
    let (_, consequences) = Machine::replay(&log, terms, known.created).map_err(|e| wrong(&e))?;
    let mut entries = Vec::new();
    for_each_event(&log, study, |Event { seq, at, input: bytes, .. }| {
        let record = StoredInput::decode(&bytes).map_err(|e| wrong(&e))?;
        // A message's hash is that of the bytes that its site signed, as in the site's own transcript.
        let sent = match &record {
            StoredInput::Message { message, .. } => codec::encode(message).map_err(|e| wrong(&e))?,
            _ => bytes,
        };
        entries.push(HistoryEntry {
            seq,
            time: at.to_string(),
            kind: record.kind(),
            site: record.site().map(str::to_owned),
            bytes: sent.len(),
            sha256: HEXLOWER.encode(&Sha256::digest(&sent)),
        });
        Ok::<(), Error>(())
    })?;
    Ok(History { plan: known.plan, entries, outcome: consequences.outcome })
}

/// The history as a file: every event with the hash of what was sent.
pub fn csv(entries: &[HistoryEntry]) -> String {
    let mut out = String::from("event,time,kind,site,bytes,sha256\n");
    for entry in entries {
        let site = entry.site.as_deref().unwrap_or_default().replace('"', "\"\"");
        out += &format!(
            "{},{},{},\"{site}\",{},{}\n",
            entry.seq, entry.time, entry.kind, entry.bytes, entry.sha256
        );
    }
    out
}

//! The journal of a study: one line with the settings, and then one line per finished task.

use crate::StudyError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::Write;

#[derive(Serialize, Deserialize)]
struct Line<T> {
    key: String,
    record: T,
}

/// The key of the first line.
const SETTINGS: &str = "settings";

/// Records by key, and where new ones are written.
#[derive(Debug)]
pub struct Journal<W> {
    records: HashMap<String, serde_json::Value>,
    out: Option<W>,
}

impl Journal<std::io::Sink> {
    /// An empty journal that is not written anywhere.
    pub fn none() -> Self {
        Self { records: HashMap::new(), out: None }
    }
}

impl<W: Write> Journal<W> {
    /// A new journal. `settings` identifies the study.
    pub fn begin(settings: &str, out: W) -> Result<Self, StudyError> {
        let mut journal = Self { records: HashMap::new(), out: Some(out) };
        journal.add(SETTINGS, &settings)?;
        Ok(journal)
    }

    /// Resumes a journal: reads its text and writes a new one. An incomplete last line is ignored.
    pub fn resume(settings: &str, text: &str, out: W) -> Result<Self, StudyError> {
        let mut journal = Self::begin(settings, out)?;
        let mut lines = text.split_inclusive('\n').enumerate();
        // If the first line is incomplete, no task was finished.
        if let Some((_, line)) = lines.next().filter(|(_, line)| line.ends_with('\n')) {
            let begun = serde_json::from_str::<Line<String>>(line).ok();
            if begun.is_none_or(|line| line.key != SETTINGS || line.record != settings) {
                return Err(StudyError::JournalSettings);
            }
        }
        for (at, line) in lines.filter(|(_, line)| line.ends_with('\n')) {
            let line: Line<serde_json::Value> = serde_json::from_str(line)
                .map_err(|error| StudyError::JournalLine { line: at + 1, error })?;
            journal.add(&line.key, &line.record)?;
            journal.records.insert(line.key, line.record);
        }
        Ok(journal)
    }

    /// The same records; what was written so far is handed over, and new records go to what is given back.
    pub fn continue_in<V>(self, to: impl FnOnce(W) -> std::io::Result<V>) -> std::io::Result<Journal<V>> {
        Ok(Journal { records: self.records, out: self.out.map(to).transpose()? })
    }

    /// The record of a finished task.
    pub(super) fn find<R: DeserializeOwned>(&self, key: &str) -> Result<Option<R>, StudyError> {
        let Some(record) = self.records.get(key) else { return Ok(None) };
        R::deserialize(record)
            .map(Some)
            .map_err(|error| StudyError::JournalRecord { key: key.to_owned(), error })
    }

    /// Writes a record and flushes the writer.
    pub(super) fn add<R: Serialize>(&mut self, key: &str, record: &R) -> Result<(), StudyError> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let line = Line { key: key.to_owned(), record };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        out.write_all(&text).and_then(|()| out.flush()).map_err(StudyError::JournalWrite)
    }
}

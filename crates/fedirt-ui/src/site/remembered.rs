//! What the officer has said about columns in earlier studies, in the home: proposed again for the next file.

use super::OfficerState;
use super::mapping::{Mapping, NO_COLUMN, UNSAID};
use crate::PageError;
use fedirt_agent::{AgentError, Readers, Store};
use fedirt_protocol::plan::StudyPlan;
use serde::{Deserialize, Serialize};

/// The file, in the home.
const FILE: &str = "columns.toml";
/// Most pairs that are remembered; the oldest go first.
const MOST: usize = 5000;

/// Columns and the items that they stood for, and codes that meant "no answer".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remembered {
    pub(super) columns: Vec<(String, String)>,
    pub(super) missing: Vec<String>,
}

impl Remembered {
    /// What is remembered. A file that cannot be read is as good as none, because everything in it is a proposal.
    pub(super) fn read(app: &OfficerState) -> Self {
        let text = app.disk.read(FILE).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok());
        text.and_then(|text| toml::from_str(&text).ok()).unwrap_or_default()
    }

    /// Adds what was said now.
    pub(super) fn learn(mut self, mapping: &Mapping, plan: &StudyPlan) -> Self {
        for (column, item) in mapping.columns.iter().zip(&plan.items) {
            if column != UNSAID && column != NO_COLUMN && *column != item.name {
                self.columns.retain(|(known, _)| known != column);
                self.columns.push((column.clone(), item.name.clone()));
            }
        }
        let surplus = self.columns.len().saturating_sub(MOST);
        self.columns.drain(..surplus);
        self.missing.clone_from(&mapping.missing);
        self
    }

    /// Writes it down.
    pub(super) fn write(&self, app: &OfficerState) -> Result<(), PageError> {
        let text = toml::to_string(self).map_err(|_| PageError::ours())?;
        app.disk
            .replace(FILE, text.as_bytes(), Readers::Owner)
            .map_err(|error| super::told(AgentError::from(error)))
    }
}

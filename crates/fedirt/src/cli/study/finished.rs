//! The record of a finished study in its folder, so that another study does not replace it unasked.

use super::error::{FolderContent, StudyFailure};
use crate::error::CliError;
use fedirt_data::files;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file.
const FINISHED: &str = "finished.json";

/// The files that studies write. In a folder without [`FINISHED`] they have another origin.
const OURS: [&str; 11] = [
    "index.html",
    "settings.json",
    "replications.csv",
    "cells.csv",
    "estimates.csv",
    "rounds.csv",
    "rounds.json",
    "attack.csv",
    "attack.json",
    "issues.csv",
    "issues.json",
];

/// Settings and size of a finished study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FinishedStudy {
    /// A hash of the settings.
    settings: String,
    /// Number of tasks.
    tasks: usize,
}

impl FinishedStudy {
    pub(crate) fn new(identity: &str, tasks: usize) -> Self {
        // FNV-1a, because the hash need not be cryptographic.
        let digest = identity.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        Self { settings: format!("{digest:016x}"), tasks }
    }

    /// Refuses a folder with the results of other settings, of more replications, or of unknown origin.
    pub(crate) fn may_replace(&self, folder: &Path) -> Result<(), CliError> {
        let path = folder.join(FINISHED);
        let found = match std::fs::read_to_string(&path) {
            Ok(text) => match serde_json::from_str::<Self>(&text) {
                Ok(old) if old.settings != self.settings => FolderContent::OtherSettings,
                Ok(old) if old.tasks > self.tasks => {
                    FolderContent::MoreRuns { runs: old.tasks, wanted: self.tasks }
                }
                Ok(_) => return Ok(()),
                Err(_) => FolderContent::Damaged(FINISHED),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let Some(name) = OURS.iter().find(|name| folder.join(name).exists()) else { return Ok(()) };
                FolderContent::File(name)
            }
            Err(error) => return Err(CliError::file(path)(error)),
        };
        Err(StudyFailure::FolderInUse { folder: folder.to_owned(), found }.into())
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), CliError> {
        let text = serde_json::to_string(self).map_err(CliError::because)?;
        Ok(files::replace(&folder.join(FINISHED), |out| writeln!(out, "{text}"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_study_with_as_many_replications_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |study: &FinishedStudy| study.may_replace(folder.path()).err().map(|e| e.to_string());
        let study = FinishedStudy::new("ten sites", 20);
        assert_eq!(refused(&study), None);
        std::fs::write(folder.path().join("cells.csv"), "mine").unwrap();
        assert!(refused(&study).unwrap().contains("cells.csv"));
        study.write(folder.path()).unwrap();
        assert_eq!(refused(&study), None);
        assert_eq!(refused(&FinishedStudy::new("ten sites", 30)), None);
        assert!(refused(&FinishedStudy::new("ten sites", 19)).unwrap().contains("20 runs"));
        let other = refused(&FinishedStudy::new("nine sites", 20)).unwrap();
        assert!(other.contains("other settings") && other.contains("--restart"), "{other}");
    }
}

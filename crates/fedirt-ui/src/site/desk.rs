//! What the officer has chosen for a study: which file, what its columns are, how often to be asked. `officer.toml` in the
//! study's folder, so that a program that is started again goes on as it was told.

use fedirt_agent::{AgentError, OfficerChoices, StudyFolder};
use fedirt_data::ReadOptions;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How often the officer wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asked {
    /// Once for all rounds; the site's rules guard each of them.
    #[default]
    Once,
    /// Before every round.
    EachRound,
    /// Once for so many rounds, then again before each.
    Rounds(u32),
}

impl Asked {
    /// In words, for the audit log.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Once => "all rounds".into(),
            Self::EachRound => "to be asked before each round".into(),
            Self::Rounds(1) => "the first round; to be asked before each further one".into(),
            Self::Rounds(n) => format!("the first {n} rounds; to be asked before each further one"),
        }
    }
}

/// The officer's choices.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Desk {
    /// The file of answers; none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<PathBuf>,
    /// Whether it is a copy that the pages made, and erase when the study is over.
    pub(crate) copied: bool,
    /// Column of identifiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Column of weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<String>,
    /// Columns that are left out.
    pub(crate) ignore: Vec<String>,
    /// Codes that mean "no answer".
    pub(crate) missing: Vec<String>,
    /// Whether the columns were looked at.
    pub(crate) mapped: bool,
    /// What the students are called in the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) population: Option<String>,
    /// How often to ask.
    pub(crate) asked: Asked,
    /// Who has approved what is sent; nobody yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approved_by: Option<String>,
    /// Whether the officer has called a pause.
    pub(crate) paused: bool,
    /// Why the study ended without a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
}

impl Desk {
    fn path(folder: &StudyFolder) -> PathBuf {
        folder.path().join("officer.toml")
    }

    /// Where copies of answers are kept.
    pub(crate) fn copies(folder: &StudyFolder) -> PathBuf {
        folder.path().join("answers")
    }

    /// What was chosen so far.
    pub(crate) fn read(folder: &StudyFolder) -> Result<Self, AgentError> {
        let path = Self::path(folder);
        match folder.read_text("officer.toml")? {
            None => Ok(Self::default()),
            Some(text) => {
                toml::from_str(&text).map_err(|e| AgentError::Settings { path, reason: e.to_string() })
            }
        }
    }

    /// Keeps it.
    pub(crate) fn write(&self, folder: &StudyFolder) -> Result<(), AgentError> {
        let wrong =
            |e: toml::ser::Error| AgentError::Settings { path: Self::path(folder), reason: e.to_string() };
        folder.write_text("officer.toml", &toml::to_string(self).map_err(wrong)?)
    }

    /// For the reader.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            site: None,
            id: self.id.clone(),
            weight: self.weight.clone(),
            items: Vec::new(),
            ignore: self.ignore.clone(),
            missing: self.missing.clone(),
        }
    }

    /// The file, for the reader.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.file.iter().cloned().collect()
    }

    /// Whether the agent is to work.
    pub(crate) fn works(&self) -> bool {
        self.approved_by.is_some() && !self.paused && self.ended.is_none()
    }

    /// What these choices say about where the study stands.
    pub(crate) fn choices(&self) -> OfficerChoices {
        OfficerChoices { approved: self.approved_by.is_some(), ended: self.ended.is_some() }
    }

    /// Another file: what was said about the columns of the last one does not count any more, nor does an approval.
    pub(crate) fn take_file(&mut self, file: PathBuf, copied: bool) {
        *self = Self { file: Some(file), copied, population: self.population.take(), ..Self::default() };
    }

    /// Erases every copy of answers that the pages made.
    pub(crate) fn erase_copy(&mut self, folder: &StudyFolder) -> Result<(), AgentError> {
        folder.erase_folder(&Self::copies(folder))?;
        if self.copied {
            (self.copied, self.file) = (false, None);
            self.write(folder)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_kept_and_forgotten_with_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let home = fedirt_agent::Home::init(dir.path(), &mut rand::rand_core::UnwrapErr(rand::rngs::SysRng))
            .unwrap()
            .0;
        let folder = home.study("bank").unwrap();
        std::fs::create_dir_all(folder.path()).unwrap();
        assert_eq!(Desk::read(&folder).unwrap(), Desk::default());
        let mut desk = Desk { asked: Asked::Rounds(3), missing: vec!["9".into()], ..Desk::default() };
        desk.take_file("a.csv".into(), false);
        assert!(desk.missing.is_empty() && desk.asked == Asked::Once);
        desk.approved_by = Some("Ada".into());
        desk.write(&folder).unwrap();
        let again = Desk::read(&folder).unwrap();
        assert!(again == desk && again.works());
        std::fs::write(folder.path().join("officer.toml"), "colour = 1").unwrap();
        assert!(Desk::read(&folder).unwrap_err().to_string().contains("officer.toml"));
    }

    #[test]
    fn copies_are_erased_and_files_elsewhere_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = fedirt_agent::Home::init(dir.path(), &mut rand::rand_core::UnwrapErr(rand::rngs::SysRng))
            .unwrap()
            .0;
        let folder = home.study("bank").unwrap();
        let copy = Desk::copies(&folder).join("a.csv");
        std::fs::create_dir_all(Desk::copies(&folder)).unwrap();
        std::fs::write(&copy, "x").unwrap();
        let elsewhere = dir.path().join("own.csv");
        std::fs::write(&elsewhere, "x").unwrap();
        let mut own = Desk { file: Some(elsewhere.clone()), ..Desk::default() };
        own.erase_copy(&folder).unwrap();
        assert!(!copy.exists() && elsewhere.exists() && own.file.is_some());
        std::fs::write(&copy, "x").unwrap();
        let mut copied = Desk { file: Some(copy.clone()), copied: true, ..Desk::default() };
        copied.erase_copy(&folder).unwrap();
        assert!(!copy.exists() && copied.file.is_none());
    }
}

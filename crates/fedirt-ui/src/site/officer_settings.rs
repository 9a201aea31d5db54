//! The officer's settings for a study: the file, the use of its columns, how often to ask. They are stored as `officer.toml` in
//! the study's folder, so that they survive a restart of the program.

use fedirt_agent::{AgentError, OfficerChoices, StudyFolder};
use fedirt_data::{Input, LongColumns, Problems, ReadOptions, Renamed, read_codebook, read_key};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The settings' file, in the study's folder.
pub(crate) const FILE: &str = "officer.toml";
/// The folder of copies of answers, in the study's folder.
pub(crate) const COPIES: &str = "answers";

/// How often the officer wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asked {
    /// Once for all rounds; the site's rules are checked in each of them.
    #[default]
    Once,
    /// Before every round.
    EachRound,
    /// Once for this many rounds, and then before each further one.
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

/// How the answers stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answers {
    /// As the codes of the plan's categories.
    #[default]
    Numbers,
    /// As the options that were chosen, which a key scores.
    Options,
    /// As words of a scale.
    Words,
}

impl Answers {
    pub(crate) const ALL: [Self; 3] = [Self::Numbers, Self::Options, Self::Words];

    /// The value of its radio button.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Options => "options",
            Self::Words => "words",
        }
    }
}

/// The officer's settings for a study.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OfficerSettings {
    /// The file of answers, if one is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<PathBuf>,
    /// Whether the file is a copy that the pages made, which they delete when the study is over.
    pub(crate) copied: bool,
    /// Column of identifiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Column of weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<String>,
    /// Column of groups, where the plan compares some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    /// Columns that are left out.
    pub(crate) ignore: Vec<String>,
    /// Codes that mean "no answer".
    pub(crate) missing: Vec<String>,
    /// Columns that stand for items of the plan under other names.
    pub(crate) renamed: Vec<(String, String)>,
    /// Items of which the officer has not said which column they are.
    pub(crate) unsaid: Vec<String>,
    /// How the answers stand in the file.
    pub(crate) answers: Answers,
    /// The words of a scale, the lowest first.
    pub(crate) levels: String,
    /// Items that are scored in reverse.
    pub(crate) reversed: Vec<String>,
    /// What `levels` and `reversed` say, as a codebook for the reader.
    pub(crate) scoring: String,
    /// The columns of a file with a line for each answer: student, item, answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) long: Option<[String; 3]>,
    /// The answer key, as a table.
    pub(crate) key: String,
    /// What answers are, as a table.
    pub(crate) codebook: String,
    /// Whether the officer has confirmed the use of the columns.
    pub(crate) mapped: bool,
    /// The name of the students in the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) population: Option<String>,
    /// How often to ask.
    pub(crate) asked: Asked,
    /// Who has approved what is sent, if somebody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approved_by: Option<String>,
    /// Whether the officer has paused the study.
    pub(crate) paused: bool,
    /// Why the study ended without a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
}

impl OfficerSettings {
    /// Reads the settings; the defaults if there are none yet.
    pub(crate) fn read(folder: &StudyFolder) -> Result<Self, AgentError> {
        match folder.read_text(FILE)? {
            None => Ok(Self::default()),
            Some(text) => toml::from_str(&text).map_err(|error| AgentError::Settings {
                location: folder.location(FILE),
                reason: error.to_string(),
            }),
        }
    }

    /// Writes the settings.
    pub(crate) fn write(&self, folder: &StudyFolder) -> Result<(), AgentError> {
        let wrong = |error: toml::ser::Error| AgentError::Settings {
            location: folder.location(FILE),
            reason: error.to_string(),
        };
        folder.write_text(FILE, &toml::to_string(self).map_err(wrong)?)
    }

    /// The settings as options of the reader.
    pub(crate) fn options(&self) -> Result<ReadOptions, Problems> {
        fn table<T>(
            name: &'static str,
            text: &str,
            read: fn(Input<'_>) -> Result<Vec<T>, Problems>,
        ) -> Result<Option<Vec<T>>, Problems> {
            let given = !text.trim().is_empty();
            given.then(|| read(Input::new(name, text.as_bytes()))).transpose()
        }
        let renamed = |(name, item): &(String, String)| Renamed { name: name.clone(), item: item.clone() };
        let long = self.long.clone().map(|[id, item, response]| LongColumns { id, item, response });
        let codebook = table("table of answers", &self.codebook, read_codebook)?;
        let scoring = table("scale", &self.scoring, read_codebook)?;
        Ok(ReadOptions {
            renamed: self.renamed.iter().map(renamed).collect(),
            key: table("answer key", &self.key, read_key)?.unwrap_or_default(),
            codebook: codebook.into_iter().chain(scoring).reduce(|own, scoring| [own, scoring].concat()),
            id: self.id.clone().filter(|_| long.is_none()),
            long,
            weight: self.weight.clone(),
            group: self.group.clone(),
            ignore: self.ignore.clone(),
            missing: self.missing.clone(),
            ..ReadOptions::default()
        })
    }

    /// The chosen file as a list for the reader.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.file.iter().cloned().collect()
    }

    /// Whether the agent should run.
    pub(crate) fn works(&self) -> bool {
        self.approved_by.is_some() && !self.paused && self.ended.is_none()
    }

    /// The settings that the state of the study depends on.
    pub(crate) fn choices(&self) -> OfficerChoices {
        OfficerChoices { approved: self.approved_by.is_some(), ended: self.ended.is_some() }
    }

    /// Chooses another file. The settings for the columns of the previous file and an approval are dropped.
    pub(crate) fn take_file(&mut self, file: PathBuf, copied: bool) {
        *self = Self { file: Some(file), copied, population: self.population.take(), ..Self::default() };
    }

    /// Deletes every copy of answers that the pages made.
    pub(crate) fn erase_copy(&mut self, folder: &StudyFolder) -> Result<(), AgentError> {
        folder.erase_folder(COPIES)?;
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
    fn settings_are_stored_and_dropped_with_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let home = fedirt_agent::Home::init(dir.path(), &mut rand::rand_core::UnwrapErr(rand::rngs::SysRng))
            .unwrap()
            .0;
        let folder = home.study("bank").unwrap();
        assert_eq!(OfficerSettings::read(&folder).unwrap(), OfficerSettings::default());
        let mut settings = OfficerSettings {
            asked: Asked::Rounds(3),
            missing: vec!["9".into()],
            ..OfficerSettings::default()
        };
        settings.take_file("a.csv".into(), false);
        assert!(settings.missing.is_empty() && settings.asked == Asked::Once);
        settings.approved_by = Some("Ada".into());
        settings.write(&folder).unwrap();
        let again = OfficerSettings::read(&folder).unwrap();
        assert!(again == settings && again.works());
        folder.write_text(FILE, "colour = 1").unwrap();
        assert!(OfficerSettings::read(&folder).unwrap_err().to_string().contains("officer.toml"));
    }

    #[test]
    fn copies_are_erased_and_files_elsewhere_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = fedirt_agent::Home::init(dir.path(), &mut rand::rand_core::UnwrapErr(rand::rngs::SysRng))
            .unwrap()
            .0;
        let folder = home.study("bank").unwrap();
        let copies = dir.path().join(folder.file(COPIES));
        let copy = copies.join("a.csv");
        std::fs::create_dir_all(copies).unwrap();
        std::fs::write(&copy, "x").unwrap();
        let elsewhere = dir.path().join("own.csv");
        std::fs::write(&elsewhere, "x").unwrap();
        let mut own = OfficerSettings { file: Some(elsewhere.clone()), ..OfficerSettings::default() };
        own.erase_copy(&folder).unwrap();
        assert!(!copy.exists() && elsewhere.exists() && own.file.is_some());
        std::fs::write(&copy, "x").unwrap();
        let mut copied =
            OfficerSettings { file: Some(copy.clone()), copied: true, ..OfficerSettings::default() };
        copied.erase_copy(&folder).unwrap();
        assert!(!copy.exists() && copied.file.is_none());
    }
}

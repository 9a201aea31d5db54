//! A study's folder: the approved plan, where the coordinator is, the site's key, and what has happened.

use super::AgentError;
use super::durable::{self, Readers};
use super::journal::{Entry, Journal, Record};
use super::lock::Lock;
use super::study_state::{OfficerChoices, StudyState};
use data_encoding::{BASE64, HEXLOWER};
use fedirt_privacy::secure::{Identity, SiteId};
use fedirt_protocol::Terms;
use fedirt_protocol::plan::StudyPlan;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Where the coordinator is, and who this site is there: `coordinator.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// `https://host:port`.
    pub address: String,
    /// This site's name on the plan.
    pub site: String,
    /// Hash of the plan.
    pub plan_sha256: String,
    /// The coordinator's own authority (DER, base 64), where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<String>,
}

impl Connection {
    /// The authority's bytes.
    pub fn authority(&self) -> Result<Option<Vec<u8>>, AgentError> {
        let decode = |text: &String| {
            BASE64.decode(text.as_bytes()).map_err(|_| {
                AgentError::Mismatch("coordinator.toml: authority is not base 64; enrol again".into())
            })
        };
        self.authority.as_ref().map(decode).transpose()
    }
}

/// The folder, whether or not it is there.
#[derive(Debug, Clone)]
pub struct StudyFolder {
    path: PathBuf,
    name: String,
}

/// What a study's folder says.
#[derive(Debug)]
pub struct Study {
    /// Where it is.
    pub folder: StudyFolder,
    /// The plan.
    pub plan: StudyPlan,
    /// Its text.
    pub text: String,
    /// Its terms.
    pub terms: Terms,
    /// The coordinator.
    pub connection: Connection,
    /// This site's name.
    pub site: SiteId,
}

impl StudyFolder {
    pub(super) fn new(path: PathBuf, name: &str) -> Self {
        Self { path, name: name.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a plan was approved here.
    pub fn exists(&self) -> bool {
        self.plan_path().is_file()
    }

    fn plan_path(&self) -> PathBuf {
        self.path.join("plan.toml")
    }

    fn key_path(&self) -> PathBuf {
        self.path.join("identity.key")
    }

    /// `journal.jsonl`.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// The folder of secrets.
    pub(super) fn secrets(&self) -> PathBuf {
        self.path.join("secret")
    }

    /// The folder of results.
    pub fn results(&self) -> PathBuf {
        self.path.join("results")
    }

    /// Where the study stands after what has happened, with what the officer chose on the pages.
    pub fn state_after(&self, entries: &[Entry], officer: OfficerChoices) -> StudyState {
        StudyState::of(entries, officer, self.results().join("fit.json").is_file())
    }

    /// What has happened so far, verified.
    pub fn entries(&self) -> Result<Vec<Entry>, AgentError> {
        Journal::read(&self.journal_path())
    }

    /// A small file of the folder; none if it is not there.
    pub fn read_text(&self, name: &str) -> Result<Option<String>, AgentError> {
        let path = self.path.join(name);
        let Some(bytes) = durable::read(&path)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|_| AgentError::tampered(&path, None, "no UTF-8 text"))
    }

    /// Replaces a small file of the folder, readable by its owner alone.
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), AgentError> {
        durable::write(&self.path.join(name), text.as_bytes(), Readers::Owner)
    }

    /// Makes a folder inside, readable by its owner alone.
    pub fn make_folder(&self, path: &Path) -> Result<(), AgentError> {
        durable::folder(path, Readers::Owner)
    }

    /// Erases a small file of the folder, if it is there.
    pub fn erase_file(&self, name: &str) -> Result<(), AgentError> {
        durable::erase(&self.path.join(name))
    }

    /// Erases the files of a folder inside.
    pub fn erase_folder(&self, path: &Path) -> Result<(), AgentError> {
        let files = match std::fs::read_dir(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            files => files.map_err(AgentError::at(path))?,
        };
        for file in files.flatten() {
            durable::erase(&file.path())?;
        }
        Ok(())
    }

    /// Writes down that the officer approves what is to be sent.
    pub fn consent(&self, by: &str, asked: String, file_sha256: String) -> Result<(), AgentError> {
        let _lock = self.lock()?;
        let (mut journal, _) = Journal::open(&self.journal_path())?;
        journal.append(Record::Consented { by: by.to_owned(), asked, file_sha256 })
    }

    /// One agent at a time.
    pub(super) fn lock(&self) -> Result<Lock, AgentError> {
        Lock::take(&self.path.join("lock"))
    }

    /// Keeps an approved plan and the coordinator's address. Another plan under the same name is refused.
    pub(super) fn keep_plan(&self, text: &str, connection: &Connection) -> Result<(), AgentError> {
        durable::folder(&self.path, Readers::Owner)?;
        durable::folder(&self.results(), Readers::Usual)?;
        if let Some(there) = durable::read(&self.plan_path())?
            && there != text.as_bytes()
        {
            return Err(AgentError::Mismatch(format!(
                "another plan of {} is kept in {}: a study has one plan, and the coordinator must give the new one another name. The folder stays where it is: its journal shows whether the ledger is whole",
                self.name,
                self.path.display()
            )));
        }
        let settings = toml::to_string(connection).map_err(|e| AgentError::Settings {
            path: self.path.join("coordinator.toml"),
            reason: e.to_string(),
        })?;
        durable::write(&self.path.join("coordinator.toml"), settings.as_bytes(), Readers::Usual)?;
        durable::write(&self.plan_path(), text.as_bytes(), Readers::Usual)
    }

    /// The site's key in this study, if it was made.
    pub(super) fn identity(&self) -> Result<Option<Identity>, AgentError> {
        let path = self.key_path();
        let Some(bytes) = durable::read(&path)?.map(Zeroizing::new) else { return Ok(None) };
        match <&[u8; 32]>::try_from(bytes.as_slice()) {
            Ok(secret) => Ok(Some(Identity::from_secret(secret))),
            Err(_) => Err(AgentError::tampered(&path, None, "a key has 32 bytes")),
        }
    }

    /// The site's key, which must be there.
    pub(super) fn own_identity(&self) -> Result<Identity, AgentError> {
        self.identity()?.ok_or_else(|| {
            AgentError::Mismatch(format!(
                "this site has no key for {} any more: it has withdrawn, or the study is over. To take part again, ask for a new invitation",
                self.name
            ))
        })
    }

    /// Keeps a new key.
    pub(super) fn keep_identity(&self, identity: &Identity) -> Result<(), AgentError> {
        durable::write(&self.key_path(), identity.secret().as_ref(), Readers::Owner)
    }

    /// Erases the key.
    pub(super) fn erase_identity(&self) -> Result<(), AgentError> {
        durable::erase(&self.key_path())
    }

    /// Reads everything, and checks that the plan is the one that was approved.
    pub fn load(&self) -> Result<Study, AgentError> {
        let path = self.plan_path();
        let text = self.read_text("plan.toml")?.unwrap_or_default();
        let settings = self.path.join("coordinator.toml");
        let connection = String::from_utf8(durable::read(&settings)?.unwrap_or_default()).unwrap_or_default();
        let connection: Connection = toml::from_str(&connection)
            .map_err(|e| AgentError::Settings { path: settings, reason: e.to_string() })?;
        if HEXLOWER.encode(&StudyPlan::hash(&text)) != connection.plan_sha256 {
            return Err(AgentError::tampered(&path, None, "this is not the plan that was approved"));
        }
        let plan = StudyPlan::parse(&text)?;
        let terms = plan.terms(&text)?;
        let site = SiteId::try_from(connection.site.as_str())
            .map_err(|e| AgentError::Mismatch(format!("coordinator.toml: site: {e}")))?;
        Ok(Study { folder: self.clone(), plan, text, terms, connection, site })
    }
}

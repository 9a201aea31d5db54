//! A study's folder: the approved plan, where the coordinator is, the site's key, and what has happened.

use super::journal::{Journal, JournalEntry, JournalEvent};
use super::store::{Lock, Readers};
use super::study_state::{OfficerChoices, StudyState};
use super::{AgentError, Home};
use data_encoding::{BASE64, HEXLOWER};
use fedirt_privacy::secure::{Identity, SiteId};
use fedirt_protocol::Terms;
use fedirt_protocol::invitation::Address;
use fedirt_protocol::plan::StudyPlan;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Where the coordinator is, and who this site is there: `coordinator.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// How the coordinator is reached.
    pub address: Address,
    /// This site's name on the plan.
    pub site: String,
    /// Hash of the plan.
    pub plan_sha256: String,
    /// The coordinator's own authority (DER), where it has one; its key where messages go by mailbox. In base 64.
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

const PLAN: &str = "plan.toml";
const CONNECTION: &str = "coordinator.toml";
const KEY: &str = "identity.key";
const JOURNAL: &str = "journal.jsonl";
const RESULTS: &str = "results";

/// The name in a study's folder of a file of results.
pub(super) fn in_results(name: &str) -> String {
    format!("{RESULTS}/{name}")
}

/// The folder, whether or not it is there.
#[derive(Debug, Clone)]
pub struct StudyFolder {
    home: Home,
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
    pub(super) fn new(home: Home, name: &str) -> Self {
        Self { home, name: name.to_owned() }
    }

    /// The home that it is in.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name in the store of a file of this folder; of the folder itself for an empty name.
    pub fn file(&self, name: &str) -> String {
        let separator = if name.is_empty() { "" } else { "/" };
        format!("studies/{}{separator}{name}", self.name)
    }

    /// Where a file of the folder is, for people; the folder itself for an empty name.
    pub fn location(&self, name: &str) -> String {
        self.home.location(&self.file(name))
    }

    /// Whether a plan was approved here.
    pub fn exists(&self) -> Result<bool, AgentError> {
        Ok(self.list("")?.iter().any(|name| name == PLAN))
    }

    /// Where the study stands after what has happened, with what the officer chose on the pages.
    pub fn state_after(
        &self,
        entries: &[JournalEntry],
        officer: OfficerChoices,
    ) -> Result<StudyState, AgentError> {
        Ok(StudyState::of(entries, officer, self.results()?.iter().any(|name| name == "fit.json")))
    }

    /// The names of the files of results that are there, in order.
    pub fn results(&self) -> Result<Vec<String>, AgentError> {
        self.list(RESULTS)
    }

    /// A file of results; none if it is not there.
    pub fn result(&self, name: &str) -> Result<Option<Vec<u8>>, AgentError> {
        self.read(&in_results(name))
    }

    /// What has happened so far, verified.
    pub fn entries(&self) -> Result<Vec<JournalEntry>, AgentError> {
        Journal::read(&self.home, &self.file(JOURNAL))
    }

    /// The journal, to write to; and a note if its last line was cut short.
    pub(super) fn journal(&self) -> Result<(Journal, Option<String>), AgentError> {
        Journal::open(&self.home, self.file(JOURNAL))
    }

    /// A file of the folder; none if it is not there.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, AgentError> {
        Ok(self.home.store().read(&self.file(name))?)
    }

    pub(super) fn replace(&self, name: &str, content: &[u8], readers: Readers) -> Result<(), AgentError> {
        Ok(self.home.store().replace(&self.file(name), content, readers)?)
    }

    /// Erases a file of the folder, if it is there.
    pub fn erase(&self, name: &str) -> Result<(), AgentError> {
        Ok(self.home.store().erase(&self.file(name))?)
    }

    pub(super) fn list(&self, name: &str) -> Result<Vec<String>, AgentError> {
        Ok(self.home.store().list(&self.file(name))?)
    }

    /// A small file of the folder; none if it is not there.
    pub fn read_text(&self, name: &str) -> Result<Option<String>, AgentError> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let wrong = |_| AgentError::tampered(self.location(name), None, "no UTF-8 text");
        String::from_utf8(bytes).map(Some).map_err(wrong)
    }

    /// Replaces a small file of the folder, readable by its owner alone.
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), AgentError> {
        self.replace(name, text.as_bytes(), Readers::Owner)
    }

    /// Erases the files of a folder inside.
    pub fn erase_folder(&self, name: &str) -> Result<(), AgentError> {
        self.list(name)?.iter().try_for_each(|file| self.erase(&format!("{name}/{file}")))
    }

    /// Writes down that the officer approves what is to be sent.
    pub fn consent(&self, by: &str, asked: String, file_sha256: String) -> Result<(), AgentError> {
        let _lock = self.lock()?;
        let (mut journal, _) = self.journal()?;
        journal.append(JournalEvent::Consented { by: by.to_owned(), asked, file_sha256 })
    }

    /// One agent at a time.
    pub(super) fn lock(&self) -> Result<Lock, AgentError> {
        let lock = self.home.store().try_lock(&self.file("lock"))?;
        lock.ok_or_else(|| AgentError::Running(self.location("")))
    }

    /// Keeps an approved plan and the coordinator's address. Another plan under the same name is refused.
    pub(super) fn keep_plan(&self, text: &str, connection: &Connection) -> Result<(), AgentError> {
        if let Some(there) = self.read(PLAN)?
            && there != text.as_bytes()
        {
            return Err(AgentError::Mismatch(format!(
                "another plan of {} is kept in {}: a study has one plan, and the coordinator must give the new one another name. The folder stays where it is: its journal shows whether the ledger is whole",
                self.name,
                self.location("")
            )));
        }
        let settings = toml::to_string(connection).expect("a connection has text keys and values alone");
        self.replace(CONNECTION, settings.as_bytes(), Readers::Usual)?;
        self.replace(PLAN, text.as_bytes(), Readers::Usual)
    }

    /// The site's key in this study, if it was made.
    pub(super) fn identity(&self) -> Result<Option<Identity>, AgentError> {
        let Some(bytes) = self.read(KEY)?.map(Zeroizing::new) else { return Ok(None) };
        match <&[u8; 32]>::try_from(bytes.as_slice()) {
            Ok(secret) => Ok(Some(Identity::from_secret(secret))),
            Err(_) => Err(AgentError::tampered(self.location(KEY), None, "a key has 32 bytes")),
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
        self.replace(KEY, identity.secret().as_ref(), Readers::Owner)
    }

    /// Erases the key.
    pub(super) fn erase_identity(&self) -> Result<(), AgentError> {
        self.erase(KEY)
    }

    /// Reads everything, and checks that the plan is the one that was approved.
    pub fn load(&self) -> Result<Study, AgentError> {
        let text = self.read_text(PLAN)?.unwrap_or_default();
        let connection = self.read_text(CONNECTION)?.unwrap_or_default();
        let connection: Connection = toml::from_str(&connection).map_err(|error| AgentError::Settings {
            location: self.location(CONNECTION),
            reason: error.to_string(),
        })?;
        if HEXLOWER.encode(&StudyPlan::hash(&text)) != connection.plan_sha256 {
            let reason = "this is not the plan that was approved";
            return Err(AgentError::tampered(self.location(PLAN), None, reason));
        }
        let plan = StudyPlan::parse(&text)?;
        let terms = plan.terms(&text)?;
        let site = SiteId::try_from(connection.site.as_str())
            .map_err(|e| AgentError::Mismatch(format!("coordinator.toml: site: {e}")))?;
        Ok(Study { folder: self.clone(), plan, text, terms, connection, site })
    }
}

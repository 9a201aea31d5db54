//! The journal of a study: everything that a site must not forget, one line of JSON each, chained by hashes.
//!
//! A line is `{"entry":{…},"sha256":"…"}`, where the hash is of (label, hash of the line before, text of the entry).
//! A line is on the disk before anything that follows from it is sent. The last line may be torn when the machine
//! stopped in the middle of it: then nothing followed from it, and it is cut off. Any other break is tampering.

use super::store::Readers;
use super::transport::Delivery;
use super::{AgentError, Home};
use data_encoding::HEXLOWER;
use fedirt_privacy::hash_chain::{Head, lines, whole_lines};
use fedirt_protocol::message::Turn;
use fedirt_protocol::site::Release;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const LABEL: &[u8] = b"fedirt journal 1\n";

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// When.
    pub time: String,
    /// What.
    #[serde(flatten)]
    pub record: JournalEvent,
}

/// What happened. Secrets and uploads are named by their hashes only.
#[expect(clippy::large_enum_variant, reason = "a journal is read and written line by line")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JournalEvent {
    /// The officer approved the plan, and the site's key was handed over.
    Enrolled {
        /// Name of the site.
        site: String,
        /// Hash of the plan.
        plan_sha256: String,
        /// Fingerprint of the site's key.
        key_fingerprint: String,
        /// Whether the coordinator has acknowledged it. Journals of earlier versions know no other case.
        #[serde(default)]
        delivery: Delivery,
    },
    /// The site declared what it has.
    Joined {
        /// The population that the officer named.
        population: String,
        /// Students.
        students: u64,
        /// Hash of the salted fingerprints of all rows.
        rows_sha256: String,
        /// Hash of the signed declaration.
        declaration_sha256: String,
    },
    /// The officer approved what is to be sent.
    Consented {
        /// Who.
        by: String,
        /// How often they want to be asked, in words.
        asked: String,
        /// Hash of the file of answers.
        file_sha256: String,
    },
    /// The officer approved a roster.
    Approved {
        /// As people compare it.
        fingerprint: String,
        /// The whole hash.
        roster_sha256: String,
        /// The sites whose officers were called, now or before.
        #[serde(default)]
        verified: Vec<String>,
    },
    /// The roster with everybody's signatures is pinned.
    Pinned {
        /// The sites on it.
        sites: Vec<String>,
        /// The message, in base 64.
        roster: String,
    },
    /// A hello, about to be sent.
    Hello {
        /// For which turn.
        turn: Turn,
        /// The message, in base 64.
        message: String,
        /// Hash of the round's secret key, which is in the folder `secret`.
        secret_sha256: String,
    },
    /// The ledger has an entry for what is about to leave.
    Debited {
        /// In which turn.
        turn: Turn,
        /// Hash of cohort, statistics, price and question.
        release_sha256: String,
        /// Head of the ledger after it.
        ledger_head: String,
    },
    /// An attempt's one question was accepted.
    Committed {
        /// Which attempt.
        turn: Turn,
        /// Hash of what was opened.
        question_sha256: String,
        /// What it costs, μ²: 0 where sums are exact.
        mu_squared: f64,
    },
    /// Numbers are about to leave.
    Released(Release),
    /// An upload, about to be sent.
    Upload {
        /// Of which turn.
        turn: Turn,
        /// Its length.
        bytes: u64,
        /// Its hash; the message is in the folder `secret` until the round is closed.
        sha256: String,
    },
    /// Something was asked that this site does not do.
    Refused {
        /// In which turn.
        turn: Option<Turn>,
        /// Why.
        reason: String,
    },
    /// The study is over here, and its keys are wiped.
    Over,
    /// The site has withdrawn.
    Withdrawn,
}

/// A journal that was read and can be written to.
#[derive(Debug)]
pub(super) struct Journal {
    home: Home,
    file: String,
    head: Head,
    entries: Vec<JournalEntry>,
}

/// Lower-case hexadecimal SHA-256.
pub(super) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// The entry's text, if the line's hash follows from what is before it.
fn follow(head: Head, line: &str) -> Option<(&str, Head)> {
    let rest = line.strip_prefix("{\"entry\":")?.strip_suffix("\"}")?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    let entry = rest.strip_suffix(",\"sha256\":\"")?;
    let next = head.after(LABEL, entry);
    (next.to_string() == hash).then_some((entry, next))
}

/// What the whole lines of a journal say: entries and head.
fn replay(location: &dyn Fn() -> String, whole: &[u8]) -> Result<(Vec<JournalEntry>, Head), AgentError> {
    let (mut entries, mut head) = (Vec::new(), Head::EMPTY);
    for line in lines(whole) {
        let broken = |reason: &str| AgentError::tampered(location(), Some(entries.len() + 1), reason);
        let (entry, next) = line
            .and_then(|line| follow(head, line))
            .ok_or_else(|| broken("the line does not follow from the one before it"))?;
        let entry =
            serde_json::from_str(entry).map_err(|_| broken("this is no entry that this version writes"))?;
        entries.push(entry);
        head = next;
    }
    Ok((entries, head))
}

impl Journal {
    /// Reads a journal and verifies its chain. A torn last line is cut off; the note says so.
    pub(super) fn open(home: &Home, file: String) -> Result<(Self, Option<String>), AgentError> {
        let bytes = home.store().read(&file)?.unwrap_or_default();
        let whole = whole_lines(&bytes);
        let (entries, head) = replay(&|| home.location(&file), whole)?;
        let mut note = None;
        if whole.len() < bytes.len() {
            home.store().replace(&file, whole, Readers::Owner)?;
            note = Some(format!(
                "{}: the last line was cut short when the program or the machine stopped; nothing had followed from it, and it is removed",
                home.location(&file)
            ));
        }
        Ok((Self { home: home.clone(), file, head, entries }, note))
    }

    /// Reads and verifies without changing anything; a torn last line is left out.
    pub(super) fn read(home: &Home, file: &str) -> Result<Vec<JournalEntry>, AgentError> {
        let bytes = home.store().read(file)?.unwrap_or_default();
        Ok(replay(&|| home.location(file), whole_lines(&bytes))?.0)
    }

    /// Appends a line; it survives a crash when this returns.
    pub(super) fn append(&mut self, record: JournalEvent) -> Result<(), AgentError> {
        let entry = JournalEntry { time: self.home.now().to_string(), record };
        let text = serde_json::to_string(&entry).expect("entries have text keys and finite numbers");
        let head = self.head.after(LABEL, &text);
        let line = format!("{{\"entry\":{text},\"sha256\":\"{head}\"}}\n");
        self.home.store().append(&self.file, line.as_bytes())?;
        self.head = head;
        self.entries.push(entry);
        Ok(())
    }

    /// What has happened.
    pub(super) fn entries(&self) -> &[JournalEntry] {
        &self.entries
    }

    /// Where it is, for people.
    pub(super) fn location(&self) -> String {
        self.home.location(&self.file)
    }
}

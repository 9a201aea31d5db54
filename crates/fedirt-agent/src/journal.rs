//! The journal of a study: everything that a site must not forget, one line of JSON each, chained by hashes.
//!
//! A line is `{"entry":{…},"sha256":"…"}`, where the hash is of (label, hash of the line before, text of the entry).
//! A line is on the disk before anything that follows from it is sent. The last line may be torn when the machine
//! stopped in the middle of it: then nothing followed from it, and it is cut off. Any other break is tampering.

use super::durable::{self, Readers};
use super::{AgentError, clock};
use data_encoding::HEXLOWER;
use fedirt_protocol::message::Turn;
use fedirt_protocol::site::Release;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};

const LABEL: &[u8] = b"fedirt journal 1\n";

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    pub time: String,
    /// What.
    #[serde(flatten)]
    pub record: Record,
}

/// What happened. Secrets and uploads are named by their hashes only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Record {
    /// The officer approved the plan, and the site's key was enrolled.
    Enrolled {
        /// Name of the site.
        site: String,
        /// Hash of the plan.
        plan_sha256: String,
        /// Fingerprint of the site's key.
        key_fingerprint: String,
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
pub struct Journal {
    path: PathBuf,
    file: File,
    head: [u8; 32],
    entries: Vec<Entry>,
}

/// Lower-case hexadecimal SHA-256.
pub(super) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

fn after(head: &[u8; 32], entry: &str) -> [u8; 32] {
    Sha256::new().chain_update(LABEL).chain_update(head).chain_update(entry).finalize().into()
}

/// The entry's text, if the line's hash follows from what is before it.
fn follow<'a>(head: &[u8; 32], line: &'a str) -> Option<(&'a str, [u8; 32])> {
    let rest = line.strip_prefix("{\"entry\":")?.strip_suffix("\"}")?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    let entry = rest.strip_suffix(",\"sha256\":\"")?;
    let next = after(head, entry);
    (HEXLOWER.encode(&next) == hash).then_some((entry, next))
}

/// What a journal's bytes say: entries, head, and how many bytes hold whole lines.
fn replay(path: &Path, bytes: &[u8]) -> Result<(Vec<Entry>, [u8; 32], usize), AgentError> {
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
    let (mut entries, mut head) = (Vec::new(), [0; 32]);
    for line in bytes[..whole].split_inclusive(|b| *b == b'\n') {
        let number = Some(entries.len() + 1);
        let text = std::str::from_utf8(line).ok().and_then(|line| line.strip_suffix('\n'));
        let (entry, next) = text.and_then(|text| follow(&head, text)).ok_or_else(|| {
            AgentError::tampered(path, number, "the line does not follow from the one before it")
        })?;
        let entry = serde_json::from_str(entry)
            .map_err(|_| AgentError::tampered(path, number, "this is no entry that this version writes"))?;
        entries.push(entry);
        head = next;
    }
    Ok((entries, head, whole))
}

impl Journal {
    /// Reads a journal and verifies its chain. A torn last line is cut off; the note says so.
    pub fn open(path: &Path) -> Result<(Self, Option<String>), AgentError> {
        let bytes = durable::read(path)?.unwrap_or_default();
        let (entries, head, whole) = replay(path, &bytes)?;
        let file = durable::open_to_append(path, Readers::Owner)?;
        let note = (whole < bytes.len()).then(|| {
            format!(
                "{}: the last line was cut short when the program or the machine stopped; nothing had followed from it, and it is removed",
                path.display()
            )
        });
        if note.is_some() {
            file.set_len(whole as u64).and_then(|()| file.sync_all()).map_err(AgentError::at(path))?;
        }
        Ok((Self { path: path.to_path_buf(), file, head, entries }, note))
    }

    /// Reads and verifies without changing anything; a torn last line is left out.
    pub fn read(path: &Path) -> Result<Vec<Entry>, AgentError> {
        let bytes = durable::read(path)?.unwrap_or_default();
        Ok(replay(path, &bytes)?.0)
    }

    /// Appends a line; it is on the disk when this returns.
    pub fn append(&mut self, record: Record) -> Result<(), AgentError> {
        let entry = Entry { time: clock::text(clock::now()), record };
        let text = serde_json::to_string(&entry)
            .map_err(|error| AgentError::at(&self.path)(std::io::Error::other(error)))?;
        let head = after(&self.head, &text);
        let line = format!("{{\"entry\":{text},\"sha256\":\"{}\"}}\n", HEXLOWER.encode(&head));
        durable::append(&mut self.file, &self.path, &line)?;
        self.head = head;
        self.entries.push(entry);
        Ok(())
    }

    /// What has happened.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

//! A machine's events in the store: lines in the journal, secrets and uploads in files beside it.
//!
//! A side file is on the disk before the line that names its hash, and erased when the line that makes it superfluous
//! is there: the key of a round after its upload, an upload when the next round begins. Neither the numbers under a
//! mask nor noise are ever written.

use super::AgentError;
use super::journal::{Journal, JournalEntry, JournalEvent, sha256};
use super::store::Readers;
use super::study::StudyFolder;
use data_encoding::{BASE64, HEXLOWER};
use fedirt_privacy::secure::{Fingerprint, Roster};
use fedirt_protocol::codec;
use fedirt_protocol::message::{SharedRoster, ToCoordinator, Turn};
use fedirt_protocol::site::{Release, SiteEvent};
use zeroize::Zeroizing;

/// Most refusals that a journal holds.
const MOST_REFUSALS: usize = 500;

/// A study's journal with its side files.
#[derive(Debug)]
pub(super) struct MachineLog {
    pub(super) journal: Journal,
    folder: StudyFolder,
}

/// The side files that the journal needs, and all others may go.
#[derive(Debug, Default, PartialEq)]
struct Needed {
    hello: Option<Turn>,
    upload: Option<Turn>,
}

fn needed(entries: &[JournalEntry]) -> Needed {
    let mut needed = Needed::default();
    for entry in entries {
        match &entry.record {
            // A new round: the last one is closed, and its answer will not be asked for again.
            JournalEvent::Hello { turn, .. } => needed = Needed { hello: Some(*turn), upload: None },
            JournalEvent::Upload { turn, .. } => needed = Needed { hello: None, upload: Some(*turn) },
            JournalEvent::Over | JournalEvent::Withdrawn => needed = Needed::default(),
            JournalEvent::Enrolled { .. }
            | JournalEvent::Joined { .. }
            | JournalEvent::Consented { .. }
            | JournalEvent::Approved { .. }
            | JournalEvent::Pinned { .. }
            | JournalEvent::Debited { .. }
            | JournalEvent::Committed { .. }
            | JournalEvent::Released(_)
            | JournalEvent::Refused { .. } => {}
        }
    }
    needed
}

/// Whether the coordinator has said something that follows from this site's joining: then it knows of it. The officer's
/// approval of a roster is no such sign, as it may be written down beforehand.
pub(super) fn has_heard(entries: &[JournalEntry]) -> bool {
    entries.iter().any(|entry| match &entry.record {
        JournalEvent::Pinned { .. }
        | JournalEvent::Hello { .. }
        | JournalEvent::Debited { .. }
        | JournalEvent::Committed { .. }
        | JournalEvent::Released(_)
        | JournalEvent::Upload { .. }
        | JournalEvent::Over => true,
        JournalEvent::Enrolled { .. }
        | JournalEvent::Joined { .. }
        | JournalEvent::Consented { .. }
        | JournalEvent::Approved { .. }
        | JournalEvent::Refused { .. }
        | JournalEvent::Withdrawn => false,
    })
}

/// The folder of secrets, in the study's.
pub(super) const SECRETS: &str = "secret";

fn in_secrets(name: &str) -> String {
    format!("{SECRETS}/{name}")
}

fn key_name(turn: Turn) -> String {
    format!("round-{}-{}.key", turn.round, turn.attempt)
}

fn upload_name(turn: Turn) -> String {
    format!("upload-{}-{}.bin", turn.round, turn.attempt)
}

impl MachineLog {
    /// Opens a study's log; side files that nothing needs are erased.
    pub(super) fn open(folder: &StudyFolder) -> Result<(Self, Option<String>), AgentError> {
        let (journal, note) = folder.journal()?;
        let log = Self { journal, folder: folder.clone() };
        log.tidy()?;
        Ok((log, note))
    }

    /// Erases what no line needs any more.
    fn tidy(&self) -> Result<(), AgentError> {
        let needed = needed(self.journal.entries());
        let kept = [needed.hello.map(key_name), needed.upload.map(upload_name)];
        for name in self.folder.list(SECRETS)? {
            if !kept.iter().flatten().any(|kept| *kept == name) {
                self.folder.erase(&in_secrets(&name))?;
            }
        }
        Ok(())
    }

    /// Writes an event down: it is on the disk when this returns.
    pub(super) fn keep(&mut self, event: &SiteEvent) -> Result<(), AgentError> {
        let record = match event {
            SiteEvent::Approved { fingerprint, verified } => JournalEvent::Approved {
                fingerprint: Fingerprint::from(*fingerprint).to_string(),
                roster_sha256: HEXLOWER.encode(fingerprint),
                verified: verified.clone(),
            },
            SiteEvent::Pinned(shared) => JournalEvent::Pinned {
                sites: Roster::decode(&shared.roster)
                    .map(|roster| roster.entries().keys().map(ToString::to_string).collect())
                    .unwrap_or_default(),
                roster: BASE64.encode(&codec::encode(shared)?),
            },
            SiteEvent::Hello { turn, secret, hello } => {
                self.folder.replace(&in_secrets(&key_name(*turn)), secret, Readers::Owner)?;
                JournalEvent::Hello {
                    turn: *turn,
                    message: BASE64.encode(hello),
                    secret_sha256: sha256(secret),
                }
            }
            SiteEvent::Committed { turn, question, mu_squared } => JournalEvent::Committed {
                turn: *turn,
                question_sha256: HEXLOWER.encode(question),
                mu_squared: *mu_squared,
            },
            SiteEvent::Released(release) => JournalEvent::Released((**release).clone()),
            SiteEvent::Upload { turn, message } => {
                let bytes = codec::encode(message)?;
                self.folder.replace(&in_secrets(&upload_name(*turn)), &bytes, Readers::Owner)?;
                JournalEvent::Upload { turn: *turn, bytes: bytes.len() as u64, sha256: sha256(&bytes) }
            }
            SiteEvent::Over => JournalEvent::Over,
        };
        self.journal.append(record)?;
        match event {
            SiteEvent::Hello { .. } | SiteEvent::Upload { .. } | SiteEvent::Over => self.tidy(),
            SiteEvent::Approved { .. }
            | SiteEvent::Pinned(_)
            | SiteEvent::Committed { .. }
            | SiteEvent::Released(_) => Ok(()),
        }
    }

    /// Writes down that the site is out, and erases every secret of the rounds.
    pub(super) fn withdraw(&mut self) -> Result<(), AgentError> {
        self.journal.append(JournalEvent::Withdrawn)?;
        self.tidy()
    }

    /// The events that a machine is restored from. Hellos and uploads of closed rounds are not among them: a machine
    /// knows the last of each.
    pub(super) fn events(&self) -> Result<Vec<SiteEvent>, AgentError> {
        let needed = needed(self.journal.entries());
        let hello = |entry: &JournalEntry| matches!(entry.record, JournalEvent::Hello { .. });
        let last_hello = self.journal.entries().iter().rposition(hello);
        let mut events = Vec::new();
        for (at, entry) in self.journal.entries().iter().enumerate() {
            let broken = |reason: &str| AgentError::tampered(self.journal.location(), Some(at + 1), reason);
            match &entry.record {
                JournalEvent::Approved { roster_sha256, verified, .. } => {
                    let bytes = HEXLOWER.decode(roster_sha256.as_bytes()).ok();
                    let fingerprint = bytes.and_then(|b| b.try_into().ok());
                    let fingerprint = fingerprint.ok_or_else(|| broken("the fingerprint is no hash"))?;
                    events.push(SiteEvent::Approved { fingerprint, verified: verified.clone() });
                }
                JournalEvent::Pinned { roster, .. } => {
                    let bytes = BASE64.decode(roster.as_bytes()).ok();
                    let shared: Option<SharedRoster> = bytes.and_then(|b| codec::decode(&b).ok());
                    events.push(SiteEvent::Pinned(shared.ok_or_else(|| broken("the roster is no roster"))?));
                }
                JournalEvent::Hello { turn, message, secret_sha256 }
                    if last_hello == Some(at) && needed.hello == Some(*turn) =>
                {
                    let bytes = Zeroizing::new(self.side_file(&key_name(*turn), secret_sha256)?);
                    let secret = <[u8; 32]>::try_from(bytes.as_slice()).ok();
                    let secret = secret.ok_or_else(|| broken("the round's key has another length"))?;
                    let hello =
                        BASE64.decode(message.as_bytes()).map_err(|_| broken("the hello is not base 64"))?;
                    events.push(SiteEvent::Hello { turn: *turn, secret, hello });
                }
                JournalEvent::Committed { turn, question_sha256, mu_squared } => {
                    let bytes = HEXLOWER.decode(question_sha256.as_bytes()).ok();
                    let question = bytes.and_then(|b| b.try_into().ok());
                    let question = question.ok_or_else(|| broken("the question's hash is no hash"))?;
                    events.push(SiteEvent::Committed { turn: *turn, question, mu_squared: *mu_squared });
                }
                JournalEvent::Released(release) => {
                    events.push(SiteEvent::Released(Box::new(release.clone())))
                }
                JournalEvent::Upload { turn, sha256, .. } if needed.upload == Some(*turn) => {
                    let bytes = self.side_file(&upload_name(*turn), sha256)?;
                    let message: ToCoordinator =
                        codec::decode(&bytes).map_err(|_| broken("the upload cannot be read"))?;
                    events.push(SiteEvent::Upload { turn: *turn, message });
                }
                JournalEvent::Over | JournalEvent::Withdrawn => events.push(SiteEvent::Over),
                JournalEvent::Hello { .. }
                | JournalEvent::Upload { .. }
                | JournalEvent::Enrolled { .. }
                | JournalEvent::Joined { .. }
                | JournalEvent::Consented { .. }
                | JournalEvent::Debited { .. }
                | JournalEvent::Refused { .. } => {}
            }
        }
        Ok(events)
    }

    /// A side file, if it is what the journal says.
    fn side_file(&self, name: &str, hash: &str) -> Result<Vec<u8>, AgentError> {
        let file = in_secrets(name);
        let broken = |reason: &str| AgentError::tampered(self.folder.location(&file), None, reason);
        let bytes = self.folder.read(&file)?;
        let bytes = bytes.ok_or_else(|| broken("the file is missing, and the journal names it"))?;
        if sha256(&bytes) != hash {
            return Err(broken("its hash is not the one in the journal"));
        }
        Ok(bytes)
    }

    /// Whether the ledger has an entry for this release already: the machine stopped between the two.
    pub(super) fn is_debited(&self, release: &Release) -> bool {
        let hash = release_hash(release);
        self.journal.entries().iter().any(|entry| {
            matches!(&entry.record, JournalEvent::Debited { turn, release_sha256, .. }
                if *turn == release.turn && *release_sha256 == hash)
        })
    }

    /// Writes a refusal down, once, and no more of them than somebody would read: a coordinator could go on asking.
    pub(super) fn refused(&mut self, turn: Option<Turn>, reason: String) -> Result<(), AgentError> {
        let record = JournalEvent::Refused { turn, reason };
        let refusals =
            || self.journal.entries().iter().filter(|e| matches!(e.record, JournalEvent::Refused { .. }));
        if refusals().count() >= MOST_REFUSALS || refusals().any(|entry| entry.record == record) {
            return Ok(());
        }
        self.journal.append(record)
    }

    /// Writes down that the ledger has an entry for a release.
    pub(super) fn debited(&mut self, release: &Release, ledger_head: String) -> Result<(), AgentError> {
        let release_sha256 = release_hash(release);
        self.journal.append(JournalEvent::Debited { turn: release.turn, release_sha256, ledger_head })
    }
}

/// Hash of who shares a sum, of what, at which price, and of the question.
fn release_hash(release: &Release) -> String {
    let Release { cohort, statistics, cost, question, .. } = release;
    sha256(format!("{cohort:?} {statistics:?} {cost:?} {question:?}").as_bytes())
}

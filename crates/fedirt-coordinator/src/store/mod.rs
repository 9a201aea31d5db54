//! The store: everything that happened, in a thread of its own.
//!
//! What must survive together is one [`Job`]. The thread takes all jobs that wait, of all studies, writes them to an
//! [`EventLog`] in one transaction, and only then does what depends on them: acknowledgements, and messages to sites. A job
//! without anything to write waits its turn too, so that nothing is said before what it follows from is written. [`SqliteLog`]
//! is SQLite with write-ahead log and full synchronisation; [`MemoryLog`] is gone with the program.

mod memory;
mod schema;
mod sqlite;
mod thread;

pub use memory::MemoryLog;
pub use sqlite::SqliteLog;
pub use thread::{Store, StoreClient};

use fedirt_protocol::Timestamp;
use serde::{Deserialize, Serialize};

/// How many events are held in memory at a time while they are read.
const AT_A_TIME: usize = 64;

/// What a coordinator must not forget: the inputs that machines took, and what operators and invitations add to them. What a
/// call has changed survives a crash when it returns without an error.
pub trait EventLog: std::fmt::Debug + Send {
    /// Writes all of it, or nothing.
    fn commit(&mut self, effects: &[&Effect]) -> Result<(), LogError>;
    /// A study's events after this number, in order; at most so many.
    fn events(&self, study: &str, after: i64, most: usize) -> Result<Vec<Event>, LogError>;
    /// How many events there are, of all studies.
    fn event_count(&self) -> Result<u64, LogError>;
    /// All studies, by name.
    fn studies(&self) -> Result<Vec<StudyRecord>, LogError>;
    /// Whether a plan is bound: someone was invited, or something happened.
    fn has_begun(&self, study: &str) -> Result<bool, LogError>;
    /// Keeps a study's plan and its hash, in the place of one that did not bind yet.
    fn put_study(&mut self, study: &StudyRecord, plan_hash: &[u8; 32]) -> Result<(), LogError>;
    /// Keeps an invitation by the hash of its secret. Earlier ones of this site that nobody used are withdrawn; returns how
    /// many.
    fn add_invitation(
        &mut self,
        hash: &[u8; 32],
        study: &str,
        site: &str,
        expires: Timestamp,
    ) -> Result<usize, LogError>;
    /// The invitation of a secret, by its hash.
    fn find_invitation(&self, hash: &[u8; 32]) -> Result<Option<InvitationRecord>, LogError>;
    /// All invitations of a study, also those that were replaced.
    fn invitations(&self, study: &str) -> Result<Vec<InvitationRecord>, LogError>;
    /// Leaves a command for the server, and returns its number.
    fn add_command(&mut self, study: &str, input: &OperatorInput, at: Timestamp) -> Result<i64, LogError>;
    /// What came of a command; none while it waits.
    fn command_answer(&self, id: i64) -> Result<Option<String>, LogError>;
    /// The commands that wait, in order.
    fn commands(&self) -> Result<Vec<Command>, LogError>;
    /// What a study was last said to be doing.
    fn status_of(&self, study: &str) -> Result<Option<String>, LogError>;
}

/// Hands a study's events on, in order.
pub fn for_each_event<E: From<LogError>>(
    log: &dyn EventLog,
    study: &str,
    mut take: impl FnMut(Event) -> Result<(), E>,
) -> Result<(), E> {
    let mut last = 0;
    loop {
        let events = log.events(study, last, AT_A_TIME)?;
        let Some(latest) = events.last() else { return Ok(()) };
        last = latest.seq;
        events.into_iter().try_for_each(&mut take)?;
    }
}

/// Why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the store {location}: {error}")]
pub struct LogError {
    /// Where it is.
    pub location: String,
    /// Why.
    pub error: Box<dyn std::error::Error + Send + Sync>,
}

/// A study as it was first read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyRecord {
    /// Name.
    pub study: String,
    /// The plan's text.
    pub plan: String,
    /// From when the first deadline counts.
    pub created: Timestamp,
}

/// An invitation as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationRecord {
    /// For which study.
    pub study: String,
    /// For which site.
    pub site: String,
    /// Until when.
    pub expires: Timestamp,
    /// Whether a later one replaced it.
    pub withdrawn: bool,
    /// The key that it admitted.
    pub used_key: Option<Vec<u8>>,
}

/// What an operator wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatorInput {
    /// Not to wait for further sites.
    Begin,
    /// To go on without sites.
    Drop {
        /// Which.
        sites: Vec<String>,
    },
    /// To end the study.
    End {
        /// Why.
        reason: String,
    },
}

/// A command that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Its number.
    pub id: i64,
    /// For which study.
    pub study: String,
    /// What, if it can be read.
    pub input: Option<OperatorInput>,
}

/// An input that a machine took, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number, from 1.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// The encoded [`fedirt_protocol::coordinator::StoredInput`].
    pub input: Vec<u8>,
    /// The encoded [`fedirt_protocol::message::Announcement`] that followed from it; none where nothing was announced,
    /// or where a version wrote the event that did not keep announcements.
    pub announced: Option<Vec<u8>>,
}

/// Something to write.
#[derive(Debug)]
pub enum Effect {
    /// An input that a machine took.
    Event {
        /// Of which study.
        study: String,
        /// The event.
        event: Event,
    },
    /// An invitation was used.
    UseInvitation {
        /// Hash of its secret.
        hash: [u8; 32],
        /// The key that it admitted.
        key: [u8; 32],
        /// When.
        at: Timestamp,
    },
    /// An operator's command was carried out, or refused.
    Answer {
        /// Which.
        command: i64,
        /// What came of it.
        answer: String,
    },
    /// What a study is doing, for `status`.
    Status {
        /// Which study.
        study: String,
        /// As JSON.
        text: String,
    },
}

/// What is written together, and what is done once it is.
pub struct Job {
    /// To write.
    pub effects: Vec<Effect>,
    /// To do afterwards; dropped without being done if the disk refuses.
    pub then: Box<dyn FnOnce() + Send>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Job({} effects)", self.effects.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fedirt_data::files;

    /// What every log does.
    fn check(log: &mut dyn EventLog) -> Result<(), LogError> {
        let study =
            |plan: &str| StudyRecord { study: "reading".into(), plan: plan.into(), created: Timestamp(1) };
        log.put_study(&study("first"), &[1; 32])?;
        assert!(!log.has_begun("reading")?);
        log.put_study(&study("second"), &[2; 32])?;
        assert_eq!(log.studies()?, [study("second")]);

        let events: Vec<Effect> = (1..=130)
            .map(|seq| {
                let announced = (seq % 2 == 0).then(|| vec![9]);
                let event = Event { seq, at: Timestamp(seq.unsigned_abs()), input: vec![1, 2], announced };
                Effect::Event { study: "reading".into(), event }
            })
            .collect();
        log.commit(&events.iter().collect::<Vec<_>>())?;
        let mut read = Vec::new();
        for_each_event(log, "reading", |event| {
            read.push(event);
            Ok::<(), LogError>(())
        })?;
        assert_eq!((read.len(), log.event_count()?), (130, 130));
        assert_eq!((read[1].seq, read[1].at, read[1].announced.clone()), (2, Timestamp(2), Some(vec![9])));
        // All or nothing: the last event is there already.
        let more = Event { seq: 131, ..read[0].clone() };
        let twice = [more, read[129].clone()].map(|event| Effect::Event { study: "reading".into(), event });
        assert!(log.commit(&twice.iter().collect::<Vec<_>>()).is_err());
        assert_eq!(log.event_count()?, 130);
        assert!(log.events("writing", 0, 9)?.is_empty());

        assert_eq!(log.add_invitation(&[3; 32], "reading", "north", Timestamp(7))?, 0);
        assert_eq!(log.add_invitation(&[4; 32], "reading", "north", Timestamp(8))?, 1);
        assert!(log.has_begun("reading")?);
        assert!(log.find_invitation(&[3; 32])?.is_some_and(|found| found.withdrawn));
        let mut all = log.invitations("reading")?;
        all.sort_by_key(|invitation| invitation.expires.0);
        assert_eq!(
            all.iter().map(|i| (i.expires.0, i.withdrawn)).collect::<Vec<_>>(),
            [(7, true), (8, false)]
        );
        assert_eq!(log.invitations("writing")?, []);
        let used = |key| Effect::UseInvitation { hash: [4; 32], key, at: Timestamp(9) };
        log.commit(&[&used([5; 32]), &used([6; 32])])?;
        let found = log.find_invitation(&[4; 32])?;
        let found = found.map(|found| (found.site, found.expires, found.withdrawn, found.used_key));
        assert_eq!(found, Some(("north".into(), Timestamp(8), false, Some(vec![5; 32]))), "used once");
        assert_eq!(log.add_invitation(&[7; 32], "reading", "north", Timestamp(8))?, 0, "that one is used");
        assert_eq!(log.find_invitation(&[8; 32])?, None);

        let drop = OperatorInput::Drop { sites: vec!["north".into()] };
        let (first, second) = (
            log.add_command("reading", &OperatorInput::Begin, Timestamp(1))?,
            log.add_command("reading", &drop, Timestamp(1))?,
        );
        log.commit(&[&Effect::Answer { command: first, answer: "done".into() }])?;
        assert_eq!(log.command_answer(first)?.as_deref(), Some("done"));
        assert_eq!(log.command_answer(second)?, None);
        let waiting = Command { id: second, study: "reading".into(), input: Some(drop) };
        assert_eq!(log.commands()?, [waiting]);

        assert_eq!(log.status_of("reading")?, None);
        let status = |text: &str| Effect::Status { study: "reading".into(), text: text.into() };
        log.commit(&[&status("one"), &status("two")])?;
        assert_eq!(log.status_of("reading")?.as_deref(), Some("two"));
        Ok(())
    }

    #[test]
    fn logs_keep_their_promises() -> Result<(), Box<dyn std::error::Error>> {
        check(&mut MemoryLog::default())?;
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("store.sqlite3");
        files::append(&path, fedirt_data::Readers::Owner, &[])?;
        check(&mut SqliteLog::open(&path)?)?;
        Ok(())
    }
}

//! The store: SQLite in a thread of its own, with write-ahead log and full synchronisation.
//!
//! What must survive together is one [`Job`]. The thread takes all jobs that wait, of all studies, writes them in one
//! transaction, and only then does what depends on them: acknowledgements, and messages to sites. A job without
//! anything to write waits its turn too, so that nothing is said before what it follows from is on the disk.

mod record;
mod schema;
mod tables;
mod thread;

pub use record::{Record, RecordError};
pub use schema::open;
pub use tables::{
    Command, Invitation, OperatorInput, Study, add_command, add_invitation, command_answer, commands,
    event_count, events, find_invitation, has_begun, put_study, status_of, studies,
};
pub use thread::{Store, StoreClient};

use fedirt_protocol::Timestamp;

/// An input that a machine took, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number, from 1.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// The encoded [`Record`].
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

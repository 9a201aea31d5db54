//! The protocol's machine with its record: every input encoded as it goes in, and all of them replayed at a start.

use super::Mail;
use crate::store::{self, Event, EventLog, LogError};
use axum::body::Bytes;
use fedirt_model::fit::TraceEntry;
use fedirt_privacy::secure::Upload;
use fedirt_protocol::coordinator::{
    Coordinator, CoordinatorError, Finished, Input, Output, Rejection, ReplayRefusal, StoredInput,
    StoredInputError,
};
use fedirt_protocol::message::{Sums, ToCoordinator, ToSite, Turn};
use fedirt_protocol::{SiteId, Terms, Timestamp, codec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a study ended.
pub type Outcome = Result<Finished, CoordinatorError>;

/// A machine and the number of its last event.
#[derive(Debug)]
pub struct Machine {
    coordinator: Coordinator,
    seq: i64,
    latest: Timestamp,
}

/// What an input led to.
#[derive(Debug, Default)]
pub struct Consequences {
    /// The event to write.
    pub event: Option<Event>,
    /// Mail for sites.
    pub mail: Vec<(SiteId, Mail)>,
    /// Rounds completed.
    pub rounds: Vec<TraceEntry>,
    /// What sites have sent.
    pub sent: Vec<Sent>,
    /// The end.
    pub outcome: Option<Box<Outcome>>,
}

/// A message that was taken, counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// From whom.
    pub site: SiteId,
    /// When.
    pub at: Timestamp,
    /// Bytes, as stored.
    pub bytes: u64,
    /// Numbers of an answer.
    pub numbers: u64,
    /// The attempt that it answers.
    pub answers: Option<Turn>,
}

impl Sent {
    fn of(at: Timestamp, input: &Input, bytes: usize) -> Option<Self> {
        let Input::Message { from, message } = input else { return None };
        let (numbers, answers) = match message {
            ToCoordinator::Upload { turn, sums, by_name } => {
                let sums = match sums {
                    Sums::Plain(sums) => sums.len(),
                    Sums::Masked(bytes) => Upload::decode(bytes).map_or(0, |upload| upload.words().len()),
                };
                (sums + by_name.len(), Some(*turn))
            }
            _ => (0, None),
        };
        Some(Self { site: from.clone(), at, bytes: bytes as u64, numbers: numbers as u64, answers })
    }
}

/// Why a study cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The store.
    #[error(transparent)]
    Store(#[from] LogError),
    /// An event cannot be read.
    #[error("event {seq} of the store cannot be read: {error}")]
    Record {
        /// Which.
        seq: i64,
        /// Why.
        error: StoredInputError,
    },
    /// The machine does not take an event that it took before, or would go on differently.
    #[error("event {seq} of the store is not taken any more ({refusal}): use the program that wrote it")]
    Refused {
        /// Which.
        seq: i64,
        /// Why.
        refusal: ReplayRefusal,
    },
    /// Events are missing.
    #[error("event {0} is missing in the store: restore it from a back-up")]
    Gap(i64),
}

impl Machine {
    /// A machine where the events left off, with what its sites have to fetch.
    pub fn replay(
        log: &dyn EventLog,
        terms: Terms,
        created: Timestamp,
    ) -> Result<(Self, Consequences), ReplayError> {
        let study = terms.study.to_string();
        let mut machine = Self { coordinator: Coordinator::new(terms, created), seq: 0, latest: created };
        let mut all = Consequences::default();
        let mut mail = BTreeMap::new();
        store::for_each_event(log, &study, |Event { seq, at, input: bytes, announced }| {
            if seq != machine.seq + 1 {
                return Err(ReplayError::Gap(machine.seq + 1));
            }
            let wrong = |error| ReplayError::Record { seq, error };
            let input = StoredInput::decode(&bytes).and_then(StoredInput::input).map_err(wrong)?;
            let announced = announced.map(|bytes| codec::decode(&bytes)).transpose();
            let announced = announced.map_err(|error| wrong(error.into()))?;
            machine.latest = machine.latest.max(at);
            all.sent.extend(Sent::of(at, &input, bytes.len()));
            let taken = machine.coordinator.replay(at, input, announced);
            taken.map_err(|refusal| ReplayError::Refused { seq, refusal })?;
            machine.seq = seq;
            while let Some(output) = machine.coordinator.poll() {
                match output {
                    Output::Send { to, message } => drop(mail.insert(to, message)),
                    Output::Progress(entry) => all.rounds.push(entry),
                    Output::Finished(outcome) => all.outcome = Some(outcome),
                    Output::Persist { .. } => {}
                }
            }
            Ok(())
        })?;
        all.mail = encode(mail);
        Ok((machine, all))
    }

    /// Takes an input now. A rejected one changes nothing.
    pub fn take(&mut self, now: Timestamp, input: Input) -> Result<Consequences, Rejection> {
        // A clock that is set back must not reorder events.
        let now = now.max(self.latest);
        let record = StoredInput::of(input);
        let invalid = |error: StoredInputError| Rejection::Invalid(error.to_string());
        let bytes = record.encode().map_err(invalid)?;
        let input = record.input().map_err(invalid)?;
        let sent = Sent::of(now, &input, bytes.len());
        self.coordinator.handle(now, input)?;
        let mut consequences = Consequences::default();
        let (mut mail, mut bytes) = (Vec::new(), Some(bytes));
        while let Some(output) = self.coordinator.poll() {
            match output {
                Output::Persist { at, announced, .. } => {
                    self.seq += 1;
                    self.latest = at;
                    let announced = announced.map(|announced| codec::encode(&announced)).transpose();
                    // The machine has encoded the question itself; only a result beyond the longest message fails.
                    let announced = announced.unwrap_or_else(|error| {
                        tracing::error!(%error, "an announcement cannot be stored; a restart computes it anew");
                        None
                    });
                    consequences.event =
                        bytes.take().map(|input| Event { seq: self.seq, at, input, announced });
                    consequences.sent.extend(sent.clone());
                }
                Output::Send { to, message } => mail.push((to, message)),
                Output::Progress(entry) => consequences.rounds.push(entry),
                Output::Finished(outcome) => consequences.outcome = Some(outcome),
            }
        }
        consequences.mail = encode(mail);
        Ok(consequences)
    }

    /// The machine itself.
    pub fn coordinator(&self) -> &Coordinator {
        &self.coordinator
    }
}

/// Each message once, however many sites it goes to.
fn encode(mail: impl IntoIterator<Item = (SiteId, Arc<ToSite>)>) -> Vec<(SiteId, Mail)> {
    let mut known: Vec<(Arc<ToSite>, Bytes)> = Vec::new();
    let mut out = Vec::new();
    for (site, message) in mail {
        let found =
            known.iter().rev().take(4).find(|(m, _)| Arc::ptr_eq(m, &message)).map(|(_, b)| b.clone());
        let bytes = match found.map_or_else(|| codec::encode(&*message).map(Bytes::from), Ok) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::error!(%site, %error, "a message cannot be encoded");
                continue;
            }
        };
        out.push((site, Mail { step: message.step, bytes: bytes.clone() }));
        known.push((message, bytes));
    }
    out
}

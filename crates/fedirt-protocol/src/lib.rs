//! How a calibration is carried out between a coordinator and sites: the plan, messages, and two state machines.
//!
//! The machines are plain values, without sockets, clocks, disks or randomness of their own (*sans I/O*). A program
//! around a machine, its *shell*, hands it what happened and does what it says, in the order in which it says it. The
//! same two machines run in one process ([`in_process`]), over a network and in the fault simulator ([`simulation`]).
//!
//! # Who calls what, and when
//!
//! **The coordinator's shell** makes a [`Coordinator`] from the study's [`Terms`]. From then on:
//!
//! 1. It calls [`Coordinator::handle`] with each [`coordinator::Input`]: a site's message (after checking the signature),
//!    an operator's command, or [`coordinator::Input::Deadline`] when [`Coordinator::next_deadline`] has passed.
//!    A rejected input has changed nothing; the sender is told.
//! 2. It calls [`Coordinator::poll`] until there is nothing left, and does each [`coordinator::Output`] in turn:
//!    `Persist` the input together with what it made the machine announce, `Send` a notice to a site (only the latest
//!    notice to a site counts), report `Progress`, write the results at `Finished`.
//! 3. Only when `Persist` is on disk does it acknowledge the input, and only then may a site see a `Send`.
//!
//! **A site's shell** makes a [`SiteMachine`] from the terms, its policy, its key and its rows, gives it the events of its
//! journal ([`SiteMachine::restore`]) and calls [`SiteMachine::join`]. From then on:
//!
//! 1. It fetches the coordinator's latest notice (a long poll) and calls [`SiteMachine::handle`].
//! 2. It calls [`SiteMachine::poll`] until there is nothing left, and does each [`site::SiteOutput`] in turn:
//!    - `Persist` an event: on disk before the next output is looked at;
//!    - `Send` a message: until the coordinator acknowledges or rejects it;
//!    - `RosterShown`: the officer compares, then [`SiteMachine::approve_roster`];
//!    - `RoundShown` (policies that approve each round): the officer looks, then [`SiteMachine::approve_round`];
//!    - `Debit`: enter the release in the ledger, on disk, then [`SiteMachine::debited`] with the ledger's word;
//!    - `Refused`, `Finished`, `Ended`: for people.
//!
//! # A study, message by message
//!
//! ```text
//! coordinator                                site
//! Gathering    <- Enrol, Join --------------  Waiting
//! Approving    -- Roster ------------------>  RosterShown   officer compares          (not in plain)
//!              <- Approve -----------------   Waiting       persisted: Approved
//! Calling      -- Call(turn) -------------->  Waiting       persisted: Pinned, Hello  (not in plain)
//!              <- Hello -------------------
//! Open         -- Open(turn, question) ---->  RoundShown    officer looks             (if the policy says so)
//!                                             AskingLedger  persisted: Committed; ledger: Debit
//!              <- Upload(turn) ------------   Waiting       persisted: Released, Upload
//!              ... again, until the centre is done ...
//! Over         -- Finished(fit) ----------->  Over          persisted: Over
//! ```
//!
//! A *turn* is a round and an attempt at it. An attempt has one key, one question and one answer at each site.
//!
//! # What is persisted before what is sent
//!
//! | who | before this is sent | this is on disk | because |
//! |---|---|---|---|
//! | coordinator | an acknowledgement | the input | the sender forgets the message once it is acknowledged |
//! | coordinator | a question or a result | its bytes, with the input that caused it | a site accepts one question per attempt; another machine may compute other last digits |
//! | site | `Approve` | `Approved` | the officer is asked once about a roster |
//! | site | `Hello` | `Hello`, with the key | an attempt has one key |
//! | site | `Upload` | `Committed`, the ledger's entry, `Released`, `Upload`, in this order | an attempt has one question; what leaves is accounted for first; an answer is resent byte for byte |
//!
//! # After a crash
//!
//! Either side may stop between any two of these steps; the simulator stops them at all of them.
//!
//! *The coordinator* gives a new machine every stored input in order ([`Coordinator::replay`]) and stands where it stood.
//! An input that was not stored was not acknowledged, and its sender sends it again.
//!
//! *A site* restores its machine from the journal, joins again (which is idempotent) and fetches the latest notice:
//!
//! | it stopped after | what is on disk | what happens next |
//! |---|---|---|
//! | the roster was shown | nothing | it is shown again |
//! | `Approved` | the approval | the roster comes again and is signed without asking |
//! | `Hello` | key and hello | the call comes again, and the same hello is sent |
//! | `Committed` | the question's hash | the opening comes again; this question is accepted, any other is refused |
//! | the ledger's entry | the entry | the ledger finds its entry for the same question and does not debit twice |
//! | `Released` | the record of a release | the answer is computed again (in `private` with fresh noise: nothing had left) |
//! | `Upload` | the answer | the opening comes again, and the same bytes are sent |
//! | `Over` | the end | the notice comes again, and the results are written |

mod answerable;
pub mod audit;
pub mod codebook;
pub mod codec;
pub mod coordinator;
pub mod coverage;
pub mod declaration;
pub mod encoding;
pub mod envelope;
pub mod forecast;
pub mod in_process;
pub mod invitation;
pub mod leaves;
pub mod mailbox;
pub mod message;
pub mod plan;
pub mod policy;
pub mod preview;
pub mod private;
pub mod simulation;
pub mod site;
pub mod statement;
pub mod terms;

pub use coordinator::Coordinator;
pub use fedirt_privacy::secure::{SiteId, StudyId};
pub use site::SiteMachine;
pub use terms::Terms;

use std::time::{SystemTime, UNIX_EPOCH};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970, or since another moment that a shell without a clock chooses. A shell's clock is
/// `Timestamp::from(SystemTime::now())`; nothing in this crate reads one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Some milliseconds later.
    pub fn after(self, milliseconds: u64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// As people and programs read it: `2026-11-16T07:47:46Z`; none beyond the year 9999.
    pub fn rfc3339(self) -> Option<String> {
        let seconds = i64::try_from(self.0 / 1000).ok()?;
        OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.rfc3339() {
            Some(text) => f.write_str(&text),
            None => write!(f, "{} ms after 1970", self.0),
        }
    }
}

#[cfg(test)]
mod timestamp_tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(Timestamp(1_794_815_266_123).to_string(), "2026-11-16T07:47:46Z");
        assert!(Timestamp(u64::MAX).to_string().contains("after 1970"));
        let time = UNIX_EPOCH + std::time::Duration::from_millis(12);
        assert_eq!(Timestamp::from(time), Timestamp(12));
    }
}

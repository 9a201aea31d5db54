//! How messages reach the coordinator: calls that a network, or a test, carries out.

use fedirt_protocol::invitation::Invitation;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What is known of a message that was handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// The coordinator has it on its disk.
    #[default]
    Acknowledged,
    /// It waits for a courier. Whether it arrives shows in what the coordinator says next; it is given again until then.
    Posted,
}

impl Delivery {
    /// As the transcript names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Acknowledged => "acknowledged",
            Self::Posted => "posted",
        }
    }
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The network: worth another try.
    #[error("the coordinator cannot be reached: {0}")]
    Unreachable(String),
    /// The coordinator understood and said no.
    #[error("the coordinator refuses: {}", if .detail.is_empty() { title } else { detail })]
    Refused {
        /// Status of the answer.
        status: u16,
        /// A short name for programs.
        code: String,
        /// For people.
        title: String,
        /// More for people.
        detail: String,
    },
    /// The officer has called the agent away; what was under way is repeated when it comes back.
    #[error("the agent was stopped")]
    Stopped,
}

impl TransportError {
    /// Whether another try may help.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Stopped => false,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
        }
    }

    /// Whether this site can do nothing more: it is not known there, or it runs twice.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Unreachable(_) => false,
            Self::Stopped => true,
            Self::Refused { status, code, .. } => {
                matches!(status, 401 | 403 | 404)
                    || ["not_enrolled", "not_invited", "another_key", "restored", "two_answers"]
                        .contains(&code.as_str())
            }
        }
    }
}

/// The coordinator, as a site sees it. Every call goes out from the site; nothing comes in.
pub trait Transport {
    /// The text of the plan that an invitation is about; its secret says that this site is invited.
    fn plan(&mut self, invitation: &Invitation) -> Result<String, TransportError>;
    /// Enrols a key: the bytes of an [`fedirt_protocol::envelope::EnrolRequest`].
    fn enrol(&mut self, request: &[u8]) -> Result<Delivery, TransportError>;
    /// Delivers a sealed message.
    fn send(&mut self, study: &str, envelope: &[u8]) -> Result<Delivery, TransportError>;
    /// Asks for news with a sealed poll, and waits as long as it says; `None` if there are none.
    fn poll(
        &mut self,
        study: &str,
        envelope: &[u8],
        wait: Duration,
    ) -> Result<Option<Vec<u8>>, TransportError>;
    /// Waits before another try.
    fn pause(&mut self, duration: Duration);
}

//! The journal for people.

use super::journal::JournalEvent;
use super::transport::Delivery;
use fedirt_data::text::{counted, grouped};
use fedirt_protocol::site::Release;

impl JournalEvent {
    /// What happened, in a sentence without its full stop.
    pub fn in_words(&self) -> String {
        match self {
            Self::Enrolled { site, key_fingerprint, delivery, .. } => match delivery {
                Delivery::Acknowledged => {
                    format!("plan approved, enrolled as {site} with the key {key_fingerprint}")
                }
                Delivery::Posted => {
                    format!("plan approved; the key {key_fingerprint} of {site} waits for the courier")
                }
            },
            Self::Consented { by, asked, file_sha256 } => {
                format!("{by} approved what is sent: {asked}; SHA-256 of the file {file_sha256}")
            }
            Self::Joined { population, students, .. } => {
                format!("joined with {} ({population})", counted(*students, "student", "students"))
            }
            Self::Approved { fingerprint, .. } => {
                format!("roster {fingerprint} approved by this site's officer")
            }
            Self::Pinned { sites, .. } => format!("roster signed by everybody: {}", sites.join(", ")),
            Self::Hello { turn, .. } => format!("{turn}: hello"),
            Self::Debited { turn, ledger_head, .. } => {
                format!("{turn}: entered in the ledger (head {})", &ledger_head[..16.min(ledger_head.len())])
            }
            Self::Committed { turn, .. } => {
                format!("{turn}: the question is accepted, and no other in this attempt")
            }
            Self::Released(Release { turn, cohort, statistics, .. }) => {
                let names: Vec<String> =
                    statistics.iter().map(|(name, size)| format!("{name} ({size})")).collect();
                format!("{turn}: released {} with {}", names.join(", "), cohort.join(", "))
            }
            Self::Upload { turn, bytes, sha256 } => {
                format!("{turn}: upload of {} bytes, SHA-256 {sha256}", grouped(*bytes))
            }
            Self::Refused { turn, reason } => {
                format!("{}refused: {reason}", turn.map_or(String::new(), |turn| format!("{turn}: ")))
            }
            Self::Over => "over; round keys wiped".to_owned(),
            Self::Withdrawn => "withdrawn; keys wiped".to_owned(),
        }
    }
}

//! The time of day.

use fedirt_protocol::Timestamp;
use std::time::SystemTime;

/// The time by the clock of this computer.
pub fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}

//! The time, for journals and deadlines.

use fedirt_protocol::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A time as people and programs read it: `2026-11-16T09:00:00Z`.
pub fn text(at: Timestamp) -> String {
    let seconds = i64::try_from(at.0 / 1000).unwrap_or(i64::MAX);
    let time = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    time.format(&Rfc3339).unwrap_or_else(|_| seconds.to_string())
}

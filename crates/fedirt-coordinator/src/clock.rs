//! The time of day, and how it is written.

use fedirt_protocol::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A time for people: `2026-11-16T07:47:46Z`.
pub fn text(at: Timestamp) -> String {
    let seconds = i64::try_from(at.0 / 1000).unwrap_or(i64::MAX);
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok();
    time.and_then(|t| t.format(&Rfc3339).ok()).unwrap_or_else(|| format!("{} ms after 1970", at.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(text(Timestamp(1_794_815_266_123)), "2026-11-16T07:47:46Z");
        assert!(text(Timestamp(u64::MAX)).contains("after 1970"));
    }
}

//! A time on a page: written in UTC, and shown by a script in the time zone of the reader.

use askama::filters::HtmlSafe;
use fedirt_protocol::Timestamp;

/// A time in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let written = Timestamp(self.0).rfc3339();
        let shown = written.as_deref().and_then(|exact| Some((exact, exact.get(..10)?, exact.get(11..16)?)));
        match shown {
            Some((exact, day, hour)) => write!(f, "<time datetime=\"{exact}\">{day} {hour} UTC</time>"),
            None => f.write_str("–"),
        }
    }
}

impl HtmlSafe for Moment {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_for_people_and_scripts() {
        let text = Moment(1_794_815_266_123).to_string();
        assert_eq!(text, "<time datetime=\"2026-11-16T07:47:46Z\">2026-11-16 07:47 UTC</time>");
        assert_eq!(Moment(u64::MAX).to_string(), "–");
    }
}

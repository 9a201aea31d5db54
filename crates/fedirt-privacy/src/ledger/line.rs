//! A line of the ledger and its hash.

use super::LedgerEntry;
use crate::hash_chain::Head;

const LABEL: &[u8] = b"fedirt ledger 1\n";

/// The body of a line, if its hash follows from the line before.
pub(super) fn follow(previous: Head, line: &str) -> Option<&str> {
    let (hash, body) = line.split_once('\t')?;
    (previous.after(LABEL, body).to_string() == hash).then_some(body)
}

/// A line that may be appended.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    previous: Head,
    head: Head,
    body: String,
    entry: LedgerEntry,
}

impl Line {
    pub(super) fn new(previous: Head, body: String, entry: LedgerEntry) -> Self {
        Self { previous, head: previous.after(LABEL, &body), body, entry }
    }

    /// The text to append, with its line break, in one write.
    pub fn text(&self) -> String {
        format!("{}\t{}\n", self.head, self.body)
    }

    /// The head once it is appended.
    pub fn head(&self) -> Head {
        self.head
    }

    /// What it says.
    pub fn entry(&self) -> &LedgerEntry {
        &self.entry
    }

    pub(super) fn previous(&self) -> Head {
        self.previous
    }

    pub(super) fn body(&self) -> &str {
        &self.body
    }

    pub(super) fn into_entry(self) -> LedgerEntry {
        self.entry
    }
}

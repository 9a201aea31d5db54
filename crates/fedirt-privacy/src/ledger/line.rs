//! A line of the ledger and its hash.

use super::Entry;
use sha2::{Digest, Sha256};
use std::str::FromStr;

const LABEL: &[u8] = b"fedirt ledger 1\n";

/// The hash of a line, which stands for all lines up to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head([u8; 32]);

impl Head {
    /// Of a ledger without lines.
    pub const EMPTY: Self = Self([0; 32]);

    fn after(self, body: &str) -> Self {
        let hash = Sha256::new().chain_update(LABEL).chain_update(self.0).chain_update(body);
        Self(hash.finalize().into())
    }

    /// The body of a line, if its hash follows from this one.
    pub(super) fn follow(self, line: &str) -> Option<&str> {
        let (hash, body) = line.split_once('\t')?;
        (self.after(body).to_string() == hash).then_some(body)
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl std::fmt::Debug for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Head({self})")
    }
}

impl FromStr for Head {
    type Err = String;

    /// 64 lower-case hexadecimal digits, as a result quotes them.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * i..2 * i + 2).ok_or("a head has 64 digits")?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| "a head has hexadecimal digits")?;
        }
        let head = Self(bytes);
        if head.to_string() == text { Ok(head) } else { Err("a head has 64 lower-case digits".into()) }
    }
}

/// A line that may be appended.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    previous: Head,
    head: Head,
    body: String,
    entry: Entry,
}

impl Line {
    pub(super) fn new(previous: Head, body: String, entry: Entry) -> Self {
        Self { previous, head: previous.after(&body), body, entry }
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
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    pub(super) fn previous(&self) -> Head {
        self.previous
    }

    pub(super) fn body(&self) -> &str {
        &self.body
    }

    pub(super) fn into_entry(self) -> Entry {
        self.entry
    }
}

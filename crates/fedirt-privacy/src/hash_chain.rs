//! Lines of text that are chained by hashes: a site's ledger and its journals.
//!
//! Each line carries SHA-256(label ‖ hash of the line before, 32 bytes (0 before the first) ‖ body of the line). A line that
//! is changed, inserted or taken out breaks the chain. Lines that are cut off the end leave a whole chain: whoever must
//! notice that keeps an earlier [`Head`].

use sha2::{Digest, Sha256};
use std::str::FromStr;

/// The hash of a line, which stands for all lines up to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Head([u8; 32]);

impl Head {
    /// Of a chain without lines.
    pub const EMPTY: Self = Self([0; 32]);

    /// The hash of the next line. The label keeps chains of different files apart.
    pub fn after(self, label: &[u8], body: &str) -> Self {
        Self(Sha256::new().chain_update(label).chain_update(self.0).chain_update(body).finalize().into())
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

/// A text that is no [`Head`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a head has 64 lower-case hexadecimal digits")]
pub struct NotAHead;

impl FromStr for Head {
    type Err = NotAHead;

    /// 64 lower-case hexadecimal digits, as a result quotes them.
    fn from_str(text: &str) -> Result<Self, NotAHead> {
        let mut bytes = [0; 32];
        for (i, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * i..2 * i + 2).ok_or(NotAHead)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NotAHead)?;
        }
        let head = Self(bytes);
        if head.to_string() == text { Ok(head) } else { Err(NotAHead) }
    }
}

/// The whole lines of a file that only grows. What follows the last line break was cut short when the program or the machine
/// stopped in the middle of an append.
pub fn whole_lines(file: &[u8]) -> &[u8] {
    &file[..file.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1)]
}

/// Lines without their line breaks; none for a line that is no UTF-8 text.
pub fn lines(whole: &[u8]) -> impl Iterator<Item = Option<&str>> {
    whole
        .split_inclusive(|&b| b == b'\n')
        .map(|line| std::str::from_utf8(line).ok().and_then(|line| line.strip_suffix('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_depends_on_every_line_and_on_its_label() {
        let of =
            |label: &[u8], bodies: &[&str]| bodies.iter().fold(Head::EMPTY, |head, b| head.after(label, b));
        let whole = of(b"a", &["x", "y"]);
        for other in
            [of(b"a", &["x"]), of(b"a", &["y", "x"]), of(b"a", &["x", "x", "y"]), of(b"b", &["x", "y"])]
        {
            assert_ne!(other, whole);
        }
        // SHA-256 of "a", 32 zero bytes and "x", computed by another program.
        let first = "e70f1112fbed73a33f1971478665502aef74f877c4e015ac5d6b8a34c69f2637";
        assert_eq!(of(b"a", &["x"]).to_string(), first);
        assert_eq!(whole.to_string().parse(), Ok(whole));
        assert_eq!("AB".parse::<Head>(), Err(NotAHead));
    }

    #[test]
    fn a_line_that_was_cut_short_does_not_count() {
        assert_eq!(whole_lines(b"one\ntwo\nthr"), b"one\ntwo\n");
        assert_eq!(whole_lines(b"thr"), b"");
        let read: Vec<_> = lines(b"one\n\xff\n").collect();
        assert_eq!(read, [Some("one"), None]);
    }
}

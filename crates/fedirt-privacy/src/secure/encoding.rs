//! The one way in which values become bytes before they are signed or hashed.
//!
//! A message is a list of fields; a field is its length as a little-endian u64, then its bytes. Numbers are
//! fields of eight bytes, little-endian. The first field is a label that no other kind of message has, the
//! second the version. Two different lists of fields never give the same bytes, and a list has one encoding
//! only: a decoder that accepted two would let a signature be moved between them.

use super::VERSION;
use sha2::{Digest, Sha256};

/// Why bytes are not the message they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end within a field.
    #[error("the message ends in the middle of {field}")]
    Truncated {
        /// The name of the field.
        field: &'static str,
    },
    /// Bytes are left after the last field.
    #[error("{bytes} bytes follow the end of the message")]
    Trailing {
        /// The number of bytes that are left.
        bytes: usize,
    },
    /// The bytes are another kind of message.
    #[error("this is not a {expected}")]
    Label {
        /// The label that was expected.
        expected: &'static str,
    },
    /// The message has another version of the protocol.
    #[error("the message has version {got}, and this program speaks version {VERSION}")]
    Version {
        /// The version that was found.
        got: u64,
    },
    /// A field has a length or content that it cannot have.
    #[error("{field} is malformed")]
    Malformed {
        /// The name of the field.
        field: &'static str,
    },
}

/// Writes the fields of a message, each with its length.
pub(super) struct Fields(Vec<u8>);

impl Fields {
    /// A message that begins with its label and the version.
    pub(super) fn new(label: &'static str) -> Self {
        let mut fields = Self(Vec::with_capacity(256));
        fields.bytes(label.as_bytes()).number(VERSION);
        fields
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    pub(super) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    /// SHA-256 of the fields.
    pub(super) fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }
}

/// Reads fields; never panics, and never allocates more than what it was given.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Starts a message: checks its label and version.
    pub(super) fn new(bytes: &'a [u8], label: &'static str) -> Result<Self, DecodeError> {
        let mut reader = Self(bytes);
        if reader.bytes("the label")? != label.as_bytes() {
            return Err(DecodeError::Label { expected: label });
        }
        match reader.number("the version")? {
            VERSION => Ok(reader),
            got => Err(DecodeError::Version { got }),
        }
    }

    pub(super) fn bytes(&mut self, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let (length, rest) = self.0.split_first_chunk::<8>().ok_or(DecodeError::Truncated { field })?;
        let length = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .filter(|&n| n <= rest.len())
            .ok_or(DecodeError::Truncated { field })?;
        let (bytes, rest) = rest.split_at(length);
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        self.bytes(field)?.try_into().map_err(|_| DecodeError::Malformed { field })
    }

    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    /// A name, which [`super::SiteId`] and [`super::StudyId`] check.
    pub(super) fn name<T>(&mut self, field: &'static str) -> Result<T, DecodeError>
    where
        T: for<'s> TryFrom<&'s str>,
    {
        let malformed = DecodeError::Malformed { field };
        let text = std::str::from_utf8(self.bytes(field)?).map_err(|_| malformed.clone())?;
        T::try_from(text).map_err(|_| malformed)
    }

    /// Ends the message.
    pub(super) fn finish(self) -> Result<(), DecodeError> {
        if self.0.is_empty() { Ok(()) } else { Err(DecodeError::Trailing { bytes: self.0.len() }) }
    }
}

/// Whether 32 little-endian bytes, without their top bit, are below the prime 2²⁵⁵ − 19. Keys written in
/// two ways would be two entries of a hash for one key.
pub(super) fn below_prime(bytes: &[u8; 32]) -> bool {
    bytes[31] & 0x7f != 0x7f || bytes[1..31].iter().any(|&b| b != 0xff) || bytes[0] < 0xed
}

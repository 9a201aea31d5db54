//! Messages as bytes: four letters, a version, then the message in postcard's encoding.
//!
//! Decoding never panics, never reserves more than it was given, and refuses what is left over: a message has one
//! encoding.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the messages that are written. Another layout is another version. In version 2 a result names the
/// parameters of its items; in version 3 the sums of `secure` have fewer digits, so that programs of version 2 must not add theirs.
pub const VERSION: u8 = 3;

/// The oldest version that is read: all messages but results have had the same layout since, and a study that began before
/// an upgrade goes on after it.
const OLDEST: u8 = 1;

/// The longest message that is read: 500 items have a triangle of half a million numbers of 8 bytes.
pub const MAX_BYTES: usize = 64 << 20;

const MAGIC: [u8; 4] = *b"FIRT";

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// Too long.
    #[error("a message of {bytes} bytes is too long: {MAX_BYTES} is the most")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Not a message of ours.
    #[error("this is no fedirt message")]
    NotOurs,
    /// Another version.
    #[error(
        "the message has version {got}, and this program speaks version {VERSION}: bring both sides to the same release"
    )]
    Version {
        /// Its version.
        got: u8,
    },
    /// The content is broken.
    #[error("the message is malformed")]
    Malformed,
}

/// A message as bytes.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend_from_slice(&MAGIC);
    bytes.push(VERSION);
    let bytes = postcard::to_extend(message, bytes).map_err(|_| CodecError::Malformed)?;
    if bytes.len() > MAX_BYTES { Err(CodecError::TooLong { bytes: bytes.len() }) } else { Ok(bytes) }
}

/// Bytes as a message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    if bytes.len() > MAX_BYTES {
        return Err(CodecError::TooLong { bytes: bytes.len() });
    }
    let rest = bytes.strip_prefix(&MAGIC).ok_or(CodecError::NotOurs)?;
    let (version, rest) = rest.split_first().ok_or(CodecError::NotOurs)?;
    if !(OLDEST..=VERSION).contains(version) {
        return Err(CodecError::Version { got: *version });
    }
    match postcard::take_from_bytes(rest) {
        Ok((message, [])) => Ok(message),
        _ => Err(CodecError::Malformed),
    }
}

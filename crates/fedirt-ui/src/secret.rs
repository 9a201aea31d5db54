//! The secrets of log-ins, sessions and forms: 32 random bytes that are never printed.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Length of a secret in bytes.
pub const BYTES: usize = 32;

/// A secret. Its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct Secret([u8; BYTES]);

impl Secret {
    /// A secret with these bytes, which must be random.
    pub fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// Parses the text of a secret. Surrounding blanks are ignored.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut bytes = BASE64URL_NOPAD.decode(text.trim().as_bytes()).ok()?;
        let secret = <[u8; BYTES]>::try_from(bytes.as_slice()).ok().map(Self);
        bytes.zeroize();
        secret
    }

    /// The secret as text, for a cookie, a form or a person. The caller is responsible for keeping it confidential.
    pub fn reveal(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0)
    }

    /// The SHA-256 hash, which is stored in place of the secret.
    pub fn hash(&self) -> Hash {
        Hash(Sha256::digest(self.0).into())
    }

    /// Whether a text is this secret, compared in constant time.
    pub fn is(&self, text: &str) -> bool {
        Self::from_text(text).is_some_and(|other| bool::from(other.0.ct_eq(&self.0)))
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The SHA-256 hash of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Parses hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = HEXLOWER.decode(text.trim().as_bytes()).ok()?;
        <[u8; 32]>::try_from(bytes).ok().map(Self)
    }

    /// The hash as hexadecimal digits.
    pub fn hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Whether two hashes are equal, compared in constant time.
    pub fn same(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_nothing_prints() {
        let secret = Secret::from_bytes([7; 32]);
        let text = secret.reveal();
        assert!(secret.is(&text) && secret.is(&format!(" {text}\n")));
        assert!(!secret.is(&Secret::from_bytes([8; 32]).reveal()) && !secret.is("") && !secret.is("ä"));
        assert!(!format!("{secret:?}").contains(&text[..4]));
        assert_eq!(Hash::from_hex(&secret.hash().hex()), Some(secret.hash()));
    }
}

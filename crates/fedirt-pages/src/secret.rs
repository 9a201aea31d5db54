//! Secrets of log-ins, sessions and forms: 32 random bytes that never print.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Bytes of a secret.
pub const BYTES: usize = 32;

/// A secret. It is wiped when dropped.
#[derive(Clone)]
pub struct Secret([u8; BYTES]);

impl Secret {
    /// A secret of these bytes, which come from the operating system.
    pub fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// From its text; blanks around it do not matter.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut bytes = BASE64URL_NOPAD.decode(text.trim().as_bytes()).ok()?;
        let secret = <[u8; BYTES]>::try_from(bytes.as_slice()).ok().map(Self);
        bytes.zeroize();
        secret
    }

    /// Its text, for a cookie, a form or a person: whoever calls this lets it out.
    pub fn reveal(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0)
    }

    /// Its SHA-256: what is kept in its place.
    pub fn hash(&self) -> Hash {
        Hash(Sha256::digest(self.0).into())
    }

    /// Whether a text is this secret, in a time that does not tell how much of it is right.
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

/// SHA-256 of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// From hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = HEXLOWER.decode(text.trim().as_bytes()).ok()?;
        <[u8; 32]>::try_from(bytes).ok().map(Self)
    }

    /// As hexadecimal digits.
    pub fn hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Whether two are the same, in constant time.
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

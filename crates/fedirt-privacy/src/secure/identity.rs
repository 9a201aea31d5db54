//! The key a site is known by, and its fingerprint.

use super::encoding::below_prime;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use rand::CryptoRng;
use sha2::{Digest, Sha256};
use std::fmt;
use zeroize::Zeroizing;

/// Length of a signature in bytes.
pub const SIGNATURE_BYTES: usize = 64;

/// Why a key or a signature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The bytes are no Ed25519 key, or not in their one encoding.
    #[error("these bytes are no public key")]
    NotAKey,
    /// A key under which anyone can make signatures.
    #[error("the public key is one for which anybody can make signatures")]
    WeakKey,
    /// The signature was not made by this key over these bytes.
    #[error("the signature does not belong to this message and this key")]
    BadSignature,
}

/// The secret key of a site (Ed25519), made at the site and never sent.
///
/// It is wiped when dropped, and its `Debug` shows the fingerprint only. Whoever holds a copy *is* the site;
/// a copy restored from a back-up is a second one, so a restored site enrols again.
pub struct Identity(SigningKey);

impl Identity {
    /// A new key. The randomness must be the operating system's, except in simulations.
    pub fn generate(random: &mut impl CryptoRng) -> Self {
        let mut secret = Zeroizing::new([0; 32]);
        random.fill_bytes(secret.as_mut());
        Self::from_secret(&secret)
    }

    /// Restores a key from its stored secret.
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    /// The secret, to be stored where only the site can read it.
    pub fn secret(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// The public key of the pair.
    pub fn public(&self) -> PublicIdentity {
        PublicIdentity(self.0.verifying_key())
    }

    pub(super) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.public().fingerprint())
    }
}

/// The public key of a site.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicIdentity(VerifyingKey);

impl PublicIdentity {
    /// Reads a key. Keys of small order and second encodings of a key are refused.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, IdentityError> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| IdentityError::NotAKey)?;
        if !below_prime(bytes) {
            return Err(IdentityError::NotAKey);
        }
        if key.is_weak() { Err(IdentityError::WeakKey) } else { Ok(Self(key)) }
    }

    /// The key's 32 bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// What people compare on the telephone.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(Sha256::digest(self.0.as_bytes()).into())
    }

    /// Strict verification: no second signature can be made from a given one.
    pub(super) fn verify(
        &self,
        message: &[u8],
        signature: &[u8; SIGNATURE_BYTES],
    ) -> Result<(), IdentityError> {
        self.0
            .verify_strict(message, &Signature::from_bytes(signature))
            .map_err(|_| IdentityError::BadSignature)
    }
}

impl fmt::Debug for PublicIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicIdentity({})", self.fingerprint())
    }
}

/// A SHA-256 hash that people compare: of a public key, or of a roster.
///
/// It is shown as eight groups of five digits, each a little-endian u32 of the hash modulo 100,000: digits
/// are read aloud in any language. That is 132 bits, so a key with another site's fingerprint cannot be found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub(super) [u8; 32]);

impl From<[u8; 32]> for Fingerprint {
    fn from(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

impl Fingerprint {
    /// The hash as bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether this is what was read aloud or typed; blanks and hyphens do not count.
    pub fn matches(&self, text: &str) -> bool {
        let digits =
            |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect() };
        digits(text) == digits(&self.to_string())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (groups, _) = self.0.as_chunks::<4>();
        for (i, group) in groups.iter().enumerate() {
            let blank = if i == 0 { "" } else { " " };
            write!(f, "{blank}{:05}", u32::from_le_bytes(*group) % 100_000)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

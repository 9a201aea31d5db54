//! The key pair of one attempt at one round.

use super::encoding::below_prime;
use rand::CryptoRng;
use std::fmt;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

/// Why a public key of a round is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RoundKeyError {
    /// The key is not written in its one encoding.
    #[error("the round key is not in canonical form")]
    NotCanonical,
    /// A point of low order (the all-zero key is one): the shared secret would be zero for everyone, and the
    /// mask known to everyone.
    #[error("the round key would give masks that everybody knows")]
    LowOrder,
}

/// The secret half (X25519). Fresh for every attempt: two inputs under one mask give away their difference.
///
/// It may be stored before the hello is sent, so that a site that was killed can go on, and must be erased
/// when the round closes. [`RoundKey::mask`] consumes it. It is wiped when dropped, and `Debug` shows nothing
/// of it.
pub struct RoundKey(StaticSecret);

impl RoundKey {
    /// A new key. The randomness must be the operating system's, except in simulations.
    pub fn generate(random: &mut impl CryptoRng) -> Self {
        Self(StaticSecret::random_from_rng(random))
    }

    /// Restores a key from its stored secret.
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(StaticSecret::from(*secret))
    }

    /// The secret, to be stored until the round closes.
    pub fn secret(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// The public key of the pair.
    pub fn public(&self) -> RoundPublicKey {
        RoundPublicKey(PublicKey::from(&self.0).to_bytes())
    }

    /// The secret shared with another site. A zero secret is refused: this check does not rest on the list
    /// of low-order points.
    pub(super) fn shared(&self, other: &RoundPublicKey) -> Result<Zeroizing<[u8; 32]>, RoundKeyError> {
        let shared = self.0.diffie_hellman(&PublicKey::from(other.0));
        if shared.was_contributory() {
            Ok(Zeroizing::new(shared.to_bytes()))
        } else {
            Err(RoundKeyError::LowOrder)
        }
    }
}

impl fmt::Debug for RoundKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoundKey(secret)")
    }
}

/// The coordinates of the points whose order divides 8, on the curve and its twist, little-endian: 0, 1, p − 1
/// and the two of order 8. A comparison with a list costs nothing at a hello; `RoundKey::shared` checks again
/// by computation.
const LOW_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda,
        0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04,
        0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
    ],
    {
        let mut minus_one = [0xff; 32];
        minus_one[0] = 0xec;
        minus_one[31] = 0x7f;
        minus_one
    },
];

/// The public key of the pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoundPublicKey([u8; 32]);

impl RoundPublicKey {
    /// Reads a key; second encodings of a key and points of low order are refused.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, RoundKeyError> {
        if !below_prime(&bytes) || bytes[31] & 0x80 != 0 {
            return Err(RoundKeyError::NotCanonical);
        }
        if LOW_ORDER.contains(&bytes) { Err(RoundKeyError::LowOrder) } else { Ok(Self(bytes)) }
    }

    /// The key's 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A key without the checks, to test what comes after them.
    #[cfg(test)]
    pub(super) fn unchecked(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

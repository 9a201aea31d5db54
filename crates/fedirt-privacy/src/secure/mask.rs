//! Masks: what two sites add and subtract, so that it is gone from the sum.
//!
//! For sites i < j (by the bytes of their names):
//!
//! ```text
//! k_ij = HKDF-SHA256(ikm = X25519(i, j), salt = context, info = fields(label, version, i, j)), 32 bytes
//! PRG  = ChaCha20 (RFC 8439) keystream under k_ij, nonce and counter 0, as little-endian u64 words
//! y_i += PRG(k_ij),   y_j −= PRG(k_ij)   (mod 2⁶⁴)
//! ```
//!
//! The nonce may be constant because a key serves one vector: round keys are fresh in each attempt and the
//! context is the salt. HKDF: RFC 5869.

use super::cohort::{BoundCohort, Context};
use super::encoding::Fields;
use super::identity::Identity;
use super::name::SiteId;
use super::round_key::{RoundKey, RoundKeyError, RoundPublicKey};
use super::upload::Upload;
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use hkdf::Hkdf;
use rayon::prelude::*;
use sha2::Sha256;
use zeroize::Zeroizing;

const MASK: &str = "fedirt mask";

/// Words of keystream made at a time: a page, which stays in the first-level cache.
const BLOCK_WORDS: usize = 512;

/// Words that one thread masks at a time.
const CHUNK_WORDS: usize = 2048;

/// Longest vector: half of what ChaCha20 gives, which counts blocks of 64 bytes in 32 bits.
const MAX_WORDS: u64 = 1 << 34;

/// Why a vector cannot be masked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaskError {
    /// The site is not in the cohort it was shown.
    #[error("{site} is not in the cohort that it was shown")]
    NotInCohort {
        /// This site.
        site: SiteId,
    },
    /// The cohort holds another round key for this site: not the hello that it sent.
    #[error("the cohort holds a round key for {site} that {site} did not send in this attempt")]
    NotOurKey {
        /// This site.
        site: SiteId,
    },
    /// A shared secret is zero.
    #[error("{site}: {error}")]
    Key {
        /// The other site.
        site: SiteId,
        /// The underlying error.
        error: RoundKeyError,
    },
    /// More words than one keystream has.
    #[error("{words} numbers are too many for one mask")]
    TooLong {
        /// Length of the vector.
        words: usize,
    },
}

/// Key of the mask that two sites share. `low` is the lesser of the two names.
pub(super) fn pair_key(
    shared: &[u8; 32],
    context: &Context,
    low: &SiteId,
    high: &SiteId,
) -> Zeroizing<[u8; 32]> {
    let info = Fields::new(MASK).bytes(low.as_str().as_bytes()).bytes(high.as_str().as_bytes()).finish();
    let mut key = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(context.as_bytes()), shared)
        .expand(&info, key.as_mut())
        .expect("32 bytes are fewer than the 8160 that HKDF-SHA256 gives");
    key
}

/// Adds or subtracts the keystream of a key, a page at a time, to words from number `start` of a vector.
pub(super) fn apply(words: &mut [u64], start: usize, key: &[u8; 32], add: bool) {
    let mut cipher = ChaCha20::new(key.into(), &[0; 12].into());
    cipher.seek(8 * start as u64);
    let mut page = Zeroizing::new([0u8; BLOCK_WORDS * 8]);
    for block in words.chunks_mut(BLOCK_WORDS) {
        let stream = &mut page[..block.len() * 8];
        cipher.write_keystream(stream);
        let (masks, _) = stream.as_chunks::<8>();
        if add {
            block.iter_mut().zip(masks).for_each(|(w, m)| *w = w.wrapping_add(u64::from_le_bytes(*m)));
        } else {
            block.iter_mut().zip(masks).for_each(|(w, m)| *w = w.wrapping_sub(u64::from_le_bytes(*m)));
        }
    }
}

impl RoundKey {
    /// Masks a vector for the cohort. The key is consumed, and the vector overwritten in place: neither is
    /// left behind by this call.
    ///
    /// Checks that the cohort holds this site with the key it sent. Does not check policy, ledger, chain or
    /// coverage: those come before. A cohort of one, which only noise allows, has no masks.
    pub fn mask(self, site: &SiteId, cohort: &BoundCohort, mut words: Vec<u64>) -> Result<Masked, MaskError> {
        let members = cohort.cohort().members();
        match members.get(site) {
            None => return Err(MaskError::NotInCohort { site: site.clone() }),
            Some(own) if own.key != self.public() => {
                return Err(MaskError::NotOurKey { site: site.clone() });
            }
            Some(_) => {}
        }
        if words.len() as u64 > MAX_WORDS {
            return Err(MaskError::TooLong { words: words.len() });
        }
        // Every key is agreed before the first word changes.
        let others: Vec<_> = members.iter().filter(|(other, _)| *other != site).collect();
        let keys: Vec<_> = others
            .par_iter()
            .map(|(other, member)| Ok((site < *other, self.key_with(site, other, &member.key, cohort)?)))
            .collect();
        let keys = keys.into_iter().collect::<Result<Vec<_>, MaskError>>()?;
        words.par_chunks_mut(CHUNK_WORDS).enumerate().for_each(|(number, chunk)| {
            let start = number * CHUNK_WORDS;
            keys.iter().for_each(|(add, key)| apply(chunk, start, key, *add));
        });
        Ok(Masked { site: site.clone(), context: cohort.context(), words })
    }

    fn key_with(
        &self,
        site: &SiteId,
        other: &SiteId,
        key: &RoundPublicKey,
        cohort: &BoundCohort,
    ) -> Result<Zeroizing<[u8; 32]>, MaskError> {
        let shared = self.shared(key).map_err(|error| MaskError::Key { site: other.clone(), error })?;
        Ok(pair_key(&shared, &cohort.context(), site.min(other), site.max(other)))
    }
}

/// A vector under its masks. It comes from [`RoundKey::mask`] alone, so that numbers without masks cannot be
/// signed and sent by mistake.
///
/// Store the [`Upload`] before it is sent, after the ledger's debit, and resend those bytes: masking again
/// with a stored key and other numbers would put two inputs under one mask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    site: SiteId,
    context: Context,
    words: Vec<u64>,
}

impl Masked {
    /// The masked words, modulo 2⁶⁴.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Signs (context, site, hash of the words).
    pub fn sign(self, identity: &Identity) -> Upload {
        Upload::sign(self.site, self.context, self.words, identity)
    }
}

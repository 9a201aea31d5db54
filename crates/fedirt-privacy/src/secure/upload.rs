//! Upload: a masked vector with the site's signature.

use super::cohort::{BoundCohort, Context};
use super::encoding::{DecodeError, Fields, Reader};
use super::identity::{Identity, IdentityError, SIGNATURE_BYTES};
use super::name::SiteId;
use sha2::{Digest, Sha256};

const UPLOAD: &str = "fedirt upload";
const SIGNED_UPLOAD: &str = "fedirt signed upload";

/// Why an upload is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UploadError {
    /// The site is not in the cohort.
    #[error("{site} is not in the cohort")]
    NotInCohort {
        /// The site.
        site: SiteId,
    },
    /// The site answered another broadcast, cohort, round or attempt.
    #[error("{site} answered something else than what was asked here: parameters, cohort or attempt differ")]
    WrongContext {
        /// The site.
        site: SiteId,
    },
    /// The vector has another length than asked for.
    #[error("{site} sent {got} numbers, and {want} were asked for")]
    Length {
        /// The site.
        site: SiteId,
        /// Numbers sent.
        got: usize,
        /// Numbers asked for.
        want: usize,
    },
    /// The signature is not the site's.
    #[error("{site}: {error}")]
    Signature {
        /// The site.
        site: SiteId,
        /// The underlying error.
        error: IdentityError,
    },
    /// The bytes cannot be decoded as an upload.
    #[error("upload: {0}")]
    Decode(#[from] DecodeError),
}

/// A masked vector, signed. Nothing in it is known to be true before [`Upload::verify`]. The signature covers
/// the hash of the words, so that a transcript can keep the hash in place of the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    site: SiteId,
    context: Context,
    words: Vec<u64>,
    signature: [u8; SIGNATURE_BYTES],
}

/// SHA-256 of the words as little-endian bytes.
fn hash(words: &[u64]) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut page = [0u8; 4096];
    for block in words.chunks(page.len() / 8) {
        let (bytes, _) = page.as_chunks_mut::<8>();
        bytes.iter_mut().zip(block).for_each(|(b, w)| *b = w.to_le_bytes());
        digest.update(&page[..block.len() * 8]);
    }
    digest.finalize().into()
}

fn message(site: &SiteId, context: &Context, hash: &[u8; 32]) -> Vec<u8> {
    Fields::new(UPLOAD).bytes(context.as_bytes()).bytes(site.as_str().as_bytes()).bytes(hash).finish()
}

impl Upload {
    pub(super) fn sign(site: SiteId, context: Context, words: Vec<u64>, identity: &Identity) -> Self {
        let signature = identity.sign(&message(&site, &context, &hash(&words)));
        Self { site, context, words, signature }
    }

    /// Who claims to have sent it.
    pub fn site(&self) -> &SiteId {
        &self.site
    }

    /// The masked words, modulo 2⁶⁴.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The signature of the site.
    pub fn signature(&self) -> &[u8; SIGNATURE_BYTES] {
        &self.signature
    }

    /// SHA-256 of the masked words, for the transcript.
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.words)
    }

    /// The bytes to store, then to send.
    pub fn encode(&self) -> Vec<u8> {
        let words: Vec<u8> = self.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        Fields::new(SIGNED_UPLOAD)
            .bytes(self.context.as_bytes())
            .bytes(self.site.as_str().as_bytes())
            .bytes(&words)
            .bytes(&self.signature)
            .finish()
    }

    /// Decodes what was sent.
    pub fn decode(bytes: &[u8]) -> Result<Self, UploadError> {
        let mut reader = Reader::new(bytes, SIGNED_UPLOAD)?;
        let context = Context::from_bytes(reader.array("the context")?);
        let site = reader.name("the site")?;
        let (words, rest) = reader.bytes("the numbers")?.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(DecodeError::Malformed { field: "the numbers" }.into());
        }
        let words = words.iter().map(|w| u64::from_le_bytes(*w)).collect();
        let signature = reader.array("the signature")?;
        reader.finish()?;
        Ok(Self { site, context, words, signature })
    }

    /// Whether this is a member's answer to this broadcast, of this length. Gives the hash of the words.
    pub fn verify(&self, cohort: &BoundCohort, length: usize) -> Result<[u8; 32], UploadError> {
        let site = || self.site.clone();
        let member = cohort
            .cohort()
            .members()
            .get(&self.site)
            .ok_or_else(|| UploadError::NotInCohort { site: site() })?;
        if self.context != cohort.context() {
            return Err(UploadError::WrongContext { site: site() });
        }
        if self.words.len() != length {
            return Err(UploadError::Length { site: site(), got: self.words.len(), want: length });
        }
        let hash = self.hash();
        member
            .identity
            .verify(&message(&self.site, &self.context, &hash), &self.signature)
            .map_err(|error| UploadError::Signature { site: site(), error })?;
        Ok(hash)
    }
}

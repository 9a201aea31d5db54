//! Hello: a site's word that it takes part in this attempt, with this key.

use super::encoding::{DecodeError, Fields, Reader};
use super::identity::{Identity, IdentityError, SIGNATURE_BYTES};
use super::name::{SiteId, StudyId};
use super::roster::Roster;
use super::round_key::{RoundKeyError, RoundPublicKey};

const HELLO: &str = "fedirt hello";
const SIGNED_HELLO: &str = "fedirt signed hello";

/// Identifies one attempt at one round of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundId {
    /// The study.
    pub study: StudyId,
    /// SHA-256 of the plan that the officers approved.
    pub plan: [u8; 32],
    /// The round.
    pub round: u64,
    /// Attempt at the round.
    pub attempt: u64,
}

impl RoundId {
    pub(super) fn write(&self, fields: &mut Fields) {
        fields
            .bytes(self.study.as_str().as_bytes())
            .bytes(&self.plan)
            .number(self.round)
            .number(self.attempt);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            study: reader.name("the study")?,
            plan: reader.array("the plan's hash")?,
            round: reader.number("the round")?,
            attempt: reader.number("the attempt")?,
        })
    }
}

/// Why a hello is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HelloError {
    /// The site is not on the pinned roster.
    #[error("{site} is not on the roster")]
    UnknownSite {
        /// The site.
        site: SiteId,
    },
    /// The hello is for another study.
    #[error("{site} said hello to the study {got}, and this is {want}")]
    WrongStudy {
        /// The site.
        site: SiteId,
        /// Study of the hello.
        got: StudyId,
        /// Study here.
        want: StudyId,
    },
    /// The site approved another plan.
    #[error("{site} said hello to another plan than the one approved here")]
    WrongPlan {
        /// The site.
        site: SiteId,
    },
    /// The hello is for another round.
    #[error("{site} said hello to round {got}, and this is round {want}")]
    WrongRound {
        /// The site.
        site: SiteId,
        /// Round of the hello.
        got: u64,
        /// Round here.
        want: u64,
    },
    /// The hello is for another attempt: an old one played again.
    #[error("{site} said hello to attempt {got}, and this is attempt {want}")]
    WrongAttempt {
        /// The site.
        site: SiteId,
        /// Attempt of the hello.
        got: u64,
        /// Attempt here.
        want: u64,
    },
    /// The signature is not the site's.
    #[error("{site}: {error}")]
    Signature {
        /// The site.
        site: SiteId,
        /// The underlying error.
        error: IdentityError,
    },
    /// The round key cannot be used.
    #[error("{site}: {error}")]
    Key {
        /// The site.
        site: SiteId,
        /// The underlying error.
        error: RoundKeyError,
    },
    /// The bytes cannot be decoded as a hello.
    #[error("hello: {0}")]
    Decode(#[from] DecodeError),
}

/// What a site signs at the beginning of an attempt: its fresh public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The attempt at the round.
    pub round: RoundId,
    /// The site.
    pub site: SiteId,
    /// The site's public key for this attempt.
    pub key: RoundPublicKey,
}

impl Hello {
    fn message(&self) -> Vec<u8> {
        let mut fields = Fields::new(HELLO);
        self.round.write(&mut fields);
        fields.bytes(self.site.as_str().as_bytes()).bytes(self.key.as_bytes()).finish()
    }

    /// Signs the hello.
    pub fn sign(self, identity: &Identity) -> SignedHello {
        let signature = identity.sign(&self.message());
        SignedHello { hello: self, signature }
    }
}

/// A hello with its signature; nothing in it is known to be true before [`SignedHello::verify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedHello {
    hello: Hello,
    signature: [u8; SIGNATURE_BYTES],
}

impl SignedHello {
    /// The site that claims to have sent it.
    pub fn site(&self) -> &SiteId {
        &self.hello.site
    }

    /// To which attempt it claims to belong.
    pub fn round(&self) -> &RoundId {
        &self.hello.round
    }

    /// The bytes to send: the signed message as one field, the signature as another.
    pub fn encode(&self) -> Vec<u8> {
        Fields::new(SIGNED_HELLO).bytes(&self.hello.message()).bytes(&self.signature).finish()
    }

    /// Reads what was sent. Round keys of low order are refused here.
    pub fn decode(bytes: &[u8]) -> Result<Self, HelloError> {
        let mut outer = Reader::new(bytes, SIGNED_HELLO)?;
        let (message, signature) = (outer.bytes("the hello")?, outer.array("the signature")?);
        outer.finish()?;
        let mut reader = Reader::new(message, HELLO)?;
        let round = RoundId::read(&mut reader)?;
        let site: SiteId = reader.name("the site")?;
        let key = RoundPublicKey::from_bytes(reader.array("the round key")?)
            .map_err(|error| HelloError::Key { site: site.clone(), error })?;
        reader.finish()?;
        Ok(Self { hello: Hello { round, site, key }, signature })
    }

    /// The hello, if it is for this attempt and signed with the key that the roster has for the site.
    pub fn verify(&self, round: &RoundId, roster: &Roster) -> Result<&Hello, HelloError> {
        let Hello { round: got, site, .. } = &self.hello;
        let site = || site.clone();
        let key = roster.key(&self.hello.site).ok_or_else(|| HelloError::UnknownSite { site: site() })?;
        if let Some(want) = [&round.study, roster.study()].into_iter().find(|want| **want != got.study) {
            let (got, want) = (got.study.clone(), want.clone());
            return Err(HelloError::WrongStudy { site: site(), got, want });
        }
        if got.plan != round.plan {
            return Err(HelloError::WrongPlan { site: site() });
        }
        if got.round != round.round {
            return Err(HelloError::WrongRound { site: site(), got: got.round, want: round.round });
        }
        if got.attempt != round.attempt {
            return Err(HelloError::WrongAttempt { site: site(), got: got.attempt, want: round.attempt });
        }
        key.verify(&self.hello.message(), &self.signature)
            .map_err(|error| HelloError::Signature { site: site(), error })?;
        Ok(&self.hello)
    }
}

//! Statement: something that a site declares in its own name, outside any round.
//!
//! What is declared is bytes under a topic; this module knows neither. The topic is signed with the bytes, and
//! a reader names the topic it expects, so that no declaration can be passed off as another.

use super::encoding::{DecodeError, Fields, Reader};
use super::identity::{Identity, IdentityError, SIGNATURE_BYTES};
use super::name::{SiteId, StudyId};
use super::roster::Roster;

const STATEMENT: &str = "fedirt statement";
const SIGNED_STATEMENT: &str = "fedirt signed statement";

/// Why a statement is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatementError {
    /// The site is not on the pinned roster.
    #[error("{site} is not on the roster")]
    UnknownSite {
        /// The site.
        site: SiteId,
    },
    /// The statement was made in another study.
    #[error("{site} declared this in the study {got}, and this is {want}")]
    WrongStudy {
        /// The site.
        site: SiteId,
        /// Study of the statement.
        got: StudyId,
        /// Study here.
        want: StudyId,
    },
    /// The statement is about something else.
    #[error("{site} made a statement about {got:?}, and one about {want:?} is expected")]
    WrongTopic {
        /// The site.
        site: SiteId,
        /// Topic of the statement.
        got: String,
        /// Topic expected.
        want: String,
    },
    /// The signature is not the site's.
    #[error("{site}: {error}")]
    Signature {
        /// The site.
        site: SiteId,
        /// The underlying error.
        error: IdentityError,
    },
    /// The bytes cannot be decoded as a statement.
    #[error("statement: {0}")]
    Decode(#[from] DecodeError),
}

/// A declaration of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The study.
    pub study: StudyId,
    /// The site.
    pub site: SiteId,
    /// What it is about: one name for each kind of declaration.
    pub topic: String,
    /// The declaration as bytes.
    pub bytes: Vec<u8>,
}

impl Statement {
    fn message(&self) -> Vec<u8> {
        Fields::new(STATEMENT)
            .bytes(self.study.as_str().as_bytes())
            .bytes(self.site.as_str().as_bytes())
            .bytes(self.topic.as_bytes())
            .bytes(&self.bytes)
            .finish()
    }

    /// Signs the statement.
    pub fn sign(self, identity: &Identity) -> SignedStatement {
        let signature = identity.sign(&self.message());
        SignedStatement { statement: self, signature }
    }
}

/// A statement with its signature; nothing in it is known to be true before [`SignedStatement::verify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedStatement {
    statement: Statement,
    signature: [u8; SIGNATURE_BYTES],
}

impl SignedStatement {
    /// The site that claims to have sent it.
    pub fn site(&self) -> &SiteId {
        &self.statement.site
    }

    /// What the statement claims to be about.
    pub fn topic(&self) -> &str {
        &self.statement.topic
    }

    /// What is stated, unchecked: for a look at what this site itself has signed.
    pub fn unverified(&self) -> &[u8] {
        &self.statement.bytes
    }

    /// The bytes to send: the signed message as one field, the signature as another.
    pub fn encode(&self) -> Vec<u8> {
        Fields::new(SIGNED_STATEMENT).bytes(&self.statement.message()).bytes(&self.signature).finish()
    }

    /// Decodes what was sent.
    pub fn decode(bytes: &[u8]) -> Result<Self, StatementError> {
        let mut outer = Reader::new(bytes, SIGNED_STATEMENT)?;
        let (message, signature) = (outer.bytes("the statement")?, outer.array("the signature")?);
        outer.finish()?;
        let mut reader = Reader::new(message, STATEMENT)?;
        let (study, site) = (reader.name("the study")?, reader.name("the site")?);
        let topic = std::str::from_utf8(reader.bytes("the topic")?)
            .map_err(|_| DecodeError::Malformed { field: "the topic" })?
            .to_owned();
        let bytes = reader.bytes("what is declared")?.to_vec();
        reader.finish()?;
        Ok(Self { statement: Statement { study, site, topic, bytes }, signature })
    }

    /// The statement, if it is about this topic, made in the roster's study, and signed with the key that the
    /// roster has for the site. Nothing in it says when it was made: a statement that can change carries its
    /// own number in its bytes.
    pub fn verify(&self, roster: &Roster, topic: &str) -> Result<&Statement, StatementError> {
        let Statement { study, site, topic: got, .. } = &self.statement;
        let site = || site.clone();
        let key =
            roster.key(&self.statement.site).ok_or_else(|| StatementError::UnknownSite { site: site() })?;
        if study != roster.study() {
            let (got, want) = (study.clone(), roster.study().clone());
            return Err(StatementError::WrongStudy { site: site(), got, want });
        }
        if got != topic {
            return Err(StatementError::WrongTopic {
                site: site(),
                got: got.clone(),
                want: topic.to_owned(),
            });
        }
        key.verify(&self.statement.message(), &self.signature)
            .map_err(|error| StatementError::Signature { site: site(), error })?;
        Ok(&self.statement)
    }
}

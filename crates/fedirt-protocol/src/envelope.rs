//! Messages on their way: a site's are signed with its key, so that the coordinator knows who speaks; where a courier carries the
//! coordinator's mail, that is signed too.

use crate::codec::{self, CodecError};
use fedirt_privacy::secure::{
    Identity, PublicIdentity, Roster, SignedStatement, SiteId, Statement, StatementError, StudyId,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Topic of a [`crate::message::ToCoordinator`].
pub const MESSAGE: &str = "message";
/// Topic of a [`Poll`].
pub const POLL: &str = "poll";

/// Topic of a [`crate::message::ToSite`] that a courier carries.
pub const NOTICE: &str = "notice";

/// A site asks whether there is anything new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    /// The step of the last message it has.
    pub seen: u64,
    /// How long it is ready to wait, in seconds.
    pub wait_seconds: u32,
}

/// A key with the invitation that makes it count.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolRequest {
    /// The invitation's secret.
    pub secret: [u8; 32],
    /// The signed [`fedirt_privacy::secure::Enrolment`].
    pub enrolment: Vec<u8>,
}

impl std::fmt::Debug for EnrolRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The secret admits whoever shows it first.
        write!(f, "EnrolRequest")
    }
}

/// Why an envelope is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// Its signature or form.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// Its content.
    #[error(transparent)]
    Content(#[from] CodecError),
    /// The key cannot stand on a roster.
    #[error("{0}")]
    Key(String),
}

/// Signs a message.
pub fn seal<T: Serialize>(
    study: &StudyId,
    site: &SiteId,
    identity: &Identity,
    topic: &str,
    message: &T,
) -> Result<Vec<u8>, CodecError> {
    let (study, site, topic) = (study.clone(), site.clone(), topic.to_owned());
    let statement = Statement { study, site, topic, bytes: codec::encode(message)? };
    Ok(statement.sign(identity).encode())
}

/// Signs the encoded notice that a courier carries to a site, with the coordinator's key: for this site of this study alone.
pub fn seal_notice(study: &StudyId, site: &SiteId, coordinator: &Identity, notice: &[u8]) -> Vec<u8> {
    let (study, site, topic) = (study.clone(), site.clone(), NOTICE.to_owned());
    Statement { study, site, topic, bytes: notice.to_vec() }.sign(coordinator).encode()
}

/// Who claims to speak: not to be believed before [`unseal`].
pub fn sender(bytes: &[u8]) -> Result<SiteId, EnvelopeError> {
    Ok(SignedStatement::decode(bytes)?.site().clone())
}

/// The message, if the key that the site enrolled signed it for this study and topic.
pub fn unseal<T: DeserializeOwned>(
    bytes: &[u8],
    study: &StudyId,
    site: &SiteId,
    key: &PublicIdentity,
    topic: &str,
) -> Result<T, EnvelopeError> {
    let roster = Roster::of(study.clone(), 0, [(site.clone(), *key)]);
    let roster = roster.map_err(|e| EnvelopeError::Key(e.to_string()))?;
    let signed = SignedStatement::decode(bytes)?;
    Ok(codec::decode(&signed.verify(&roster, topic)?.bytes)?)
}

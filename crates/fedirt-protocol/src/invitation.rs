//! Invitations: one line of text that an operator hands to a site, good for one enrolment.

use crate::Timestamp;
use crate::codec;
use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};

const PREFIX: &str = "fedirt-invitation:";

/// What an invitation says.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The coordinator's address: `https://host:port`.
    pub address: String,
    /// Study.
    pub study: String,
    /// Name of the site on the plan.
    pub site: String,
    /// Hash of the plan, so that no other can be shown.
    pub plan_hash: [u8; 32],
    /// The secret: whoever shows it first enrols.
    pub secret: [u8; 32],
    /// Until when it is good (milliseconds since 1970).
    pub expires: Timestamp,
    /// The authority that signed the coordinator's certificate, where it is the coordinator's own (DER); public
    /// authorities count otherwise.
    pub authority: Option<Vec<u8>>,
}

/// Why a text is no invitation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no invitation (or a part of one is missing): it begins with {PREFIX} and is one long word")]
pub struct NotAnInvitation;

impl std::fmt::Debug for Invitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The secret does not print.
        write!(f, "Invitation({} to {} at {})", self.site, self.study, self.address)
    }
}

impl Invitation {
    /// The text.
    pub fn to_text(&self) -> Result<String, codec::CodecError> {
        Ok(format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&codec::encode(self)?)))
    }

    /// Reads a text; blanks and line breaks around and within it do not count.
    pub fn from_text(text: &str) -> Result<Self, NotAnInvitation> {
        let joined: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let coded = joined.strip_prefix(PREFIX).ok_or(NotAnInvitation)?;
        let bytes = BASE64URL_NOPAD.decode(coded.as_bytes()).map_err(|_| NotAnInvitation)?;
        codec::decode(&bytes).map_err(|_| NotAnInvitation)
    }
}

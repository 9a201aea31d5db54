//! Invitations: one line of text that an operator hands to a site, good for one enrolment.

use crate::Timestamp;
use crate::codec;
use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};

const PREFIX: &str = "fedirt-invitation:";

/// How a site reaches the coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Address {
    /// Over HTTPS: `https://host:port`.
    Https(String),
    /// Messages are put into mailboxes at both ends, and something else carries them: `mailbox:`.
    Mailbox,
}

const HTTPS: &str = "https://";
const MAILBOX: &str = "mailbox:";

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no address of a coordinator: it begins with {HTTPS}, or is {MAILBOX} where a courier carries the messages"
)]
pub struct NotAnAddress(pub String);

impl TryFrom<String> for Address {
    type Error = NotAnAddress;

    fn try_from(text: String) -> Result<Self, NotAnAddress> {
        if text == MAILBOX {
            return Ok(Self::Mailbox);
        }
        let host = text.strip_prefix(HTTPS).unwrap_or_default();
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(NotAnAddress(text));
        }
        Ok(Self::Https(text.trim_end_matches('/').to_owned()))
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

impl std::str::FromStr for Address {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        text.to_owned().try_into()
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Https(address) => f.write_str(address),
            Self::Mailbox => f.write_str(MAILBOX),
        }
    }
}

/// What an invitation says.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// How the site reaches the coordinator.
    pub address: Address,
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
    /// authorities count otherwise. For [`Address::Mailbox`] the key with which the coordinator signs its mail.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_the_way() {
        let https = Address::Https("https://a.example:8443".into());
        assert_eq!("https://a.example:8443/".parse(), Ok(https.clone()));
        assert_eq!("mailbox:".parse(), Ok(Address::Mailbox));
        for text in ["", "flower", "http://a.example", "https://", "https://a b", "mailbox:/run/fedirt"] {
            assert_eq!(text.parse::<Address>(), Err(NotAnAddress(text.into())));
        }
        // Invitations and homes of earlier versions have a text here.
        let bytes = codec::encode(&https).expect("a sound test");
        assert_eq!(bytes, codec::encode(&"https://a.example:8443").expect("a sound test"));
        assert_eq!(codec::decode(&bytes), Ok(https));
    }
}

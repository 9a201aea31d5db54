//! Sites that this site's officers have verified: whom they called, and who read them the same roster. Sites keep their keys, so
//! a call counts in later studies too.

use super::AgentError;
use super::home::Home;
use super::store::Readers;
use data_encoding::HEXLOWER;
use fedirt_privacy::secure::Fingerprint;
use serde::{Deserialize, Serialize};

const VERIFIED: &str = "verified.toml";

/// A site that was verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// Hash of its key.
    pub key_sha256: String,
    /// What it was called.
    pub site: String,
    /// In which study.
    pub study: String,
    /// When.
    pub time: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "site")]
    sites: Vec<Verified>,
}

/// The sites that were verified, in the order of the calls.
pub fn verified(home: &Home) -> Result<Vec<Verified>, AgentError> {
    let bytes = home.store().read(VERIFIED)?.unwrap_or_default();
    let location = home.location(VERIFIED);
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(AgentError::tampered(location, None, "no UTF-8 text"));
    };
    let wrong = |error: toml::de::Error| AgentError::Settings { location, reason: error.to_string() };
    Ok(toml::from_str::<File>(&text).map_err(wrong)?.sites)
}

/// Whether a key was verified.
pub(super) fn knows(known: &[Verified], key: &Fingerprint) -> bool {
    let hash = HEXLOWER.encode(key.as_bytes());
    known.iter().any(|site| site.key_sha256 == hash)
}

/// Writes down whom the officer has called.
pub(super) fn remember<'a>(
    home: &Home,
    study: &str,
    sites: impl Iterator<Item = (&'a str, &'a Fingerprint)>,
) -> Result<(), AgentError> {
    let mut known = verified(home)?;
    let before = known.len();
    let time = home.now().to_string();
    for (site, key) in sites {
        if !knows(&known, key) {
            known.push(Verified {
                key_sha256: HEXLOWER.encode(key.as_bytes()),
                site: site.to_owned(),
                study: study.to_owned(),
                time: time.clone(),
            });
        }
    }
    if known.len() == before {
        return Ok(());
    }
    let text = toml::to_string(&File { sites: known }).expect("the sites have text keys and values alone");
    Ok(home.store().replace(VERIFIED, text.as_bytes(), Readers::Owner)?)
}

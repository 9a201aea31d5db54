//! Approving a roster: at once, while the agent shows it, or beforehand by another program, when nobody waits at a terminal.
//!
//! A roster that the officer did not approve when it was shown is kept beside the journal. [`approve`] compares it with what the
//! officer was told, and writes the approval down; when the coordinator shows the roster again, the machine checks it again and
//! signs it without asking.

use super::AgentError;
use super::home::Home;
use super::machine_log::MachineLog;
use super::store::Readers;
use super::study::{Study, StudyFolder};
use super::verified::{self, verified};
use fedirt_data::Audience;
use fedirt_privacy::secure::{Fingerprint, SiteId};
use fedirt_protocol::site::{RosterShown, SiteEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The roster that waits.
const ROSTER: &str = "roster.json";

/// A [`RosterShown`] as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    fingerprint: [u8; 32],
    sites: Vec<(String, [u8; 32], u64)>,
    calls: usize,
    caution: Option<String>,
}

/// Keeps a roster that waits for the officer.
pub(super) fn keep(folder: &StudyFolder, shown: &RosterShown) -> Result<(), AgentError> {
    let sites = shown.sites.iter();
    let kept = Kept {
        fingerprint: *shown.fingerprint.as_bytes(),
        sites: sites.map(|(site, key, students)| (site.to_string(), *key.as_bytes(), *students)).collect(),
        calls: shown.calls,
        caution: shown.caution.clone(),
    };
    let text = serde_json::to_vec(&kept).expect("a roster has text keys");
    folder.replace(ROSTER, &text, Readers::Owner)
}

/// The roster that waits for the officer, if one was shown.
pub fn roster_shown(folder: &StudyFolder) -> Result<Option<RosterShown>, AgentError> {
    let Some(bytes) = folder.read(ROSTER)? else { return Ok(None) };
    let wrong = |reason: String| AgentError::tampered(folder.location(ROSTER), None, reason);
    let kept: Kept = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    let site = |(site, key, students): (String, [u8; 32], u64)| {
        let site = SiteId::try_from(site.as_str()).map_err(|error| wrong(error.to_string()))?;
        Ok::<_, AgentError>((site, Fingerprint::from(key), students))
    };
    Ok(Some(RosterShown {
        fingerprint: kept.fingerprint.into(),
        sites: kept.sites.into_iter().map(site).collect::<Result<_, _>>()?,
        calls: kept.calls,
        caution: kept.caution,
    }))
}

/// Sites of a roster that were verified before.
pub(super) fn verified_of(
    home: &Home,
    own: &SiteId,
    shown: &RosterShown,
) -> Result<BTreeSet<SiteId>, AgentError> {
    let known = verified(home)?;
    let others = shown.sites.iter().filter(|(site, ..)| site != own);
    Ok(others.filter(|(_, key, _)| verified::knows(&known, key)).map(|(site, ..)| site.clone()).collect())
}

/// Writes down whom the officer has called. Gives all who are verified, or how many are missing.
pub(super) fn enough(
    home: &Home,
    study: &Study,
    shown: &RosterShown,
    called: &BTreeSet<SiteId>,
    trusting: bool,
) -> Result<Result<BTreeSet<SiteId>, usize>, AgentError> {
    if !trusting {
        let sites = shown.sites.iter().filter(|(site, ..)| *site != study.site && called.contains(site));
        let sites = sites.map(|(site, key, _)| (site.as_str(), key));
        verified::remember(home, study.folder.name(), sites)?;
    }
    let mut verified = verified_of(home, &study.site, shown)?;
    if verified.len() < shown.calls && !trusting {
        return Ok(Err(shown.calls - verified.len()));
    }
    verified.extend(called.iter().filter(|site| trusting && **site != study.site).cloned());
    Ok(Ok(verified))
}

/// Why a roster is not approved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotApproved {
    /// None waits.
    #[error("no roster waits for approval: the coordinator shows it once all sites have joined")]
    NoRoster,
    /// The officer was told another one.
    #[error(
        "the roster that this site was shown has the fingerprint {shown}, and not the one given: do not approve. Compare again with the other sites' officers"
    )]
    AnotherRoster {
        /// The fingerprint of the roster that waits.
        shown: String,
    },
    /// A name that is not on it.
    #[error("--called {0}: no other site of the roster has this name")]
    NotOnIt(String),
    /// Too few have been called.
    #[error(
        "{missing} more of the other sites must be verified: call their officers, at numbers that you know, compare the fingerprint, and name them with --called. The calls so far are kept"
    )]
    TooFewCalls {
        /// How many are missing.
        missing: usize,
    },
}

impl NotApproved {
    /// What is wrong, for somebody.
    pub fn told(&self, audience: Audience) -> String {
        match self {
            Self::NotOnIt(name) if audience != Audience::CommandLine => {
                format!("no other site of the roster has the name {name}")
            }
            Self::TooFewCalls { missing } if audience != Audience::CommandLine => format!(
                "{missing} more of the other sites must be verified: call their officers, at numbers that you know, and compare. The calls so far are kept"
            ),
            Self::NoRoster | Self::AnotherRoster { .. } | Self::NotOnIt(_) | Self::TooFewCalls { .. } => {
                self.to_string()
            }
        }
    }
}

/// Approves the roster that waits, if it has this fingerprint and enough of its sites are verified: those that the officer called
/// now, and those of earlier calls. Gives the roster.
pub fn approve(
    study: &Study,
    fingerprint: &str,
    called: &[String],
    trusting: bool,
) -> Result<Result<RosterShown, NotApproved>, AgentError> {
    let folder = &study.folder;
    let _lock = folder.lock()?;
    let Some(shown) = roster_shown(folder)? else { return Ok(Err(NotApproved::NoRoster)) };
    if !shown.fingerprint.matches(fingerprint) {
        return Ok(Err(NotApproved::AnotherRoster { shown: shown.fingerprint.to_string() }));
    }
    let on_it = |name: &String| {
        shown.sites.iter().map(|(site, ..)| site).find(|site| site.as_str() == name && **site != study.site)
    };
    if let Some(name) = called.iter().find(|name| on_it(name).is_none()) {
        return Ok(Err(NotApproved::NotOnIt(name.clone())));
    }
    let called = called.iter().filter_map(on_it).cloned().collect();
    let verified = match enough(folder.home(), study, &shown, &called, trusting)? {
        Ok(verified) => verified,
        Err(missing) => return Ok(Err(NotApproved::TooFewCalls { missing })),
    };
    let (mut log, _) = MachineLog::open(folder)?;
    log.keep(&SiteEvent::Approved {
        fingerprint: *shown.fingerprint.as_bytes(),
        verified: verified.iter().map(ToString::to_string).collect(),
    })?;
    folder.erase(ROSTER)?;
    Ok(Ok(shown))
}

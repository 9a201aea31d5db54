//! Enrolment: an invitation makes a key count, once.

use crate::store::InvitationRecord;
use fedirt_privacy::secure::Enrolment;
use fedirt_protocol::Timestamp;
use fedirt_protocol::coordinator::Rejection;

/// Why a key is not enrolled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EnrolRefusal {
    /// Nobody was invited with this secret.
    #[error("there is no such invitation for {site}: ask the operator for one")]
    Unknown {
        /// Who says that it was invited.
        site: String,
    },
    /// Another key used it.
    #[error(
        "the invitation of {site} was used with another key: if that was not this site, tell the operator at once; otherwise ask for a new invitation"
    )]
    Used {
        /// Who.
        site: String,
    },
    /// A later one replaced it.
    #[error("the invitation of {site} was replaced by a later one: use that")]
    Withdrawn {
        /// Who.
        site: String,
    },
    /// Too late.
    #[error("the invitation of {site} was good until {until}: ask the operator for a new one")]
    Expired {
        /// Who.
        site: String,
        /// Until when.
        until: String,
    },
    /// The machine does not take the key.
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

/// What an invitation is good for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Good {
    /// To enrol.
    Now,
    /// To be told again that the key is enrolled.
    Again,
}

/// Whether an invitation admits a key. `current` is the key that holds the site's place now.
pub(super) fn check(
    invitation: Option<&InvitationRecord>,
    enrolment: &Enrolment,
    current: Option<[u8; 32]>,
    now: Timestamp,
) -> Result<Good, EnrolRefusal> {
    let site = enrolment.site.to_string();
    let Some(invitation) = invitation.filter(|i| i.study == enrolment.study.as_str() && i.site == site)
    else {
        return Err(EnrolRefusal::Unknown { site });
    };
    let key = enrolment.key.to_bytes();
    match &invitation.used_key {
        // A key that was replaced since does not come back.
        Some(used) if used.as_slice() == key && current == Some(key) => return Ok(Good::Again),
        Some(_) => return Err(EnrolRefusal::Used { site }),
        None => {}
    }
    unused(invitation, now)?;
    Ok(Good::Now)
}

/// Whether an invitation shows its study's plan: who has enrolled with it may read again what was approved.
pub(crate) fn shows_plan(invitation: &InvitationRecord, now: Timestamp) -> Result<(), EnrolRefusal> {
    if invitation.used_key.is_some() { Ok(()) } else { unused(invitation, now) }
}

/// Whether an invitation that nobody has used is still good.
fn unused(invitation: &InvitationRecord, now: Timestamp) -> Result<(), EnrolRefusal> {
    let site = invitation.site.clone();
    if invitation.withdrawn {
        return Err(EnrolRefusal::Withdrawn { site });
    }
    if invitation.expires <= now {
        return Err(EnrolRefusal::Expired { site, until: invitation.expires.to_string() });
    }
    Ok(())
}

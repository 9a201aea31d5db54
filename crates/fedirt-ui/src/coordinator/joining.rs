//! How far each site has come on its way into a study, and what an administrator sensibly does next.

use super::{CoordinatorState, CoordinatorStudy};
use crate::Moment;
use fedirt_coordinator::clock;
use fedirt_coordinator::store::{EventLog, InvitationRecord, SqliteLog};
use fedirt_protocol::coordinator::Phase;
use fedirt_protocol::{SiteId, Timestamp};

/// How far a site has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SiteState {
    /// Nobody has invited it.
    NotInvited,
    /// Its invitation waits to be used.
    Invited { until: Timestamp },
    /// Its invitation was not used in time.
    Expired { since: Timestamp },
    /// It has a key; its officer has not approved yet.
    Enrolled,
    /// It has declared its data and waits for the others.
    Joined,
    /// It is in the roster.
    InRoster,
    /// It fell out.
    LeftOut,
}

impl SiteState {
    /// In a few words; a time stands beside them where there is one.
    pub(super) fn words(&self) -> (&'static str, Option<Moment>) {
        match self {
            Self::NotInvited => ("not invited", None),
            Self::Invited { until } => ("invited, valid until", Some(Moment(until.0))),
            Self::Expired { since } => ("invitation expired", Some(Moment(since.0))),
            Self::Enrolled => ("enrolled, not yet approved by its officer", None),
            Self::Joined => ("joined", None),
            Self::InRoster => ("in the roster", None),
            Self::LeftOut => ("left out", None),
        }
    }

    /// Whether an invitation is what it needs.
    pub(super) fn needs_invitation(&self) -> bool {
        matches!(self, Self::NotInvited | Self::Expired { .. })
    }

    /// Whether it may still join without anybody doing more here.
    fn may_join(&self) -> bool {
        matches!(self, Self::Invited { .. } | Self::Enrolled)
    }
}

impl CoordinatorState {
    /// The states of all sites of a study, in the order of the plan.
    pub(super) fn site_states(&self, seen: &CoordinatorStudy) -> Vec<(String, SiteState)> {
        // A page is worth showing without its invitations, should the store not answer.
        let invitations = SqliteLog::open(&self.folder.store())
            .ok()
            .and_then(|log| log.invitations(seen.study.name.as_str()).ok())
            .unwrap_or_default();
        states(seen, &invitations, clock::now())
    }
}

fn states(
    seen: &CoordinatorStudy,
    invitations: &[InvitationRecord],
    now: Timestamp,
) -> Vec<(String, SiteState)> {
    let declared = seen.study.so_far().declared();
    let state = |name: &String| {
        let status = seen.status.sites.iter().find(|site| site.name == *name);
        let joined = SiteId::try_from(name.as_str()).is_ok_and(|id| declared.contains_key(&id));
        let latest =
            invitations.iter().filter(|i| i.site == *name && !i.withdrawn).max_by_key(|i| i.expires.0);
        let enrolled = status.is_some_and(|site| site.key.is_some());
        match latest {
            _ if status.is_some_and(|site| site.lost) => SiteState::LeftOut,
            _ if joined && seen.status.phase == Phase::Gathering => SiteState::Joined,
            _ if joined => SiteState::InRoster,
            _ if enrolled => SiteState::Enrolled,
            None => SiteState::NotInvited,
            Some(invitation) if invitation.expires.0 <= now.0 => {
                SiteState::Expired { since: invitation.expires }
            }
            Some(invitation) => SiteState::Invited { until: invitation.expires },
        }
    };
    seen.plan.cohort.sites.iter().map(|name| (name.clone(), state(name))).collect()
}

/// The one button of a study's page, and why it is as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NextStep {
    /// What the button says.
    pub(super) text: String,
    /// Where it leads; none where it cannot be pressed yet.
    pub(super) leads: Option<&'static str>,
    /// Why.
    pub(super) reason: String,
}

/// What an administrator sensibly does next; nothing while sites compute.
pub(super) fn next_step(seen: &CoordinatorStudy, sites: &[(String, SiteState)]) -> Option<NextStep> {
    let step = |text: &str, leads, reason: String| Some(NextStep { text: text.to_owned(), leads, reason });
    let all = sites.len();
    let to_invite = sites.iter().filter(|(_, state)| state.needs_invitation()).count();
    let coming = sites.iter().filter(|(_, state)| state.may_join()).count();
    let joined = sites.iter().filter(|(_, state)| *state == SiteState::Joined).count();
    match seen.status.phase {
        Phase::Gathering if to_invite == all => step(
            "Invite sites",
            Some("/invite"),
            "No site has been invited. The plan can be changed until then.".into(),
        ),
        Phase::Gathering if to_invite > 0 => step(
            "Invite the others",
            Some("/invite"),
            format!("{to_invite} of {all} sites have no valid invitation."),
        ),
        Phase::Gathering => {
            let fewest = seen.plan.cohort.n_min;
            let reason = format!(
                "{joined} of {all} sites have joined, and {coming} may still come. The study goes on by itself when all have \
                 joined."
            );
            let (leads, reason) = match joined < fewest {
                true => (
                    None,
                    format!("{reason} To begin without waiting, the plan needs at least {fewest} sites."),
                ),
                false => (Some("/begin"), reason),
            };
            step("Begin with the sites that have joined", leads, reason)
        }
        Phase::Approving => step(
            "Read the fingerprints of the roster",
            Some("/roster"),
            "Officers compare the roster by telephone, then sign it on their own pages.".into(),
        ),
        Phase::Calling | Phase::Open | Phase::Over => None,
    }
}

//! Invitations, which are shown once, to be printed or copied.

use super::joining::SiteState;
use super::{App, CoordinatorStudy, Name, Page, frame, words};
use crate::{Fields, Frame, Moment, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_coordinator::{authority, invite};
use fedirt_protocol::Timestamp;

struct Site {
    name: String,
    state: SiteState,
    ticked: bool,
}

impl Site {
    /// What a new invitation would make invalid.
    fn voids(&self) -> Option<&'static str> {
        match self.state {
            SiteState::NotInvited | SiteState::Expired { .. } | SiteState::LeftOut => None,
            SiteState::Invited { .. } => Some("the invitation that it has becomes invalid"),
            SiteState::Enrolled => Some("its key is replaced, and its officer has to enrol again"),
            SiteState::Joined | SiteState::InRoster => {
                Some("its key is replaced; what it has declared is not valid any more")
            }
        }
    }
}

#[derive(Template)]
#[template(path = "invite.html")]
struct InvitePage {
    frame: Frame,
    name: String,
    subtitle: String,
    sites: Vec<Site>,
    /// Whether this page asks about what would become invalid.
    asks: bool,
    days: String,
    address: String,
    authority: Option<String>,
}

struct Made {
    site: String,
    text: String,
    /// A message to send with it.
    mail: String,
    expires: Moment,
    replaced: bool,
}

#[derive(Template)]
#[template(path = "invited.html")]
struct InvitedPage {
    frame: Frame,
    name: String,
    subtitle: String,
    made: Vec<Made>,
    problems: Vec<String>,
    address: String,
    plan: String,
    authority: Option<String>,
}

fn fingerprint(app: &super::CoordinatorState) -> Option<String> {
    let certificate = authority::certificate(&app.folder, &app.settings).ok()??;
    Some(authority::fingerprint(&certificate))
}

/// The sites, those ticked that have no valid invitation.
fn sites(app: &super::CoordinatorState, seen: &CoordinatorStudy) -> Vec<Site> {
    let states = app.site_states(seen).into_iter();
    states.map(|(name, state)| Site { name, ticked: state.needs_invitation(), state }).collect()
}

/// A message that explains the invitation, without its secret: the file goes with it, or by another way.
fn mail(seen: &CoordinatorStudy, site: &str, expires: Moment) -> String {
    let until = Timestamp(expires.0).rfc3339().map_or_else(String::new, |at| at.chars().take(10).collect());
    let purpose = seen.plan.purpose.trim();
    let who = seen
        .plan
        .contact
        .as_ref()
        .map_or_else(String::new, |contact| format!("\n{}\n", contact.lines().join("\n")));
    format!(
        "Subject: Invitation of {site} to the study {study}\n\nDear colleague,\n\nwe invite {site} to the study {study}. {purpose}\n\n\
         Answers stay on your computer: the program computes sums there, shows you what would leave, and sends nothing before \
         you approve it.\n\nWhat to do, until {until} (the invitation is good for one enrolment):\n1. Start fedirt and open its \
         pages.\n2. Choose the invitation file, or paste its line.\n3. Read the plan, choose your file of answers, and approve.\n\
         4. Call us to compare the words or numbers on the page.\n\nThe plan's SHA-256 begins with {hash}.\n{who}",
        study = seen.plan.study,
        hash = seen.status.plan.chars().take(16).collect::<String>(),
    )
}

/// `GET /studies/{study}/invite`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let sites = sites(&app, &seen);
    let address = app.settings.public_address(app.settings.listen.port());
    Ok(render(&form(&app, &visitor, &seen, (sites, false), "14".into(), address)))
}

fn form(
    app: &super::CoordinatorState,
    visitor: &Visitor,
    seen: &CoordinatorStudy,
    (sites, asks): (Vec<Site>, bool),
    days: String,
    address: String,
) -> InvitePage {
    InvitePage {
        frame: frame(visitor, seen, "Invite", "/roster"),
        name: seen.study.name.to_string(),
        subtitle: words::subtitle(seen),
        sites,
        asks,
        days,
        address,
        authority: fingerprint(app),
    }
}

/// `POST /studies/{study}/invite`.
pub(super) async fn make(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let seen = app.find(&name)?;
    let back = format!("/studies/{name}/invite");
    let bad = |text: &str| Err(PageError::bad(text).leading(&back, "Go back"));
    let wanted: Vec<String> = fields.all("site").map(str::to_owned).collect();
    if wanted.is_empty() {
        return bad("Select at least one site to invite.");
    }
    let days = fields.get("days").parse::<u32>().ok().filter(|days| (1..=365).contains(days));
    let Some(days) = days else {
        return bad("Days: a whole number from 1 to 365 is needed.");
    };
    let address = Some(fields.get("address").to_owned()).filter(|address| !address.is_empty());
    let mut known = sites(&app, &seen);
    known.iter_mut().for_each(|site| site.ticked = wanted.contains(&site.name));
    if fields.get("replace").is_empty() && known.iter().any(|site| site.ticked && site.voids().is_some()) {
        let address = address.unwrap_or_default();
        return Ok(render(&form(&app, &visitor, &seen, (known, true), days.to_string(), address)));
    }
    let (folder, study, called) = (app.folder.clone(), name.clone(), address.clone());
    let work = move || {
        let (mut made, mut problems) = (Vec::new(), Vec::new());
        for site in wanted {
            let invited = invite::invite(&folder, &study, &site, days, called.as_deref());
            let text = invited
                .map_err(|e| e.to_string())
                .and_then(|invited| Ok((invited.invitation.to_text().map_err(|e| e.to_string())?, invited)));
            match text {
                Ok((text, invited)) => made.push(Made {
                    site,
                    text,
                    mail: String::new(),
                    expires: Moment(invited.invitation.expires.0),
                    replaced: invited.withdrawn > 0,
                }),
                Err(error) => problems.push(format!("{site}: {error}")),
            }
        }
        (made, problems)
    };
    let (mut made, problems) = tokio::task::spawn_blocking(work).await.map_err(|_| PageError::ours())?;
    made.iter_mut().for_each(|one: &mut Made| one.mail = mail(&seen, &one.site, one.expires));
    Ok(render(&InvitedPage {
        frame: frame(&visitor, &seen, "Invitations", "/roster"),
        subtitle: words::subtitle(&seen),
        made,
        problems,
        address: address.unwrap_or_else(|| app.settings.public_address(app.settings.listen.port())),
        plan: seen.status.plan.clone(),
        authority: fingerprint(&app),
        name,
    }))
}

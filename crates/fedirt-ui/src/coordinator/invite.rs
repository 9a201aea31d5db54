//! Invitations, which are shown once, to be printed or copied.

use super::{App, CoordinatorStudy, Name, Page, frame, words};
use crate::{Fields, Frame, Moment, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_coordinator::{authority, invite};

struct Site {
    name: String,
    key: Option<String>,
    joined: bool,
}

#[derive(Template)]
#[template(path = "invite.html")]
struct InvitePage {
    frame: Frame,
    name: String,
    subtitle: String,
    sites: Vec<Site>,
    address: String,
    authority: Option<String>,
}

struct Made {
    site: String,
    text: String,
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

fn sites(seen: &CoordinatorStudy) -> Vec<Site> {
    let declared = seen.study.so_far().declared();
    let known = |name: &String| seen.status.sites.iter().find(|site| site.name == *name);
    let site = |name: &String| Site {
        name: name.clone(),
        key: known(name).and_then(|site| site.key.clone()),
        joined: declared.keys().any(|site| site.as_str() == name),
    };
    seen.plan.cohort.sites.iter().map(site).collect()
}

/// `GET /studies/{study}/invite`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    Ok(render(&InvitePage {
        frame: frame(&visitor, &seen, "Invite", "/roster"),
        subtitle: words::subtitle(&seen),
        sites: sites(&seen),
        address: app.settings.public_address(app.settings.listen.port()),
        authority: fingerprint(&app),
        name,
    }))
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
                    expires: Moment(invited.invitation.expires.0),
                    replaced: invited.withdrawn > 0,
                }),
                Err(error) => problems.push(format!("{site}: {error}")),
            }
        }
        (made, problems)
    };
    let (made, problems) = tokio::task::spawn_blocking(work).await.map_err(|_| PageError::ours())?;
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

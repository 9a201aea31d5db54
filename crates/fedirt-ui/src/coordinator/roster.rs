//! The sites of a study, and the linking design of its items.

use super::joining::SiteState;
use super::{App, CoordinatorStudy, Name, Page, frame, links, words};
use crate::figure::{Numbers, figure};
use crate::{Frame, Html, Moment, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_protocol::SiteId;
use fedirt_protocol::coordinator::Phase;
use fedirt_protocol::declaration::Declaration;
use std::collections::BTreeMap;

struct Row {
    name: String,
    state: &'static str,
    at: Option<Moment>,
    key: String,
    seen: Option<Moment>,
    students: String,
    items: String,
    sent: String,
}

#[derive(Template)]
#[template(path = "roster.html")]
struct RosterPage {
    frame: Frame,
    name: String,
    subtitle: String,
    rows: Vec<Row>,
    fingerprint: Option<String>,
    weakest: Option<String>,
    nobody: Vec<String>,
    picture: Html,
    administers: bool,
    over: bool,
}

/// `GET /studies/{study}/roster`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let declared = seen.study.so_far().declared();
    let names: Vec<String> = seen.plan.items.iter().map(|item| item.name.clone()).collect();
    let joined: Vec<&Declaration> = declared.values().collect();
    let sites: Vec<(String, u64)> = declared.iter().map(|(site, d)| (site.to_string(), d.students)).collect();
    let found = links::links(names.len(), &joined);
    let drawn = links::picture(&found, &names, &sites);
    let nobody = if declared.is_empty() { &[][..] } else { &found.nobody };
    Ok(render(&RosterPage {
        frame: frame(&visitor, &seen, "Roster", "/roster").live(format!("/studies/{name}/events")),
        subtitle: words::subtitle(&seen),
        rows: rows(&seen, &declared, app.site_states(&seen)),
        fingerprint: seen.status.roster.clone(),
        weakest: (!declared.is_empty()).then(|| weakest(&found, &names)),
        nobody: nobody.iter().map(|item| names[*item].clone()).collect(),
        picture: figure("links", &drawn, Numbers::Folded),
        administers: visitor.administers(),
        over: seen.status.phase == Phase::Over,
        name,
    }))
}

fn rows(
    seen: &CoordinatorStudy,
    declared: &BTreeMap<SiteId, Declaration>,
    states: Vec<(String, SiteState)>,
) -> Vec<Row> {
    let traffic = seen.study.so_far().traffic();
    let row = |(name, state): (String, SiteState)| {
        let id = SiteId::try_from(name.as_str()).ok();
        let status = seen.status.sites.iter().find(|site| site.name == name);
        let own = id.as_ref().and_then(|id| declared.get(id));
        let sent = id.as_ref().and_then(|id| traffic.get(id));
        let last = id.as_ref().map_or(0, |id| seen.study.last_seen(id));
        let (state, at) = state.words();
        let key = status.and_then(|site| site.key.clone());
        Row {
            name,
            state,
            at,
            key: key.unwrap_or_default(),
            seen: Some(last).filter(|at| *at > 0).map(Moment),
            students: own.map_or_else(String::new, |d| words::count(d.students)),
            items: own.map_or_else(String::new, |d| {
                format!("{} of {}", d.codes.iter().filter(|codes| !codes.is_empty()).count(), d.codes.len())
            }),
            sent: sent.map_or_else(String::new, |t| words::bytes(t.bytes)),
        }
    };
    states.into_iter().map(row).collect()
}

/// A sentence about the weakest link.
fn weakest(found: &links::Links, names: &[String]) -> String {
    let Some(weakest) = &found.weakest else {
        return "All items are given by the same sites, so that all of them are linked.".to_owned();
    };
    let mut items: Vec<&str> = weakest.apart.iter().take(6).map(|item| names[*item].as_str()).collect();
    if weakest.apart.len() > 6 {
        items.push("…");
    }
    let which = format!("{} ({})", words::counted(weakest.apart.len(), "item", "items"), items.join(", "));
    match weakest.students {
        0 => format!(
            "Nothing links {which} with the other items, so that there is no common scale. A site that gives both is needed."
        ),
        students => format!(
            "The weakest link is the one between {which} and the other items: {} students at {} were given items of both.",
            words::count(students),
            words::counted(weakest.sites, "site", "sites")
        ),
    }
}

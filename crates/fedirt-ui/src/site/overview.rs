//! The overview of a study: its steps, and the next one.

use super::studies::asks;
use super::{App, Name, Page, SiteStudy, at, frame, told, words};
use crate::{Frame, Link, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use fedirt_agent::{self as agent, JournalEvent, SiteStudyStatus};

/// A step from the invitation to the results.
struct Step {
    text: &'static str,
    href: String,
    done: bool,
    here: bool,
    said: String,
}

#[derive(Template)]
#[template(path = "officer_overview.html")]
struct OverviewPage {
    frame: Frame,
    name: String,
    subtitle: String,
    enrolled_now: bool,
    fingerprint: Option<String>,
    steps: Vec<Step>,
    next: Option<Link>,
    outcome: Option<String>,
    asks: Option<&'static str>,
    status: SiteStudyStatus,
    leaving: bool,
    withdrawn: bool,
}

/// The line under a study's name.
pub(super) fn subtitle(seen: &SiteStudy) -> String {
    format!("As {} at {}. {}", seen.study.site, seen.study.connection.address, seen.study.plan.purpose.trim())
}

fn steps(seen: &SiteStudy, enrolled: bool, joined: bool, over: bool, finished: bool) -> Vec<Step> {
    let not_enrolled = if enrolled {
        ""
    } else {
        "the coordinator has not accepted the enrolment; paste the invitation again, or a new one"
    }
    .to_owned();
    let settings = &seen.settings;
    let file = settings
        .file
        .as_ref()
        .and_then(|f| f.file_name())
        .map_or_else(String::new, |f| f.to_string_lossy().into_owned());
    let approved = settings
        .approved_by
        .clone()
        .map_or_else(String::new, |by| format!("by {by}: {}", settings.asked.words()));
    let chosen = joined || over || settings.file.is_some();
    let mapped = joined || over || settings.mapped;
    let all = [
        ("Read and approve the plan", if enrolled { "/plan" } else { "" }, enrolled, not_enrolled),
        ("Choose your file", "/file", chosen, file),
        ("Say what its columns are", "/columns", mapped, String::new()),
        (
            "Check it, see what will be sent, approve",
            "/check",
            joined || over || settings.approved_by.is_some(),
            approved,
        ),
        ("Compare the roster, take part", "/running", over, String::new()),
        ("Your results", "/results", finished, String::new()),
    ];
    let next = all.iter().position(|(_, _, done, _)| !done);
    all.into_iter()
        .enumerate()
        .map(|(place, (text, path, done, said))| {
            let here = next == Some(place) && !(over && place == 5);
            let href = if path.is_empty() { "/".to_owned() } else { at(&seen.study, path) };
            Step { text, href, done, here, said }
        })
        .collect()
}

/// `GET /studies/{study}`.
pub(super) async fn show(
    State(app): App,
    Path(name): Name,
    RawQuery(query): RawQuery,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    let entries = seen.folder.entries().map_err(told)?;
    let status = agent::status(&seen.folder, seen.settings.choices()).map_err(told)?;
    let (over, withdrawn) = (status.state.is_over(), status.state.is_withdrawn());
    let fingerprint = entries.iter().find_map(|entry| match &entry.record {
        JournalEvent::Enrolled { key_fingerprint, .. } => Some(key_fingerprint.clone()),
        _ => None,
    });
    let finished = status.results.iter().any(|name| name == "fit.json");
    let steps = steps(&seen, fingerprint.is_some(), status.state.has_joined(), over && !withdrawn, finished);
    let next = steps.iter().find(|step| step.here || (over && step.href.ends_with("/results") && step.done));
    let next = next.map(|step| Link::new(step.href.clone(), step.text));
    Ok(render(&OverviewPage {
        frame: frame(&visitor, &seen, "Overview", "").live(at(&seen.study, "/events")),
        subtitle: subtitle(&seen),
        enrolled_now: query.is_some_and(|query| query == "enrolled"),
        fingerprint,
        next: next.filter(|_| !withdrawn),
        outcome: seen.settings.ended.clone(),
        asks: asks(&app, &name).filter(|_| !over),
        status,
        leaving: visitor.administers() && !over,
        withdrawn,
        steps,
        name,
    }))
}

#[derive(Template)]
#[template(path = "officer_plan.html")]
struct PlanPage {
    frame: Frame,
    name: String,
    subtitle: String,
    learns: &'static str,
    epsilon: Option<String>,
    words: Vec<String>,
    refusals: Vec<String>,
    hash: String,
    text: String,
}

/// `GET /studies/{study}/plan`.
pub(super) async fn plan(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let policy = app.home.policy().map_err(told)?;
    let refusals = agent::refusals(&policy, &seen.study.plan, &seen.study.terms);
    Ok(render(&PlanPage {
        frame: frame(&visitor, &seen, "Plan", "/plan"),
        subtitle: subtitle(&seen),
        learns: words::who_learns_what(&seen.study.plan),
        epsilon: words::epsilon_in_words(&seen.study.plan),
        words: seen.study.plan.in_words(),
        refusals: refusals.iter().map(ToString::to_string).collect(),
        hash: seen.study.connection.plan_sha256.clone(),
        text: seen.study.text.clone(),
        name,
    }))
}

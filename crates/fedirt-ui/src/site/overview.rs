//! The overview of a study: its steps, and the next one.

use super::studies::asks;
use super::{App, Name, Page, SiteStudy, Step, at, frame, told, words};
use crate::{Frame, Link, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_agent::{self as agent, JournalEntry, JournalEvent, SiteStudyStatus, StudyState};

/// A step with what was said about it.
struct Line {
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
    fingerprint: Option<String>,
    heading: &'static str,
    steps: Vec<Line>,
    next: Option<Link>,
    outcome: Option<String>,
    asks: Option<&'static str>,
    status: SiteStudyStatus,
    over: bool,
    leaving: bool,
    withdrawn: bool,
}

/// The line under a study's name.
pub(super) fn subtitle(seen: &SiteStudy) -> String {
    format!("As {} at {}. {}", seen.study.site, seen.study.connection.address, seen.study.plan.purpose.trim())
}

fn lines(seen: &SiteStudy, state: StudyState) -> Vec<Line> {
    let settings = &seen.settings;
    let said = |step: Step| match step {
        Step::Plan if state == StudyState::KeyMade => {
            "the coordinator has not accepted the enrolment; paste the invitation again, or a new one"
                .to_owned()
        }
        Step::File => {
            let file = settings.file.as_ref().and_then(|file| file.file_name());
            file.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        }
        Step::Approve => {
            let by = settings.approved_by.as_ref();
            by.map_or_else(String::new, |by| format!("by {by}: {}", settings.asked.words()))
        }
        Step::Plan | Step::Check | Step::Sent | Step::Roster | Step::Done => String::new(),
    };
    let stands = Step::of(state, settings);
    let line = |step: Step| Line {
        text: step.task(),
        href: step.address(seen, state),
        // A withdrawn site has gone no further than it says in the log.
        done: (step < stands && !state.is_withdrawn()) || state == StudyState::Finished,
        here: step == stands && !state.is_over(),
        said: said(step),
    };
    Step::ALL.map(line).into()
}

/// The fingerprint of the key with which the site has enrolled.
pub(super) fn fingerprint(entries: &[JournalEntry]) -> Option<String> {
    entries.iter().find_map(|entry| match &entry.record {
        JournalEvent::Enrolled { key_fingerprint, .. } => Some(key_fingerprint.clone()),
        _ => None,
    })
}

/// `GET /studies/{study}`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let entries = seen.folder.entries().map_err(told)?;
    let status = agent::status(&seen.folder, seen.settings.choices()).map_err(told)?;
    let (state, over) = (status.state, status.state.is_over());
    let fingerprint = fingerprint(&entries);
    let steps = lines(&seen, state);
    let stands = Step::of(state, &seen.settings);
    let next = (state == StudyState::Finished || !over)
        .then(|| Link::new(stands.address(&seen, state), stands.task()));
    Ok(render(&OverviewPage {
        frame: super::unstepped(&visitor, &seen, "Overview").live(at(&seen.study, "/events")),
        subtitle: subtitle(&seen),
        fingerprint,
        heading: stands.heading(state),
        next,
        outcome: seen.settings.ended.clone(),
        asks: asks(&app, &name).filter(|_| !over),
        status,
        over,
        leaving: visitor.administers() && !over,
        withdrawn: state.is_withdrawn(),
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
        frame: frame(&visitor, &seen, "Plan", Step::Plan),
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

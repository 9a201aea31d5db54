//! The list of studies, the plan of a study, and the help page.

use super::{App, Name, Page, frame, words};
use crate::{Frame, Link, Moment, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};

struct Row {
    name: String,
    purpose: String,
    state: String,
    class: &'static str,
    round: String,
    joined: usize,
    sites: usize,
    missing: String,
    epsilon: String,
    updated: Option<Moment>,
}

#[derive(Template)]
#[template(path = "studies.html")]
struct StudiesPage {
    frame: Frame,
    rows: Vec<Row>,
    analyses: bool,
}

/// The first few names of a list.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

/// `GET /`.
pub(super) async fn show(State(app): App, Extension(visitor): Extension<Visitor>) -> Page {
    let rows = app.studies.all().into_iter().filter_map(|study| {
        let seen = app.see(study)?;
        let (state, class) = words::state(&seen.status);
        let declared = seen.study.so_far().declared();
        let rounds = seen.study.so_far().rounds().len().max(seen.study.so_far().releases().len());
        Some(Row {
            name: seen.plan.study.clone(),
            purpose: seen.plan.purpose.trim().to_owned(),
            state,
            class,
            round: seen.status.turn.map_or_else(
                || if rounds == 0 { words::NONE.into() } else { format!("{rounds} done") },
                |turn| turn.round.to_string(),
            ),
            joined: declared.len(),
            sites: seen.plan.cohort.sites.len(),
            missing: some(&seen.status.waiting_for),
            epsilon: words::epsilon(&seen.plan, &seen.status),
            updated: Some(seen.status.updated_ms).filter(|at| *at > 0).map(Moment),
        })
    });
    let rows = rows.collect();
    let analyses = visitor.analyses();
    Ok(render(&StudiesPage { frame: Frame::of(&visitor, "Studies"), rows, analyses }))
}

#[derive(Template)]
#[template(path = "plan.html")]
struct PlanPage {
    frame: Frame,
    name: String,
    subtitle: String,
    words: Vec<String>,
    hash: String,
    text: String,
}

/// `GET /studies/{study}/plan`.
pub(super) async fn plan(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let text = String::from_utf8_lossy(&seen.study.plan).into_owned();
    Ok(render(&PlanPage {
        frame: frame(&visitor, &seen, "Plan", "/plan"),
        subtitle: words::subtitle(&seen),
        words: seen.plan.in_words(),
        hash: data_encoding::HEXLOWER.encode(&fedirt_protocol::plan::StudyPlan::hash(&text)),
        text,
        name,
    }))
}

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage {
    frame: Frame,
    folder: String,
}

/// `GET /help`.
pub(super) async fn help(State(app): App, Extension(visitor): Extension<Visitor>) -> Page {
    let frame = Frame::of(&visitor, "Help").under(vec![Link::new("/", "Studies")]);
    Ok(render(&HelpPage { frame, folder: app.folder.path().display().to_string() }))
}

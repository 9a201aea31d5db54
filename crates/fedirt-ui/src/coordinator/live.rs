//! The page of a running study.

use super::joining::{NextStep, next_step};
use super::{App, CoordinatorStudy, Name, Page, frame, words};
use crate::figure::{Numbers, figure};
use crate::{Frame, Html, Moment, PageError, Visitor, events as sse, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_coordinator::status::Ending;
use fedirt_figures::{Table, convergence, text};
use fedirt_model::statistics::Mode;
use fedirt_protocol::coordinator::Phase;

/// Maximum number of awaited sites that are listed openly.
const AWAITED: usize = 30;

#[derive(Template)]
#[template(path = "live.html")]
struct LivePage {
    frame: Frame,
    name: String,
    subtitle: String,
    state: String,
    class: &'static str,
    outcome: Option<String>,
    waiting: Vec<String>,
    /// The awaited sites beyond those in `waiting`.
    others: Vec<String>,
    roster: Option<String>,
    rounds: usize,
    most_rounds: u32,
    slowest: Vec<String>,
    last: Option<Last>,
    convergence: Html,
    traffic: Html,
    numbers: String,
    bytes: String,
    joined: usize,
    sites: usize,
    students: String,
    updated: Option<Moment>,
    has_results: bool,
    next: Option<NextStep>,
    may_drop: bool,
    over: bool,
    administers: bool,
    withheld: bool,
}

struct Last {
    loglik: String,
    change: String,
    gradient: String,
}

/// `GET /studies/{study}`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let rounds = seen.study.so_far().rounds();
    let traffic = seen.study.so_far().traffic();
    let declared = seen.study.so_far().declared();
    let (state, class) = words::state(&seen.status);
    let over = seen.status.phase == Phase::Over;
    let private = seen.plan.mode == Mode::Private;
    let scientific = |v: Option<f64>| v.map_or_else(|| words::NONE.into(), text::scientific);
    let last = rounds.last().filter(|_| !private).map(|last| Last {
        loglik: words::fixed(last.loglik, 3),
        change: scientific(last.max_change),
        gradient: scientific(last.max_gradient),
    });
    let drawn = convergence(&rounds, seen.plan.mode.name());
    let students: u64 = declared.values().map(|d| d.students).sum();
    let mut waiting = seen.status.waiting_for.clone();
    let others = waiting.split_off(waiting.len().min(AWAITED));
    let page = LivePage {
        frame: frame(&visitor, &seen, "Live", "").live(format!("/studies/{name}/events")),
        subtitle: words::subtitle(&seen),
        state,
        class,
        outcome: match &seen.status.outcome {
            Some(Ending::Ended { reason }) => Some(reason.clone()),
            Some(Ending::Finished { .. }) | None => None,
        },
        waiting,
        others,
        roster: seen.status.roster.clone(),
        rounds: if private { answered(&seen, declared.len()) } else { rounds.len() },
        most_rounds: seen.plan.most_rounds(),
        slowest: rounds.last().map(|last| last.slowest_items.clone()).unwrap_or_default(),
        last,
        convergence: if rounds.is_empty() {
            Html::default()
        } else if rounds.iter().all(|round| round.loglik.is_none()) {
            Html(r#"<p class="quiet">The first round gives starting values; log-likelihood and gradient come with the second.</p>"#.into())
        } else {
            figure("convergence", &drawn, Numbers::Beside)
        },
        traffic: sent(&seen),
        numbers: words::count(traffic.values().map(|t| t.numbers).sum()),
        bytes: words::bytes(traffic.values().map(|t| t.bytes).sum()),
        joined: declared.len(),
        sites: seen.plan.cohort.sites.len(),
        students: words::count(students),
        updated: Some(seen.status.updated_ms).filter(|at| *at > 0).map(Moment),
        has_results: seen.status.results.is_some(),
        next: next_step(&seen, &app.site_states(&seen)).filter(|_| visitor.administers()),
        may_drop: matches!(seen.status.phase, Phase::Approving | Phase::Calling | Phase::Open),
        over,
        administers: visitor.administers(),
        withheld: private,
        name,
    };
    Ok(render(&page))
}

/// Rounds that all sites have answered; a private study reveals nothing else about them.
fn answered(seen: &CoordinatorStudy, joined: usize) -> usize {
    seen.study.so_far().releases().iter().filter(|release| release.sites >= joined).count()
}

/// What each site has sent, as a table.
fn sent(seen: &CoordinatorStudy) -> Html {
    let headers = ["Site", "Messages", "Numbers", "Bytes"].map(String::from).to_vec();
    let rows = seen.study.so_far().traffic().into_iter().map(|(site, traffic)| {
        vec![
            site.to_string(),
            words::count(traffic.messages),
            words::count(traffic.numbers),
            words::count(traffic.bytes),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return Html::default();
    }
    crate::figure::table(&Table { caption: "Messages as they are stored".into(), headers, rows })
}

/// `GET /studies/{study}/events`: an event whenever the pages of the study should be fetched again.
pub(super) async fn events(State(app): App, Path(name): Name) -> Page {
    let study = app.studies.get(&name).ok_or_else(|| PageError::not_found("There is no such study."))?;
    let mut stopping = app.stopping.clone();
    Ok(sse::follow(study.so_far().changes(), async move {
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }))
}

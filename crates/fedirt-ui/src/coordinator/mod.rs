//! The psychometrician's pages.
//!
//! They show the state and the results of the studies, and they do what an operator can do on the command line: invite sites,
//! begin, drop sites, end a study, add a plan. Every route in `ROUTES` names the right that it needs, and the gate checks it.

mod access;
mod act;
mod compare;
mod download;
mod fits;
mod invite;
mod joining;
mod links;
mod live;
mod plan_form;
mod plan_items;
mod privacy;
mod results;
mod roster;
mod serve;
mod setup;
mod site_effects;
mod studies;
mod words;

pub use access::{admit, logins, revoke};
pub use serve::prepare;

use crate::{Frame, Link, PageError, Right, Route, Visitor};
use axum::extract::{Path, State};
use axum::routing::{MethodRouter, get, post};
use fedirt_coordinator::status::StudyStatus;
use fedirt_coordinator::studies::Studies;
use fedirt_coordinator::study::Study;
use fedirt_coordinator::{Folder, Settings};
use fedirt_protocol::plan::StudyPlan;
use fits::Fits;
use std::sync::Arc;
use tokio::sync::watch;

/// The state that all handlers share.
pub struct CoordinatorState {
    pub(crate) folder: Folder,
    pub(crate) settings: Settings,
    pub(crate) studies: Arc<Studies>,
    pub(crate) fits: Fits,
    pub(crate) stopping: watch::Receiver<bool>,
}

impl std::fmt::Debug for CoordinatorState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CoordinatorState({:?})", self.studies)
    }
}

type App = State<Arc<CoordinatorState>>;
type Name = Path<String>;
type Page = Result<axum::response::Response, PageError>;
type RouteEntry = (&'static str, &'static str, Right, fn() -> MethodRouter<Arc<CoordinatorState>>);

/// Every page: method, path, required right, handler.
pub(crate) const ROUTES: [RouteEntry; 31] = [
    ("get", "/", Right::Read, || get(studies::show)),
    ("get", "/new", Right::Analyse, || get(setup::show)),
    ("get", "/new/check", Right::Analyse, || get(setup::show)),
    ("post", "/new/check", Right::Analyse, || post(setup::check)),
    ("post", "/new", Right::Administer, || post(setup::create)),
    ("get", "/studies/{study}", Right::Read, || get(live::show)),
    ("get", "/studies/{study}/events", Right::Read, || get(live::events)),
    ("get", "/studies/{study}/begin", Right::Administer, || get(act::ask_begin)),
    ("post", "/studies/{study}/begin", Right::Administer, || post(act::begin)),
    ("get", "/studies/{study}/drop", Right::Administer, || get(act::ask_drop)),
    ("post", "/studies/{study}/drop", Right::Administer, || post(act::drop_sites)),
    ("get", "/studies/{study}/end", Right::Administer, || get(act::ask_end)),
    ("post", "/studies/{study}/end", Right::Administer, || post(act::end)),
    ("get", "/studies/{study}/plan", Right::Read, || get(studies::plan)),
    ("get", "/studies/{study}/roster", Right::Read, || get(roster::show)),
    ("get", "/studies/{study}/invite", Right::Administer, || get(invite::show)),
    ("post", "/studies/{study}/invite", Right::Administer, || post(invite::make)),
    ("get", "/studies/{study}/results", Right::Read, || get(results::items)),
    ("get", "/studies/{study}/results/check", Right::Read, || get(results::check)),
    ("get", "/studies/{study}/results/all", Right::Read, || get(results::all)),
    ("get", "/studies/{study}/results/test", Right::Read, || get(results::test)),
    ("get", "/studies/{study}/results/sites", Right::Read, || get(site_effects::show)),
    ("get", "/studies/{study}/results/summary", Right::Read, || get(results::summary)),
    ("get", "/studies/{study}/results/items/{item}", Right::Read, || get(results::item)),
    ("get", "/studies/{study}/compare", Right::Read, || get(compare::show)),
    ("post", "/studies/{study}/compare", Right::Analyse, || post(compare::with_file)),
    ("get", "/studies/{study}/privacy", Right::Read, || get(privacy::show)),
    ("post", "/studies/{study}/privacy", Right::Analyse, || post(privacy::what_if)),
    ("get", "/studies/{study}/download", Right::Read, || get(download::show)),
    ("get", "/studies/{study}/download/{file}", Right::Read, || get(download::file)),
    ("get", "/help", Right::Read, || get(studies::help)),
];

/// Every page: method, path, and required right.
pub fn listing() -> Vec<(&'static str, &'static str, Right)> {
    ROUTES.iter().map(|(method, path, right, _)| (*method, *path, *right)).collect()
}

/// The routes with their required rights.
pub(crate) fn routes() -> Vec<Route<Arc<CoordinatorState>>> {
    let route = |(method, path, right, handler): RouteEntry| match method {
        "post" => Route::post(path, right, handler()),
        _ => Route::get(path, right, handler()),
    };
    ROUTES.into_iter().map(route).collect()
}

/// A study with its plan and its current status.
pub(crate) struct CoordinatorStudy {
    pub(crate) study: Arc<Study>,
    pub(crate) plan: StudyPlan,
    pub(crate) status: StudyStatus,
}

impl CoordinatorState {
    /// The study of this name, or an error page.
    pub(crate) fn find(&self, name: &str) -> Result<CoordinatorStudy, PageError> {
        let Some(study) = self.studies.get(name) else {
            let text = "This coordinator serves no study of that name. A plan that was refused is named where the coordinator \
                        was started.";
            return Err(PageError::not_found(text));
        };
        self.see(study).ok_or_else(PageError::ours)
    }

    /// A study with its plan and its current status.
    pub(crate) fn see(&self, study: Arc<Study>) -> Option<CoordinatorStudy> {
        let plan = StudyPlan::parse(std::str::from_utf8(&study.plan).ok()?).ok()?;
        // A study that has just been opened has not yet published its status.
        let status = study.status().unwrap_or_else(|| words::initial_status(&plan));
        Some(CoordinatorStudy { study, plan, status })
    }
}

/// The layout of a study's page.
pub(crate) fn frame(visitor: &Visitor, seen: &CoordinatorStudy, title: &str, here: &str) -> Frame {
    let name = seen.study.name.as_str();
    let base = format!("/studies/{name}");
    let tab = |path: &str, text: &str| Link::entry(format!("{base}{path}"), text, path == here);
    let tabs = [
        ("", "Live"),
        ("/roster", "Roster"),
        ("/results", "Results"),
        ("/compare", "Compare"),
        ("/privacy", "Privacy"),
        ("/plan", "Plan"),
        ("/download", "Download"),
    ];
    Frame::of(visitor, format!("{title}, {name}"))
        .under(vec![Link::new("/", "Studies")])
        .beside(tabs.map(|(path, text)| tab(path, text)).to_vec())
}

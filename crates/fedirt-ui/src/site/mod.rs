//! The officer's pages, on loopback only: from an invitation to the results, and the records of what was sent.
//!
//! All data are in the home folder, which the command line uses too. The officer's settings are `officer.toml` in a study's folder
//! (`officer_settings`). Agents run in threads (`runner`, `work`), and their questions are shown on the pages (`officer`, `shared`).
//! Every route in `ROUTES` names the right that it needs, and the gate checks it.

mod approve;
mod budget;
mod check;
mod columns;
mod door;
mod file;
mod invitation;
mod looked;
mod mapping;
mod officer;
mod officer_settings;
mod overview;
mod preview;
mod receipt;
mod records;
mod remembered;
mod results;
mod rules;
mod runner;
mod running;
mod serve;
mod shared;
mod steps;
mod studies;
#[cfg(test)]
mod tests;
mod words;
mod work;

pub use door::{leave_code, served_at};
pub use serve::{Pages, PagesSettings};
pub(crate) use steps::Step;
pub use steps::StepShown;

use crate::{Frame, Link, PageError, Right, Route, Visitor};
use axum::extract::{Path, State};
use axum::routing::{MethodRouter, get, post};
use fedirt_agent::{AgentError, DiskStore, Home, Study, StudyFolder, StudyState};
use fedirt_data::Audience;
use invitation::Offers;
use officer_settings::OfficerSettings;
use runner::Runners;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, watch};

/// The state that all handlers share.
pub(crate) struct OfficerState {
    pub(crate) home: Home,
    /// Where the home's files are.
    pub(crate) disk: DiskStore,
    pub(crate) runners: Runners,
    pub(crate) offers: Offers,
    /// Locked while the officer's settings are changed, so that two tabs do not overwrite each other's changes.
    pub(crate) changing: Mutex<()>,
    pub(crate) stopping: watch::Receiver<bool>,
}

type App = State<Arc<OfficerState>>;
type Name = Path<String>;
type Page = Result<axum::response::Response, PageError>;
type RouteEntry = (&'static str, &'static str, Right, fn() -> MethodRouter<Arc<OfficerState>>);

/// Every page: method, path, required right, handler.
const ROUTES: [RouteEntry; 29] = [
    ("get", "/", Right::Read, || get(studies::show)),
    ("post", "/", Right::Administer, || post(invitation::look)),
    ("get", "/invitation/{study}", Right::Read, || get(invitation::show)),
    ("post", "/invitation/{study}", Right::Administer, || post(invitation::accept)),
    ("get", "/studies/{study}", Right::Read, || get(overview::show)),
    ("get", "/studies/{study}/plan", Right::Read, || get(overview::plan)),
    ("get", "/studies/{study}/file", Right::Read, || get(file::show)),
    ("post", "/studies/{study}/file", Right::Administer, || post(file::choose)),
    ("file", "/studies/{study}/upload", Right::Administer, || post(file::upload)),
    ("get", "/studies/{study}/columns", Right::Read, || get(columns::show)),
    ("post", "/studies/{study}/columns", Right::Administer, || post(columns::map)),
    ("get", "/studies/{study}/check", Right::Read, || get(check::show)),
    ("get", "/studies/{study}/preview", Right::Read, || get(preview::show)),
    ("get", "/studies/{study}/preview/numbers.csv", Right::Read, || get(preview::numbers)),
    ("get", "/studies/{study}/approve", Right::Read, || get(approve::show)),
    ("post", "/studies/{study}/approve", Right::Administer, || post(approve::approve)),
    ("get", "/studies/{study}/running", Right::Read, || get(running::show)),
    ("post", "/studies/{study}/running", Right::Administer, || post(running::act)),
    ("get", "/studies/{study}/events", Right::Read, || get(running::events)),
    ("get", "/studies/{study}/withdraw", Right::Administer, || get(running::ask_withdraw)),
    ("post", "/studies/{study}/withdraw", Right::Administer, || post(running::withdraw)),
    ("get", "/studies/{study}/results", Right::Read, || get(results::show)),
    ("get", "/studies/{study}/results/{file}", Right::Read, || get(results::file)),
    ("get", "/studies/{study}/sent", Right::Read, || get(records::sent)),
    ("get", "/studies/{study}/receipt", Right::Read, || get(receipt::show)),
    ("get", "/log", Right::Read, || get(records::log)),
    ("get", "/ledger", Right::Read, || get(records::ledger)),
    ("get", "/rules", Right::Read, || get(rules::show)),
    ("post", "/rules", Right::Administer, || post(rules::change)),
];

fn routes() -> Vec<Route<Arc<OfficerState>>> {
    let route = |(method, path, right, handler): RouteEntry| match method {
        "post" => Route::post(path, right, handler()),
        "file" => Route::file(path, right, handler()),
        _ => Route::get(path, right, handler()),
    };
    ROUTES.into_iter().map(route).collect()
}

/// A study with its folder and the officer's settings.
pub(crate) struct SiteStudy {
    pub(crate) folder: StudyFolder,
    pub(crate) study: Study,
    pub(crate) settings: OfficerSettings,
}

impl SiteStudy {
    /// The state of the study at this site.
    pub(crate) fn state(&self) -> Result<StudyState, AgentError> {
        self.folder.state_after(&self.folder.entries()?, self.settings.choices())
    }
}

impl OfficerState {
    /// The path of a file in a study's folder.
    fn path(&self, seen: &SiteStudy, file: &str) -> PathBuf {
        self.disk.path(&seen.folder.file(file))
    }

    /// The study of this name, or an error page.
    fn find(&self, name: &str) -> Result<SiteStudy, PageError> {
        let folder = self.home.known_study(name).map_err(|_| {
            PageError::not_found(
                "This site takes part in no study of that name. The first page lists its studies.",
            )
        })?;
        let study = folder.load().map_err(told)?;
        let settings = OfficerSettings::read(&folder).map_err(told)?;
        Ok(SiteStudy { folder, study, settings })
    }

    /// Refuses a change of the file once the site has declared its students.
    fn must_be_open(&self, seen: &SiteStudy) -> Result<(), PageError> {
        let state = seen.state().map_err(told)?;
        if self.runners.is_working(seen.folder.name()) {
            let text = "This site is taking part with its file. Pause first, or withdraw.";
            return Err(PageError::bad(text).leading(&at(&seen.study, "/running"), "See what runs"));
        }
        if state.has_joined() || state.is_over() {
            let text = "This site has joined with its file. Sums of other rows would reveal the difference between the two files. To take \
                        part with other data, withdraw and ask for a new invitation.";
            return Err(PageError::bad(text).leading(&at(&seen.study, ""), "Back to the study"));
        }
        Ok(())
    }
}

/// The error page for an agent's error.
fn told(error: AgentError) -> PageError {
    told_of(&error)
}

fn told_of(error: &AgentError) -> PageError {
    let mut page = PageError::bad("");
    page.text = error
        .told(Audience::Page)
        .lines()
        .map(|line| words::sentence(line.trim_start_matches("- ")))
        .collect();
    if matches!(error, AgentError::Store(_) | AgentError::Tampered { .. }) {
        page.text.insert(0, "There is a problem with the files of this site.".into());
    }
    page
}

/// The address of a study's page.
fn at(study: &Study, path: &str) -> String {
    format!("/studies/{}{path}", study.folder.name())
}

/// The layout of a page that belongs to no study.
fn site_frame(visitor: &Visitor, title: &str, here: &str) -> Frame {
    let tabs = [
        ("/", "Studies"),
        ("/ledger", "Privacy ledger"),
        ("/log", "Audit log"),
        ("/rules", "This site's rules"),
    ];
    let tabs = tabs.map(|(path, text)| Link::entry(path, text, path == here)).to_vec();
    Frame::of(visitor, title).beside(tabs)
}

/// The pages of a study that are looked up and are no part of the task: path and name.
const RECORDS: [(&str, &str); 5] = [
    ("", "Overview"),
    ("/plan", "The plan"),
    ("/sent", "What was sent"),
    ("/receipt", "Receipt"),
    ("/results", "Your results"),
];

/// The layout of a study's page that is about a step.
fn frame(visitor: &Visitor, seen: &SiteStudy, title: &str, here: Step) -> Frame {
    // Where the folder cannot be read, the page itself says so.
    let state = seen.state().unwrap_or(StudyState::KeyMade);
    unstepped(visitor, seen, title).within(steps::line(seen, state, here))
}

/// The layout of a study's page that looks something up.
fn unstepped(visitor: &Visitor, seen: &SiteStudy, title: &str) -> Frame {
    let record = |(path, text): (&str, &str)| Link::new(at(&seen.study, path), text);
    Frame::of(visitor, format!("{title}, {}", seen.folder.name()))
        .under(vec![Link::new("/", "Studies")])
        .above(RECORDS.map(record).to_vec())
}

/// Writes the officer's settings.
async fn keep(seen: &SiteStudy) -> Result<(), PageError> {
    let (settings, folder) = (seen.settings.clone(), seen.folder.clone());
    aside(move || settings.write(&folder)).await?.map_err(told)
}

/// Runs work that reads files or waits for the network in a thread for blocking tasks.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, PageError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| PageError::ours())
}

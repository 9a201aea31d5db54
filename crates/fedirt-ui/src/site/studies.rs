//! The first page: the studies of this site, and the form for an invitation.

use super::officer_settings::OfficerSettings;
use super::shared::Phase;
use super::{App, OfficerState, Page, site_frame, told};
use crate::{Frame, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use fedirt_agent::{self as agent, SiteStudyStatus, StudyState};

struct Row {
    status: SiteStudyStatus,
    state: String,
    /// What the officer has to do, if anything.
    asks: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "officer_studies.html")]
struct StudiesPage {
    frame: Frame,
    rows: Vec<Row>,
    broken: Vec<String>,
    home: String,
    administers: bool,
}

/// What the officer of a study has to do.
pub(super) fn asks(app: &OfficerState, name: &str) -> Option<&'static str> {
    let state = app.runners.shared(name)?.state();
    match state.phase {
        Phase::Failed => Some("Stopped because of an error"),
        _ if state.trouble.is_some() => Some("The coordinator does not answer"),
        _ if state.roster.is_some() => Some("The roster waits for you"),
        _ if state.round.is_some() => Some("A round waits for you"),
        _ => None,
    }
}

/// `GET /`.
pub(super) async fn show(State(app): App, Extension(visitor): Extension<Visitor>) -> Page {
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for name in app.home.studies().map_err(told)? {
        let status = app.home.known_study(&name).and_then(|folder| {
            let choices = OfficerSettings::read(&folder)?.choices();
            agent::status(&folder, choices)
        });
        match status {
            Ok(status) => {
                let state = match status.state {
                    StudyState::Finished => "finished".into(),
                    StudyState::Ended => "ended without results".into(),
                    StudyState::ResultsDue => "over, but its results are not written yet".into(),
                    StudyState::KeyMade
                    | StudyState::KeyPosted
                    | StudyState::Enrolled
                    | StudyState::Consented
                    | StudyState::Joined
                    | StudyState::RosterApproved
                    | StudyState::RosterSigned
                    | StudyState::InRound(_)
                    | StudyState::Withdrawn { .. } => status.stage.clone(),
                };
                let asks = asks(&app, &name).filter(|_| !status.state.is_over());
                rows.push(Row { asks, state, status });
            }
            Err(error) => broken.push(error.to_string()),
        }
    }
    Ok(render(&StudiesPage {
        frame: site_frame(&visitor, "Studies", "/"),
        rows,
        broken,
        home: app.home.location(""),
        administers: visitor.administers(),
    }))
}

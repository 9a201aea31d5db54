//! The first page: the studies of this site, and the form for an invitation.

use super::officer_settings::OfficerSettings;
use super::shared::Phase;
use super::{App, OfficerState, Page, site_frame, told, told_of};
use crate::complaints::Complaints;
use crate::frame::respond;
use crate::{Frame, Visitor};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use fedirt_agent::{self as agent, AgentError, SiteStudyStatus, StudyState};
use fedirt_data::Audience;

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
    /// The invitation that was entered.
    invitation: String,
    complaints: Complaints,
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
    page(&app, &visitor, StatusCode::OK, String::new(), Complaints::default())
}

/// The page again, with an invitation that cannot be taken and why.
pub(super) fn refuse(app: &OfficerState, visitor: &Visitor, invitation: &str, why: &AgentError) -> Page {
    let text: Vec<String> = told_of(why).text;
    let complaints = Complaints::one("invitation", text.join(" "));
    page(app, visitor, StatusCode::UNPROCESSABLE_ENTITY, invitation.to_owned(), complaints)
}

fn page(
    app: &OfficerState,
    visitor: &Visitor,
    status: StatusCode,
    invitation: String,
    complaints: Complaints,
) -> Page {
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
                let asks = asks(app, &name).filter(|_| !status.state.is_over());
                rows.push(Row { asks, state, status });
            }
            Err(error) => broken.push(error.told(Audience::Page)),
        }
    }
    let page = StudiesPage {
        frame: site_frame(visitor, "Studies", "/"),
        rows,
        broken,
        home: app.home.location(""),
        invitation,
        complaints,
        administers: visitor.administers(),
    };
    Ok(respond(status, &page))
}

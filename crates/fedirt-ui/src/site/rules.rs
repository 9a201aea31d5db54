//! The site's rules, and the consents among them as a form: what a plan may only do where the officer has said so.

use super::{App, OfficerState, Page, site_frame, told};
use crate::complaints::Complaints;
use crate::frame::respond;
use crate::{Fields, Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use fedirt_agent::{AgentError, Readers, Store};
use fedirt_protocol::policy::Policy;
use toml_edit::{DocumentMut, value};

/// The file of the rules, in the home.
const FILE: &str = "policy.toml";

/// A consent: its name in the rules, what it means in words, and its value.
struct Consent {
    name: &'static str,
    text: &'static str,
    given: bool,
}

fn consents(policy: &Policy) -> [Consent; 4] {
    let consent = |name, text, given| Consent { name, text, given };
    [
        consent(
            "allow_pooled_rows_inferred",
            "The answers of all sites taken together may be inferred from exact sums, in small studies: 12 items or fewer, or fewer than 1000 students. Not who gave them.",
            policy.allow_pooled_rows_inferred,
        ),
        consent(
            "allow_reveal_lost_site",
            "A study may go on without a lost site, which lets the coordinator compute what that site sent.",
            policy.allow_reveal_lost_site,
        ),
        consent(
            "publish_effects",
            "This site's exact effect may be published by name.",
            policy.publish_effects,
        ),
        consent(
            "allow_exact_and_private",
            "Exact sums and private releases may be about the same students. Exact sums undo what an ε promised before.",
            policy.allow_exact_and_private,
        ),
    ]
}

#[derive(Template)]
#[template(path = "officer_rules.html")]
struct RulesPage {
    frame: Frame,
    path: String,
    text: String,
    problem: Option<String>,
    consents: Vec<Consent>,
    complaints: Complaints,
    administers: bool,
}

fn page(app: &OfficerState, visitor: &Visitor, complaints: Complaints) -> RulesPage {
    let policy = app.home.policy();
    RulesPage {
        frame: site_frame(visitor, "This site's rules", "/rules"),
        text: app.home.policy_text().unwrap_or_default(),
        path: app.home.policy_location(),
        consents: policy.as_ref().map_or_else(|_| Vec::new(), |policy| consents(policy).into()),
        problem: policy.err().map(|error| told(error).text.join(" ")),
        complaints,
        administers: visitor.administers(),
    }
}

/// `GET /rules`.
pub(super) async fn show(State(app): App, Extension(visitor): Extension<Visitor>) -> Page {
    Ok(render(&page(&app, &visitor, Complaints::default())))
}

/// `POST /rules`: gives and withdraws consents. The other lines of the file stay as they are.
pub(super) async fn change(
    State(app): App,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let _changing = app.changing.lock().await;
    let policy = app.home.policy().map_err(told)?;
    let text = app.home.policy_text().map_err(told)?;
    let mut document: DocumentMut = match text.parse() {
        Ok(document) => document,
        Err(error) => {
            let page = page(
                &app,
                &visitor,
                Complaints::one("", format!("The rules cannot be changed here: {error}")),
            );
            return Ok(respond(StatusCode::UNPROCESSABLE_ENTITY, &page));
        }
    };
    for consent in consents(&policy) {
        let given = fields.has(consent.name);
        if given == consent.given {
            continue;
        }
        match document.get_mut(consent.name).and_then(|item| item.as_value_mut()) {
            // In its place, with the comment above it.
            Some(old) => {
                let decor = old.decor().clone();
                *old = given.into();
                *old.decor_mut() = decor;
            }
            None => document[consent.name] = value(given),
        }
    }
    write(&app, &document.to_string())?;
    Ok(Redirect::to("/rules?changed").into_response())
}

fn write(app: &OfficerState, text: &str) -> Result<(), PageError> {
    app.disk.replace(FILE, text.as_bytes(), Readers::Usual).map_err(|error| told(AgentError::from(error)))
}

//! The routes.

use super::{App, HttpProblem, bearer, body, openapi};
use crate::clock;
use crate::store::{EventLog, StoreClient};
use crate::study::{self, Order, Study};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fedirt_privacy::secure::Enrolment;
use fedirt_protocol::envelope::{self, EnrolRequest, Poll};
use fedirt_protocol::message::ToCoordinator;
use fedirt_protocol::{SiteId, codec};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Longest body of an enrolment or a poll.
const SMALL: usize = 16 << 10;
/// Longest wait of a poll.
const LONGEST_WAIT: u32 = 30;
/// Bodies beyond this are checked apart from the threads that serve connections.
const LARGE: usize = 64 << 10;
/// How long the store may take to answer that it is well.
const HEALTHY: Duration = Duration::from_secs(5);

type App_ = State<Arc<App>>;
const BYTES: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/octet-stream")];

fn study(app: &App, name: &str) -> Result<Arc<Study>, HttpProblem> {
    let missing =
        || HttpProblem::new(StatusCode::NOT_FOUND, "no_study", "this coordinator has no such study");
    app.studies.get(name).ok_or_else(missing)
}

/// A key, with the invitation that makes it count.
pub(super) async fn enrol(State(app): App_, request: Request) -> Result<StatusCode, HttpProblem> {
    let body = body::read(&app, request, SMALL).await?;
    let request: EnrolRequest = codec::decode(&body.bytes)?;
    let malformed =
        |e: &dyn std::fmt::Display| HttpProblem::new(StatusCode::BAD_REQUEST, "malformed", e.to_string());
    let enrolment = Enrolment::decode(&request.enrolment).map_err(|e| malformed(&e))?;
    let forged =
        |e: &dyn std::fmt::Display| HttpProblem::new(StatusCode::FORBIDDEN, "bad_signature", e.to_string());
    enrolment.verify().map_err(|e| forged(&e))?;
    let study = study(&app, enrolment.study.as_str())?;
    let site = enrolment.site.clone();
    let invitation = hash_of(request.secret);
    let (reply, answer) = oneshot::channel();
    study.order(Order::Enrol { invitation, enrolment: Box::new(enrolment), reply })?;
    answer.await.map_err(|_| HttpProblem::unavailable())??;
    study.seen(&site, clock::now().0);
    Ok(StatusCode::NO_CONTENT)
}

/// The store knows invitations by this.
fn hash_of(secret: [u8; 32]) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// The plan's text, for those who are invited to the study. Others do not learn whether there is such a study.
pub(super) async fn plan(
    State(app): App_,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpProblem> {
    let uninvited = || {
        let detail =
            "plans are shown to invited sites only: an invitation's secret must come with the request";
        HttpProblem::new(StatusCode::UNAUTHORIZED, "invitation_needed", detail)
    };
    let hash = hash_of(bearer::invitation(&headers).ok_or_else(uninvited)?);
    let found = ask(&app.store, move |log| log.find_invitation(&hash)).await;
    let invitation = found.and_then(Result::ok).ok_or_else(HttpProblem::unavailable)?;
    let invitation = invitation.filter(|invitation| invitation.study == name).ok_or_else(uninvited)?;
    study::shows_plan(&invitation, clock::now())?;
    let study = study(&app, &name)?;
    Ok(([(header::CONTENT_TYPE, "application/toml; charset=utf-8")], study.plan.clone()).into_response())
}

/// A site's message.
pub(super) async fn message(
    State(app): App_,
    Path(name): Path<String>,
    request: Request,
) -> Result<StatusCode, HttpProblem> {
    let study = study(&app, &name)?;
    let body = body::read(&app, request, codec::MAX_BYTES).await?;
    let (from, message) = if body.bytes.len() > LARGE {
        let study = study.clone();
        let check = move || {
            // The body keeps its share of the memory until it has been decoded.
            let body = body;
            unseal::<ToCoordinator>(&study, &body.bytes, envelope::MESSAGE)
        };
        tokio::task::spawn_blocking(check).await.map_err(|_| HttpProblem::unavailable())??
    } else {
        unseal::<ToCoordinator>(&study, &body.bytes, envelope::MESSAGE)?
    };
    study.seen(&from, clock::now().0);
    if matches!(message, ToCoordinator::Enrol(_)) {
        let detail = "a key counts with an invitation only: POST /v1/enrol";
        return Err(HttpProblem::new(StatusCode::FORBIDDEN, "invitation_needed", detail));
    }
    let (reply, answer) = oneshot::channel();
    study.order(Order::Message { from, message, reply })?;
    answer.await.map_err(|_| HttpProblem::unavailable())??;
    Ok(StatusCode::NO_CONTENT)
}

/// Whether there is anything new for a site.
pub(super) async fn poll(
    State(app): App_,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, HttpProblem> {
    let body = body::read(&app, request, SMALL).await?;
    let study = study(&app, &name)?;
    let (site, poll) = unseal::<Poll>(&study, &body.bytes, envelope::POLL)?;
    drop(body);
    study.seen(&site, clock::now().0);
    let Some(mut mail) = study.mail(&site) else {
        return Err(HttpProblem::new(StatusCode::FORBIDDEN, "not_invited", "this site is not on the plan"));
    };
    let mut stopping = app.stopping.clone();
    let wait = Duration::from_secs(u64::from(poll.wait_seconds.min(LONGEST_WAIT)));
    let news = async {
        let new = mail.wait_for(|mail| mail.as_ref().is_some_and(|mail| mail.step > poll.seen)).await;
        new.ok().and_then(|mail| mail.clone())
    };
    let found = tokio::select! {
        biased;
        found = news => found,
        () = tokio::time::sleep(wait) => None,
        _ = stopping.wait_for(|stopping| *stopping) => None,
    };
    study.seen(&site, clock::now().0);
    Ok(match found {
        Some(mail) => (BYTES, mail.bytes).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// What a site says, if the key that it enrolled signed it.
fn unseal<T: DeserializeOwned>(study: &Study, bytes: &[u8], topic: &str) -> Result<(SiteId, T), HttpProblem> {
    let site = envelope::sender(bytes)?;
    let Some(key) = study.key(&site) else {
        let detail = format!("{site} has not enrolled: it needs an invitation first");
        return Err(HttpProblem::new(StatusCode::FORBIDDEN, "not_enrolled", detail));
    };
    let message = envelope::unseal(bytes, &study.name, &site, &key, topic)?;
    Ok((site, message))
}

/// Whether the store answers.
pub(super) async fn health(State(app): App_) -> Result<&'static str, HttpProblem> {
    let answer = tokio::time::timeout(HEALTHY, ask(&app.store, |log| log.studies().is_ok())).await;
    if answer == Ok(Some(true)) { Ok("ok\n") } else { Err(HttpProblem::unavailable()) }
}

/// Asks the store; none if it has stopped.
async fn ask<T: Send + 'static>(
    store: &StoreClient,
    question: impl FnOnce(&mut dyn EventLog) -> T + Send + 'static,
) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    store.ask(question, move |value| {
        let _ = reply.send(value);
    });
    answer.await.ok()
}

/// Numbers for operators, who show the key of `metrics.key`.
pub(super) async fn metrics(State(app): App_, headers: HeaderMap) -> Result<Response, HttpProblem> {
    if !app.metrics_key.opens(&headers) {
        let detail = "metrics are shown to whoever has the key in the coordinator's file metrics.key: send it as a bearer token";
        return Err(HttpProblem::new(StatusCode::UNAUTHORIZED, "key_needed", detail));
    }
    let since = clock::now().0.saturating_sub(60_000);
    let studies = app.studies.all();
    let phases = studies.iter().filter_map(|study| study.status()).map(|status| status.phase);
    let connected = studies.iter().map(|study| study.seen_since(since)).sum();
    app.metrics.studies(phases, connected);
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    Ok((kind, app.metrics.text()).into_response())
}

/// The description of these routes.
pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi::document()).into_response()
}

pub(super) async fn nothing_here() -> HttpProblem {
    HttpProblem::new(StatusCode::NOT_FOUND, "no_route", "there is nothing here; see /openapi.json")
}

pub(super) async fn another_method() -> HttpProblem {
    HttpProblem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method",
        "this address takes another method; see /openapi.json",
    )
}

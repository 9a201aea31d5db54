//! The routes.

use super::{App, HttpProblem, bearer, body, openapi};
use crate::calls;
use crate::clock;
use crate::store::{EventLog, StoreClient};
use crate::study::{self, Study};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fedirt_protocol::codec;
use fedirt_protocol::envelope::{self, Poll};
use fedirt_protocol::message::ToCoordinator;
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
    app.studies.get(name).ok_or_else(calls::no_study)
}

/// A key, with the invitation that makes it count.
pub(super) async fn enrol(State(app): App_, request: Request) -> Result<StatusCode, HttpProblem> {
    let body = body::read(&app, request, SMALL).await?;
    calls::enrol(&body.bytes, |name| study(&app, name)).await?;
    Ok(StatusCode::NO_CONTENT)
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
    let hash = calls::hash_of(bearer::invitation(&headers).ok_or_else(uninvited)?);
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
            calls::unseal::<ToCoordinator>(&study, &body.bytes, envelope::MESSAGE)
        };
        tokio::task::spawn_blocking(check).await.map_err(|_| HttpProblem::unavailable())??
    } else {
        calls::unseal::<ToCoordinator>(&study, &body.bytes, envelope::MESSAGE)?
    };
    calls::take(&study, from, message).await?;
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
    let (site, poll) = calls::unseal::<Poll>(&study, &body.bytes, envelope::POLL)?;
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

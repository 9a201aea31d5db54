//! The results: the sections of the report, on pages.

use super::{App, CoordinatorState, CoordinatorStudy, Name, Page, fits, frame, words};
use crate::frame::respond;
use crate::{Fields, Frame, Html, Link, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use fedirt_figures::{For, Options, Part, Section, alarms, section};
use fedirt_model::fit::Fit;
use fedirt_protocol::coordinator::Phase;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPage {
    frame: Frame,
    name: String,
    subtitle: String,
    parts: Vec<Link>,
    alarms: Html,
    sections: Vec<Section>,
}

/// The menu of the result pages.
pub(super) fn parts(name: &str, here: &str) -> Vec<Link> {
    let all = [
        ("", "Items"),
        ("/check", "Model check"),
        ("/test", "Test and students"),
        ("/sites", "Sites"),
        ("/summary", "Summary"),
        ("/all", "All on one page"),
    ];
    all.map(|(path, text)| Link::entry(format!("/studies/{name}/results{path}"), text, path == here)).to_vec()
}

#[derive(Template)]
#[template(path = "no_results.html")]
struct NonePage {
    frame: Frame,
    name: String,
    subtitle: String,
    why: String,
    waiting: Vec<String>,
    over: bool,
}

/// The study and its fit, or the response for a study without results.
pub(super) fn open(
    app: &CoordinatorState,
    name: &str,
    visitor: &Visitor,
) -> Result<Result<(CoordinatorStudy, Arc<Fit>), Response>, PageError> {
    let seen = app.find(name)?;
    if let Some(fit) = app.fit(name) {
        return Ok(Ok((seen, fit)));
    }
    let page = NonePage {
        frame: frame(visitor, &seen, "Results", "/results"),
        name: name.to_owned(),
        subtitle: words::subtitle(&seen),
        why: fits::why_none(&seen),
        waiting: seen.status.waiting_for.clone(),
        over: seen.status.phase == Phase::Over,
    };
    // The status tells programs that the results do not exist.
    Ok(Err(respond(StatusCode::NOT_FOUND, &page)))
}

/// A page with these sections. The work is done on a thread of its own: large fits take some tenths of a second.
async fn page(
    app: Arc<CoordinatorState>,
    name: String,
    visitor: Visitor,
    here: &'static str,
    shown: &'static [Part],
    item: usize,
) -> Page {
    let (seen, fit) = match open(&app, &name, &visitor)? {
        Ok(found) => found,
        Err(none) => return Ok(none),
    };
    let options = Options { item, ..Options::new(For::Page) };
    let written = move || {
        let sections: Vec<Section> = shown.iter().map(|part| section(&fit, *part, &options)).collect();
        (Html(alarms(&fit)), sections)
    };
    let (alarms, sections) = tokio::task::spawn_blocking(written).await.map_err(|_| PageError::ours())?;
    Ok(render(&ResultsPage {
        frame: frame(&visitor, &seen, shown.first().map_or("Results", |part| part.name()), "/results"),
        subtitle: words::subtitle(&seen),
        parts: parts(&name, here),
        alarms,
        sections,
        name,
    }))
}

/// `GET /studies/{study}/results?item=NUMBER`.
pub(super) async fn items(
    State(app): App,
    Path(name): Name,
    RawQuery(query): RawQuery,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let item = query.get("item").parse::<usize>().map_or(0, |number| number.saturating_sub(1));
    page(app, name, visitor, "", &[Part::Items], item).await
}

/// `GET …/results/items/{item}`: where an item stood before it had a place among the others.
pub(super) async fn item(
    State(app): App,
    Path((name, number)): Path<(String, String)>,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let (_, fit) = match open(&app, &name, &visitor)? {
        Ok(found) => found,
        Err(none) => return Ok(none),
    };
    match number.parse::<usize>().ok().filter(|n| (1..=fit.items.len()).contains(n)) {
        Some(number) => {
            Ok(Redirect::permanent(&format!("/studies/{name}/results?item={number}")).into_response())
        }
        None => {
            let text = format!("The fit has items 1 to {}.", fit.items.len());
            Err(PageError::not_found(text).leading(&format!("/studies/{name}/results"), "See all items"))
        }
    }
}

/// `GET …/results/check`.
pub(super) async fn check(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    page(app, name, visitor, "/check", &[Part::Check], 0).await
}

/// `GET …/results/test`.
pub(super) async fn test(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    page(app, name, visitor, "/test", &[Part::Test, Part::Scale], 0).await
}

/// `GET …/results/summary`.
pub(super) async fn summary(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    page(app, name, visitor, "/summary", &[Part::Summary, Part::Rounds], 0).await
}

/// `GET …/results/all`: for reading in one go, and for paper.
pub(super) async fn all(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    page(app, name, visitor, "/all", &Part::ALL, 0).await
}

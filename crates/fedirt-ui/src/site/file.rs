//! The choice of the file with answers, and the use of its columns.

use super::looked::column_names;
use super::officer_settings::{COPIES, OfficerSettings};
use super::overview::subtitle;
use super::words::sentence;
use super::{App, Name, OfficerState, Page, SiteStudy, aside, at, frame, keep, told};
use crate::complaints::Complaints;
use crate::frame::respond;
use crate::{Fields, Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::body::{Body, HttpBody};
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect};
use fedirt_agent::{AgentError, StoreError};
use fedirt_data::{Audience, Problems, Readers, files};
use std::io::Write;
use std::path::{Path as FilePath, PathBuf};

/// Maximum length of an uploaded file, in bytes. Longer files are given by their path.
const LONGEST: u64 = 2 << 30;

/// Name of a file that is arriving.
pub(super) const DRAFT: &str = "answers.draft";

#[derive(Template)]
#[template(path = "officer_file.html")]
struct FilePage {
    frame: Frame,
    name: String,
    subtitle: String,
    file: Option<String>,
    copied: bool,
    fixed: bool,
    base: String,
    /// The fingerprint of the key, where the site has just enrolled.
    enrolled: Option<String>,
    /// The path that was entered.
    path: String,
    complaints: Complaints,
    administers: bool,
}

fn page(app: &OfficerState, visitor: &Visitor, seen: &SiteStudy) -> FilePage {
    FilePage {
        frame: frame(visitor, seen, "Your file", super::Step::File),
        subtitle: subtitle(seen),
        file: seen.settings.file.as_ref().map(|file| shown(&seen.settings, file)),
        copied: seen.settings.copied,
        fixed: app.must_be_open(seen).is_err(),
        base: at(&seen.study, ""),
        enrolled: None,
        path: String::new(),
        complaints: Complaints::default(),
        administers: visitor.administers(),
        name: seen.folder.name().to_owned(),
    }
}

/// `GET /studies/{study}/file`.
pub(super) async fn show(
    State(app): App,
    Path(name): Name,
    RawQuery(query): RawQuery,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    let mut page = page(&app, &visitor, &seen);
    if query.is_some_and(|query| query == "enrolled") {
        page.enrolled = super::overview::fingerprint(&seen.folder.entries().map_err(told)?);
    }
    Ok(render(&page))
}

/// The file as shown to the officer: its name if it was uploaded, and its path otherwise.
pub(super) fn shown(settings: &OfficerSettings, file: &FilePath) -> String {
    match file.file_name().filter(|_| settings.copied) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => file.display().to_string(),
    }
}

/// `POST /studies/{study}/file`: a path on this machine.
pub(super) async fn choose(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
    Extension(fields): Extension<Fields>,
) -> Page {
    let _changing = app.changing.lock().await;
    let mut seen = app.find(&name)?;
    app.must_be_open(&seen)?;
    let path = PathBuf::from(fields.get("path"));
    if !path.is_absolute() || !path.is_file() {
        let text = format!("{:?} is no file on this machine. Give the absolute path.", fields.get("path"));
        let page = FilePage {
            path: fields.get("path").to_owned(),
            complaints: Complaints::one("path", text),
            ..page(&app, &visitor, &seen)
        };
        return Ok(respond(StatusCode::UNPROCESSABLE_ENTITY, &page));
    }
    seen.settings.erase_copy(&seen.folder).map_err(told)?;
    seen.settings.take_file(path, false);
    keep(&seen).await?;
    Ok(Redirect::to(&at(&seen.study, "/columns")).into_response())
}

/// `POST /studies/{study}/upload?name=…`: a file from the browser, which is copied into the study's folder.
pub(super) async fn upload(State(app): App, Path(name): Name, request: Request) -> Page {
    let mut seen = app.find(&name)?;
    app.must_be_open(&seen)?;
    let query = Fields::parse(request.uri().query().unwrap_or_default().as_bytes());
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ') { c } else { '_' };
    let called: String = query.get("name").chars().map(plain).take(60).collect();
    let called = called.trim_start_matches('.').trim();
    let called = if called.is_empty() { "answers.csv" } else { called };
    // The upload goes to a draft and replaces the copies when it is complete, unless something has been approved meanwhile.
    let draft = app.path(&seen, DRAFT);
    if let Err(error) = receive(request.into_body(), &draft).await {
        let _ = std::fs::remove_file(&draft);
        return Err(error);
    }
    let _changing = app.changing.lock().await;
    seen = app.find(&name)?;
    if let Err(error) = app.must_be_open(&seen) {
        let _ = std::fs::remove_file(&draft);
        return Err(error);
    }
    let looked = draft.clone();
    if let Err(problems) = aside(move || column_names(&looked)).await? {
        let _ = std::fs::remove_file(&draft);
        return Err(unreadable(&seen, &problems));
    }
    let copies = app.path(&seen, COPIES);
    let path = copies.join(called);
    let (folder, mut settings, to) = (seen.folder.clone(), seen.settings.clone(), path.clone());
    let place = move || -> Result<(), AgentError> {
        settings.erase_copy(&folder)?;
        let placed = files::make_folder(&copies, Readers::Owner).and_then(|()| std::fs::rename(&draft, &to));
        placed.map_err(|error| StoreError { location: to.display().to_string(), error }.into())
    };
    aside(place).await?.map_err(told)?;
    seen.settings.take_file(path, true);
    keep(&seen).await?;
    Ok(Redirect::to(&at(&seen.study, "/columns")).into_response())
}

/// Writes a body to a file that only its owner can read.
async fn receive(body: Body, path: &FilePath) -> Result<(), PageError> {
    let failed = |error: std::io::Error| PageError::bad(format!("The file cannot be stored: {error}."));
    let mut file = files::create(path, Readers::Owner).map_err(failed)?;
    let mut body = std::pin::pin!(body);
    let mut length = 0;
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await {
        let frame =
            frame.map_err(|_| PageError::bad("The file did not arrive completely. Choose it again."))?;
        let Ok(bytes) = frame.into_data() else { continue };
        length += bytes.len() as u64;
        if length > LONGEST {
            return Err(PageError::bad("The file is too large for an upload. Give its path instead."));
        }
        tokio::task::block_in_place(|| file.write_all(&bytes)).map_err(failed)?;
    }
    if length == 0 {
        return Err(PageError::bad("The file is empty. Choose another."));
    }
    tokio::task::block_in_place(|| file.sync_all()).map_err(failed)
}

/// The error page for a file that cannot be read.
pub(super) fn unreadable(seen: &SiteStudy, problems: &Problems) -> PageError {
    let mut page = PageError::bad("").leading(&at(&seen.study, "/file"), "Choose another file");
    page.heading = "This file cannot be read".into();
    page.text = problems
        .iter()
        .map(|p| {
            let (what, remedy) = (p.cause.told(Audience::Page), p.remedy(Audience::Page));
            format!("{} {}", sentence(&what), sentence(&remedy))
        })
        .collect();
    page.text.push("Nothing has left this computer.".into());
    page
}

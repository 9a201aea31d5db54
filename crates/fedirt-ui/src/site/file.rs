//! The choice of the file with answers, and the use of its columns.

use super::looked::column_names;
use super::officer_settings::{COPIES, OfficerSettings};
use super::overview::subtitle;
use super::words::sentence;
use super::{App, Name, Page, SiteStudy, aside, at, frame, told};
use crate::{Fields, Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::body::{Body, HttpBody};
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Redirect};
use fedirt_agent::{AgentError, StoreError};
use fedirt_data::{Audience, Problems, Readers, files, near_names};
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
    administers: bool,
}

/// `GET /studies/{study}/file`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    Ok(render(&FilePage {
        frame: frame(&visitor, &seen, "Your file", "/file"),
        subtitle: subtitle(&seen),
        file: seen.settings.file.as_ref().map(|file| shown(&seen.settings, file)),
        copied: seen.settings.copied,
        fixed: app.must_be_open(&seen).is_err(),
        base: at(&seen.study, ""),
        administers: visitor.administers(),
        name,
    }))
}

/// The file as shown to the officer: its name if it was uploaded, and its path otherwise.
pub(super) fn shown(settings: &OfficerSettings, file: &FilePath) -> String {
    match file.file_name().filter(|_| settings.copied) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => file.display().to_string(),
    }
}

/// `POST /studies/{study}/file`: a path on this machine.
pub(super) async fn choose(State(app): App, Path(name): Name, Extension(fields): Extension<Fields>) -> Page {
    let _changing = app.changing.lock().await;
    let mut seen = app.find(&name)?;
    app.must_be_open(&seen)?;
    let path = PathBuf::from(fields.get("path"));
    let back = at(&seen.study, "/file");
    if !path.is_absolute() || !path.is_file() {
        let text = format!("{:?} is no file on this machine. Give the absolute path.", fields.get("path"));
        return Err(PageError::bad(text).leading(&back, "Choose another file"));
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

async fn keep(seen: &SiteStudy) -> Result<(), PageError> {
    let (settings, folder) = (seen.settings.clone(), seen.folder.clone());
    aside(move || settings.write(&folder)).await?.map_err(told)
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

/// A column and its use.
struct Column {
    name: String,
    item: bool,
    /// Whether its name is so near to that of an item that the officer has to say what it is.
    asked: bool,
    /// What the officer has said: an item, [`NOT_USED`], or nothing yet.
    used: String,
}

/// The use of a column that is no item of the plan.
const NOT_USED: &str = "-";

#[derive(Template)]
#[template(path = "officer_columns.html")]
struct ColumnsPage {
    frame: Frame,
    name: String,
    subtitle: String,
    file: String,
    columns: Vec<Column>,
    found: usize,
    absent: Vec<String>,
    /// Items of the plan that no column stands for.
    lacking: Vec<String>,
    planned: usize,
    others: Vec<String>,
    long: bool,
    not_used: &'static str,
    /// Whether the officer has said that each line is an answer.
    lines: bool,
    long_columns: Vec<LongColumn>,
    key: String,
    codebook: String,
    id: String,
    weight: String,
    private: bool,
    missing: String,
    fixed: bool,
    administers: bool,
}

/// The names of the columns of the chosen file, or an error page.
async fn names(seen: &SiteStudy) -> Result<Vec<String>, PageError> {
    let Some(file) = seen.settings.file.clone() else {
        let text = "No file is chosen yet, or its copy was deleted when the study was over.";
        return Err(PageError::bad(text).leading(&at(&seen.study, "/file"), "Choose your file"));
    };
    aside(move || column_names(&file)).await?.map_err(|problems| unreadable(seen, &problems))
}

/// The error page for a file that cannot be read.
fn unreadable(seen: &SiteStudy, problems: &Problems) -> PageError {
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

/// Whether a file has a line for each answer.
fn is_long(columns: &[String]) -> bool {
    let has = |name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    has("item") && (has("resp") || has("response"))
}

/// A column that a file with a line for each answer must have.
struct LongColumn {
    field: &'static str,
    label: &'static str,
    chosen: String,
}

fn long_columns(chosen: Option<&[String; 3]>) -> Vec<LongColumn> {
    let labels = ["Column of the student", "Column of the item’s name", "Column of the answer"];
    let chosen = chosen.cloned().unwrap_or_default();
    let columns = LONG_FIELDS.into_iter().zip(labels).zip(chosen);
    columns.map(|((field, label), chosen)| LongColumn { field, label, chosen }).collect()
}

/// The fields of these columns.
const LONG_FIELDS: [&str; 3] = ["long-id", "long-item", "long-response"];

/// Whether a column is perhaps an item of the plan under another name.
fn asked(name: &str, planned: &[&str], absent: &[String]) -> bool {
    !planned.contains(&name) && !near_names(name, absent.iter().map(String::as_str)).is_empty()
}

/// `GET /studies/{study}/columns`.
pub(super) async fn columns(
    State(app): App,
    Path(name): Name,
    Extension(visitor): Extension<Visitor>,
) -> Page {
    let seen = app.find(&name)?;
    let names = names(&seen).await?;
    let planned: Vec<&str> = seen.study.plan.items.iter().map(|item| item.name.as_str()).collect();
    let absent: Vec<String> =
        planned.iter().filter(|item| !names.iter().any(|n| n == *item)).map(ToString::to_string).collect();
    let settings = &seen.settings;
    let column = |name: &String| Column {
        item: planned.contains(&name.as_str()),
        asked: asked(name, &planned, &absent),
        used: match settings.renamed.iter().find(|(renamed, _)| renamed == name) {
            Some((_, item)) => item.clone(),
            None if settings.ignore.contains(name) => NOT_USED.to_owned(),
            None => String::new(),
        },
        name: name.clone(),
    };
    let columns: Vec<Column> = names.iter().map(column).collect();
    let others: Vec<String> = columns.iter().filter(|c| !c.item).map(|c| c.name.clone()).collect();
    let called = |wanted: &str| others.iter().find(|name| name.eq_ignore_ascii_case(wanted)).cloned();
    let private = seen.study.plan.mode == fedirt_model::statistics::Mode::Private;
    Ok(render(&ColumnsPage {
        frame: frame(&visitor, &seen, "Columns", "/file"),
        subtitle: subtitle(&seen),
        file: settings.file.as_ref().map_or_else(String::new, |file| shown(settings, file)),
        found: planned.len() - absent.len(),
        planned: planned.len(),
        long: is_long(&names),
        not_used: NOT_USED,
        lines: settings.long.is_some(),
        long_columns: long_columns(settings.long.as_ref()),
        key: settings.key.clone(),
        codebook: settings.codebook.clone(),
        id: if settings.mapped { settings.id.clone() } else { called("id") }.unwrap_or_default(),
        weight: if settings.mapped { settings.weight.clone() } else { None }.unwrap_or_default(),
        private,
        missing: settings.missing.join(" "),
        fixed: app.must_be_open(&seen).is_err(),
        administers: visitor.administers(),
        lacking: absent
            .iter()
            .filter(|item| !settings.renamed.iter().any(|(_, to)| to == *item))
            .cloned()
            .collect(),
        columns,
        absent,
        others,
        name,
    }))
}

/// `POST /studies/{study}/columns`.
pub(super) async fn map(State(app): App, Path(name): Name, Extension(fields): Extension<Fields>) -> Page {
    let _changing = app.changing.lock().await;
    let mut seen = app.find(&name)?;
    app.must_be_open(&seen)?;
    let names = names(&seen).await?;
    let chosen = |field: &str| {
        let value = fields.get(field);
        if value.is_empty() || names.iter().any(|name| name == value) {
            Ok(Some(value.to_owned()).filter(|value| !value.is_empty()))
        } else {
            let text = format!(
                "The file has no column {value:?}. Load the page again and choose one of the columns that it shows."
            );
            Err(PageError::bad(text).leading(&at(&seen.study, "/columns"), "Back to the columns"))
        }
    };
    let (id, weight) = (chosen("id")?, chosen("weight")?);
    if id.is_some() && id == weight {
        let text =
            "The same column cannot contain identifiers and weights. Choose another column for one of them.";
        return Err(PageError::bad(text).leading(&at(&seen.study, "/columns"), "Back to the columns"));
    }
    let [student, item, response] = LONG_FIELDS;
    let long = match [chosen(student)?, chosen(item)?, chosen(response)?] {
        [Some(id), Some(item), Some(response)] => Some([id, item, response]),
        [None, None, None] => None,
        _ => {
            let text = "A file with a line for each answer needs all three columns: the student, the item and the answer.";
            return Err(PageError::bad(text).leading(&at(&seen.study, "/columns"), "Back to the columns"));
        }
    };
    let planned = |name: &str| seen.study.plan.items.iter().any(|item| item.name == name);
    let taken = |name: &String| Some(name) == id.as_ref() || Some(name) == weight.as_ref();
    let (mut ignore, mut renamed) = (Vec::new(), Vec::new());
    if !is_long(&names) && long.is_none() {
        for (at, name) in names.iter().enumerate() {
            if name.is_empty() || planned(name) || taken(name) {
                continue;
            }
            match fields.get(&format!("use-{at}")) {
                NOT_USED => ignore.push(name.clone()),
                item if planned(item) => renamed.push((name.clone(), item.to_owned())),
                // Not said yet: the check asks where the name is near to an item's, and leaves the column out elsewhere.
                _ => {}
            }
        }
    }
    let split = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let missing =
        fields.get("missing").split(split).filter(|code| !code.is_empty()).map(String::from).collect();
    let settings = &mut seen.settings;
    (settings.renamed, settings.long) = (renamed, long);
    (settings.key, settings.codebook) = (fields.get("key").to_owned(), fields.get("codebook").to_owned());
    (settings.id, settings.weight, settings.ignore, settings.missing, settings.mapped) =
        (id, weight, ignore, missing, true);
    settings.approved_by = None;
    if let Err(problems) = settings.options() {
        let mut page =
            unreadable(&seen, &problems).leading(&at(&seen.study, "/columns"), "Back to the columns");
        page.heading = "These tables cannot be read".into();
        return Err(page);
    }
    keep(&seen).await?;
    Ok(Redirect::to(&at(&seen.study, "/check")).into_response())
}

//! Downloads: tables, the fit, the report, the plan, the command that repeats the fit, the audit bundle.

use super::{App, CoordinatorState, CoordinatorStudy, Name, Page, frame, words};
use crate::{Frame, PageError, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use fedirt_coordinator::{history, repeat};
use fedirt_data::results::{WorkbookError, workbook};
use std::sync::Arc;

/// A file for download: name, media type, description, and whether it exists only when the study has results.
type Offer = (&'static str, &'static str, &'static str, bool);

const CSV: &str = "text/csv; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

const OFFERS: [Offer; 13] = [
    ("items.csv", CSV, "Items: estimates and standard errors", true),
    ("sites.csv", CSV, "Sites: students, effects, standard errors", true),
    ("covariance.csv", CSV, "Covariance of the estimates", true),
    (
        "fit.xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Items, sites, rounds and summary as a workbook",
        true,
    ),
    ("fit.json", "application/json", "Everything, for programs", true),
    ("report.html", "text/html; charset=utf-8", "The report as one self-contained HTML file", true),
    ("plan.toml", "application/toml; charset=utf-8", "The plan, as all sites approved it", false),
    ("codebook.csv", CSV, "The codebook, as the command line reads it", false),
    ("fixed_items.csv", CSV, "Items with known parameters, as the command line reads them", false),
    ("booklets.csv", CSV, "The booklets, as the command line reads them", false),
    ("repeat.sh", TEXT, "The command that repeats the fit where all files are", false),
    ("history.csv", CSV, "Every event with its time, sender, length and SHA-256", false),
    ("audit.tar", "application/x-tar", "Audit bundle: plan, history and results together", false),
];

struct Line {
    file: &'static str,
    what: &'static str,
    there: bool,
}

#[derive(Template)]
#[template(path = "download.html")]
struct DownloadPage {
    frame: Frame,
    name: String,
    subtitle: String,
    lines: Vec<Line>,
    finished: bool,
    command: String,
}

/// `GET /studies/{study}/download`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let finished = app.fit(&name).is_some();
    let line = |(file, _, what, needs): Offer| Line { file, what, there: finished || !needs };
    Ok(render(&DownloadPage {
        frame: frame(&visitor, &seen, "Download", "/download"),
        subtitle: words::subtitle(&seen),
        lines: OFFERS.into_iter().filter(|(file, ..)| repeat::has(&seen.plan, file)).map(line).collect(),
        finished,
        command: repeat::command(&seen.plan),
        name,
    }))
}

/// `GET /studies/{study}/download/{file}`.
pub(super) async fn file(State(app): App, Path((name, file)): Path<(String, String)>) -> Page {
    let seen = app.find(&name)?;
    let back = format!("/studies/{name}/download");
    // Only names in the list are accepted, so that no part of an address becomes a path.
    let offered = |(known, ..): &Offer| *known == file && repeat::has(&seen.plan, known);
    let Some((file, kind, _, needs)) = OFFERS.into_iter().find(offered) else {
        return Err(
            PageError::not_found("There is no such file to download.").leading(&back, "See what there is")
        );
    };
    if needs {
        app.needs_fit(&seen)?;
    }
    let work = tokio::task::spawn_blocking(move || content(&app, &seen, file));
    let bytes = work.await.map_err(|_| PageError::ours())?;
    let bytes = bytes.map_err(|error| PageError::bad(error.to_string()).leading(&back, "Go back"))?;
    Ok(attached(&format!("{name}-{file}"), kind, bytes))
}

/// A response that browsers save and do not show, because the report has scripts of its own, which these pages do not allow.
fn attached(name: &str, kind: &'static str, bytes: Vec<u8>) -> Response {
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    let mut response = Body::from(bytes).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{safe}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// Why a file cannot be made.
#[derive(Debug, thiserror::Error)]
enum DownloadError {
    #[error(transparent)]
    Coordinator(#[from] fedirt_coordinator::Error),
    #[error("There are no results yet.")]
    NoResults,
    #[error("There is no workbook: {0}")]
    Workbook(#[from] WorkbookError),
    #[error("{0} is not among the results in the coordinator's folder.")]
    NotThere(String),
    #[error("{0}: the name is too long for an archive.")]
    LongName(String),
}

fn content(
    app: &Arc<CoordinatorState>,
    seen: &CoordinatorStudy,
    file: &str,
) -> Result<Vec<u8>, DownloadError> {
    let name = seen.study.name.as_str();
    let past = || history::read(&app.folder, name);
    match file {
        "plan.toml" => Ok(seen.study.plan.to_vec()),
        "codebook.csv" | "fixed_items.csv" | "booklets.csv" => repeat::file(&seen.plan, file)
            .map(String::into_bytes)
            .ok_or_else(|| DownloadError::NotThere(file.to_owned())),
        "repeat.sh" => Ok(repeat::script(&seen.plan).into_bytes()),
        "history.csv" => Ok(history::csv(&past()?.entries).into_bytes()),
        "fit.xlsx" => {
            let fit = app.fit(name).ok_or(DownloadError::NoResults)?;
            Ok(workbook(&fit, &[("study", &seen.plan.study), ("purpose", &seen.plan.purpose)])?)
        }
        "audit.tar" => bundle(app, seen, &history::csv(&past()?.entries)),
        file => {
            let path = app.folder.results_of(name).join(file);
            std::fs::read(&path).map_err(|_| DownloadError::NotThere(file.to_owned()))
        }
    }
}

/// Plan, history and results in one archive.
fn bundle(app: &CoordinatorState, seen: &CoordinatorStudy, history: &str) -> Result<Vec<u8>, DownloadError> {
    let name = seen.study.name.as_str();
    let mut out = Vec::new();
    let modified = seen.status.updated_ms / 1000;
    let mut add = |file: &str, bytes: &[u8]| tar(&mut out, &format!("{name}/{file}"), bytes, modified);
    add("plan.toml", &seen.study.plan)?;
    add("history.csv", history.as_bytes())?;
    for (file, _, _, needs) in OFFERS {
        if needs && let Ok(bytes) = std::fs::read(app.folder.results_of(name).join(file)) {
            add(file, &bytes)?;
        }
    }
    out.extend([0; 1024]);
    Ok(out)
}

/// One file of an archive (POSIX ustar): a header of 512 bytes, then the content in blocks.
fn tar(out: &mut Vec<u8>, name: &str, bytes: &[u8], modified: u64) -> Result<(), DownloadError> {
    if name.len() > 100 {
        return Err(DownloadError::LongName(name.to_owned()));
    }
    let mut head = [0u8; 512];
    head[..name.len()].copy_from_slice(name.as_bytes());
    let mut put = |from: usize, text: String| head[from..from + text.len()].copy_from_slice(text.as_bytes());
    put(100, "0000644\0".into());
    put(108, "0000000\0".into());
    put(116, "0000000\0".into());
    put(124, format!("{:011o}\0", bytes.len()));
    put(136, format!("{modified:011o}\0"));
    put(148, " ".repeat(8));
    put(156, "0".into());
    put(257, "ustar\0".into());
    put(263, "00".into());
    let sum: u32 = head.iter().map(|b| u32::from(*b)).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend(head);
    out.extend(bytes);
    out.extend(std::iter::repeat_n(0, (512 - bytes.len() % 512) % 512));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_whole_blocks() {
        let mut out = Vec::new();
        tar(&mut out, "a/b.txt", b"hello", 0).unwrap();
        assert_eq!(out.len(), 1024);
        assert_eq!(
            (&out[..7], &out[257..262], &out[512..517]),
            (&b"a/b.txt"[..], &b"ustar"[..], &b"hello"[..])
        );
        assert!(tar(&mut out, &"x".repeat(101), b"", 0).is_err());
    }
}

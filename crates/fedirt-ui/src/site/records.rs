//! The records: what was sent, the audit log with its verified hash chains, the privacy ledger.

use super::overview::subtitle;
use super::{App, Name, Page, at, site_frame, told};
use crate::{Frame, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_agent::{self as agent, LedgerLine, StudyFolder};
use fedirt_data::Audience;
use fedirt_data::text::{counted, grouped};
use serde::Deserialize;
use std::collections::BTreeSet;

/// A line of the transcript, as far as the page shows it.
#[derive(Deserialize)]
pub(super) struct Line {
    time: String,
    kind: String,
    #[serde(default)]
    round: Option<u32>,
    #[serde(default)]
    pub(super) bytes: u64,
    #[serde(default)]
    sha256: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    statistics: Vec<Numbers>,
}

#[derive(Deserialize)]
struct Numbers {
    name: String,
    meaning: String,
    count: u64,
}

struct Sent {
    time: String,
    what: String,
    round: String,
    bytes: String,
    statistics: Vec<Numbers>,
}

#[derive(Template)]
#[template(path = "officer_sent.html")]
struct SentPage {
    frame: Frame,
    name: String,
    subtitle: String,
    site: String,
    to: String,
    lines: Vec<Sent>,
    numbers: String,
    bytes: String,
    mode: &'static str,
    base: String,
}

impl Line {
    /// What kind of message it is.
    pub(super) fn kind_in_words(&self) -> &'static str {
        match self.kind.as_str() {
            "join" => "How many students there are, and the codes of the items that were given",
            "hello" => "A key for the masks of a round",
            "upload" => "Sums",
            "refuse" => "A refusal",
            "approve" => "A signature of the roster",
            "enrol" => "The public key of this site",
            _ => "Another message",
        }
    }

    /// How many numbers about students are in it.
    pub(super) fn numbers(&self) -> u64 {
        self.statistics.iter().map(|statistic| statistic.count).sum()
    }
}

fn in_words(line: &Line) -> String {
    let words = line.kind_in_words();
    line.reason.as_ref().map_or_else(|| words.to_owned(), |reason| format!("{words}: {reason}"))
}

/// How many of the messages are about students.
pub(super) fn of_students(lines: &[Line]) -> u64 {
    lines.iter().filter(|line| line.kind != "enrol").count() as u64
}

/// The messages that were sent for a study, without acknowledgements.
pub(super) fn transcript(folder: &StudyFolder) -> Vec<Line> {
    let bytes = folder.result("transcript.jsonl").ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    lines.filter(|line: &Line| line.kind != "acknowledged").collect()
}

/// How much was sent, in words.
pub(super) fn sent_in_words(folder: &StudyFolder) -> String {
    let lines = transcript(folder);
    let bytes: u64 = lines.iter().map(|line| line.bytes).sum();
    match lines.len() as u64 {
        0 => "nothing".into(),
        n => format!("{}, {} bytes", counted(n, "message", "messages"), grouped(bytes)),
    }
}

/// A sentence on what was sent, for pages that show what is not sent yet.
pub(super) fn left_in_words(folder: &StudyFolder) -> String {
    match of_students(&transcript(folder)) {
        0 => "No data of your students have left this computer.".into(),
        n => format!(
            "This page shows the state before you took part. Since then {} sent: see “What was sent”.",
            counted(n, "message was", "messages were")
        ),
    }
}

/// `GET /studies/{study}/sent`.
pub(super) async fn sent(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let lines = transcript(&seen.folder);
    let numbers: u64 = lines.iter().map(Line::numbers).sum();
    let bytes: u64 = lines.iter().map(|line| line.bytes).sum();
    let mut seen_before = BTreeSet::new();
    let sent = lines.into_iter().map(|line| Sent {
        what: if seen_before.insert(line.sha256.clone()) {
            in_words(&line)
        } else {
            format!("{} (again, the same message)", in_words(&line))
        },
        round: line.round.map_or_else(String::new, |round| round.to_string()),
        bytes: grouped(line.bytes),
        time: line.time,
        statistics: line.statistics,
    });
    Ok(render(&SentPage {
        frame: super::unstepped(&visitor, &seen, "What was sent").live(at(&seen.study, "/events")),
        subtitle: subtitle(&seen),
        site: seen.study.site.to_string(),
        to: seen.study.connection.address.to_string(),
        lines: sent.collect(),
        numbers: grouped(numbers),
        bytes: grouped(bytes),
        mode: seen.study.plan.mode.name(),
        base: at(&seen.study, ""),
        name,
    }))
}

struct Log {
    study: String,
    /// What is wrong with its hash chain, if something is.
    broken: Option<String>,
    entries: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "officer_log.html")]
struct LogPage {
    frame: Frame,
    logs: Vec<Log>,
    ledger: Result<String, String>,
}

/// `GET /log`.
pub(super) async fn log(State(app): App, Extension(visitor): Extension<Visitor>) -> Page {
    let mut logs = Vec::new();
    for study in app.home.studies().map_err(told)? {
        let folder = app.home.study(&study).map_err(told)?;
        let checked = folder.load().and_then(|_| folder.entries()).and_then(|entries| {
            agent::check_journal(&app.home, &folder)?;
            Ok(entries)
        });
        let (broken, entries) = match checked {
            Ok(entries) => (None, entries),
            Err(error) => (Some(error.told(Audience::Page)), Vec::new()),
        };
        let entries = entries.iter().map(|entry| (entry.time.clone(), entry.record.in_words())).collect();
        logs.push(Log { study, broken, entries });
    }
    let ledger = agent::check_ledger(&app.home).and_then(|()| agent::ledger_table(&app.home));
    let ledger = ledger
        .map(|table| {
            format!(
                "The hash chain of the ledger's {} lines is intact; its head is {}.",
                table.lines.len(),
                table.head
            )
        })
        .map_err(|error| error.told(Audience::Page));
    Ok(render(&LogPage { frame: site_frame(&visitor, "Audit log", "/log"), logs, ledger }))
}

#[derive(Template)]
#[template(path = "officer_ledger.html")]
struct LedgerPage {
    frame: Frame,
    populations: Vec<(String, String)>,
    lines: Vec<LedgerLine>,
    head: String,
}

/// `GET /ledger`.
pub(super) async fn ledger(State(app): App, Extension(visitor): Extension<Visitor>) -> Page {
    let table = agent::ledger_table(&app.home).map_err(told)?;
    Ok(render(&LedgerPage {
        frame: site_frame(&visitor, "Privacy ledger", "/ledger"),
        populations: table.populations,
        lines: table.lines,
        head: table.head,
    }))
}

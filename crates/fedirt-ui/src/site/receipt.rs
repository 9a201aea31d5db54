//! The receipt: one page to print and file, that says who approved what, of which plan and file, and what has left.

use super::overview::{fingerprint, subtitle};
use super::records::{of_students, transcript};
use super::{App, Name, Page, told, unstepped};
use crate::{Frame, Visitor, render};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use fedirt_agent::{self as agent, JournalEvent};
use fedirt_data::text::{counted, grouped};
use std::collections::BTreeMap;

/// An approval by a person.
struct Approval {
    time: String,
    by: String,
    asked: String,
    file: String,
}

/// Messages of one kind that have left.
struct Left {
    what: &'static str,
    messages: String,
    numbers: String,
    bytes: String,
}

#[derive(Template)]
#[template(path = "officer_receipt.html")]
struct ReceiptPage {
    frame: Frame,
    name: String,
    subtitle: String,
    site: String,
    coordinator: String,
    mode: &'static str,
    plan_hash: String,
    key: String,
    approvals: Vec<Approval>,
    state: String,
    left: Vec<Left>,
    students: bool,
    head: String,
    printed: String,
}

/// `GET /studies/{study}/receipt`.
pub(super) async fn show(State(app): App, Path(name): Name, Extension(visitor): Extension<Visitor>) -> Page {
    let seen = app.find(&name)?;
    let entries = seen.folder.entries().map_err(told)?;
    let state = seen.folder.state_after(&entries, seen.settings.choices()).map_err(told)?;
    let approval = |entry: &agent::JournalEntry| match &entry.record {
        JournalEvent::Consented { by, asked, file_sha256 } => Some(Approval {
            time: entry.time.clone(),
            by: by.clone(),
            asked: asked.clone(),
            file: file_sha256.clone(),
        }),
        _ => None,
    };
    let key = fingerprint(&entries);
    let lines = transcript(&seen.folder);
    let mut kinds: BTreeMap<&'static str, (u64, u64, u64)> = BTreeMap::new();
    for line in &lines {
        let (messages, numbers, bytes) = kinds.entry(line.kind_in_words()).or_default();
        *messages += 1;
        *numbers += line.numbers();
        *bytes += line.bytes;
    }
    let left = kinds.into_iter().map(|(what, (messages, numbers, bytes))| Left {
        what,
        messages: counted(messages, "message", "messages"),
        numbers: grouped(numbers),
        bytes: grouped(bytes),
    });
    Ok(render(&ReceiptPage {
        frame: unstepped(&visitor, &seen, "Receipt"),
        subtitle: subtitle(&seen),
        site: seen.study.site.to_string(),
        coordinator: seen.study.connection.address.to_string(),
        mode: seen.study.plan.mode.name(),
        plan_hash: seen.study.connection.plan_sha256.clone(),
        key: key.unwrap_or_default(),
        approvals: entries.iter().filter_map(approval).collect(),
        state: seen.settings.ended.clone().unwrap_or_else(|| state.in_words()),
        left: left.collect(),
        students: of_students(&lines) > 0,
        head: agent::ledger_table(&app.home).map_err(told)?.head,
        printed: app.home.now().to_string(),
        name,
    }))
}

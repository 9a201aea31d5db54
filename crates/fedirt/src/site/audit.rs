//! `fedirt site audit`: the chains verified, and the journals for people.

use super::told;
use crate::error::CliError;
use crate::output::stdout;
use crate::terminal::text::{count, printable};
use fedirt_protocol::site::Release;
use fedirt_site::agent::{self, Entry, Home, Record};
use std::process::ExitCode;

pub(super) fn run(home: &Home, study: Option<&str>) -> Result<ExitCode, CliError> {
    let names = match study {
        Some(name) => vec![name.to_owned()],
        None => home.studies().map_err(told)?,
    };
    let mut errors = Vec::new();
    for name in names {
        let checked = home.known_study(&name).and_then(|folder| folder.load().and_then(|_| folder.entries()));
        match checked {
            Ok(entries) => {
                let mut text = format!(
                    "{name}: the plan is the approved one, and the chain of {} journal lines holds\n",
                    entries.len()
                );
                entries.iter().for_each(|entry| text.push_str(&line(entry)));
                stdout::print(&text)?;
            }
            Err(error) => errors.push(told(error)),
        }
        if let Err(error) = home.study(&name).and_then(|folder| agent::check_journal(home, &folder)) {
            errors.push(told(error));
        }
    }
    if let Err(error) = agent::check_ledger(home) {
        errors.push(told(error));
    }
    match agent::ledger_table(&home.ledger_path()) {
        Ok(ledger) => stdout::print(&format!(
            "ledger: the chain of {} lines holds; its head is {}\n",
            ledger.lines.len(),
            ledger.head
        ))?,
        Err(error) => errors.push(told(error)),
    }
    CliError::unless_empty(errors)?;
    Ok(ExitCode::SUCCESS)
}

fn line(entry: &Entry) -> String {
    let what = match &entry.record {
        Record::Enrolled { site, key_fingerprint, .. } => {
            format!("plan approved, enrolled as {site} with the key {key_fingerprint}")
        }
        Record::Joined { population, students, .. } => {
            format!("joined with {} students ({population})", count(*students))
        }
        Record::Approved { fingerprint, .. } => {
            format!("roster {fingerprint} approved by this site's officer")
        }
        Record::Pinned { sites, .. } => format!("roster signed by everybody: {}", sites.join(", ")),
        Record::Hello { turn, .. } => format!("{turn}: hello"),
        Record::Debited { turn, ledger_head, .. } => {
            format!("{turn}: entered in the ledger (head {})", &ledger_head[..16.min(ledger_head.len())])
        }
        Record::Released(Release { turn, cohort, statistics, .. }) => {
            let names: Vec<String> =
                statistics.iter().map(|(name, size)| format!("{name} ({size})")).collect();
            format!("{turn}: released {} with {}", names.join(", "), cohort.join(", "))
        }
        Record::Upload { turn, bytes, sha256 } => {
            format!("{turn}: upload of {} bytes, SHA-256 {sha256}", count(*bytes))
        }
        Record::Refused { turn, reason } => {
            format!("{}refused: {reason}", turn.map_or(String::new(), |turn| format!("{turn}: ")))
        }
        Record::Committed { turn, .. } => {
            format!("{turn}: the question is accepted, and no other in this attempt")
        }
        Record::Over => "over; round keys wiped".to_owned(),
        Record::Withdrawn => "withdrawn; keys wiped".to_owned(),
    };
    format!("  {}  {}\n", entry.time, printable(&what))
}

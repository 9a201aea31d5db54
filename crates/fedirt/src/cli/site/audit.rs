//! `fedirt site audit`: verifies the hash chains and prints the journals.

use super::told;
use crate::error::CliError;
use crate::output::stdout;
use crate::terminal::text::printable;
use fedirt_agent::{self as agent, Home, JournalEntry};
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
                    "{name}: the plan is the approved one, and the hash chain of {} journal lines is intact\n",
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
    match agent::ledger_table(home) {
        Ok(ledger) => stdout::print(&format!(
            "ledger: the hash chain of {} lines is intact; its head is {}\n",
            ledger.lines.len(),
            ledger.head
        ))?,
        Err(error) => errors.push(told(error)),
    }
    CliError::unless_empty(errors)?;
    Ok(ExitCode::SUCCESS)
}

fn line(entry: &JournalEntry) -> String {
    format!("  {}  {}\n", entry.time, printable(&entry.record.in_words()))
}

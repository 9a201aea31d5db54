//! Questions to the officer at a terminal.

use crate::error::CliError;
use crate::usage::UsageError;
use std::io::{self, BufRead, IsTerminal, Write};

/// Whether there is a terminal to ask at.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question that must be answered with `yes`.
pub(super) fn yes(question: &str) -> Result<bool, CliError> {
    let mut out = io::stderr();
    let asked = write!(out, "{question} [yes/no] ").and_then(|()| out.flush());
    asked.map_err(CliError::Output)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(CliError::file("standard input"))?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "yes" | "y"))
}

/// Approval by the flag or at the terminal; without either, an error that names the flag.
pub(super) fn approve(flag: bool, question: &str) -> Result<(), CliError> {
    if flag {
        return Ok(());
    }
    if !can_ask() {
        return Err(UsageError::NobodyToAsk.into());
    }
    if yes(question)? { Ok(()) } else { Err(UsageError::NotApproved.into()) }
}

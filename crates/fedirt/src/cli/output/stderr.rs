//! Messages on standard error. If it is closed, the program continues.

use crate::terminal::style;
use anstyle::Style;
use std::io::Write;

/// Prints an error, which ends the program.
pub(crate) fn error(text: &str) {
    line("error", style::BAD, text);
}

/// Prints a warning about the results.
pub(crate) fn warning(text: &str) {
    line("warning", style::CAUTION, text);
}

/// Prints a note.
pub(crate) fn note(text: &str) {
    if !super::quiet() {
        line("note", style::FAINT, text);
    }
}

/// Prints where a command is.
pub(crate) fn progress(text: &str) {
    if !super::quiet() {
        line("progress", style::FAINT, text);
    }
}

/// Prints that the calibration did not converge.
pub(crate) fn not_converged(text: &str) {
    line("not converged", style::BAD, text);
}

fn line(kind: &str, style: Style, text: &str) {
    // Control characters in names must not reach the terminal.
    let text: String =
        text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
    // An error on standard error cannot be reported.
    let _ = writeln!(anstream::stderr(), "{style}{kind}:{style:#} {text}");
}

//! Standard error: one kind of line for each kind of news. A closed standard error is no reason to stop.

use crate::terminal::style;
use anstyle::Style;
use std::io::Write;

/// Something that ends the program.
pub(crate) fn error(text: &str) {
    line("error", style::BAD, text);
}

/// Something that a reader of the results should know.
pub(crate) fn warning(text: &str) {
    line("warning", style::CAUTION, text);
}

/// Something worth knowing.
pub(crate) fn note(text: &str) {
    line("note", style::FAINT, text);
}

/// A calibration that did not come to its end.
pub(crate) fn not_converged(text: &str) {
    line("not converged", style::BAD, text);
}

fn line(kind: &str, style: Style, text: &str) {
    // A name in a file must not steer the terminal.
    let text: String =
        text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
    // Nobody is left to tell.
    let _ = writeln!(anstream::stderr(), "{style}{kind}:{style:#} {text}");
}

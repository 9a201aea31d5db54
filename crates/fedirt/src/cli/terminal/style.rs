//! The styles of terminal output. They are removed if the output is not a terminal.

use anstyle::{AnsiColor, Style};

/// A heading.
pub(crate) const HEADING: Style = Style::new().bold();
/// Labels of numbers.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// A warning.
pub(crate) const CAUTION: Style = AnsiColor::Yellow.on_default();
/// An error.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Drawings.
pub(crate) const DRAWN: Style = AnsiColor::Cyan.on_default();

/// A text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

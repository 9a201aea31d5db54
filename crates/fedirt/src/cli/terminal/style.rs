//! Colours, few and with a meaning. They are taken out where the output is no terminal.

use anstyle::{AnsiColor, Style};

/// A heading.
pub(crate) const HEADING: Style = Style::new().bold();
/// What names a number, not the number.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// All is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// To be looked at.
pub(crate) const CAUTION: Style = AnsiColor::Yellow.on_default();
/// Wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Drawn.
pub(crate) const DRAWN: Style = AnsiColor::Cyan.on_default();

/// A text in a style.
pub(crate) fn paint(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

//! A fit on the terminal.

mod errors;
mod items;
mod sites;
pub(crate) mod style;
mod summary;
pub(crate) mod table;
pub(crate) mod text;

use fedirt_model::fit::Fit;
use style::paint;

/// Width in columns without a terminal.
const PAGE: usize = 100;
/// Maximum width of a line, in columns.
const WIDEST: usize = 120;
/// Maximum number of warnings that are shown; `fit.json` contains all.
const MOST_WARNINGS: usize = 12;

/// Whether the tables of items and sites are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    /// Yes.
    Yes,
    /// No, because they are in files.
    No,
}

/// Columns of the terminal that standard output is, or those of a page.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    terminal.map_or(PAGE, |(columns, _)| usize::from(columns.0).clamp(40, WIDEST))
}

/// The fit as text of at most `room` columns.
pub(crate) fn fit(fit: &Fit, notes: &[String], tables: Tables, room: usize) -> String {
    let mut out = format!("{}\n\n{}", summary::title(fit), summary::block(fit, room));
    if tables == Tables::Yes {
        heading(&mut out, "Items");
        out.push_str(&items::table(fit, room));
        let sources = fit.privacy.as_ref().map_or(&[][..], |privacy| &privacy.error_sources);
        if !sources.is_empty() {
            heading(&mut out, "Where standard errors come from (SE² = sampling² + noise² + prior²)");
            out.push_str(&errors::table(sources, room));
        }
        if fit.sites.len() > 1 {
            heading(&mut out, "Sites");
            out.push_str(&sites::table(fit, room));
        }
    }
    let diagnostics = fit.diagnostics.iter();
    let findings: Vec<&str> = diagnostics.flat_map(|d| &d.findings).map(|f| f.message.as_str()).collect();
    list(&mut out, "Model check", &paint(style::CAUTION, "!"), &findings, room);
    let warnings: Vec<&str> = fit.warnings.iter().map(|warning| warning.message.as_str()).collect();
    list(&mut out, "Warnings", &paint(style::CAUTION, "!"), &warnings, room);
    let against = fit.privacy.as_ref().filter(|p| !p.holds_against.is_empty());
    let against = against.map(|p| format!("ε = {} holds against {}", p.epsilon, p.holds_against));
    let notes: Vec<&str> = against.iter().chain(notes).map(String::as_str).collect();
    list(&mut out, "Notes", &paint(style::FAINT, "·"), &notes, room);
    out
}

fn heading(out: &mut String, text: &str) {
    out.push_str(&format!("\n{}\n", paint(style::HEADING, text)));
}

fn list(out: &mut String, title: &str, mark: &str, texts: &[&str], room: usize) {
    if texts.is_empty() {
        return;
    }
    heading(out, title);
    for text in texts.iter().take(MOST_WARNINGS) {
        for (at, line) in text::wrap(text, room.saturating_sub(4)).iter().enumerate() {
            out.push_str(&format!("  {} {line}\n", if at == 0 { mark } else { " " }));
        }
    }
    if texts.len() > MOST_WARNINGS {
        out.push_str(&format!("    … {} more, use --out or --json\n", texts.len() - MOST_WARNINGS));
    }
}

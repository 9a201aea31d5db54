//! `fedirt privacy`: ε from noise, noise from ε, forecasts, and the audit.

mod audit;
mod epsilon;
mod plan;

use crate::args::{PrivacyArgs, PrivacyCommand};
use crate::error::CliError;
use std::process::ExitCode;
use unicode_width::UnicodeWidthStr;

pub(crate) fn run(args: &PrivacyArgs) -> Result<ExitCode, CliError> {
    crate::output::be_quiet(args.quiet);
    match &args.command {
        PrivacyCommand::Epsilon(args) => epsilon::of_noise(args),
        PrivacyCommand::Noise(args) => epsilon::noise_for(args),
        PrivacyCommand::Plan(args) => plan::run(args),
        PrivacyCommand::Audit(args) => audit::run(args),
    }
}

/// Cells in columns, aligned left for the given columns and right for the others.
fn columns(rows: &[Vec<String>], left: &[usize]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|c| rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.width()).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[c] - cell.width());
            line.push_str("  ");
            line.push_str(&if left.contains(&c) { cell.clone() + &padding } else { padding + cell });
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

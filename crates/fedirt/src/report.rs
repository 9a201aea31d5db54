//! `fedirt report`, and reading a fit back.

use crate::args::ReportArgs;
use crate::error::CliError;
use crate::output::{file, stderr};
use fedirt_model::fit::Fit;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode, CliError> {
    let fit = read_fit(&args.fit)?;
    let page = fedirt_figures::report(&fit);
    file::replace(&args.out, |out| out.write_all(page.as_bytes()))?;
    stderr::note(&format!("wrote {}", args.out.display()));
    Ok(ExitCode::SUCCESS)
}

/// The fit of a file that `fedirt fit` wrote.
pub(crate) fn read_fit(path: &Path) -> Result<Fit, CliError> {
    let bytes = std::fs::read(path).map_err(CliError::file(path))?;
    let not_a_fit = |error: String| CliError::NotAFit { path: path.to_owned(), error };
    let value: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| not_a_fit(format!("no JSON: {error}")))?;
    if value.get("format").and_then(serde_json::Value::as_str).is_none() {
        return Err(not_a_fit("it names no format".to_owned()));
    }
    serde_json::from_value(value).map_err(|error| not_a_fit(error.to_string()))
}

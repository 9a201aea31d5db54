//! `fedirt report`, and the reader of fit files.

use crate::args::ReportArgs;
use crate::error::CliError;
use crate::output::stderr;
use fedirt::results;
use fedirt_data::files;
use fedirt_model::fit::Fit;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode, CliError> {
    let fit = read_fit(&args.fit)?;
    let page = fedirt::report(&fit);
    files::replace(&args.out, |out| out.write_all(page.as_bytes()))?;
    stderr::note(&format!("wrote {}", args.out.display()));
    Ok(ExitCode::SUCCESS)
}

/// Reads a fit that `fedirt fit` wrote.
pub(crate) fn read_fit(path: &Path) -> Result<Fit, CliError> {
    let bytes = std::fs::read(path).map_err(CliError::file(path))?;
    results::read_fit(&bytes).map_err(|error| CliError::NotAFit { path: path.to_owned(), error })
}

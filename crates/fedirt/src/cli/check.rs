//! `fedirt check`.

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::output::stdout;
use std::process::ExitCode;

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let reading =
        fedirt::read(crate::input::files(&args.files), &args.columns.read_options(args.weight.as_ref()))?;
    stdout::print(&fedirt::check(&reading).told(fedirt::Audience::CommandLine))?;
    Ok(ExitCode::SUCCESS)
}

//! `fedirt check`.

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::output::stdout;
use std::process::ExitCode;

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let reading = fedirt_data::read(
        crate::input::files(&args.files),
        &args.columns.read_options(args.weight.as_ref()),
    )?;
    stdout::print(&fedirt_data::describe(&reading).told(fedirt_data::Audience::CommandLine))?;
    Ok(ExitCode::SUCCESS)
}

//! `fedirt check`.

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::output::stdout;
use std::process::ExitCode;

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let options = args.columns.read_options(args.weight.as_ref());
    let codebook = args.codebook.as_ref().map(|path| fedirt::read_codebook(fedirt::Input::file(path)));
    let reading = fedirt::read(crate::input::files(&args.files), &options);
    let (codebook, reading) = match (codebook.transpose(), reading) {
        (Ok(codebook), Ok(reading)) => (codebook, reading),
        (codebook, reading) => {
            let errors = [codebook.err(), reading.err()].into_iter().flatten().map(CliError::from);
            return Err(CliError::Several(errors.collect()));
        }
    };
    let reading = crate::input::ask(reading, &options, codebook.as_deref(), [])?;
    stdout::print(&fedirt::check(&reading).told(fedirt::Audience::CommandLine))?;
    Ok(ExitCode::SUCCESS)
}

//! `fedirt check`.

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::output::{stderr, stdout};
use fedirt::results::check_json;
use fedirt_data::codebook_of;
use std::process::ExitCode;

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let mut options = args.columns.read_options();
    options.weight.clone_from(&args.weight);
    options.missing_is_wrong = args.missing_answers == Some(fedirt::MissingAnswers::Wrong);
    let mut errors = Vec::new();
    args.answers.add_to(&mut options, &mut errors, &fedirt::Input::file);
    let reading = fedirt::read(crate::input::files(&args.files), &options);
    let reading = match reading {
        Ok(reading) if errors.is_empty() => {
            if let Some(path) = &args.write_codebook {
                fedirt_data::files::replace(path, |out| out.write_all(codebook_of(&reading).as_bytes()))?;
                if !args.quiet {
                    stderr::note(&format!("wrote {}", path.display()));
                }
            }
            crate::input::ask(reading)?
        }
        reading => {
            errors.extend(reading.err().map(CliError::from));
            return Err(CliError::Several(errors));
        }
    };
    let found = fedirt::check(&reading);
    if args.json {
        stdout::print_raw(&check_json(&found).map_err(CliError::Output)?)?;
    } else if !args.quiet {
        stdout::print(&found.told(fedirt::Audience::CommandLine))?;
    }
    Ok(ExitCode::SUCCESS)
}

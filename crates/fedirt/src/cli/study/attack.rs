//! `fedirt study attack`.

use super::folder::StudyFolder;
use crate::args::AttackArgs;
use crate::error::CliError;
use fedirt_studies::attack::{Options, Task, report};
use std::process::ExitCode;

pub(crate) fn run(args: &AttackArgs) -> Result<ExitCode, CliError> {
    let usual = if args.quick { Options::quick() } else { Options::default() };
    let options = Options { replications: args.replications, first_seed: args.seed, ..usual };
    let mut folder = StudyFolder::new(&args.folder, "study-attack")?;
    let identity = options.identity().map_err(CliError::because)?;
    let attempts = folder.run(&identity, &options.tasks(), Task::key, Task::run)?;
    let records: Vec<_> = attempts.into_iter().flatten().collect();
    folder.finish(&report(&options, &records)?)?;
    Ok(ExitCode::SUCCESS)
}

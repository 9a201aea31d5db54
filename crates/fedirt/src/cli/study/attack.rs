//! `fedirt study attack`.

use super::desk::{Desk, Results};
use crate::args::AttackArgs;
use crate::error::CliError;
use fedirt_studies::attack::{Options, Task, files, text};
use std::process::ExitCode;

pub(crate) fn run(args: &AttackArgs) -> Result<ExitCode, CliError> {
    let usual = if args.quick { Options::quick() } else { Options::default() };
    let options = Options { replications: args.replications, first_seed: args.seed, ..usual };
    let mut desk = Desk::new(&args.desk, "study-attack")?;
    let identity = options.identity().map_err(CliError::because)?;
    let attempts =
        desk.run(&identity, &options.tasks(), Task::key, |task| task.run().map_err(|e| e.to_string()))?;
    let records: Vec<_> = attempts.into_iter().flatten().collect();
    let files = files(&options, &records).map_err(CliError::because)?;
    desk.finish(&Results { files, text: text(&records) })?;
    Ok(ExitCode::SUCCESS)
}

//! `fedirt study private`.

use super::folder::StudyFolder;
use crate::args::PrivateStudyArgs;
use crate::error::CliError;
use fedirt_studies::private::study::{CONDITIONS, Options, Task, report};
use std::process::ExitCode;

pub(crate) fn run(args: &PrivateStudyArgs) -> Result<ExitCode, CliError> {
    let wanted = |name: &str| args.conditions.is_empty() || args.conditions.iter().any(|c| c == name);
    let conditions = CONDITIONS.into_iter().filter(|c| wanted(c.name)).collect();
    let options = Options { replications: args.replications, first_seed: args.seed, conditions };
    let mut folder = StudyFolder::new(&args.folder, "study-private")?;
    let records = folder.run(&options.identity(), &options.tasks(), Task::key, Task::run)?;
    let records: Vec<_> = records.into_iter().flatten().collect();
    folder.finish(&report(&options, &records)?)?;
    Ok(ExitCode::SUCCESS)
}

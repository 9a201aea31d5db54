//! `fedirt study issues`.

use super::folder::StudyFolder;
use crate::args::IssuesArgs;
use crate::error::CliError;
use fedirt_studies::issues::{IssuesStudy, Options, Task};
use std::process::ExitCode;

pub(crate) fn run(args: &IssuesArgs) -> Result<ExitCode, CliError> {
    let options = Options {
        replications: args.replications as usize,
        first_seed: args.seed,
        students: args.students as usize,
        problems: args.problems(),
        modes: args.modes(),
    };
    let mut folder = StudyFolder::new(&args.folder, "study-issues")?;
    let records = folder.run(&options.identity(), &options.tasks(), Task::key, Task::run)?;
    let study = IssuesStudy { options, records: records.into_iter().flatten().collect() };
    folder.finish(&study.report()?)?;
    Ok(ExitCode::SUCCESS)
}

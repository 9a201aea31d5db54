//! `fedirt coordinator export`: results, plan and history of a study, from the store alone.

use super::told;
use crate::args::CoordinatorExportArgs;
use crate::error::CliError;
use crate::output::{stderr, stdout};
use fedirt_coordinator::{Folder, history, results};
use fedirt_data::files;

pub(super) fn run(args: &CoordinatorExportArgs) -> Result<(), CliError> {
    let folder = Folder::open(&args.dir).map_err(told)?;
    let study = history::read(&folder, &args.study).map_err(told)?;
    std::fs::create_dir_all(&args.out).map_err(CliError::file(&args.out))?;
    files::replace(&args.out.join("plan.toml"), |out| out.write_all(study.plan.as_bytes()))?;
    let history = history::csv(&study.entries);
    files::replace(&args.out.join("history.csv"), |out| out.write_all(history.as_bytes()))?;
    let what = match study.outcome.as_deref() {
        Some(Ok(finished)) => {
            results::write(&args.out, finished)?;
            "results, plan.toml and history.csv"
        }
        Some(Err(error)) => {
            stderr::note(&format!("the study has no results: {error}"));
            "plan.toml and history.csv"
        }
        None => {
            stderr::note("the study is not over: there are no results yet");
            "plan.toml and history.csv"
        }
    };
    stdout::print(&format!("Written to {}: {what}\n", args.out.display()))
}

//! `fedirt coordinator export`: results, plan and history of a study, from the store alone.

use super::told;
use crate::args::CoordinatorExportArgs;
use crate::error::CliError;
use crate::interrupt::Kept;
use crate::output::{stderr, stdout};
use fedirt_coordinator::history::{self, History};
use fedirt_coordinator::{Folder, repeat, results};
use fedirt_data::files::{self, ResultFolder};
use fedirt_protocol::plan::StudyPlan;

pub(super) fn run(args: &CoordinatorExportArgs) -> Result<(), CliError> {
    let folder = Folder::open(&args.dir).map_err(told)?;
    let study = history::read(&folder, &args.study).map_err(told)?;
    // Ctrl-C has to wait until all is written.
    let what = Kept::new(ResultFolder::prepare(&args.out)?).write(|_| write(&study, args))?;
    let Some(what) = what else { return Ok(()) };
    stdout::print(&format!("Written to {}: {what}\n", args.out.display()))
}

fn write(study: &History, args: &CoordinatorExportArgs) -> Result<&'static str, CliError> {
    files::replace(&args.out.join("plan.toml"), |out| out.write_all(study.plan.as_bytes()))?;
    let history = history::csv(&study.entries);
    files::replace(&args.out.join("history.csv"), |out| out.write_all(history.as_bytes()))?;
    let what = match study.outcome.as_deref() {
        Some(Ok(finished)) => {
            results::write(&args.out, finished)?;
            "results, plan.toml, history.csv, and repeat.sh with the files that it reads"
        }
        Some(Err(error)) => {
            stderr::note(&format!("the study has no results: {error}"));
            "plan.toml, history.csv, and repeat.sh with the files that it reads"
        }
        None => {
            stderr::note("the study is not over: there are no results yet");
            "plan.toml, history.csv, and repeat.sh with the files that it reads"
        }
    };
    // After the results, which take away a script of an earlier fit.
    // A plan of a later version is exported all the same.
    if let Ok(plan) = StudyPlan::parse(&study.plan) {
        let small = repeat::FILES.into_iter().filter_map(|name| Some((name, repeat::file(&plan, name)?)));
        for (name, text) in small.chain([("repeat.sh", repeat::script(&plan))]) {
            files::replace(&args.out.join(name), |out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(what)
}

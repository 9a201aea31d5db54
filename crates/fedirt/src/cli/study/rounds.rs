//! `fedirt study rounds`.

use super::folder::StudyFolder;
use crate::args::{RoundsArgs, TableArg};
use crate::error::CliError;
use crate::output::stdout;
use crate::usage::UsageError;
use fedirt_studies::rounds::{Options, RoundsStudy, Task};
use std::process::ExitCode;

pub(crate) fn run(args: &RoundsArgs) -> Result<ExitCode, CliError> {
    if args.table == TableArg::Models && !args.algorithm.is_empty() {
        let reason = "this table has newton only; leave out --algorithm";
        return Err(UsageError::Excluded { flag: "--table models", reason }.into());
    }
    if args.table == TableArg::Algorithms && !(args.model.is_empty() && args.effects.is_empty()) {
        let reason = "this table has 2pl with fixed effects only; leave out --model and --effects";
        return Err(UsageError::Excluded { flag: "--table algorithms", reason }.into());
    }
    let options = options(args);
    let mut folder = StudyFolder::new(&args.folder, "study-rounds")?;
    let tasks = options.tasks();
    let records = folder.run(&options.identity(), &tasks, Task::key, |task| Ok(task.run()))?;
    let study = RoundsStudy { options, records: records.into_iter().flatten().collect() };
    let output = study.report()?;
    if args.json {
        let json = study.json().map_err(CliError::because)?;
        folder.write(&output.files)?;
        stdout::print_raw(&format!("{json}\n"))?;
    } else {
        folder.finish(&output)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn options(args: &RoundsArgs) -> Options {
    let defaults = Options::default();
    let mut sizes = Vec::new();
    for size in args.sizes.iter().flat_map(|s| &s.0) {
        if !sizes.contains(size) {
            sizes.push(size.clone());
        }
    }
    let or = |given: &Vec<_>, all| if given.is_empty() { all } else { given.clone() };
    Options {
        replications: args.replications as usize,
        first_seed: args.seed,
        sizes,
        algorithms: if args.algorithm.is_empty() { defaults.algorithms } else { args.algorithm.clone() },
        models: or(&args.model, defaults.models),
        effects: if args.effects.is_empty() { defaults.effects } else { args.effects.clone() },
        algorithm_table: args.table != TableArg::Models,
        model_table: args.table != TableArg::Algorithms,
    }
}

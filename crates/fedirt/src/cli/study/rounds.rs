//! `fedirt study rounds`.

use super::desk::{Desk, Results};
use crate::args::{RoundsArgs, TableArg};
use crate::error::CliError;
use crate::output::stdout;
use fedirt_studies::rounds::{Options, Study, Task};
use std::process::ExitCode;

pub(crate) fn run(args: &RoundsArgs) -> Result<ExitCode, CliError> {
    if args.table == TableArg::Models && !args.algorithm.is_empty() {
        return Err(CliError::Usage("--table models runs newton only: leave out --algorithm".into()));
    }
    if args.table == TableArg::Algorithms && !(args.model.is_empty() && args.effects.is_empty()) {
        let message =
            "--table algorithms compares them for 2pl with fixed effects: leave out --model and --effects";
        return Err(CliError::Usage(message.into()));
    }
    let options = options(args);
    let mut desk = Desk::new(&args.desk, "study-rounds")?;
    let tasks = options.tasks();
    let records = desk.run(&options.identity(), &tasks, Task::key, |task| Ok(task.run()))?;
    let study = Study { options, records: records.into_iter().flatten().collect() };
    let told = study.tell().map_err(CliError::because)?;
    if args.json {
        let json = study.json().map_err(CliError::because)?;
        desk.write(&told.files)?;
        stdout::print_raw(&format!("{json}\n"))?;
    } else {
        desk.finish(&Results { files: told.files, text: told.text })?;
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

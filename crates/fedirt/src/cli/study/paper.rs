//! `fedirt study 1`, `2` and `3`.

use super::folder::StudyFolder;
use super::r::{PACKAGES, R};
use crate::args::PaperArgs;
use crate::error::CliError;
use crate::output::stderr;
use crate::usage::UsageError;
use fedirt_studies::paper::{Abilities, External, NoExternal, Number, Options, PaperStudy, SIZES};
use std::process::ExitCode;

pub(crate) fn run(number: Number, args: &PaperArgs) -> Result<ExitCode, CliError> {
    let options = Options {
        replications: args.replications,
        seed: args.seed,
        abilities: if args.draw_abilities { Abilities::Drawn } else { Abilities::Fixed },
        packages: if args.with_r { PACKAGES.map(str::to_owned).to_vec() } else { Vec::new() },
        sizes: args.students.clone(),
    };
    rules(number, args)?;
    let study = PaperStudy::new(number, options)?;
    let mut identity = study.identity().map_err(CliError::because)?;
    let external: Box<dyn External> = if args.with_r {
        let r = R::find(&args.rscript).map_err(CliError::file("the temporary folder"))?;
        if let Some(remark) = r.remark() {
            stderr::note(&remark);
        }
        // Records that were made without a package must not be used when it is installed.
        identity += &format!(" without {}", r.missing().join(" "));
        Box::new(r)
    } else {
        Box::new(NoExternal)
    };
    let mut folder = StudyFolder::new(&args.folder, &format!("study{}", number.get()))?;
    let tasks = study.tasks();
    let mut records =
        folder.run(&identity, &tasks, |task| study.key(task), |task| Ok(study.run(task, &*external)))?;
    records.sort_by_key(|r| (r.scenario, r.replication));
    folder.finish(&study.report(&records)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Checks of flags that only Study 1 has.
fn rules(number: Number, args: &PaperArgs) -> Result<(), CliError> {
    let mut problems = Vec::new();
    if number != Number::One && !args.students.is_empty() {
        let reason = "only Study 1 has schools of several sizes";
        problems.push(UsageError::Excluded { flag: "--students", reason });
    }
    if number != Number::One && args.with_r {
        let reason = "mirt and ltm have neither school effects nor extreme rows; they are part of Study 1";
        problems.push(UsageError::Excluded { flag: "--with-r", reason });
    }
    for n in &args.students {
        if !SIZES.contains(n) {
            problems.push(UsageError::value("--students", n, "the sizes are 50, 100 and 300"));
        }
    }
    CliError::usage(problems)
}

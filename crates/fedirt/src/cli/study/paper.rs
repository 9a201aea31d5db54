//! `fedirt study 1`, `2` and `3`.

use super::desk::{Desk, Results};
use super::r::{PACKAGES, R};
use crate::args::PaperArgs;
use crate::error::CliError;
use crate::output::stderr;
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
    let study = PaperStudy::new(number, options).map_err(CliError::Usage)?;
    let mut identity = study.identity().map_err(CliError::because)?;
    let external: Box<dyn External> = if args.with_r {
        let r = R::find(&args.rscript).map_err(|e| CliError::Usage(format!("--with-r: {e}")))?;
        if let Some(remark) = r.remark() {
            stderr::note(&remark);
        }
        // What was done without a package would stay without it.
        identity += &format!(" without {}", r.missing().join(" "));
        Box::new(r)
    } else {
        Box::new(NoExternal)
    };
    let mut desk = Desk::new(&args.desk, &format!("study{}", number.get()))?;
    let tasks = study.tasks();
    let mut records =
        desk.run(&identity, &tasks, |task| study.key(task), |task| Ok(study.run(task, &*external)))?;
    records.sort_by_key(|r| (r.scenario, r.replication));
    let told = study.tell(&records).map_err(CliError::because)?;
    desk.finish(&Results { files: told.files, text: told.text })?;
    Ok(ExitCode::SUCCESS)
}

/// What only Study 1 knows.
fn rules(number: Number, args: &PaperArgs) -> Result<(), CliError> {
    let mut problems = Vec::new();
    if number != Number::One && !args.students.is_empty() {
        problems.push("--students: only Study 1 has schools of several sizes".to_owned());
    }
    if number != Number::One && args.with_r {
        problems.push(
            "--with-r: mirt and ltm know no school effects and no extreme rows: they are part of Study 1"
                .to_owned(),
        );
    }
    for n in &args.students {
        if !SIZES.contains(n) {
            problems.push(format!("--students {n}: the sizes are 50, 100 and 300"));
        }
    }
    CliError::usage(problems)
}

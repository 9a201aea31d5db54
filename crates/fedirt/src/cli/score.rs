//! `fedirt score`.

use crate::args::{MethodArg, ScoreArgs};
use crate::error::CliError;
use crate::output::{stderr, stdout};
use crate::progress::Progress;
use crate::report::read_fit;
use crate::usage::UsageError;
use fedirt_data::results::csv;
use fedirt_data::{Audience, ScoreOptions, files};
use fedirt_model::scoring::Method;
use std::process::ExitCode;

pub(crate) fn run(args: &ScoreArgs) -> Result<ExitCode, CliError> {
    check_flags(args)?;
    let options = options(args);
    let progress = Progress::new();
    progress.say("reading");
    let reading =
        fedirt_data::read(crate::input::files(&args.files), &args.columns.read_options(args.weight.as_ref()))
            .map_err(CliError::from);
    let (fit, reading) = match (read_fit(&args.fit), reading) {
        (Ok(fit), Ok(reading)) => (fit, reading),
        (fit, reading) => {
            let errors = [fit.err(), reading.err()].into_iter().flatten().collect();
            CliError::unless_empty(errors)?;
            return Ok(ExitCode::from(2));
        }
    };
    let mut notes: Vec<String> = reading.notes.iter().map(|note| note.told(Audience::CommandLine)).collect();
    if matches!(options.method, Method::Pv { .. }) && args.seed.is_none() {
        notes.push("plausible values are drawn with seed 1; --seed draws others".to_owned());
    }
    progress.say("scoring");
    let scores = fedirt::score(&fit, &reading, &options)?;
    drop(progress);
    notes.extend(scores.notes.iter().map(|note| note.told(Audience::CommandLine)));
    notes.iter().for_each(|note| stderr::note(note));
    let rows: usize = scores.sites.iter().map(|site| site.students.len()).sum();
    match &args.out {
        Some(path) => {
            files::replace(path, |out| csv::scores(out, scores.method, &scores.sites))?;
            stderr::note(&format!("wrote {rows} scores to {}", path.display()));
        }
        None => {
            let mut text = Vec::new();
            csv::scores(&mut text, scores.method, &scores.sites).map_err(CliError::Output)?;
            stdout::print_raw(&String::from_utf8_lossy(&text))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check_flags(args: &ScoreArgs) -> Result<(), CliError> {
    let mut problems = Vec::new();
    if args.method != MethodArg::Pv {
        for (flag, given) in [("--draws", args.draws.is_some()), ("--seed", args.seed.is_some())] {
            if given {
                problems.push(UsageError::OnlyWith { flag, with: "--method pv" });
            }
        }
    }
    if args.site_effect.is_some() && matches!(args.method, MethodArg::Wle | MethodArg::Ml) {
        let reason = "it moves the prior, which --method wle and ml do not use";
        problems.push(UsageError::Excluded { flag: "--site-effect", reason });
    }
    if let Some(x) = args.site_effect.filter(|x| !x.is_finite()) {
        problems.push(UsageError::value("--site-effect", x, "a finite number is needed"));
    }
    CliError::usage(problems)
}

fn options(args: &ScoreArgs) -> ScoreOptions {
    let method = match args.method {
        MethodArg::Eap => Method::Eap,
        MethodArg::Map => Method::Map,
        MethodArg::Wle => Method::Wle,
        MethodArg::Ml => Method::Ml,
        MethodArg::Pv => Method::Pv { draws: args.draws.map_or(5, usize::from) },
    };
    ScoreOptions { method, seed: args.seed.unwrap_or(1), site_effect: args.site_effect }
}

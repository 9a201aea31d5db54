//! `fedirt score`.

use crate::args::{MethodArg, PriorArg, ScoreArgs};
use crate::error::CliError;
use crate::output::{stderr, stdout};
use crate::progress::Progress;
use crate::report::read_fit;
use crate::usage::UsageError;
use fedirt_data::results::{csv, scores_json};
use fedirt_data::{Audience, ScoreOptions, files};
use fedirt_model::fit::FitItem;
use fedirt_model::scoring::Method;
use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &ScoreArgs) -> Result<ExitCode, CliError> {
    check_flags(args)?;
    let options = options(args);
    let progress = Progress::unless(args.quiet);
    progress.say("reading");
    let (mut read_options, mut errors) = (args.columns.read_options(), Vec::new());
    read_options.weight.clone_from(&args.weight);
    read_options.missing_is_wrong = args.missing_answers == Some(fedirt::MissingAnswers::Wrong);
    args.answers.add_to(&mut read_options, &mut errors, &fedirt::Input::file);
    let fit = read_fit(&args.fit);
    // The fit is the codebook, unless somebody says which columns are items.
    if let Some(fit) = fit.as_ref().ok().filter(|_| args.columns.items.is_empty()) {
        read_options = read_options.selecting(fit.items.iter().flat_map(columns_of));
    }
    let reading = fedirt_data::read(crate::input::files(&args.files), &read_options).map_err(CliError::from);
    let (fit, reading) = match (fit, reading) {
        (Ok(fit), Ok(reading)) if errors.is_empty() => (fit, reading),
        (fit, reading) => {
            errors.extend([fit.err(), reading.err()].into_iter().flatten());
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
    if !args.quiet {
        notes.iter().for_each(|note| stderr::note(note));
    }
    let write = |out: &mut dyn Write| match args.json {
        true => out.write_all(scores_json(&scores)?.as_bytes()),
        false => csv::scores(out, &scores),
    };
    let rows: usize = scores.sites.iter().map(|site| site.students.len()).sum();
    match &args.out {
        Some(path) => {
            files::replace(path, |out| write(out))?;
            if !args.quiet {
                stderr::note(&format!("wrote {rows} scores to {}", path.display()));
            }
        }
        None => {
            let mut text = Vec::new();
            write(&mut text).map_err(CliError::Output)?;
            stdout::print_raw(&String::from_utf8_lossy(&text))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The columns of an item with all codes that it knows: its own, or those of the items that were merged into it.
fn columns_of(item: &FitItem) -> Vec<(String, Vec<u8>)> {
    if !item.bundle.is_empty() {
        return item.bundle.iter().map(|part| (part.item.clone(), part.codes.clone())).collect();
    }
    let mut codes: Vec<u8> = item.codes.iter().copied().chain(item.merged.iter().map(|m| m.code)).collect();
    codes.sort_unstable();
    vec![(item.name.clone(), codes)]
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
    let posterior = !matches!(args.method, MethodArg::Wle | MethodArg::Ml);
    if args.score_scale.prior.is_some() && !posterior {
        let reason = "--method wle and ml use no prior";
        problems.push(UsageError::Excluded { flag: "--prior", reason });
    }
    if args.score_scale.prior == Some(PriorArg::Common) && args.site_effect.is_some() {
        let reason = "it moves the prior of a site, and --prior common is that of all students";
        problems.push(UsageError::Excluded { flag: "--site-effect", reason });
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
    let mut options = ScoreOptions { method, ..ScoreOptions::default() };
    options.seed = args.seed.unwrap_or(options.seed);
    options.site_effect = args.site_effect;
    args.score_scale.add_to(&mut options);
    options
}

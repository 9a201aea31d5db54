//! `fedirt fit`: a calibration with coordinator and all sites in one process, and the output of its results.

mod options;
mod origin;
#[cfg(feature = "studies")]
mod published;
mod results;
mod rules;
mod sensitivity;

#[cfg(feature = "studies")]
use crate::args::AlgorithmArg;
use crate::args::FitArgs;
use crate::error::CliError;
use crate::interrupt::Kept;
use crate::output::{stderr, stdout};
use crate::progress::{Progress, Watcher};
use crate::terminal;
use crate::typed::Typed;
use fedirt::privacy::Forecast;
use fedirt::results::fit_json;
use fedirt::{
    Audience, Calibration, Fit, FitOptions, Prepared, ReadOptions, Responses, ScoreOptions, Transcript,
    prepare,
};
use fedirt_data::files::ResultFolder;
use fedirt_data::text::listed;
use origin::Origin;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
pub(crate) use sensitivity::run as sensitivity;
use std::io::BufWriter;
use std::process::ExitCode;

pub(crate) fn run(args: &FitArgs, typed: &Typed) -> Result<ExitCode, CliError> {
    rules::check(args)?;
    crate::use_threads(args.threads)?;
    let progress = Progress::unless(args.quiet);
    let mut errors = Vec::new();
    // The folder is prepared first, so that a folder that cannot be written is reported before the computation.
    let folder = args.out.as_deref().map(ResultFolder::prepare).transpose();
    let folder = folder.unwrap_or_else(|error| {
        errors.push(CliError::Out(error));
        None
    });
    let out = folder.as_ref().map(|folder| folder.path().to_owned());
    let folder = folder.map(Kept::new);
    progress.say("reading");
    let origin = Origin::new(args);
    let (read_options, options, responses) = opened(args, &origin, errors)?;
    let wrong = |error| CliError::fit(error, args, &read_options);
    let prepared = prepare(&responses, &options).map_err(wrong)?;
    // The calibration has its own tables with the columns of its codebook.
    drop(responses);
    say_what_to_expect(args, &prepared, &progress);
    let scratch = match &folder {
        Some(folder) if args.transcript => folder.scratch()?,
        Some(_) | None => None,
    };
    let transcript = scratch.map(|scratch| Transcript::new(BufWriter::new(scratch)));
    progress.say("round 1");
    let settings = prepared.plan.settings.clone();
    let mut watcher = Watcher { progress: &progress, transcript };
    let mut calibration = match args.algorithm {
        #[cfg(feature = "studies")]
        AlgorithmArg::FedirtDp => published::run(args, prepared)?,
        // Without research, the rules have refused fedirt-dp.
        _ => {
            let run = prepared.run(&mut UnwrapErr(SysRng), &mut watcher);
            run.map_err(wrong)?
        }
    };
    let transcript = watcher.transcript;
    calibration.fit.provenance = Some(origin.provenance(typed, &settings));
    let mut notes: Vec<String> =
        calibration.notes.iter().map(|note| note.told(Audience::CommandLine)).collect();
    let mut written = None;
    if let (Some(folder), Some(path)) = (folder, out) {
        let scores = if args.no_scores {
            None
        } else {
            progress.say("scoring");
            notes.extend(calibration.scored_without_effect().map(|note| format!("scores.csv: {note}")));
            let mut options = ScoreOptions::default();
            args.score_scale.add_to(&mut options);
            let scores = calibration.scores(&options)?;
            let told = scores.notes.iter().map(|note| note.told(Audience::CommandLine));
            notes.extend(told.map(|note| format!("scores.csv: {note}")));
            Some(scores)
        };
        progress.say(format!("writing {}", path.display()));
        let files =
            folder.write(|folder| results::write(folder, &calibration, scores.as_ref(), transcript))?;
        written = files.map(|files| (path, files));
    }
    drop(progress);
    tell(args, &calibration, &mut notes, written)?;
    let fit = &calibration.fit;
    // The published private algorithm does not test for convergence.
    if fit.converged == Some(true) || (fit.privacy.is_some() && fit.converged.is_none()) {
        return Ok(ExitCode::SUCCESS);
    }
    stderr::not_converged(&why_not_converged(fit, args, settings.max_rounds));
    Ok(ExitCode::from(1))
}

/// What a private fit can be expected to tell, before any privacy is spent.
fn say_what_to_expect(args: &FitArgs, prepared: &Prepared, progress: &Progress) {
    if !args.private || args.quiet {
        return;
    }
    progress.say("computing what to expect");
    // A study of which nothing can be foretold is refused by the fit itself, which says why.
    let Ok(Some(Forecast { outlook, remarks })) = prepared.forecast() else { return };
    for expected in &outlook.private {
        stderr::note(&format!("what to expect, {}", expected.in_words()));
    }
    for remark in &remarks {
        stderr::note(&remark.told("--effects none (with --site-sd)"));
    }
}

/// Reads all files that the flags name. The errors so far are told with those of the files.
fn opened(
    args: &FitArgs,
    origin: &Origin,
    mut errors: Vec<CliError>,
) -> Result<(ReadOptions, FitOptions, Responses), CliError> {
    let read_options = options::reading(args, &mut errors, origin);
    let options = options::with_files(args, &mut errors, origin);
    match fedirt::read(args.files.iter().map(|path| origin.open(path)), &read_options) {
        Ok(responses) if errors.is_empty() => Ok((read_options, options, responses)),
        responses => {
            errors.extend(responses.err().map(CliError::from));
            Err(CliError::Several(errors))
        }
    }
}

/// Prints the results, and where they were written.
fn tell(
    args: &FitArgs,
    calibration: &Calibration,
    notes: &mut Vec<String>,
    written: Option<(std::path::PathBuf, results::Written)>,
) -> Result<(), CliError> {
    let fit = &calibration.fit;
    if args.quiet {
        return Ok(());
    }
    if args.hides_students() {
        // These notes are for the holder of the data, and not part of a result that may be shared.
        notes.drain(..).for_each(|note| stderr::note(&note));
    }
    if args.json {
        let text = fit_json(fit).map_err(CliError::Output)?;
        notes.iter().for_each(|note| stderr::note(note));
        fit.warnings.iter().for_each(|warning| stderr::warning(&warning.message));
        if let Some((path, written)) = &written {
            stderr::note(&written.sentence(path));
        }
        return stdout::print_raw(&text);
    }
    let tables = if written.is_some() { terminal::Tables::No } else { terminal::Tables::Yes };
    let mut text = terminal::fit(fit, notes, tables, terminal::width());
    if let Some((path, written)) = &written {
        text.push_str(&format!("\n{}\n", written.sentence(path)));
    }
    stdout::print(&text)
}

/// Why a fit did not converge, which items converge slowest, and what may help.
fn why_not_converged(fit: &Fit, args: &FitArgs, max_rounds: usize) -> String {
    if fit.privacy.is_some() {
        return "the noisy sums were released, and the fit of them did not come to rest; another run would cost more privacy".into();
    }
    let mut text = format!("stopped after {} rounds", fit.rounds);
    if let Some(gradient) = fit.max_gradient {
        text.push_str(&format!(
            "; the largest gradient per student is {gradient:.1e}, and {:e} is wanted",
            args.tolerance()
        ));
    }
    let slowest = fit.trace.iter().rev().map(|t| &t.slowest_items).find(|items| !items.is_empty());
    if let Some(items) = slowest {
        text.push_str(&format!(". Slowest items: {}", listed(items)));
    }
    text.push_str(if fit.rounds >= max_rounds {
        ". More rounds (--max-rounds) may help."
    } else {
        ". More rounds would not help: look at these items with fedirt check, or try another algorithm."
    });
    text
}

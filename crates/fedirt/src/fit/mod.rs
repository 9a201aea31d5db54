//! `fedirt fit`: coordinator and all sites in one process, and what becomes of the result.

mod plan;
mod published;
mod results;
mod rules;

use crate::args::{AlgorithmArg, FitArgs};
use crate::codebook::{self, ItemFiles};
use crate::error::CliError;
use crate::output::{stderr, stdout};
use crate::progress::{Progress, Watcher};
use crate::remarks;
use crate::terminal;
use crate::transcript::Transcript;
use fedirt_data::files::ResultFolder;
use fedirt_data::results::{fit_json, recoded};
use fedirt_data::text::listed;
use fedirt_data::{Audience, Input};
use fedirt_model::centre::ItemPlan;
use fedirt_model::fit::{Fit, Warning};
use fedirt_model::private::MissingAnswers;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use fedirt_privacy::accountant::Delta;
use fedirt_protocol::in_process::{self, Setting};
use fedirt_protocol::private::{PrivateTerms, incomplete_rows};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::process::ExitCode;

pub(crate) fn run(args: &FitArgs) -> Result<ExitCode, CliError> {
    rules::check(args)?;
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| CliError::Usage(format!("--threads {threads}: {error}")))?;
    }
    let progress = Progress::new();
    let mut errors = Vec::new();
    // Before anything is computed, so that a folder that cannot be written to costs no time.
    let folder = args.out.as_deref().map(ResultFolder::prepare).transpose();
    let folder = folder.unwrap_or_else(|error| {
        errors.push(CliError::Out(error));
        None
    });
    progress.say("reading");
    let reading =
        fedirt_data::read(crate::input::files(&args.files), &args.columns.read_options(args.weight.as_ref()));
    let files = ItemFiles::read(args, &mut errors);
    let reading = match reading {
        Ok(reading) if errors.is_empty() => reading,
        Ok(_) => return Err(CliError::Several(errors)),
        Err(problems) => {
            errors.push(problems.into());
            return Err(CliError::Several(errors));
        }
    };
    let hides_students = args.hides_students();
    let (mut warnings, mut notes) = if hides_students {
        // What the reader noted depends on rows: it is for whoever holds the files, and no part of a result.
        (Vec::new(), reading.notes.iter().map(|note| note.told(Audience::CommandLine)).collect())
    } else {
        remarks::sort(&reading.notes)
    };
    let (items, more) = codebook::plan_items(args, files, &reading)?;
    warnings.extend(more);
    let plan = plan::plan(args, items, reading.sites.len());
    let ids: Vec<Option<Vec<String>>> = reading.sites.iter().map(|site| site.ids.clone()).collect();
    let sites = reading
        .sites
        .into_iter()
        .map(|site| codebook::align(site, &plan.items))
        .collect::<Result<Vec<_>, _>>()?;

    let transcript = match &folder {
        Some(folder) if args.transcript => Some(Transcript::new(folder.scratch()?)),
        _ => None,
    };
    progress.say("round 1");
    let max_rounds = plan.settings.max_rounds;
    let mut watcher = Watcher { progress: &progress, transcript };
    let private =
        if hides_students { Some(privacy(args, &plan.items, &sites, &mut warnings)?) } else { None };
    let mode = match (args.secure, hides_students) {
        (true, _) => Mode::Secure,
        (_, true) => Mode::Private,
        _ => Mode::Plain,
    };
    if let Some(private) = private.as_ref().filter(|p| p.missing == MissingAnswers::Counted) {
        let incomplete: u64 = sites.iter().map(|(_, table)| incomplete_rows(&private.booklets, table)).sum();
        if incomplete > 0 {
            // For whoever holds the data; the results do not say it.
            notes.push(format!(
                "{incomplete} rows lack an answer, and count for nothing; --missing-answers wrong counts such answers as wrong, --booklets tells who was given what"
            ));
        }
    }
    let (mut finished, sites) = match &private {
        Some(private) if args.algorithm == AlgorithmArg::FedirtDp => {
            published::run(args, &plan, private, sites)?
        }
        _ => {
            let setting = Setting { mode, private, colluders: args.colluders.unwrap_or(0) };
            in_process::run_as(setting, plan, sites, &mut UnwrapErr(SysRng), &mut watcher)?
        }
    };
    let transcript = watcher.transcript;
    if hides_students {
        warnings.push(remarks::no_ledger());
    }
    warnings.extend(recoded(&finished.fit.items));
    finished.fit.warnings.splice(0..0, warnings);

    let fit = &finished.fit;
    let mut written = None;
    if let Some(folder) = folder {
        let path = folder.path().to_owned();
        let scores = if args.no_scores {
            None
        } else {
            progress.say("scoring");
            notes.extend(remarks::scored_without_effect(fit, &sites));
            Some(results::scores(fit, &sites, ids)?)
        };
        progress.say(format!("writing {}", path.display()));
        written = Some((path, results::write(folder, &finished, scores, transcript)?));
    }
    drop(progress);
    if hides_students {
        notes.drain(..).for_each(|note| stderr::note(&note));
    }
    if args.json {
        let text = fit_json(fit).map_err(CliError::Output)?;
        notes.iter().for_each(|note| stderr::note(note));
        fit.warnings.iter().for_each(|warning| stderr::warning(&warning.message));
        if let Some((path, written)) = &written {
            stderr::note(&written.sentence(path));
        }
        stdout::print_raw(&text)?;
    } else {
        let tables = if written.is_some() { terminal::Tables::No } else { terminal::Tables::Yes };
        let mut text = terminal::fit(fit, &notes, tables, terminal::width());
        if let Some((path, written)) = &written {
            text.push_str(&format!("\n{}\n", written.sentence(path)));
        }
        stdout::print(&text)?;
    }
    // A private fit that did not come to rest says so in a warning: another run would only cost more privacy.
    if fit.converged == Some(true) || fit.privacy.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    stderr::not_converged(&why_not_converged(fit, args, max_rounds));
    Ok(ExitCode::from(1))
}

/// The booklets that a file names, as columns; each needs an item that every other lacks.
fn booklets(args: &FitArgs, items: &[ItemPlan]) -> Result<Vec<Vec<usize>>, CliError> {
    let Some(path) = &args.booklets else { return Ok(Vec::new()) };
    let read = fedirt_data::read_booklets(Input::file(path))?;
    let mut problems = Vec::new();
    let mut out = Vec::new();
    for booklet in &read {
        let mut columns = Vec::new();
        for name in &booklet.items {
            match items.iter().position(|item| item.name == *name) {
                Some(column) => columns.push(column),
                None => problems.push(format!(
                    "{}: booklet {}: there is no item {name}",
                    path.display(),
                    booklet.name
                )),
            }
        }
        columns.sort_unstable();
        for other in read.iter().filter(|other| other.name != booklet.name) {
            if booklet.items.iter().all(|item| other.items.contains(item)) {
                problems.push(format!(
                    "{}: booklet {} lies within {}: each needs an item that the other lacks",
                    path.display(),
                    booklet.name,
                    other.name
                ));
            }
        }
        out.push(columns);
    }
    CliError::usage(problems)?;
    Ok(out)
}

/// The terms of a private run, once the number of students is known, which is public.
fn privacy(
    args: &FitArgs,
    items: &[ItemPlan],
    sites: &[(String, ResponseTable)],
    warnings: &mut Vec<Warning>,
) -> Result<PrivateTerms, CliError> {
    let students = sites.iter().map(|(_, table)| table.students() as u64).sum();
    let mut private = plan::private(args);
    private.booklets = booklets(args, items)?;
    let large = Delta::new(private.delta)
        .and_then(|delta| delta.is_large_for(students))
        .map_err(|error| CliError::Usage(format!("--delta {}: {error}", private.delta)))?;
    if large {
        warnings.push(Warning {
            code: "delta_large".into(),
            message: format!(
                "delta is {:e}, more than one in ten times the {students} students: a smaller one promises more",
                private.delta
            ),
        });
    }
    Ok(private)
}

/// Why a run ended early, which items are to blame, and what may help.
fn why_not_converged(fit: &Fit, args: &FitArgs, max_rounds: usize) -> String {
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

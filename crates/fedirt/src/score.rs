//! `fedirt score`.

use crate::args::{MethodArg, ScoreArgs};
use crate::error::CliError;
use crate::output::{csv, file, stderr, stdout};
use crate::progress::Progress;
use crate::remarks::listed;
use crate::report::read_fit;
use crate::scoring::{Bank, How, Shown, SiteScores};
use fedirt_data::{Audience, Reading};
use fedirt_model::fit::Fit;
use fedirt_model::scoring::Method;
use std::process::ExitCode;

pub(crate) fn run(args: &ScoreArgs) -> Result<ExitCode, CliError> {
    check_flags(args)?;
    let how = how(args);
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
    let bank = Bank::new(&fit)?;
    let mut notes: Vec<String> = reading.notes.iter().map(|note| note.told(Audience::CommandLine)).collect();
    match_items(&bank, &reading, &mut notes)?;
    let effects = site_effects(args, &fit, &reading, &mut notes);
    if how.method.name() == "pv" && args.seed.is_none() {
        notes.push("plausible values are drawn with seed 1; --seed draws others".to_owned());
    }
    progress.say("scoring");
    let mut sites = Vec::new();
    let mut rows = 0;
    for (site, effect) in reading.sites.into_iter().zip(effects) {
        let columns = bank.columns(&site.items);
        let students = bank.score(&site.table, &columns, effect, how, rows)?;
        rows += students.len();
        sites.push(SiteScores { name: site.name, ids: site.ids, students });
    }
    let shown = match how.method {
        Method::Pv { draws } => Shown::Draws(draws),
        _ => Shown::Estimate,
    };
    drop(progress);
    notes.iter().for_each(|note| stderr::note(note));
    match &args.out {
        Some(path) => {
            file::replace(path, |out| csv::scores(out, shown, &sites))?;
            stderr::note(&format!("wrote {rows} scores to {}", path.display()));
        }
        None => {
            let mut text = Vec::new();
            csv::scores(&mut text, shown, &sites).map_err(CliError::Output)?;
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
                problems.push(format!("{flag} is used by --method pv only"));
            }
        }
    }
    if args.site_effect.is_some() && matches!(args.method, MethodArg::Wle | MethodArg::Ml) {
        problems.push("--site-effect moves the prior, which --method wle and ml do not use".to_owned());
    }
    if let Some(x) = args.site_effect.filter(|x| !x.is_finite()) {
        problems.push(format!("--site-effect {x}: a finite number is needed"));
    }
    CliError::usage(problems)
}

fn how(args: &ScoreArgs) -> How {
    let method = match args.method {
        MethodArg::Eap => Method::Eap,
        MethodArg::Map => Method::Map,
        MethodArg::Wle => Method::Wle,
        MethodArg::Ml => Method::Ml,
        MethodArg::Pv => Method::Pv { draws: args.draws.map_or(5, usize::from) },
    };
    How { method, seed: args.seed.unwrap_or(1) }
}

/// Complains about answers that the fit cannot read, and notes items that are on one side only.
fn match_items(bank: &Bank, reading: &Reading, notes: &mut Vec<String>) -> Result<(), CliError> {
    let mut problems = Vec::new();
    let mut strangers: Vec<&str> = Vec::new();
    for site in &reading.sites {
        let unknown = site.items.iter().map(String::as_str).filter(|name| !bank.knows(name));
        unknown.for_each(|name| {
            if !strangers.contains(&name) {
                strangers.push(name);
            }
        });
        if !site.items.iter().any(|name| bank.knows(name)) {
            problems.push(format!(
                "site {}: none of its columns is an item of the fit; items are matched by name",
                site.name
            ));
        }
        for (item, code, count) in bank.unknown_codes(&site.table, &bank.columns(&site.items)) {
            let known: Vec<String> = bank.codes(item).iter().map(u8::to_string).collect();
            let answers = if count == 1 { "answer" } else { "answers" };
            problems.push(format!(
                "site {}, item {item}: {count} {answers} with the code {code}, which the fit does not know \
                 (it has {}); correct the file, or call it missing with --missing {code}",
                site.name,
                known.join(", ")
            ));
        }
    }
    CliError::usage(problems)?;
    let (without, unknown): (Vec<&str>, Vec<&str>) =
        strangers.into_iter().partition(|name| bank.unscored.iter().any(|item| item == name));
    if !without.is_empty() {
        notes.push(format!("not scored, as the fit has no parameters for them: {}", listed(&without)));
    }
    if !unknown.is_empty() {
        notes.push(format!("not scored, as the fit does not know them: {}", listed(&unknown)));
    }
    Ok(())
}

/// The effect of each site: the fit's, else the one given, else 0.
fn site_effects(args: &ScoreArgs, fit: &Fit, reading: &Reading, notes: &mut Vec<String>) -> Vec<f64> {
    let mut without = Vec::new();
    let effects = reading
        .sites
        .iter()
        .map(|site| {
            let known = fit.sites.iter().find(|s| s.name == site.name).and_then(|s| s.effect);
            known.or(args.site_effect).unwrap_or_else(|| {
                without.push(site.name.as_str());
                0.0
            })
        })
        .collect();
    if !without.is_empty() && fit.effects != "none" {
        notes.push(format!(
            "the fit has no effect for {}: scored with 0, the average site; --site-effect gives another",
            listed(&without)
        ));
    }
    effects
}

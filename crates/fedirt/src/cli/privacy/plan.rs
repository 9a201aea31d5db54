//! `fedirt privacy plan`: a forecast without data.

use super::columns;
use crate::args::PlanArgs;
use crate::error::CliError;
use crate::interrupt::Kept;
use crate::output::stdout;
use crate::progress::Progress;
use crate::usage::{GuessProblem, UsageError};
use fedirt::privacy;
use fedirt_coordinator::forecast::{heading, picture};
use fedirt_data::files::{self, ResultFolder};
use fedirt_data::{FixedItem, Input, Steps};
use fedirt_model::exchange::Effects;
use fedirt_model::items;
use fedirt_model::private::PrivateMethod;
use fedirt_model::simulate::SiteSizes;
use fedirt_privacy::accountant::{Delta, Epsilon};
use fedirt_protocol::forecast::{Errors, Guess, Outlook, PlannedStudy};
use fedirt_protocol::plan::PrivacyLevel;
use serde_json::json;
use std::process::ExitCode;

pub(super) fn run(args: &PlanArgs) -> Result<ExitCode, CliError> {
    let (planned, guess) = planned(args)?;
    let levels = args.level.iter().map(|level| level.epsilon());
    let mut epsilons: Vec<f64> = if args.level.is_empty() { args.epsilon.clone() } else { levels.collect() };
    epsilons.sort_by(f64::total_cmp);
    epsilons.dedup();
    // The folder is made before the computation, and goes again where Ctrl-C ends it.
    let folder = args.out.as_deref().map(ResultFolder::prepare).transpose()?.map(Kept::new);
    let progress = Progress::new();
    progress.say("computing the forecast");
    let forecast = privacy::plan(&planned, guess.as_ref(), &epsilons)?;
    let found = forecast.outlook;
    drop(progress);
    let remarks: Vec<String> =
        forecast.remarks.iter().map(|remark| remark.told("--effects none (with --site-sd)")).collect();
    let document = json!({
        "sites": planned.sites.len(), "items": planned.items.len(), "effects": planned.effects.name(),
        "delta": planned.delta, "colluders": planned.colluders, "outlook": found, "remarks": remarks,
    });
    if let Some(folder) = folder {
        let (text, svg) = (format!("{document:#}\n"), picture(&planned, &found).standalone());
        folder.write(|folder| {
            files::replace(&folder.path().join("forecast.json"), |out| out.write_all(text.as_bytes()))?;
            Ok(files::replace(&folder.path().join("forecast.svg"), |out| out.write_all(svg.as_bytes()))?)
        })?;
    }
    if args.json {
        stdout::print_raw(&format!("{document}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = table(&planned, &found);
    for remark in &remarks {
        text += &format!("\n{remark}\n");
    }
    if let Some(folder) = &args.out {
        text += &format!("\nWrote forecast.json and forecast.svg to {}\n", folder.display());
    }
    stdout::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The study that the flags describe, or all problems with the flags.
fn planned(args: &PlanArgs) -> Result<(PlannedStudy, Option<Guess>), CliError> {
    let mut problems = Vec::new();
    let sites = args.sites as usize;
    for epsilon in &args.epsilon {
        problems.extend(
            Epsilon::new(*epsilon).err().map(|error| UsageError::refused("--epsilon", *epsilon, error)),
        );
    }
    let sizes = sizes(args, sites).unwrap_or_else(|problem| {
        problems.push(problem);
        Vec::new()
    });
    if sizes.contains(&0) || sizes.iter().any(|n| *n > 100_000_000) {
        let reason = "every site needs 1 to 100,000,000 students";
        problems.push(UsageError::Excluded { flag: "--students", reason });
    }
    match Delta::new(args.delta) {
        Err(error) => problems.push(UsageError::refused("--delta", args.delta, error)),
        Ok(delta) => {
            let large = delta.is_large_for(sizes.iter().sum()).err();
            problems.extend(large.map(|error| UsageError::refused("--delta", args.delta, error)));
        }
    }
    if args.colluders as usize >= sites && sites > 2 {
        problems.push(UsageError::value(
            "--colluders",
            args.colluders,
            "at least one of the sites must be honest",
        ));
    }
    if let Some(sd) = args.site_sd
        && !((0.0..=10.0).contains(&sd) && args.effects == Effects::None)
    {
        problems.push(UsageError::value(
            "--site-sd",
            sd,
            "a number from 0 to 10 is needed, and --effects none",
        ));
    }
    if !args.model.polytomous() && args.categories.is_some_and(|c| c > 2) {
        let needed = "items of this model have two; use gpcm or grm";
        problems.push(UsageError::value("--categories", args.categories.unwrap_or_default(), needed));
    }
    CliError::usage(problems)?;
    let (items, guess) = match &args.guess {
        Some(path) => {
            let (items, guess) = read_guess(&fedirt_data::read_fixed_items(Input::file(path))?)
                .map_err(|problem| UsageError::Guess { path: path.clone(), problem })?;
            (items, Some(guess))
        }
        None => {
            let usual = if args.model.polytomous() { 4 } else { 2 };
            let categories = usize::from(args.categories.unwrap_or(usual));
            (vec![(args.model.name().to_owned(), categories); args.items.unwrap_or(1) as usize], None)
        }
    };
    let planned = PlannedStudy {
        items,
        sites: sizes.into_iter().enumerate().map(|(k, n)| (format!("site{}", k + 1), n)).collect(),
        effects: if sites < 2 { Effects::None } else { args.effects },
        site_sd: args.site_sd.unwrap_or(0.0),
        missing: args.missing_answers,
        booklets: Vec::new(),
        mixture: false,
        method: PrivateMethod { mechanism: args.mechanism, ..PrivateMethod::default() },
        delta: args.delta,
        colluders: args.colluders as usize,
    };
    Ok((planned, guess))
}

fn sizes(args: &PlanArgs, sites: usize) -> Result<Vec<u64>, UsageError> {
    match (&args.students, args.total) {
        (Some(SiteSizes::Each(n)), _) => Ok(vec![*n as u64; sites]),
        (Some(SiteSizes::Between(from, to)), _) if from <= to => {
            // All sizes of the range in turn.
            Ok((0..sites).map(|k| (from + k % (to - from + 1)) as u64).collect())
        }
        (Some(SiteSizes::Between(from, to)), _) => {
            Err(UsageError::value("--students", format!("{from}-{to}"), "the range is empty"))
        }
        (Some(SiteSizes::List(list)), _) if list.len() == sites => {
            Ok(list.iter().map(|n| *n as u64).collect())
        }
        (Some(SiteSizes::List(list)), _) => {
            Err(UsageError::Count { flag: "--students", given: list.len(), sites })
        }
        (None, Some(total)) if total >= sites as u64 => {
            Ok((0..sites as u64).map(|k| (total + k) / sites as u64).collect())
        }
        (None, _) => {
            Err(UsageError::value("--total", args.total.unwrap_or_default(), "every site needs a student"))
        }
    }
}

fn read_guess(given: &[FixedItem]) -> Result<(Vec<(String, usize)>, Guess), GuessProblem> {
    let (mut kinds, mut guess) = (Vec::new(), Guess::default());
    if given.is_empty() {
        return Err(GuessProblem::NoItems);
    }
    for item in given {
        let (Steps::Intercepts(steps) | Steps::Difficulties(steps)) = &item.steps;
        let usual = items::default_model(steps.len() + 1).name();
        let name = item.model.clone().unwrap_or_else(|| usual.to_owned());
        let named = || (item.name.clone(), name.clone());
        let model = items::model(&name).ok_or_else(|| {
            let (item, model) = named();
            GuessProblem::UnknownModel { item, model }
        })?;
        let model = model.one_slope().ok_or_else(|| {
            let (item, model) = named();
            GuessProblem::UnsupportedModel { item, model }
        })?;
        if item.a <= 0.0 {
            return Err(GuessProblem::Slope { item: item.name.clone(), slope: item.a });
        }
        guess.a.push(item.a);
        guess.b.push(match &item.steps {
            Steps::Intercepts(d) => model.difficulties(item.a, d),
            Steps::Difficulties(b) => b.clone(),
        });
        kinds.push((name, steps.len() + 1));
    }
    Ok((kinds, guess))
}

fn cell(value: Option<f64>) -> String {
    match value {
        Some(x) if x.is_finite() && x < 1000.0 => format!("{x:.3}"),
        Some(_) => ">1000".into(),
        None => "–".into(),
    }
}

fn cells(errors: &Errors) -> [String; 3] {
    [cell(errors.a), cell(Some(errors.b)), cell(errors.s)]
}

/// An ε with the name of its level.
fn named(epsilon: f64) -> String {
    PrivacyLevel::of(epsilon)
        .map_or_else(|| epsilon.to_string(), |level| format!("{epsilon} {}", level.name()))
}

fn table(planned: &PlannedStudy, found: &Outlook) -> String {
    let mut rows = vec![
        ["ε", "μ", "noise", "SE a", "SE b", "SE s", "alone a", "alone b", "alone s"]
            .map(String::from)
            .to_vec(),
    ];
    for at in &found.private {
        let mut row = vec![named(at.epsilon), format!("{:.4}", at.mu), format!("{:.3}", at.noise_ratio)];
        row.extend(cells(&at.reported));
        row.extend(cells(&at.sums_alone));
        rows.push(row);
    }
    let mut row = vec!["no noise".to_owned(), String::new(), String::new()];
    row.extend(cells(&found.without_noise));
    row.extend(cells(&found.maximum_likelihood));
    rows.push(row);
    format!(
        "{}\nnoise: approximate ratio of the variance of the noise to the sampling variance. SE: expected standard errors (root mean squares) as reported, with priors. alone: the same from the sums alone\n\n{}",
        heading(planned, found),
        columns(&rows, &[0])
    )
}

//! `fedirt study faults`: simulations with faults, by seed.

use crate::args::FaultsArgs;
use crate::error::CliError;
use crate::output::stdout;
use fedirt_protocol::simulation::{self, Ending};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::process::ExitCode;

pub(super) fn run(args: &FaultsArgs) -> Result<ExitCode, CliError> {
    let bar = ProgressBar::new(args.seeds);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} worlds, {eta} left") {
        bar.set_style(style);
    }
    let last = args.first.saturating_add(args.seeds);
    let worlds: Vec<Result<simulation::Report, String>> = (args.first..last)
        .into_par_iter()
        .map(|seed| {
            let report = simulation::run(seed);
            bar.inc(1);
            report
        })
        .collect();
    bar.finish_and_clear();
    let reports: Vec<&simulation::Report> = worlds.iter().flatten().collect();
    let violated: Vec<&String> = worlds.iter().filter_map(|world| world.as_ref().err()).collect();
    let count = |ending| reports.iter().filter(|report| report.ending == ending).count();
    let total = |what: fn(&simulation::Report) -> u64| reports.iter().map(|report| what(report)).sum::<u64>();
    let mut text = format!(
        "{} worlds (seeds {} to {}): {} invariants violated\n",
        args.seeds,
        args.first,
        last - 1,
        violated.len()
    );
    for (name, n) in [
        ("finished with exactly the undisturbed result", count(Ending::Finished)),
        ("ended as the plan foresees", count(Ending::Ended)),
        ("wait for a lost site", count(Ending::Waits)),
        ("stopped by a site's refusal", count(Ending::Refused)),
    ] {
        text.push_str(&format!("  {n:>7}  {name}\n"));
    }
    text.push_str(&format!(
        "  {:>7}  messages lost, repeated, replayed or falsified\n  {:>7}  restarts after crashes\n  {:>7}  answers given by sites\n",
        total(|r| r.faults),
        total(|r| r.crashes),
        total(|r| r.uploads)
    ));
    for rule in &violated {
        text.push_str(&format!("violated: {rule}\n"));
    }
    stdout::print(&text)?;
    Ok(if violated.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

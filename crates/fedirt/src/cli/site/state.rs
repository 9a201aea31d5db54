//! `fedirt site status`, `ledger` and `budget`.

use super::{print_json, told};
use crate::args::{SiteBudgetArgs, SiteStatusArgs};
use crate::error::CliError;
use crate::output::stdout;
use crate::terminal;
use crate::terminal::table::{Column, Table};
use fedirt_agent::{self as agent, Home};
use std::process::ExitCode;

pub(super) fn status(home: &Home, args: &SiteStatusArgs) -> Result<ExitCode, CliError> {
    let names = match &args.study {
        Some(name) => vec![name.clone()],
        None => home.studies().map_err(told)?,
    };
    let states = names
        .iter()
        .map(|name| {
            home.known_study(name).and_then(|folder| agent::status(&folder, agent::OfficerChoices::default()))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(told)?;
    if args.json {
        print_json(&states)?;
        return Ok(ExitCode::SUCCESS);
    }
    if states.is_empty() {
        stdout::print("No studies yet. Next: fedirt site enrol INVITATION\n")?;
    }
    for state in states {
        let mut text =
            format!("{} as {} at {} (mode {})\n", state.study, state.site, state.address, state.mode);
        let since = state.since.map_or(String::new(), |time| format!(" (since {time})"));
        text.push_str(&format!("  {}{since}; {} rounds answered\n", state.stage, state.rounds_answered));
        if let Some(population) = state.population {
            text.push_str(&format!("  students: {population}\n"));
        }
        for reason in state.refusals {
            text.push_str(&format!("  refused: {reason}\n"));
        }
        if !state.results.is_empty() {
            text.push_str(&format!("  results: {}\n", state.results.join(", ")));
        }
        if !state.next.is_empty() {
            text.push_str(&format!("  next: {}\n", state.next));
        }
        stdout::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn ledger(home: &Home, json: bool) -> Result<ExitCode, CliError> {
    let ledger = agent::ledger_table(home).map_err(told)?;
    if json {
        print_json(&ledger)?;
        return Ok(ExitCode::SUCCESS);
    }
    if ledger.lines.is_empty() {
        stdout::print("The ledger is empty: nothing was sent from this site.\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for (population, state) in &ledger.populations {
        text.push_str(&format!("{population}: {state}\n"));
    }
    text.push('\n');
    let mut table = Table::new(vec![
        Column::numbers("line"),
        Column::words("time").expendable(1),
        Column::words("population"),
        Column::words("study"),
        Column::words("what"),
    ]);
    for line in ledger.lines {
        table.row(vec![line.line.to_string(), line.time, line.population, line.study, line.what]);
    }
    // The descriptions of releases must not be cut off.
    text.push_str(&table.render(terminal::width().max(400)));
    text.push_str(&format!(
        "\nHead of the ledger (write it down, so that removed lines are noticed later): {}\n",
        ledger.head
    ));
    stdout::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn budget(home: &Home, args: &SiteBudgetArgs) -> Result<ExitCode, CliError> {
    agent::open_account(home, &args.population, args.epsilon, args.delta).map_err(told)?;
    stdout::print(&format!(
        "All private studies of {:?} together may spend ε = {} at δ = {:e}. This cannot be changed.\n",
        args.population, args.epsilon, args.delta
    ))?;
    Ok(ExitCode::SUCCESS)
}

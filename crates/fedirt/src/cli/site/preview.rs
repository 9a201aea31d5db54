//! `fedirt site preview`.

use super::{bullets, paragraph, print_json, told};
use crate::args::SitePreviewArgs;
use crate::error::CliError;
use crate::output::{stderr, stdout};
use crate::terminal;
use crate::terminal::text::{count, printable, wrap};
use fedirt_agent::{self as agent, Home, Preview, StatisticPreview};
use fedirt_data::Audience;
use std::process::ExitCode;

/// Maximum number of values of a statistic that are printed without --all.
const SHOWN: usize = 40;

pub(super) fn run(home: &Home, args: &SitePreviewArgs) -> Result<ExitCode, CliError> {
    let study = home.known_study(&args.study).and_then(|folder| folder.load()).map_err(told)?;
    let own = agent::read_for_plan(&args.own.files, &args.own.read_options()?, &study.plan).map_err(told)?;
    own.remarks(Audience::CommandLine).iter().for_each(|note| stderr::note(note));
    let preview = agent::preview(&study, &own, &home.policy().map_err(told)?).map_err(told)?;
    if args.json {
        print_json(&preview)?;
    } else {
        stdout::print(&text(&preview, args.all))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(preview: &Preview, all: bool) -> String {
    let mut out = format!(
        "What {} would send in {} (mode {})\n\nOn joining: {} students",
        printable(&preview.site),
        preview.study,
        preview.mode,
        count(preview.students)
    );
    match preview.weights {
        Some((total, largest)) => {
            out.push_str(&format!(", weights that add up to {total}, none above {largest}\n"))
        }
        None => out.push_str(", without weights\n"),
    }
    let items: Vec<String> = preview
        .items
        .iter()
        .map(|item| {
            let codes: Vec<String> = item.codes.iter().map(ToString::to_string).collect();
            if codes.is_empty() {
                format!("{} not given", item.item)
            } else {
                format!("{} {{{}}}", item.item, codes.join(" "))
            }
        })
        .collect();
    out.push_str(&indented(&format!("items with their codes: {}", items.join(", "))));
    for round in &preview.rounds {
        out.push_str(&format!("\nRound {}: {}", round.name, paragraph(&round.remark)));
        for statistic in &round.statistics {
            out.push_str(&statistic_text(statistic, all));
        }
    }
    out.push('\n');
    out.push_str(&bullets(&preview.remarks));
    out
}

fn statistic_text(statistic: &StatisticPreview, all: bool) -> String {
    let StatisticPreview { name, meaning, count: size, numbers, by_name, about: _ } = statistic;
    let plural = if *size == 1 { "number" } else { "numbers" };
    let named = if *by_name { ", beside this site's name" } else { "" };
    let mut out = format!("  {name}: {meaning} ({} {plural}{named})\n", count(*size as u64));
    let most = if all { numbers.len() } else { SHOWN };
    let shown: Vec<String> = numbers.iter().take(most).map(|x| number(*x)).collect();
    if !shown.is_empty() {
        out.push_str(&indented(&shown.join("  ")));
    }
    if numbers.len() > most {
        out.push_str(&format!(
            "      … and {} more; --all prints them\n",
            count((numbers.len() - most) as u64)
        ));
    }
    out
}

/// Whole numbers without decimals, others with six.
fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 { format!("{x:.0}") } else { format!("{x:.6}") }
}

fn indented(text: &str) -> String {
    let room = terminal::width().saturating_sub(6).max(20);
    wrap(text, room).iter().map(|line| format!("      {line}\n")).collect()
}

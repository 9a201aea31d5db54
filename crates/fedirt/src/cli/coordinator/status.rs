//! `fedirt coordinator status`.

use super::told;
use crate::args::CoordinatorStatusArgs;
use crate::error::CliError;
use crate::output::{stderr, stdout};
use fedirt_coordinator::status::{self, SiteStatus, StudyStatus};
use fedirt_coordinator::{Folder, clock};
use fedirt_protocol::Timestamp;
use fedirt_protocol::coordinator::Phase;

pub(super) fn run(args: &CoordinatorStatusArgs) -> Result<(), CliError> {
    let folder = Folder::open(&args.dir).map_err(told)?;
    let studies = status::read(&folder, args.study.as_deref()).map_err(told)?;
    if !folder.is_running() {
        stderr::note("no coordinator is running here; this is the state in which it stopped");
    }
    if args.json {
        let text = serde_json::to_string_pretty(&studies).map_err(|e| CliError::Output(e.into()))?;
        return stdout::print_raw(&format!("{text}\n"));
    }
    if studies.is_empty() {
        return stdout::print("no study has been served yet\n");
    }
    let now = clock::now();
    let texts: Vec<String> = studies.iter().map(|study| describe(study, now)).collect();
    stdout::print(&texts.join("\n"))
}

fn describe(study: &StudyStatus, now: Timestamp) -> String {
    let mut text = format!("{} ({}): {}\n", study.study, study.mode, doing(study));
    let mut line = |name: &str, value: &str| text.push_str(&format!("  {name:<12} {value}\n"));
    if !study.waiting_for.is_empty() {
        line("waiting for", &study.waiting_for.join(", "));
    }
    if let Some(roster) = &study.roster {
        line("roster", roster);
    }
    line("plan", &study.plan);
    if let Some(results) = &study.results {
        line("results", results);
    }
    for site in &study.sites {
        text.push_str(&format!("  - {}\n", site_line(site, now)));
    }
    text
}

fn doing(study: &StudyStatus) -> String {
    let round = study.turn.map_or_else(String::new, |turn| match turn.attempt {
        1 => format!("round {}", turn.round),
        attempt => format!("round {}, attempt {attempt}", turn.round),
    });
    match study.phase {
        Phase::Gathering => "sites are joining".into(),
        Phase::Approving => "sites compare and sign the roster".into(),
        Phase::Calling => format!("{round}: sites announce their participation"),
        Phase::Open => format!("{round}: sites answer"),
        Phase::Over => study.outcome.as_ref().map_or_else(|| "over".into(), ToString::to_string),
    }
}

fn site_line(site: &SiteStatus, now: Timestamp) -> String {
    let seen = match site.last_seen_ms {
        Some(at) => format!("last seen {}", ago(now.0.saturating_sub(at))),
        None => "not seen since the coordinator started".into(),
    };
    let key = site.key.as_deref().map_or_else(|| "not enrolled".into(), |key| format!("key {key}"));
    let lost = if site.lost { "; no longer in the study" } else { "" };
    format!("{}: {key}; {seen}{lost}", site.name)
}

fn ago(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        0..=90 => format!("{} s ago", milliseconds / 1000),
        s @ 91..=5400 => format!("{} min ago", s / 60),
        s @ 5401..=172_800 => format!("{} h ago", s / 3600),
        s => format!("{} days ago", s / 86_400),
    }
}

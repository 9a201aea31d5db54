//! `fedirt site`: the commands of a site's officer.

mod ask;
mod audit;
mod enrol;
mod join;
#[cfg(unix)]
mod mailbox;
mod officer;
mod open;
mod pages;
mod preview;
#[cfg(target_os = "linux")]
mod service;
mod state;

use crate::args::{SiteArgs, SiteCommand};
use crate::error::CliError;
use crate::output::{self, stdout};
use crate::terminal;
use crate::terminal::text::wrap;
use fedirt_agent::{AgentError, Home, Https, Study};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &SiteArgs) -> Result<ExitCode, CliError> {
    output::be_quiet(args.quiet);
    match &args.command {
        SiteCommand::Init => enrol::init(&args.home),
        SiteCommand::Enrol(enrol) => enrol::enrol(&home(args)?, enrol),
        SiteCommand::Plan(plan) => enrol::plan(&home(args)?, &plan.study),
        SiteCommand::Pages(pages) => pages::run(home_made(args)?, pages),
        SiteCommand::Open(open) => open::run(home_made(args)?, open),
        #[cfg(target_os = "linux")]
        SiteCommand::Service(service) => service::run(home_made(args)?, service),
        SiteCommand::Preview(preview) => preview::run(&home(args)?, preview),
        SiteCommand::Join(join) => join::run(&home(args)?, join),
        #[cfg(unix)]
        SiteCommand::Mailbox(mailbox) => mailbox::run(&home(args)?, mailbox),
        #[cfg(unix)]
        SiteCommand::Approve(approve) => mailbox::approve(&home(args)?, approve),
        SiteCommand::Status(status) => state::status(&home(args)?, status),
        SiteCommand::Ledger(ledger) => state::ledger(&home(args)?, ledger.json),
        SiteCommand::Budget(budget) => state::budget(&home(args)?, budget),
        SiteCommand::Audit(audit) => audit::run(&home(args)?, audit.study.as_deref()),
        SiteCommand::Withdraw(withdraw) => join::withdraw(&home(args)?, withdraw),
    }
}

fn home(args: &SiteArgs) -> Result<Home, CliError> {
    Home::open(&args.home).map_err(told)
}

/// The home folder, which is made if it does not exist, because users of the pages need not know `fedirt site init`.
fn home_made(args: &SiteArgs) -> Result<&Path, CliError> {
    if !args.home.join("policy.toml").exists() {
        enrol::init(&args.home)?;
    }
    Ok(&args.home)
}

/// Converts an agent's error.
pub(crate) fn told(error: AgentError) -> CliError {
    match error {
        AgentError::Files(problems) => problems.into(),
        other => CliError::because(other),
    }
}

/// The coordinator of a study.
fn coordinator(study: &Study) -> Result<Https, CliError> {
    let authority = study.connection.authority().map_err(told)?;
    Https::new(&study.connection.address, authority.as_deref()).map_err(told)
}

/// Sentences as a bulleted list.
fn bullets(sentences: &[String]) -> String {
    let room = terminal::width().saturating_sub(4).max(20);
    let mut out = String::new();
    for sentence in sentences {
        for (at, line) in wrap(sentence, room).iter().enumerate() {
            out.push_str(if at == 0 { "  • " } else { "    " });
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// A text wrapped to the width of the terminal.
fn paragraph(text: &str) -> String {
    wrap(text, terminal::width().max(20)).join("\n") + "\n"
}

/// Prints JSON.
fn print_json<T: serde::Serialize>(value: &T) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|e| CliError::Output(e.into()))?;
    stdout::print_raw(&(text + "\n"))
}

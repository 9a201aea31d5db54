//! `fedirt coordinator`: the folder of a coordinator, its server, and what operators tell it.

mod access;
mod export;
mod init;
mod start;
mod status;

pub(crate) use access::AccessArgs;

use crate::args::{CoordinatorArgs, CoordinatorCommand, CoordinatorInviteArgs};
use crate::error::CliError;
use crate::output::{stderr, stdout};
use fedirt_coordinator::store::OperatorInput;
use fedirt_coordinator::{Error, Folder, clock, invite, operator};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &CoordinatorArgs) -> Result<ExitCode, CliError> {
    match &args.command {
        CoordinatorCommand::Init(args) => init::run(args)?,
        CoordinatorCommand::Start(args) => start::run(args)?,
        CoordinatorCommand::Invite(args) => invite_site(args)?,
        CoordinatorCommand::Status(args) => status::run(args)?,
        CoordinatorCommand::Begin(args) => tell(&args.dir, &args.study, &OperatorInput::Begin)?,
        CoordinatorCommand::Drop(args) => {
            tell(&args.dir, &args.study, &OperatorInput::Drop { sites: args.sites.clone() })?;
        }
        CoordinatorCommand::End(args) => {
            tell(&args.dir, &args.study, &OperatorInput::End { reason: args.reason.clone() })?;
        }
        CoordinatorCommand::Export(args) => export::run(args)?,
        CoordinatorCommand::Access(args) => access::run(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// An error of the coordinator, on the command line.
pub(crate) fn told(error: Error) -> CliError {
    match error {
        Error::File { path, error } => CliError::file(path)(error),
        Error::Several(errors) => CliError::Several(errors.into_iter().map(told).collect()),
        error => CliError::because(error),
    }
}

fn tell(dir: &Path, study: &str, input: &OperatorInput) -> Result<(), CliError> {
    let folder = Folder::open(dir).map_err(told)?;
    operator::tell(&folder, study, input).map_err(told)?;
    stdout::print(&format!("done; see `fedirt coordinator status {} {study}`\n", dir.display()))
}

/// The invitation alone on standard output, so that it can go through a pipe.
fn invite_site(args: &CoordinatorInviteArgs) -> Result<(), CliError> {
    let folder = Folder::open(&args.dir).map_err(told)?;
    let invited = invite::invite(&folder, &args.study, &args.site, args.days, args.address.as_deref());
    let invited = invited.map_err(told)?;
    let text = invited.invitation.to_text().map_err(CliError::because)?;
    stdout::print_raw(&format!("{text}\n"))?;
    stderr::note(&format!(
        "hand this line to {} by a way that nobody else reads: whoever uses it first takes the site's place. There it goes into `fedirt site enrol`. Good until {}, for {}",
        args.site,
        clock::text(invited.invitation.expires),
        invited.invitation.address
    ));
    if invited.withdrawn > 0 {
        stderr::note(&format!("the earlier invitation of {} is not good any more", args.site));
    }
    Ok(())
}

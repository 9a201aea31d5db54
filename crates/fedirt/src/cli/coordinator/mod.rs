//! `fedirt coordinator`: the folder of a coordinator, its server, and the commands of its operator.

mod access;
mod export;
mod init;
#[cfg(unix)]
mod mailbox;
mod start;
mod status;

pub(crate) use access::AccessArgs;

use crate::args::{CoordinatorArgs, CoordinatorCommand, CoordinatorInviteArgs};
use crate::error::CliError;
use crate::output::{self, stderr, stdout};
use fedirt_coordinator::store::OperatorInput;
use fedirt_coordinator::{Error, Folder, invite, operator};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &CoordinatorArgs) -> Result<ExitCode, CliError> {
    output::be_quiet(args.quiet);
    match &args.command {
        CoordinatorCommand::Init(args) => init::run(args)?,
        CoordinatorCommand::Start(args) => start::run(args)?,
        #[cfg(unix)]
        CoordinatorCommand::Mailbox(args) => mailbox::run(args)?,
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

/// Converts an error of the coordinator.
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
    stdout::print(&format!("done; `fedirt coordinator status {} {study}` shows the state\n", dir.display()))
}

/// Prints only the invitation on standard output, so that it can be piped.
fn invite_site(args: &CoordinatorInviteArgs) -> Result<(), CliError> {
    let folder = Folder::open(&args.dir).map_err(told)?;
    let invited = invite::invite(&folder, &args.study, &args.site, args.days, args.address.as_deref());
    let invited = invited.map_err(told)?;
    let text = invited.invitation.to_text().map_err(CliError::because)?;
    stdout::print_raw(&format!("{text}\n"))?;
    stderr::note(&format!(
        "send this line to {} by a channel that nobody else can read, because whoever uses it first takes the site's place. The site passes it to `fedirt site enrol`. It is valid until {}, for {}",
        args.site, invited.invitation.expires, invited.invitation.address
    ));
    if invited.withdrawn > 0 {
        stderr::note(&format!("the earlier invitation of {} is no longer valid", args.site));
    }
    Ok(())
}

//! `fedirt coordinator access`: the people who may log in to the pages.

use super::told;
use crate::error::CliError;
use crate::output::{stderr, stdout};
use clap::{Args, Subcommand, ValueEnum};
use fedirt_coordinator::Folder;
use fedirt_ui::coordinator as pages;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct AccessArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    #[command(subcommand)]
    pub command: AccessCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AccessCommand {
    /// List the people who may log in
    List,
    /// Add a person; the log-in key is printed once
    Add {
        /// The person's name
        #[arg(value_name = "NAME")]
        name: String,
        /// The person's role
        #[arg(long, value_enum, default_value = "auditor")]
        role: RoleArg,
    },
    /// Remove a person
    Revoke {
        /// The person's name
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Roles of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArg {
    /// runs studies
    Administrator,
    /// works with results, tries out plans, changes nothing
    Analyst,
    /// sees everything, changes nothing
    Auditor,
}

impl From<RoleArg> for fedirt_ui::Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Administrator => Self::Administrator,
            RoleArg::Analyst => Self::Analyst,
            RoleArg::Auditor => Self::Auditor,
        }
    }
}

pub(super) fn run(args: &AccessArgs) -> Result<(), CliError> {
    let folder = Folder::open(&args.dir).map_err(told)?;
    match &args.command {
        AccessCommand::List => {
            let logins = pages::logins(&folder).map_err(told)?;
            if logins.is_empty() {
                return stdout::print(
                    "nobody may log in yet; the coordinator makes a log-in when it starts\n",
                );
            }
            let line = |login: &fedirt_ui::Login| {
                format!("{:<20} {:<14} since {}\n", login.name, login.role.name(), login.created)
            };
            stdout::print(&logins.iter().map(line).collect::<String>())
        }
        AccessCommand::Add { name, role } => {
            let key = pages::admit(&folder, name, (*role).into()).map_err(told)?;
            stdout::print_raw(&format!("{}\n", key.reveal()))?;
            stderr::note(&format!(
                "this is the log-in key of {name}, which is shown once. Send it by a channel that nobody else can read. Appended to the address of the log-in page after a #, it is filled in"
            ));
            Ok(())
        }
        AccessCommand::Revoke { name } => {
            pages::revoke(&folder, name).map_err(told)?;
            stdout::print(&format!("{name} is logged out and can no longer log in\n"))
        }
    }
}

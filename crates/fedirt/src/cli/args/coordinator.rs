//! `fedirt coordinator`.

#[cfg(unix)]
use super::SocketArgs;
use super::{ColumnArgs, LEVELS, MODES, choices};
use clap::{Args, Subcommand};
use fedirt_model::statistics::Mode;
use fedirt_protocol::plan::PrivacyLevel;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CoordinatorArgs {
    /// Print no tables or notes: files and exit status say it all
    #[arg(long, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: CoordinatorCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CoordinatorCommand {
    /// Make a folder for a coordinator, and a plan to start from
    Init(Box<CoordinatorInitArgs>),
    /// Serve all studies of a folder
    Start(CoordinatorStartArgs),
    /// Serve one study to a courier, such as Flower, on a UNIX socket
    #[cfg(unix)]
    Mailbox(CoordinatorMailboxArgs),
    /// Invite a site to a study
    Invite(CoordinatorInviteArgs),
    /// Show the state of the studies, and which sites they wait for
    Status(CoordinatorStatusArgs),
    /// Begin with the sites that have joined, without waiting for the others
    Begin(CoordinatorBeginArgs),
    /// Continue without some sites, where the plan allows it
    Drop(CoordinatorDropArgs),
    /// End a study without a result
    End(CoordinatorEndArgs),
    /// Write results, plan and history of a study to a folder
    Export(CoordinatorExportArgs),
    /// List, add or remove people who may log in to the pages
    Access(crate::coordinator::AccessArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorInitArgs {
    /// The folder; existing files are not changed
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Where to listen [default: 127.0.0.1:8443]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Host names or addresses under which sites reach this machine
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub host: Vec<String>,
    /// Write a plan for a study of this name
    #[arg(long, value_name = "NAME", help_heading = "Plan")]
    pub study: Option<String>,
    /// Names of the sites [default: those of --items-from]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "study", help_heading = "Plan")]
    pub sites: Vec<String>,
    /// A response file whose items and codes become the codebook
    #[arg(
        long,
        value_name = "FILE.csv",
        requires = "study",
        conflicts_with = "codebook",
        help_heading = "Plan"
    )]
    pub items_from: Option<PathBuf>,
    /// A codebook: columns item, categories and, if wanted, model and lowest (code)
    #[arg(long, value_name = "FILE.csv", requires = "study", help_heading = "Plan")]
    pub codebook: Option<PathBuf>,
    /// Who learns what
    #[arg(long, default_value = "private", value_parser = choices(MODES, Mode::name), help_heading = "Plan")]
    pub mode: Mode,
    /// How strongly a private study protects each student: this sets ε in the plan [default: strict]
    #[arg(long, value_name = "LEVEL", value_parser = choices(LEVELS, PrivacyLevel::name))]
    pub level: Option<PrivacyLevel>,
    /// Approximate number of students of all sites together [default: those of --items-from]
    #[arg(long, value_name = "N", requires = "study", help_heading = "Plan")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub students: Option<u64>,
    #[command(flatten)]
    pub columns: ColumnArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorStartArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Where to listen [default: the address in coordinator.toml]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
}

#[cfg(unix)]
#[derive(Debug, Args)]
#[command(after_help = MAILBOX_EXAMPLES)]
pub(crate) struct CoordinatorMailboxArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The study
    #[arg(value_name = "STUDY")]
    pub study: String,
    #[command(flatten)]
    pub at: SocketArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorInviteArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The study
    #[arg(value_name = "STUDY")]
    pub study: String,
    /// The site, as the plan names it
    #[arg(value_name = "SITE")]
    pub site: String,
    /// For how many days the invitation is valid
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=365))]
    pub days: u32,
    /// How the site reaches this coordinator: https://…, or mailbox: where a courier carries the messages [default: the address in
    /// coordinator.toml]
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorStatusArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The study [default: all]
    #[arg(value_name = "STUDY")]
    pub study: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorBeginArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The study
    #[arg(value_name = "STUDY")]
    pub study: String,
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorDropArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The study
    #[arg(value_name = "STUDY")]
    pub study: String,
    /// The sites
    #[arg(value_name = "SITE", required = true)]
    pub sites: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorEndArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The study
    #[arg(value_name = "STUDY")]
    pub study: String,
    /// The reason, which every site is shown
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct CoordinatorExportArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The study
    #[arg(value_name = "STUDY")]
    pub study: String,
    /// Where to write
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

#[cfg(unix)]
const MAILBOX_EXAMPLES: &str = "Examples:
  fedirt coordinator mailbox hub reading --socket /run/fedirt/reading.sock
  fedirt coordinator invite hub reading north --address mailbox:

Everything is kept in the folder: the command can be stopped and started at any time. docs/flower.md shows how Flower carries a
study, and describes the socket for other couriers.";

const EXAMPLES: &str = "Setting up a study:
  fedirt coordinator init hub --study reading --sites north,south,west --codebook items.csv --students 2400
  (read hub/plans/reading.toml, and change it before anyone is invited)
  fedirt coordinator start hub
  fedirt coordinator invite hub reading north         prints one line for the site
  fedirt coordinator status hub

The results are written to hub/results/reading.";

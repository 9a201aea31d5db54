//! `fedirt flower`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct FlowerArgs {
    #[command(subcommand)]
    pub command: FlowerCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowerCommand {
    /// Write a Flower project whose apps carry a study's messages between mailboxes
    Init(FlowerInitArgs),
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FlowerInitArgs {
    /// Name of the study
    #[arg(value_name = "STUDY")]
    pub study: String,
    /// The project's folder; existing files are not changed
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The socket of `fedirt coordinator mailbox` [default: /run/fedirt/STUDY.sock]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  fedirt flower init reading --out reading-on-flower
  flwr run reading-on-flower CONNECTION --stream

The project holds no key, no answer and no setting of a site. See its README.md, and docs/flower.md.";

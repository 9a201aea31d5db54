//! `fedirt demo`.

use super::{MODES, choices};
use clap::Args;
use fedirt_model::statistics::Mode;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Who learns what
    #[arg(long, default_value = "secure", value_parser = choices(MODES, Mode::name))]
    pub mode: Mode,
    /// Seconds that each simulated officer waits before approving, so that one can follow
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    pub pace: f64,
    /// Seconds before the study begins
    #[arg(long, value_name = "S", default_value_t = 15.0)]
    pub wait: f64,
    /// Play the officers yourself: the sites wait for your approvals
    #[arg(long)]
    pub by_hand: bool,
    /// Keep everything in this folder, which must not exist yet [default: a temporary folder that is removed]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  fedirt demo                                         watch a study; links for a browser are printed
  fedirt demo --by-hand                               play the officers of the three schools
  fedirt demo --mode private                          two rounds of sums with noise

All data are simulated, and everything stays on this machine (127.0.0.1). Ctrl+C ends it.";

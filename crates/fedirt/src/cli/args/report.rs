//! `fedirt report`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// A fit, as written by fedirt fit
    #[arg(value_name = "FIT.json")]
    pub fit: PathBuf,
    /// The page to write; a file of that name is replaced
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,
}

const EXAMPLES: &str = "Examples:
  fedirt report results/fit.json
  fedirt fit exam.csv --json > fit.json && fedirt report fit.json --out exam.html

The page is self-contained and loads nothing over a network.";

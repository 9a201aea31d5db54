//! The command line, as typed: one file per subcommand.

mod fit;

use clap::{Args, Parser, Subcommand};
pub(crate) use fit::{AlgorithmArg, EffectsArg, FitArgs, QuadratureArg};

/// Calibrate tests together without pooling a single answer.
#[derive(Debug, Parser)]
#[command(name = "fedirt", version, about, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Estimate item parameters, site effects and scores from response files
    Fit(Box<FitArgs>),
}

/// Which columns are no items.
#[derive(Debug, Clone, Args)]
pub(crate) struct ColumnArgs {
    /// Column that names the site
    #[arg(long, value_name = "COLUMN")]
    pub site: Option<String>,
    /// Column of student identifiers
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// Columns that are no items
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Codes that stand for a missing answer, beside empty, NA and .
    #[arg(long, value_name = "CODE,…", value_delimiter = ',')]
    pub missing: Vec<String>,
}

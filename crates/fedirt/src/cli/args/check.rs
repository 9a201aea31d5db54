//! `fedirt check`.

use super::ColumnArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Response files (CSV): one per site, or with --site a column that names the site
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Column of student weights
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,
    /// Items and their categories (CSV: item, categories, lowest); codes that are declared here raise no questions
    #[arg(long, value_name = "FILE", help_heading = "Columns")]
    pub codebook: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  fedirt check north.csv south.csv west.csv
  fedirt check exam.csv --site school --id student --missing 9,99

No model is fitted and no file is written.
Exit status: 0 the files can be read, 2 they cannot (all problems are listed).";

//! `fedirt check`.

use super::{AnswerArgs, ColumnArgs, MISSING_ANSWERS, choices, missing_name};
use clap::Args;
use fedirt_model::private::MissingAnswers;
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
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// Answers that are missing, where the item was given [default: counted]
    #[arg(long, value_name = "HOW", help_heading = "Answers", value_parser = choices(MISSING_ANSWERS, missing_name))]
    pub missing_answers: Option<MissingAnswers>,
    /// Write what was read as a codebook (CSV) to look at and change, even if there are questions: items with their codes,
    /// and with words where an SPSS file has such
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub write_codebook: Option<PathBuf>,
    /// Print JSON: counts and classical statistics
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print nothing where nothing is wrong
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub quiet: bool,
}

const EXAMPLES: &str = "Examples:
  fedirt check north.csv south.csv west.csv
  fedirt check exam.csv --site school --id student --missing 9,99
  fedirt check options.csv --key key.csv

  fedirt check exam.csv --write-codebook items.csv

No model is fitted, and no other file is written.
Exit status: 0 the files can be read, 2 they cannot (all problems are listed).";

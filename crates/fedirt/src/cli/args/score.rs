//! `fedirt score`.

use super::ColumnArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Estimates of ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// mean of the posterior
    Eap,
    /// mode of the posterior
    Map,
    /// Warm's weighted likelihood
    Wle,
    /// maximum likelihood; undefined for students with all answers or no answer right
    Ml,
    /// plausible values: draws from the posterior
    Pv,
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScoreArgs {
    /// A fit, as written by fedirt fit
    #[arg(value_name = "FIT.json")]
    pub fit: PathBuf,
    /// Response files (CSV): one per site, or with --site a column that names the site
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// How ability is estimated
    #[arg(long, value_name = "METHOD", default_value = "eap", help_heading = "Scores")]
    pub method: MethodArg,
    /// Plausible values per student (pv) [default: 5]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = "Scores")]
    pub draws: Option<u16>,
    /// Seed of the plausible values (pv) [default: 1]
    #[arg(long, value_name = "S", help_heading = "Scores")]
    pub seed: Option<u64>,
    /// Column of student weights, which scores do not use
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,
    /// Effect of sites that are not in the fit (eap, map, pv) [default: 0]
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = "Scores")]
    pub site_effect: Option<f64>,
    /// Write the scores to a file [default: standard output]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  fedirt score results/fit.json north.csv south.csv --out scores.csv
  fedirt score results/fit.json exam.csv --site school --method pv --draws 10 --seed 7
  fedirt score results/fit.json newschool.csv --site-effect=-0.3 --method map

Items are matched by name; a site's effect is looked up by the site's name.
Columns: id (or the row's number within its site), site, answered (items), raw (sum of categories,
the lowest counting 0), F1 and SE_F1 (or PV1, PV2, …), Zh, infit, outfit.";

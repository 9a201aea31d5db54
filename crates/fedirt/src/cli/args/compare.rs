//! `fedirt compare`.

use clap::{Args, ValueEnum};
use fedirt::LinkMethod;
use std::path::PathBuf;

/// Ways to link scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkArg {
    /// expected score on the common items
    StockingLord,
    /// curves of the common items
    Haebara,
    /// means and SDs of the difficulties
    MeanSigma,
}

impl LinkArg {
    pub(crate) fn method(self) -> LinkMethod {
        match self {
            Self::StockingLord => LinkMethod::StockingLord,
            Self::Haebara => LinkMethod::Haebara,
            Self::MeanSigma => LinkMethod::MeanSigma,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Fits, as written by fedirt fit; the first one gives the scale
    #[arg(required = true, num_args = 2.., value_name = "FIT.json")]
    pub fits: Vec<PathBuf>,
    /// Turn the other fits' scales into the first one's, by the items they share
    #[arg(long, value_name = "METHOD")]
    pub link: Option<LinkArg>,
    /// Draw the difficulties of two fits against each other (SVG)
    #[arg(long, value_name = "FILE.svg")]
    pub picture: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print no tables or notes: files and exit status say it all
    #[arg(long, conflicts_with = "json")]
    pub quiet: bool,
}

const EXAMPLES: &str = "Examples:
  fedirt compare rasch/fit.json 2pl/fit.json                                  which model, of the same answers
  fedirt compare spring/fit.json autumn/fit.json --link stocking-lord         two scales, common items
  fedirt compare spring/fit.json autumn/fit.json --link haebara --picture drift.svg

The likelihood ratio is given where one model is a special case of the other and both fits are of the same
answers; otherwise the reason is given. A link θ = A·θ' + B turns the second scale into the first. An item is
flagged as drifting if its linked difficulty lies more than 2.7 robust standard deviations from the others'
median difference and its expected scores differ by more than 5 % of its highest score (root mean square).";

//! `fedirt fit`.

use super::ColumnArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Item models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelArg {
    /// slopes 1, SD of ability estimated
    Rasch,
    /// slopes 1, SD of ability 1 (the paper's)
    #[value(name = "1pl")]
    OnePl,
    /// slopes free, two categories
    #[value(name = "2pl")]
    TwoPl,
    /// rasch for more than two categories
    Pcm,
    /// generalised partial credit: slopes free
    Gpcm,
    /// graded response
    Grm,
}

impl ModelArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rasch => "rasch",
            Self::OnePl => "1pl",
            Self::TwoPl => "2pl",
            Self::Pcm => "pcm",
            Self::Gpcm => "gpcm",
            Self::Grm => "grm",
        }
    }
}

/// Site effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EffectsArg {
    /// all sites draw from one population
    None,
    /// one effect per site, summing to zero
    Fixed,
    /// effects drawn from a normal distribution
    Random,
}

/// Algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlgorithmArg {
    /// Newton on sums: 4 or 5 rounds
    Newton,
    /// EM, accelerated
    Em,
    /// BFGS round by round, as published
    Bfgs,
    /// federated stochastic gradient descent
    Fedsgd,
    /// federated averaging
    Fedavg,
    /// averages of separate fits
    Meta,
}

/// Weights of the quadrature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QuadratureArg {
    /// weights proportional to the normal density
    Density,
    /// mass of the bins, 21 nodes on [-5, 5] unless told otherwise
    Paper,
}

#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLES)]
pub(crate) struct FitArgs {
    /// Response files (CSV): one per site, or with --site a column that names the site
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Model of all items [default: 2pl for 0/1 items, gpcm for the others]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<ModelArg>,
    /// Models of single items
    #[arg(long, value_name = "NAME=MODEL,…", value_delimiter = ',', value_parser = parse_item_model)]
    pub item_model: Vec<(String, String)>,
    /// Site effects [default: fixed if there are several sites, else none]
    #[arg(long, value_name = "KIND")]
    pub effects: Option<EffectsArg>,
    /// How the likelihood is maximised
    #[arg(long, value_name = "NAME", default_value = "newton")]
    pub algorithm: AlgorithmArg,
    /// Column of student weights
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
    /// Codebook (CSV: item, model, categories): fixes items and categories
    #[arg(long, value_name = "FILE")]
    pub codebook: Option<PathBuf>,
    /// Items with given parameters (CSV: item, a, d or b; an items.csv will do): they anchor the scale
    #[arg(long, value_name = "FILE")]
    pub fixed_items: Option<PathBuf>,
    /// Quadrature nodes [default: 61, or 21 with --quadrature paper]
    #[arg(long, value_name = "Q", value_parser = clap::value_parser!(u16).range(5..=501))]
    pub nodes: Option<u16>,
    /// Highest node [default: 6, or 5 with --quadrature paper]
    #[arg(long, value_name = "T")]
    pub range: Option<f64>,
    /// Weights of the nodes
    #[arg(long, value_name = "KIND", default_value = "density")]
    pub quadrature: QuadratureArg,
    /// Converged when no gradient per student exceeds this
    #[arg(long, value_name = "G", default_value_t = 1e-6)]
    pub tolerance: f64,
    /// Most rounds [default: 300]
    #[arg(long, value_name = "R")]
    pub max_rounds: Option<usize>,
    /// Leave out the students' scores
    #[arg(long)]
    pub no_scores: bool,
    /// Folder for fit.json, items.csv, sites.csv, scores.csv, covariance.csv and report.html
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print fit.json on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Seed of the choice of sites (fedsgd, fedavg)
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
    /// Write everything that left a site to transcript.jsonl (needs --out)
    #[arg(long, requires = "out")]
    pub transcript: bool,
    /// Local steps per round (fedavg) [default: 5]
    #[arg(long, value_name = "E", help_heading = "fedsgd and fedavg")]
    pub local_epochs: Option<usize>,
    /// Share of sites that take part in a round (fedsgd, fedavg) [default: 1]
    #[arg(long, value_name = "C", help_heading = "fedsgd and fedavg")]
    pub client_fraction: Option<f64>,
    /// Step size (fedsgd, fedavg) [default: 1]
    #[arg(long, value_name = "ETA", help_heading = "fedsgd and fedavg")]
    pub learning_rate: Option<f64>,
}

const FIT_EXAMPLES: &str = "Examples:
  fedirt fit examples/schools.csv --site school
  fedirt fit north.csv south.csv west.csv --model grm --effects random --out results
  fedirt fit exam.csv --item-model essay=gpcm --missing 9,99 --json > fit.json

Exit status: 0 converged, 1 not converged (results are written), 2 bad input or usage.";

fn parse_item_model(text: &str) -> Result<(String, String), String> {
    let (name, model) = text.rsplit_once('=').ok_or_else(|| format!("{text:?} is not NAME=MODEL"))?;
    let model = ModelArg::from_str(model, true)?;
    Ok((name.to_owned(), model.name().to_owned()))
}

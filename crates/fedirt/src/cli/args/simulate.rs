//! `fedirt simulate`.

use clap::{ArgGroup, Args};
use fedirt_model::items::model_names;
use fedirt_model::simulate::{MIXED, SiteSizes};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("where_effects_come_from").args(["site_effects", "site_sd"]))]
#[command(group = ArgGroup::new("what_is_missing").args(["booklets", "missing_rate"]))]
pub(crate) struct SimulateArgs {
    /// Number of sites
    #[arg(long, value_name = "K")]
    pub sites: usize,
    /// Students of each site: one number, a range to draw from (6-8), or one number per site (30,45,60)
    #[arg(long, value_name = "N")]
    pub students: SiteSizes,
    /// Number of items
    #[arg(long, value_name = "J")]
    pub items: usize,
    #[arg(long, value_name = "MODEL", default_value = "2pl", help = format!("Model of the items: {}, or {MIXED} (2pl, gpcm and grm in turn)", model_names()))]
    pub model: String,
    /// Categories of items that may have more than two [default: 4 for polytomous models, else 2]
    #[arg(long, value_name = "C")]
    pub categories: Option<usize>,
    /// Site effects, one per site, which are not centred
    #[arg(long, value_name = "S1,S2,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub site_effects: Vec<f64>,
    /// Draw site effects with this SD, and centre them [default: 0.5, or 0 for one site]
    #[arg(long, value_name = "SD")]
    pub site_sd: Option<f64>,
    /// Overlapping booklets: each student answers one, about half of the items
    #[arg(long, value_name = "B")]
    pub booklets: Option<usize>,
    /// Share of answers that are missing completely at random
    #[arg(long, value_name = "R")]
    pub missing_rate: Option<f64>,
    /// SD of ability within sites (rasch and pcm) [default: 1]
    #[arg(long, value_name = "SD")]
    pub latent_sd: Option<f64>,
    /// One file per site instead of responses.csv
    #[arg(long)]
    pub per_site: bool,
    /// Seed: the same seed gives the same files
    #[arg(long, value_name = "S")]
    pub seed: u64,
    /// Folder for the responses, truth.json and truth_items.csv; files of these names are replaced
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Print no tables or notes: files and exit status say it all
    #[arg(long)]
    pub quiet: bool,
}

const EXAMPLES: &str = "Examples:
  fedirt simulate --sites 10 --students 300 --items 10 --model 2pl --seed 1 --out sim
  fedirt simulate --sites 5 --students 100 --items 10 --site-effects=-1,-0.5,0,0.5,1 --seed 1 --out sim
  fedirt simulate --sites 50 --students 6-8 --items 15 --model grm --booklets 4 --per-site --seed 1 --out sim

Slopes are lognormal around 1 (SD of ln a 0.35), difficulties normal, steps of an item ascending.";

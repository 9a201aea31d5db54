//! `fedirt privacy`.

use super::{EFFECTS, LEVELS, MECHANISMS, MISSING_ANSWERS, choices, missing_name};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Subcommand};
use fedirt_model::exchange::Effects;
use fedirt_model::items::{self, ItemModel, MODELS, SlopeRule};
use fedirt_model::private::{MissingAnswers, PrivateMechanism};
use fedirt_model::simulate::SiteSizes;
use fedirt_protocol::plan::PrivacyLevel;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct PrivacyArgs {
    /// Print no tables or notes: files and exit status say it all
    #[arg(long, global = true)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: PrivacyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PrivacyCommand {
    /// Compute ε from the noise
    Epsilon(EpsilonArgs),
    /// Compute the noise that an ε needs
    Noise(NoiseArgs),
    /// Forecast the standard errors of a private study, without data
    Plan(PlanArgs),
    /// Audit the private mode of this program, with planted faults as a control
    Audit(AuditArgs),
}

/// The parameters of a mechanism other than its noise.
#[derive(Debug, Args)]
pub(crate) struct RoundsOfSampling {
    /// Sampling rate: the share of students in a round, each drawn independently; 1 is all of them
    #[arg(long, value_name = "Q", default_value_t = 1.0)]
    pub rate: f64,
    /// Planned rounds, which count whether they are used or not
    #[arg(long, value_name = "R")]
    pub rounds: u32,
    /// δ, the probability that ε does not hold; below 1/(10 N)
    #[arg(long, value_name = "D", default_value_t = 1e-6)]
    pub delta: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Plot ε by the number of rounds to this SVG file
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EPSILON_EXAMPLES)]
pub(crate) struct EpsilonArgs {
    /// Noise multiplier: SD of the noise over the clipping bound
    #[arg(long, value_name = "SIGMA")]
    pub noise: f64,
    #[command(flatten)]
    pub sampling: RoundsOfSampling,
}

#[derive(Debug, Args)]
#[command(after_help = NOISE_EXAMPLES)]
pub(crate) struct NoiseArgs {
    /// The ε that must not be exceeded
    #[arg(long, value_name = "E")]
    pub epsilon: f64,
    #[command(flatten)]
    pub sampling: RoundsOfSampling,
}

const EPSILON_EXAMPLES: &str = "Examples:
  fedirt privacy epsilon --noise 22.3 --rounds 100
  fedirt privacy epsilon --noise 1 --rate 0.01 --rounds 100 --delta 1e-6 --json
  fedirt privacy epsilon --noise 22.3 --rounds 100 --plot rounds.svg";

const NOISE_EXAMPLES: &str = "Examples:
  fedirt privacy noise --epsilon 1 --rounds 2
  fedirt privacy noise --epsilon 2 --rate 0.1 --rounds 100 --json
  fedirt privacy noise --epsilon 2 --rate 0.1 --rounds 100 --plot rounds.svg";

/// Reads a model that private fits support.
fn private_model() -> impl TypedValueParser<Value = &'static dyn ItemModel> {
    let supported = |model: &&&'static dyn ItemModel| {
        model.one_slope().is_some() && matches!(model.slope(), SlopeRule::Free | SlopeRule::One)
    };
    let names = MODELS.iter().filter(supported).map(|model| model.name());
    PossibleValuesParser::new(names).map(|name| items::model(&name).expect("the parser accepts only models"))
}

#[derive(Debug, Args)]
#[command(after_help = PLAN_EXAMPLES)]
#[command(group = ArgGroup::new("how_many_students").args(["students", "total"]).required(true))]
#[command(group = ArgGroup::new("which_items").args(["items", "guess"]).required(true))]
pub(crate) struct PlanArgs {
    /// Number of sites
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub sites: u32,
    /// Students of each site: one number, a range (6-8), or one number per site (30,45,60)
    #[arg(long, value_name = "N")]
    pub students: Option<SiteSizes>,
    /// Students of all sites together, spread evenly
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub total: Option<u64>,
    /// Number of items
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u32).range(1..=500))]
    pub items: Option<u32>,
    /// Model of the items
    #[arg(long, value_name = "MODEL", default_value = "2pl", conflicts_with = "guess")]
    #[arg(value_parser = private_model())]
    pub model: &'static dyn ItemModel,
    /// Categories of each item [default: 2, or 4 for gpcm and grm]
    #[arg(long, value_name = "C", conflicts_with = "guess")]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=20))]
    pub categories: Option<u8>,
    /// A guess of the item parameters: the items.csv of an earlier fit [default: slopes around 1, difficulties
    /// distributed like abilities]
    #[arg(long, value_name = "FILE")]
    pub guess: Option<PathBuf>,
    /// Site effects of the fit
    #[arg(long, value_name = "KIND", default_value = "fixed")]
    #[arg(value_parser = choices(&EFFECTS[..2], Effects::name))]
    pub effects: Effects,
    /// With --effects none: SD of ability between sites [default: 0]
    #[arg(long, value_name = "SD", allow_hyphen_values = true)]
    pub site_sd: Option<f64>,
    /// Leave out rows that lack an answer (and estimate their number), or score the answer as wrong
    #[arg(long, value_name = "HOW", default_value = "counted", value_parser = choices(MISSING_ANSWERS, missing_name))]
    pub missing_answers: MissingAnswers,
    /// What is summed
    #[arg(long, value_name = "NAME", default_value = "optimal", value_parser = choices(MECHANISMS, PrivateMechanism::name))]
    pub mechanism: PrivateMechanism,
    /// Values of ε
    #[arg(
        long,
        value_name = "E,…",
        value_delimiter = ',',
        default_value = "0.5,1,2,4,6,8",
        allow_hyphen_values = true
    )]
    pub epsilon: Vec<f64>,
    /// Levels of privacy, instead of values of ε
    #[arg(long, value_name = "LEVEL,…", value_delimiter = ',', conflicts_with = "epsilon", value_parser = choices(LEVELS, PrivacyLevel::name))]
    pub level: Vec<PrivacyLevel>,
    /// δ, the probability that ε does not hold; below 1/(10 N)
    #[arg(long, value_name = "D", default_value_t = 1e-6)]
    pub delta: f64,
    /// Number of sites that may collude with the coordinator; the noise of the others compensates for theirs
    #[arg(long, value_name = "C", default_value_t = 1)]
    pub colluders: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Folder for forecast.json and forecast.svg
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const PLAN_EXAMPLES: &str = "Examples:
  fedirt privacy plan --sites 20 --students 100 --items 30
  fedirt privacy plan --sites 50 --students 6-8 --items 15 --epsilon 1 --effects none
  fedirt privacy plan --sites 5 --total 2000 --guess results/items.csv --colluders 2 --out forecast

No data are read and no budget is spent: the errors are computed from sizes, noise and a guess of the parameters.";

#[derive(Debug, Args)]
#[command(after_help = AUDIT_EXAMPLES)]
pub(crate) struct AuditArgs {
    /// What is summed [default: each mechanism in turn]
    #[arg(long, value_name = "NAME", value_parser = choices(MECHANISMS, PrivateMechanism::name))]
    pub mechanism: Option<PrivateMechanism>,
    /// Number of runs for the noise, and of runs in each of the two worlds
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    pub runs: u64,
    /// Number of seeds for the false alarm rate, with a twentieth of the runs each
    #[arg(long, value_name = "S", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: u64,
    /// First seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub first: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const AUDIT_EXAMPLES: &str = "Examples:
  fedirt privacy audit                            the full audit, some minutes
  fedirt privacy audit --runs 1000 --seeds 3      a quick run
  fedirt privacy audit --json > audit.json

Exit status: 0 nothing found and all planted faults detected, 1 otherwise.";

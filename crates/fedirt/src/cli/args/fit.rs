//! `fedirt fit`.

use super::{
    AnswerArgs, ColumnArgs, EFFECTS, LEVELS, MECHANISMS, MISSING_ANSWERS, ScoreScaleArgs, choices,
    missing_name,
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use fedirt::SiteWeights;
use fedirt_model::centre::AlgorithmKind;
use fedirt_model::exchange::Effects;
use fedirt_model::items::{self, ALIASES, ItemModel, MODELS};
use fedirt_model::population::Family;
use fedirt_model::private::{MissingAnswers, PrivateMechanism};
use fedirt_model::quadrature::Weighting;
use fedirt_model::questions::diagnose::Diagnostic;
use fedirt_protocol::plan::PrivacyLevel;
use std::path::PathBuf;

/// Reads a model by its name; `--help` says what each assumes.
fn model_parser() -> impl TypedValueParser<Value = &'static dyn ItemModel> {
    let value = |model: &&'static dyn ItemModel| {
        let aliases = ALIASES.iter().filter(|(_, name)| *name == model.name()).map(|(alias, _)| *alias);
        PossibleValue::new(model.name()).help(model.summary()).aliases(aliases)
    };
    let unknown =
        |name: String| items::model_called(&name).ok_or_else(|| format!("there is no model {name:?}"));
    PossibleValuesParser::new(MODELS.iter().map(value)).try_map(unknown)
}

/// Algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlgorithmArg {
    /// Newton's method on sums: 4 or 5 rounds
    Newton,
    /// EM algorithm with acceleration
    Em,
    /// BFGS, one evaluation per round, as published
    Bfgs,
    /// federated stochastic gradient descent
    Fedsgd,
    /// federated averaging
    Fedavg,
    /// meta-analysis: averages of separate fits
    Meta,
    /// FedIRT-DP as published: many rounds of clipped, noisy gradients (needs --epsilon)
    FedirtDp,
}

impl AlgorithmArg {
    /// The algorithm of the product; `None` for the published private one.
    pub(crate) fn kind(self) -> Option<AlgorithmKind> {
        match self {
            Self::Newton => Some(AlgorithmKind::Newton),
            Self::Em => Some(AlgorithmKind::Em),
            Self::Bfgs => Some(AlgorithmKind::Bfgs),
            Self::Fedsgd => Some(AlgorithmKind::Fedsgd),
            Self::Fedavg => Some(AlgorithmKind::Fedavg),
            Self::Meta => Some(AlgorithmKind::Meta),
            Self::FedirtDp => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.kind().map_or("fedirt-dp", AlgorithmKind::name)
    }
}

/// Who adds the noise of fedirt-dp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoiseArg {
    /// the server, which sees exact sums: as published
    Central,
    /// the sites, so that nobody sees an exact sum
    Distributed,
}

/// Settings of fedirt-dp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetArg {
    /// reproduce the paper's Studies 1 and 2
    Published,
    /// the best settings in simulations with about as many students and this ε
    Tuned,
    /// reproduce the paper's Study 3
    Study3,
}

/// Weights of the quadrature.
const WEIGHTINGS: &[(Weighting, &str)] = &[
    (Weighting::Density, "weights proportional to the normal density"),
    (Weighting::Paper, "probabilities of bins; 21 nodes on [-5, 5] by default"),
];

#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLES)]
pub(crate) struct FitArgs {
    /// Response files (CSV): one per site, or with --site a column that names the site
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub columns: ColumnArgs,
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// Column of student weights
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub weight: Option<String>,
    /// Column of students' groups (sex, language): each item is compared between them, and each has its own mean and SD of ability
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub group: Option<String>,
    /// With --group: the group that the others are compared with [default: the largest]
    #[arg(long, value_name = "GROUP", requires = "group", help_heading = "Model check")]
    pub reference_group: Option<String>,
    /// With --group: items with parameters of their own in a group (ITEM:GROUP), or in every group but the reference (ITEM:all)
    #[arg(
        long,
        value_name = "ITEM:GROUP,…",
        value_delimiter = ',',
        value_parser = parse_free,
        requires = "group",
        help_heading = "Model"
    )]
    pub free: Vec<(String, Option<String>)>,
    /// Compare sites item by item: do one set of parameters hold for all of them?
    #[arg(long, help_heading = "Model check")]
    pub compare_sites: bool,
    /// With --group: likelihood-ratio and Wald tests of every item, one fit for each, however long that takes [default: where it takes
    /// seconds]
    #[arg(long, requires = "group", help_heading = "Model check")]
    pub dif_tests: bool,
    /// With --group: match students by the sum of all items, even of those that work differently
    #[arg(long, requires = "group", help_heading = "Model check")]
    pub no_purify: bool,
    /// Model of all items [default: 2pl for 0/1 items, gpcm for the others]
    #[arg(long, value_name = "MODEL", ignore_case = true, value_parser = model_parser(), help_heading = "Model")]
    pub model: Option<&'static dyn ItemModel>,
    /// Models of single items
    #[arg(
        long,
        value_name = "NAME=MODEL,…",
        value_delimiter = ',',
        value_parser = parse_item_model,
        help_heading = "Model"
    )]
    pub item_model: Vec<(String, &'static dyn ItemModel)>,
    /// With rasch and pcm: hold the SD of ability at 1 instead of estimating it, which is the model rasch-sd1
    #[arg(long, value_name = "1", allow_hyphen_values = true, help_heading = "Model")]
    pub latent_sd: Option<f64>,
    /// Site effects [default: fixed if there are several sites, else none]
    #[arg(long, value_name = "KIND", value_parser = choices(EFFECTS, Effects::name), help_heading = "Model")]
    pub effects: Option<Effects>,
    /// Items with given parameters, which anchor the scale (CSV: item, a, d or b; the items.csv of a fit can be used)
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub fixed_items: Option<PathBuf>,
    /// Merge items that depend on each other into one item of several categories, their sum; fedirt score merges them too
    #[arg(
        long,
        value_name = "I1+I2,…",
        value_delimiter = ',',
        value_parser = parse_bundle,
        help_heading = "Model"
    )]
    pub bundle: Vec<Vec<String>>,
    /// How much each site counts: n (its students), equal, capped:500 (students at most), effective:0.2 (fewer, the more its
    /// students are alike); all but n give sandwich errors
    #[arg(long, value_name = "HOW", default_value = "n", help_heading = "Model")]
    pub site_weights: SiteWeights,
    /// Distribution of ability: normal, mixture:G (of G normals) or davidian:K (a smooth curve of degree K), estimated with the items
    #[arg(long, value_name = "FAMILY", default_value = "normal", help_heading = "Model")]
    pub population: Family,
    /// How the likelihood is maximised
    #[arg(long, value_name = "NAME", default_value = "newton", help_heading = "Estimation")]
    pub algorithm: AlgorithmArg,
    /// Secure aggregation: only sums over all sites are seen (at least 3 sites; newton or em)
    #[arg(long, help_heading = "Privacy")]
    pub secure: bool,
    /// With --secure: publish the effects of sites by name
    #[arg(long, requires = "secure", help_heading = "Privacy")]
    pub publish_effects: bool,
    /// Differential privacy: noisy sums of clipped scores, (ε, δ)-differentially private for each student
    #[arg(long, conflicts_with = "secure", help_heading = "Privacy")]
    pub private: bool,
    /// With --private or fedirt-dp: ε, the privacy loss (1 is strong, 8 weak)
    #[arg(long, value_name = "E", allow_hyphen_values = true, help_heading = "Privacy")]
    pub epsilon: Option<f64>,
    /// With --private: ε by name, instead of --epsilon
    #[arg(long, value_name = "LEVEL", requires = "private", conflicts_with = "epsilon", value_parser = choices(LEVELS, PrivacyLevel::name), help_heading = "Privacy")]
    pub level: Option<PrivacyLevel>,
    /// With --private or fedirt-dp: δ [default: 1e-6]
    #[arg(long, value_name = "D", allow_hyphen_values = true, help_heading = "Privacy")]
    pub delta: Option<f64>,
    /// With --private: number of sites that may collude with the coordinator; the noise of the others compensates for theirs
    /// [default: 0, because one person has all files; the result says against whom ε holds]
    #[arg(long, value_name = "C", help_heading = "Privacy")]
    pub colluders: Option<usize>,
    /// With --private: model rows that are all lowest or all highest separately, as a mixture
    #[arg(long, requires = "private", help_heading = "Privacy")]
    pub mixture: bool,
    /// With --private or fedirt-dp: booklets (CSV: booklet, item) where students were given different items
    #[arg(long, value_name = "FILE", help_heading = "Privacy")]
    pub booklets: Option<PathBuf>,
    /// Merge categories with fewer answers than N, those of all sites counted, with a neighbour [default: what the codebook's
    /// column `collapse` says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Answers")]
    pub collapse: Option<u64>,
    /// Answers that are missing, where the item was given [default: counted]
    #[arg(long, value_name = "HOW", value_parser = choices(MISSING_ANSWERS, missing_name), help_heading = "Answers")]
    pub missing_answers: Option<MissingAnswers>,
    /// With --private and --effects none: SD of ability between sites [default: 0]
    #[arg(long, value_name = "SD", allow_hyphen_values = true, help_heading = "Privacy")]
    pub site_sd: Option<f64>,
    /// With --private: what is summed, at the same ε; optimal has the smaller error [default: optimal]
    #[arg(long, requires = "private", value_name = "NAME", value_parser = choices(MECHANISMS, PrivateMechanism::name), help_heading = "Privacy")]
    pub mechanism: Option<PrivateMechanism>,
    /// With --private: SD of difficulties before any data [default: 2]
    #[arg(
        long,
        requires = "private",
        value_name = "SD",
        allow_hyphen_values = true,
        help_heading = "Privacy"
    )]
    pub difficulty_sd: Option<f64>,
    /// Quadrature nodes [default: 61, or 21 with --quadrature paper]
    #[arg(
        long,
        value_name = "Q",
        value_parser = clap::value_parser!(u16).range(5..=501),
        help_heading = "Estimation"
    )]
    pub nodes: Option<u16>,
    /// Highest node [default: 6, or 5 with --quadrature paper]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Estimation")]
    pub range: Option<f64>,
    /// Weights of the nodes
    #[arg(
        long,
        value_name = "KIND",
        default_value = "density",
        value_parser = choices(WEIGHTINGS, Weighting::name),
        help_heading = "Estimation"
    )]
    pub quadrature: Weighting,
    /// Converged when no gradient per student exceeds this [default: 1e-6]
    #[arg(long, value_name = "G", allow_hyphen_values = true, help_heading = "Estimation")]
    pub tolerance: Option<f64>,
    /// Maximum number of rounds [default: 300]; with fedirt-dp the planned rounds [default: 100]
    #[arg(long, value_name = "R", help_heading = "Estimation")]
    pub max_rounds: Option<usize>,
    /// Sets of starting values that are compared; with 1, --secure sends less in its second round [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2), help_heading = "Estimation")]
    pub starts: Option<u8>,
    /// Number of threads [default: all cores]; results do not depend on it
    #[arg(long, value_name = "T", help_heading = "Estimation")]
    pub threads: Option<usize>,
    /// Local steps per round (fedavg) [default: 5]
    #[arg(long, value_name = "E", help_heading = "fedsgd and fedavg")]
    pub local_epochs: Option<usize>,
    /// Share of sites that take part in a round [default: 1]
    #[arg(long, value_name = "C", allow_hyphen_values = true, help_heading = "fedsgd and fedavg")]
    pub client_fraction: Option<f64>,
    /// Step size [default: 1; fedirt-dp: 0.05]
    #[arg(long, value_name = "ETA", allow_hyphen_values = true, help_heading = "fedsgd and fedavg")]
    pub learning_rate: Option<f64>,
    /// Seed for the selection of sites [default: 1]
    #[arg(long, value_name = "S", help_heading = "fedsgd and fedavg")]
    pub seed: Option<u64>,
    /// Who adds the noise [default: central as published; distributed with --private]
    #[arg(long, value_name = "WHERE", help_heading = "fedirt-dp")]
    pub noise: Option<NoiseArg>,
    /// Settings to start from [default: published]
    #[arg(long, value_name = "NAME", help_heading = "fedirt-dp")]
    pub preset: Option<PresetArg>,
    /// Clipping norm C of a student's gradient [default: 3]
    #[arg(long, value_name = "C", allow_hyphen_values = true, help_heading = "fedirt-dp")]
    pub clip: Option<f64>,
    /// Share of students who take part in a round [default: 1]
    #[arg(long, value_name = "Q", allow_hyphen_values = true, help_heading = "fedirt-dp")]
    pub sampling_rate: Option<f64>,
    /// Leave out what shows whether the model is right: item fit, global fit, local dependence, dimensions,
    /// shape of ability, reliability
    #[arg(long, help_heading = "Model check")]
    pub no_diagnostics: bool,
    /// Only these: reliability, item_fit, scores, latent, q3, pairs, influence (the last must be asked for; q3 and pairs
    /// with more than 500 items)
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = parse_diagnostic,
        conflicts_with = "no_diagnostics",
        help_heading = "Model check"
    )]
    pub diagnostics: Vec<Diagnostic>,
    /// Folder for fit.json, fit.xlsx, tables (items.csv, sites.csv, scores.csv, score_table.csv, covariance.csv, diagnostics),
    /// report.html, and repeat.sh, which repeats the fit
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Leave out scores.csv
    #[arg(long, help_heading = "Output")]
    pub no_scores: bool,
    #[command(flatten)]
    pub score_scale: ScoreScaleArgs,
    /// Write everything that a site would send to transcript.jsonl (needs --out)
    #[arg(long, requires = "out", help_heading = "Output")]
    pub transcript: bool,
    /// Print fit.json on standard output, and nothing else there
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print no tables, warnings or notes: files and exit status say it all
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    pub quiet: bool,
}

impl FitArgs {
    /// Whether the fit is differentially private, so that nothing exact about a row may be shown.
    pub(crate) fn hides_students(&self) -> bool {
        self.private || self.algorithm == AlgorithmArg::FedirtDp
    }

    /// The largest gradient per student of a fit that has converged.
    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(1e-6)
    }
}

/// `fedirt sensitivity`.
#[derive(Debug, Args)]
#[command(after_help = SENSITIVITY_EXAMPLES)]
pub(crate) struct SensitivityArgs {
    /// Vary dependent items: merged into one, and one of each bundle alone
    #[arg(long, help_heading = "What is varied [default: both]")]
    pub lid: bool,
    /// Vary how much sites count, and leave out the largest
    #[arg(long, help_heading = "What is varied [default: both]")]
    pub sites: bool,
    #[command(flatten)]
    pub fit: FitArgs,
}

const SENSITIVITY_EXAMPLES: &str = "Examples:
  fedirt sensitivity schools.csv --site school
  fedirt sensitivity schools.csv --site school --sites --model rasch
  fedirt sensitivity exam.csv --lid --json

All options of fedirt fit that are about data, model and estimation apply to every fit.
Exit status: 0 all converged, 1 some did not, 2 bad input or usage.";

const FIT_EXAMPLES: &str = "Examples:
  fedirt fit schools.csv --site school
  fedirt fit north.csv south.csv west.csv --model grm --effects random --out results
  fedirt fit exam.csv --population mixture:2 --out skewed
  fedirt fit exam.csv --item-model essay=gpcm --missing 9,99 --json > fit.json

Exit status: 0 converged, 1 not converged (results are written), 2 bad input or usage.";

fn parse_diagnostic(text: &str) -> Result<Diagnostic, String> {
    let names = || Diagnostic::ALL.map(Diagnostic::name).join(", ");
    let found = Diagnostic::ALL.into_iter().find(|diagnostic| diagnostic.name() == text);
    found.ok_or_else(|| format!("there is no diagnostic {text:?}; there are {}", names()))
}

fn parse_bundle(text: &str) -> Result<Vec<String>, String> {
    let items: Vec<String> = text.split('+').map(|item| item.trim().to_owned()).collect();
    let fine = items.len() > 1 && items.iter().all(|item| !item.is_empty());
    if fine { Ok(items) } else { Err(format!("{text:?} is not ITEM+ITEM, such as i1+i2+i3")) }
}

fn parse_free(text: &str) -> Result<(String, Option<String>), String> {
    let (item, group) =
        text.rsplit_once(':').ok_or_else(|| format!("{text:?} is not ITEM:GROUP or ITEM:all"))?;
    Ok((item.to_owned(), (group != "all").then(|| group.to_owned())))
}

fn parse_item_model(text: &str) -> Result<(String, &'static dyn ItemModel), String> {
    let (name, model) = text.rsplit_once('=').ok_or_else(|| format!("{text:?} is not NAME=MODEL"))?;
    let model = items::model_called(model)
        .ok_or_else(|| format!("there is no model {model:?}; models are {}", items::model_names()))?;
    Ok((name.to_owned(), model))
}

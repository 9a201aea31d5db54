//! What a calibration found: the content of `fit.json`, from which tables, report and pages are drawn.
//!
//! What a mode does not release is `None` (`null`), never left out.

mod diagnostics;
mod dif;
mod item;
mod provenance;

pub use diagnostics::{
    Classical, Diagnostics, Dimensionality, GlobalFit, Influence, ItemFit, LatentCheck, Ld, NotAvailable,
    PersonFitShare, Q3, Reliability, ScoreRow, SiteInfluence,
};
pub use dif::{Dif, GroupSummary, LogisticDif, SiteHeterogeneity};
pub use item::{BundlePart, FitItem, NamedNumbers, OptionSummary};
pub use provenance::{InputFile, Provenance};

use crate::items::{self, default_model};
use crate::population::Component;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of [`Fit::format`] that this version writes.
pub const FORMAT: &str = "fedirt.fit/2";

/// The format before items had named parameters. In it, `1pl` stands for slopes of 1 with an SD of 1.
const FIRST_FORMAT: &str = "fedirt.fit/1";

/// A finished calibration. What is read in an older format is brought to [`FORMAT`] as it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Fit {
    /// Format name and version, [`FORMAT`].
    pub format: String,
    /// Model of the items, or `mixed` where they differ.
    pub model: String,
    /// School effects: `none`, `fixed` or `random`.
    pub effects: String,
    /// Algorithm that maximised the likelihood.
    pub algorithm: String,
    /// `plain`, `secure` or `private`.
    pub mode: String,
    /// Students with at least one answer to a calibrated item.
    pub n: u64,
    /// Maximised marginal log-likelihood.
    pub loglik: Option<f64>,
    /// Number of free parameters (school effects included).
    pub npar: usize,
    /// −2 log-likelihood + 2 npar.
    pub aic: Option<f64>,
    /// −2 log-likelihood + npar·ln n.
    pub bic: Option<f64>,
    /// −2 log-likelihood + npar·ln((n + 2)/24).
    pub sabic: Option<f64>,
    /// Whether the largest gradient per student fell below the tolerance.
    pub converged: Option<bool>,
    /// Rounds until the estimates stood, the start round included.
    pub rounds: usize,
    /// All exchanges with the sites: rounds, and the closing ones that bring score products, curves and effects.
    pub exchanges: usize,
    /// Numbers sent by one site, summed over all exchanges.
    pub numbers_sent: u64,
    /// Largest absolute gradient per student at the estimates.
    pub max_gradient: Option<f64>,
    /// `observed` (inverse observed information), `observed_by_item` (that of each item by itself, in large banks) or `sandwich`
    /// (with weights).
    pub se_type: Option<String>,
    /// Largest over smallest eigenvalue of the information.
    pub condition_number: Option<f64>,
    /// Integration over ability.
    pub quadrature: Quadrature,
    /// Distribution of ability (school effects apart).
    pub latent: Latent,
    /// Standard deviation of random school effects.
    pub site_sd: Option<f64>,
    /// Its standard error.
    pub se_site_sd: Option<f64>,
    /// A 95 % interval for it, symmetric about its logarithm.
    #[serde(default)]
    pub site_sd_interval: Option<[f64; 2]>,
    /// One entry per item of the codebook, in its order.
    pub items: Vec<FitItem>,
    /// One entry per site, in the order they were given.
    pub sites: Vec<FitSite>,
    /// What happened round by round.
    pub trace: Vec<TraceEntry>,
    /// Expected answers by ability: the empirical points of the characteristic curves.
    pub curves: Option<Vec<Curve>>,
    /// Posterior distribution of ability, summed over students.
    pub ability_histogram: Option<Histogram>,
    /// Whether the model is right, where that was asked for.
    pub diagnostics: Option<Diagnostics>,
    /// The differential-privacy statement of a private run.
    pub privacy: Option<Privacy>,
    /// SHA-256 of the codebook, hexadecimal.
    pub codebook_hash: String,
    /// Everything a reader should know before using the numbers.
    pub warnings: Vec<Warning>,
    /// Seed of simulated randomness, where the algorithm used any.
    pub seed: Option<u64>,
    /// Version of fedirt that wrote this.
    pub version: String,
    /// Options, command, time and files, where whoever ran the fit gave them.
    #[serde(default)]
    pub provenance: Option<Provenance>,
}

/// The model of all calibrated items, or `mixed` where they differ.
pub fn common_model(items: &[FitItem]) -> String {
    let mut models = items.iter().filter(|i| i.categories > 1).map(|i| i.model.as_str());
    let first = models.next().unwrap_or(default_model(2).name());
    if models.all(|m| m == first) { first } else { "mixed" }.to_owned()
}

impl Serialize for Fit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Fit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fit = Self::deserialize(deserializer)?;
        match fit.format.as_str() {
            FORMAT => {}
            FIRST_FORMAT => {
                FORMAT.clone_into(&mut fit.format);
                fit.model = items::name_in_first_format(&fit.model).to_owned();
                for item in &mut fit.items {
                    item.model = items::name_in_first_format(&item.model).to_owned();
                    item.name_parameters();
                }
            }
            other => {
                let known = format!("this version reads {FORMAT:?} and {FIRST_FORMAT:?}");
                return Err(D::Error::custom(format!("its format is {other:?}, {known}")));
            }
        }
        Ok(fit)
    }
}

impl Fit {
    /// Whether all answers come from one site in the open, as those of a file on one's own machine: there are no sites to
    /// compare, and nothing is hidden from anybody.
    pub fn of_one_site(&self) -> bool {
        self.sites.len() == 1 && self.mode == "plain" && self.effects == "none"
    }
}

/// Grid over ability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quadrature {
    /// Number of nodes.
    pub nodes: usize,
    /// Lowest node.
    pub from: f64,
    /// Highest node.
    pub to: f64,
    /// `density` or `paper` (bin mass).
    pub weights: String,
}

/// Distribution of ability on the reported scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latent {
    /// Mean (0 unless anchored items free it).
    pub mean: f64,
    /// Standard deviation (1 unless estimated).
    pub sd: f64,
    /// Standard error of the standard deviation, where estimated.
    pub se_sd: Option<f64>,
    /// Standard error of the mean, where estimated.
    pub se_mean: Option<f64>,
    /// The estimated shape; none where ability is assumed to be normal.
    #[serde(default)]
    pub shape: Option<LatentShape>,
    /// The groups of students that were compared, the reference group first.
    #[serde(default)]
    pub groups: Vec<GroupSummary>,
}

impl Latent {
    /// Standard normal ability.
    pub fn standard_normal() -> Self {
        Self { mean: 0.0, sd: 1.0, se_sd: None, se_mean: None, shape: None, groups: Vec::new() }
    }
}

/// The estimated shape of the distribution of ability, on the reported scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatentShape {
    /// The family with its size, such as `mixture:2`.
    pub population: String,
    /// Its parameters. Their errors are those of joint estimation with the items.
    pub parameters: Vec<LatentParameter>,
    /// The components of a mixture.
    pub components: Vec<Component>,
    /// Nodes.
    pub theta: Vec<f64>,
    /// The estimated weight of each node; they add up to 1.
    pub weights: Vec<f64>,
    /// The mean of the third power of standardised ability: 0 for a normal one, positive where the tail is on the right.
    #[serde(default)]
    pub skewness: f64,
    /// The mean of its fourth power less 3, which is that of a normal one: positive with heavy tails, negative with two humps.
    #[serde(default)]
    pub kurtosis: f64,
}

/// An estimated parameter of the distribution of ability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatentParameter {
    /// Its name.
    pub name: String,
    /// Its estimate.
    pub estimate: f64,
    /// Its standard error, where there is one.
    pub se: Option<f64>,
}

/// One site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitSite {
    /// Name of the site.
    pub name: String,
    /// Its students.
    pub n: u64,
    /// Its effect: positive = abler; fixed effects sum to zero; random ones are empirical-Bayes estimates.
    pub effect: Option<f64>,
    /// Standard error of the effect.
    pub se: Option<f64>,
}

/// One round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// Round, counted from 1 (the start round).
    pub round: usize,
    /// Log-likelihood at the parameters that were asked about.
    pub loglik: Option<f64>,
    /// Largest absolute gradient per student there.
    pub max_gradient: Option<f64>,
    /// Largest change of a parameter since the round before.
    pub max_change: Option<f64>,
    /// Items with the largest gradients, at most three, largest first.
    pub slowest_items: Vec<String>,
}

/// Expected answers to one item by ability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Item.
    pub item: String,
    /// Abilities (reported scale).
    pub theta: Vec<f64>,
    /// For each category, the share of answers at each ability.
    pub observed: Vec<Vec<f64>>,
    /// Expected number of answers at each ability.
    pub weight: Vec<f64>,
}

/// Counts between edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Edges, one more than counts.
    pub edges: Vec<f64>,
    /// Expected number of students in each bin.
    pub counts: Vec<f64>,
}

/// Covariance of estimates, with the name of each row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Covariance {
    /// Names, such as `item.a`.
    pub names: Vec<String>,
    /// The matrix as blocks along its diagonal: one where all covariances are known, one for each item of a large bank, none where
    /// nothing is known.
    pub blocks: Vec<nalgebra::DMatrix<f64>>,
}

/// What a private run promises.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Privacy {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// ε at the same δ where a student's answers are replaced by others, not zeroed.
    pub epsilon_replaced: f64,
    /// Name of the mechanism.
    pub mechanism: String,
    /// What neighbouring data sets are.
    pub adjacency: String,
    /// Noise multiplier.
    pub noise_multiplier: f64,
    /// Planned rounds.
    pub rounds: usize,
    /// Sites that made the noise; 0 in results of versions that did not say.
    #[serde(default)]
    pub sites: usize,
    /// How many of them may work against the others, and still ε holds.
    #[serde(default)]
    pub colluders: usize,
    /// Against whom ε holds, in words.
    #[serde(default)]
    pub holds_against: String,
    /// Where the standard errors of slopes and difficulties come from; empty where the mechanism does not say it.
    #[serde(default)]
    pub error_sources: Vec<ErrorSource>,
}

/// The parts of a private estimate's standard error: se² = sampling² + noise² + prior².
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorSource {
    /// Item.
    pub item: String,
    /// `a`, or `b` with its step where there are several.
    pub parameter: String,
    /// Standard error.
    pub se: f64,
    /// Because there are no more students.
    pub sampling: f64,
    /// Because of the noise.
    pub noise: f64,
    /// Because the prior has drawn the estimate towards itself, by an unknown amount.
    pub prior: f64,
    /// How much of what is known about the parameter is prior: from 0 to 1.
    pub prior_share: f64,
    /// How far the prior has drawn the estimate towards itself, to first order: without it the estimate would be larger by this
    /// much (or smaller, where it is negative).
    pub drawn: f64,
    /// Whether that is more than a fifth of the standard error of a difficulty, or its `prior_share` more than a tenth: such an
    /// estimate leans on the prior.
    pub leans_on_prior: bool,
}

/// A remark on data or estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable name for scripts, such as `item_dropped`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

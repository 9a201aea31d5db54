//! The registry of everything that can leave a site: one entry per statistic, read by whoever must know its
//! name, size, bound, or whether it may leave at all.

use crate::design::Design;
use serde::{Deserialize, Serialize};

/// Who may learn what; see SECURITY.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The coordinator sees each site's sums.
    Plain,
    /// The coordinator sees sums over the cohort.
    Secure,
    /// The coordinator sees noisy sums over the cohort.
    Private,
}

impl Mode {
    /// The name used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Secure => "secure",
            Self::Private => "private",
        }
    }
}

/// How the coordinator combines what sites send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combination {
    /// Added up over sites.
    Sum,
    /// Kept beside the site's name.
    BySite,
}

/// A statistic that a site can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Number of students.
    Students,
    /// Sum of their weights.
    Weight,
    /// Answers to each item.
    Answers,
    /// Answers in each category of each item.
    CategoryCounts,
    /// Two-way tables of all pairs of items.
    PairTable,
    /// Products of item scores of different students of a site, over its size.
    SchoolProducts,
    /// The same of answer counts.
    SchoolPairs,
    /// Marginal log-likelihood.
    Loglik,
    /// Its gradient in the item parameters.
    Gradient,
    /// Minus its second derivatives, the school effect profiled out or integrated.
    Information,
    /// The same as if ability were observed, item by item.
    CompleteInformation,
    /// Number of sites that have a finite effect, by linked part of the design.
    EffectSites,
    /// Sum of school effects, by linked part.
    EffectSum,
    /// Sum of the effects' derivatives in the item parameters, by linked part.
    EffectLoadings,
    /// Sum of the inverse information about the effects, by linked part.
    EffectVariances,
    /// Derivative of a site's log-likelihood in its own effect.
    EffectGradient,
    /// A site's effect and its standard error.
    OwnEffect,
    /// Item parameters after training at the site, times its students.
    TrainedParameters,
    /// A site's effect after training there.
    TrainedEffect,
    /// Difficulties and slopes of a fit at the site alone, times its students.
    LocalEstimates,
    /// Students behind each local estimate.
    LocalWeights,
    /// Variances of the local estimates, times squared students.
    LocalVariances,
    /// Expected answers in each category by ability.
    Curves,
    /// Expected number of students by ability.
    AbilityHistogram,
    /// Products of students' (or sites') scores, for robust standard errors.
    ScoreProducts,
    /// Sums of clipped, whitened student scores, with the site's share of the noise.
    NoisyScores,
}

/// What is known about a statistic before anyone sends it.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// Stable name for files and logs.
    pub name: &'static str,
    /// One sentence for the data officer.
    pub meaning: &'static str,
    /// How it is combined.
    pub combination: Combination,
    /// Modes in which it may leave a site.
    pub modes: &'static [Mode],
}

const ANY_EXACT: &[Mode] = &[Mode::Plain, Mode::Secure];
const PRIVATE: &[Mode] = &[Mode::Private];
const PLAIN: &[Mode] = &[Mode::Plain];

impl Statistic {
    /// The registry.
    pub fn info(self) -> Info {
        use Combination::{BySite, Sum};
        let (name, meaning, combination, modes) = match self {
            Self::Students => ("students", "how many students the site counts", Sum, ANY_EXACT),
            Self::Weight => ("weight", "the sum of the students' weights", Sum, ANY_EXACT),
            Self::Answers => ("answers", "how many students answered each item", Sum, ANY_EXACT),
            Self::CategoryCounts => {
                ("category_counts", "how many answers fell into each category", Sum, ANY_EXACT)
            }
            Self::PairTable => {
                ("pair_table", "how many students gave each pair of answers to two items", Sum, ANY_EXACT)
            }
            Self::SchoolProducts => (
                "school_products",
                "how alike students of one site answer, over the site's size",
                Sum,
                ANY_EXACT,
            ),
            Self::SchoolPairs => {
                ("school_pairs", "how many pairs of students stand behind school_products", Sum, ANY_EXACT)
            }
            Self::Loglik => ("loglik", "how well the current parameters explain the answers", Sum, ANY_EXACT),
            Self::Gradient => (
                "gradient",
                "in which direction each item parameter would explain them better",
                Sum,
                ANY_EXACT,
            ),
            Self::Information => {
                ("information", "how sharply the answers determine the item parameters", Sum, ANY_EXACT)
            }
            Self::CompleteInformation => {
                ("complete_information", "the same if abilities were known, item by item", Sum, ANY_EXACT)
            }
            Self::EffectSites => ("effect_sites", "1 if the site has a finite school effect", Sum, ANY_EXACT),
            Self::EffectSum => ("effect_sum", "the school effect, added to the others'", Sum, ANY_EXACT),
            Self::EffectLoadings => {
                ("effect_loadings", "how the school effect depends on the item parameters", Sum, ANY_EXACT)
            }
            Self::EffectVariances => {
                ("effect_variances", "the variance of the school effect", Sum, ANY_EXACT)
            }
            Self::EffectGradient => {
                ("effect_gradient", "in which direction the school effect would move", BySite, PLAIN)
            }
            Self::OwnEffect => {
                ("own_effect", "the school effect and its standard error, by name", BySite, ANY_EXACT)
            }
            Self::TrainedParameters => {
                ("trained_parameters", "item parameters after local training, times students", Sum, PLAIN)
            }
            Self::TrainedEffect => {
                ("trained_effect", "the school effect after local training", BySite, PLAIN)
            }
            Self::LocalEstimates => (
                "local_estimates",
                "slopes and difficulties fitted at the site alone, times students",
                Sum,
                PLAIN,
            ),
            Self::LocalWeights => ("local_weights", "students behind each local estimate", Sum, PLAIN),
            Self::LocalVariances => {
                ("local_variances", "variances of the local estimates, times squared students", Sum, PLAIN)
            }
            Self::Curves => ("curves", "expected answers in each category by ability", Sum, ANY_EXACT),
            Self::AbilityHistogram => {
                ("ability_histogram", "expected number of students by ability", Sum, ANY_EXACT)
            }
            Self::ScoreProducts => {
                ("score_products", "products of score vectors, for robust standard errors", Sum, ANY_EXACT)
            }
            Self::NoisyScores => (
                "noisy_scores",
                "sums of what each student adds to the estimates, limited in size, with noise that hides each student",
                Sum,
                PRIVATE,
            ),
        };
        Info { name, meaning, combination, modes }
    }

    /// Whether the size of a number grows with the number of sites, not of students.
    pub fn per_site(self) -> bool {
        matches!(
            self,
            Self::EffectSites
                | Self::EffectSum
                | Self::EffectLoadings
                | Self::EffectVariances
                | Self::OwnEffect
                | Self::TrainedEffect
        )
    }

    /// A bound on what one student of weight 1 (or one site, see [`Statistic::per_site`]) can add to one number
    /// of this statistic, for fixed point.
    ///
    /// Generous: ability stays within ±26 (nodes to 6, effects to 20) and parameters within a site's policy.
    pub fn bound(self, design: &Design) -> f64 {
        let items = design.len() as f64;
        let top = (0..design.len()).map(|j| design.categories(j) - 1).max().unwrap_or(1) as f64;
        match self {
            Self::Students | Self::Weight | Self::Answers | Self::CategoryCounts | Self::PairTable => 1.0,
            Self::Curves | Self::AbilityHistogram | Self::EffectSites | Self::LocalWeights => 1.0,
            // Words of the noise's own lattice: never written in fixed point.
            Self::NoisyScores => 1.0,
            Self::SchoolProducts | Self::SchoolPairs => (1.0 + top * top) * 2.0,
            Self::Loglik => 1000.0 * items,
            Self::Gradient | Self::EffectGradient => 64.0 * top * items,
            Self::Information | Self::CompleteInformation => 65_536.0 * top * top * items,
            Self::ScoreProducts => 65_536.0 * top * top,
            Self::EffectSum | Self::OwnEffect | Self::TrainedEffect => 32.0,
            Self::EffectLoadings => 1e6,
            Self::EffectVariances => 1e9,
            Self::TrainedParameters | Self::LocalEstimates => 1e4,
            Self::LocalVariances => 1e8,
        }
    }
}

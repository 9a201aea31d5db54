//! What the centre asks and what a site answers: the only types that cross between them.

use crate::design::Design;
use crate::quadrature::GridSpec;
use crate::statistics::{Combination, Statistic};
use serde::{Deserialize, Serialize};

/// What is assumed about differences between sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effects {
    /// All sites draw from one population.
    None,
    /// Each site has an effect of its own, estimated and kept at the site.
    Fixed,
    /// Effects are normal with mean zero, integrated out inside each site.
    Random,
}

impl Effects {
    /// The name used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Fixed => "fixed",
            Self::Random => "random",
        }
    }
}

/// Parameters at which sites evaluate: item parameters for standardised ability, and the SD of random effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// (a_j, d_j1..d_jm) item after item.
    pub psi: Vec<f64>,
    /// SD of random school effects in units of the ability SD; ignored otherwise.
    pub site_sd: f64,
}

/// How many derivatives are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Curvature {
    /// Gradient only.
    None,
    /// Information as if abilities were observed.
    Complete,
    /// Observed information.
    Observed,
}

/// How sites tell how alike their students answer, from which the centre guesses the SD between sites. With few
/// sites such sums of squares name the sites behind them (two or three unknown integers have one solution).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BetweenSites {
    /// As they are.
    Exact,
    /// Each site's terms rounded to three significant digits.
    Rounded,
    /// Not at all: the centre starts from a default.
    Withheld,
}

/// What sites need to compute the standard error of their own effect at home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectErrors {
    /// Covariance of the item parameters before centring (with random effects, of them and log τ), lower triangle
    /// row by row.
    pub covariance: Vec<f64>,
    /// Mean derivative of the effects in the item parameters, one row per linked part.
    pub mean_loadings: Vec<f64>,
    /// Number of sites with an effect, by linked part.
    pub sites: Vec<f64>,
    /// Σ 1/information about the effects, by linked part.
    pub variances: Vec<f64>,
    /// Derivative of the ability SD in the item parameters (empty where it is fixed).
    pub sd_gradient: Vec<f64>,
    /// Products of scores over all sites, lower triangle (empty without weights).
    pub products: Vec<f64>,
    /// The factor on the effects' parts of the products.
    pub effect_unit: f64,
}

/// The question of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Counts by category.
    Counts,
    /// Two-way tables, from which the centre starts.
    Start {
        /// What is told about differences between sites.
        between: BetweenSites,
    },
    /// Log-likelihood and derivatives at some points.
    Evaluate {
        /// Where.
        points: Vec<Point>,
        /// How deep.
        curvature: Curvature,
        /// Whether sums over the sites' effects are wanted: in `secure` at the end only, once.
        effect_totals: bool,
    },
    /// The published protocol: log-likelihood and gradient at given school effects.
    Published {
        /// Item parameters.
        psi: Vec<f64>,
        /// Effect of each site, in the order of the cohort.
        effects: Vec<f64>,
        /// Sites that take part, where not all do.
        chosen: Option<Vec<usize>>,
    },
    /// Federated averaging: some steps of gradient ascent at the site.
    Train {
        /// Slopes and difficulties, item after item.
        items: Vec<f64>,
        /// Effect of each site.
        effects: Vec<f64>,
        /// Sites that take part in this round.
        chosen: Vec<usize>,
        /// Steps.
        epochs: usize,
        /// Step size on the mean log-likelihood per student.
        learning_rate: f64,
    },
    /// A fit at the site alone.
    LocalFit {
        /// Largest gradient per student at which the local fit stops.
        tolerance: f64,
        /// Most local iterations.
        iterations: usize,
    },
    /// Products of scores at the estimates, for robust standard errors of weighted fits.
    Products {
        /// The estimates.
        point: Point,
        /// Factor on the effects' parts, which brings them to the size of the items' (students per site).
        effect_unit: f64,
        /// Whether each site's products are rounded to three significant digits (random effects in `secure`).
        rounded: bool,
    },
    /// The end: final parameters, and the last sums.
    Close {
        /// The estimates.
        point: Point,
        /// SD of ability on the reported scale.
        sd: f64,
        /// What a site needs for its own standard error.
        errors: Option<EffectErrors>,
        /// Fixed school effects of algorithms that broadcast them; sites profile their own otherwise.
        effects: Option<Vec<f64>>,
        /// Whether sites send their effect by name.
        publish_effects: bool,
    },
}

/// A round's question with what it refers to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Items.
    pub design: Design,
    /// Linked part of the design that each item belongs to.
    pub parts: Vec<usize>,
    /// Grid over standardised ability.
    pub grid: GridSpec,
    /// Factor on the weights, the same at all sites.
    pub weight_scale: f64,
    /// Whether students carry weights.
    pub weighted: bool,
    /// Assumption about sites.
    pub effects: Effects,
    /// The question.
    pub ask: Ask,
}

/// Abilities (standardised) at which empirical curves and the histogram are given: −4.8, −4.4, …, 4.8.
pub const CURVE_POINTS: usize = 25;
/// Distance between them.
pub const CURVE_STEP: f64 = 0.4;

/// One vector of an answer: what, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Which statistic.
    pub statistic: Statistic,
    /// Its number of entries.
    pub len: usize,
}

/// Entries of a lower triangle.
pub fn triangle(size: usize) -> usize {
    size * (size + 1) / 2
}

impl Request {
    /// Number of linked parts.
    pub fn part_count(&self) -> usize {
        self.parts.iter().max().map_or(1, |p| p + 1)
    }

    /// Parameters that the gradient covers: items, and the SD of random effects.
    pub fn coordinates(&self) -> usize {
        self.design.parameters() + usize::from(self.effects == Effects::Random)
    }

    /// The vectors of an evaluation at one point.
    pub(crate) fn schema_of_point(&self, curvature: Curvature, effect_totals: bool) -> Vec<Slot> {
        let slot = |statistic, len| Slot { statistic, len };
        let (p, parts) = (self.design.parameters(), self.part_count());
        let mut slots = vec![slot(Statistic::Loglik, 1), slot(Statistic::Gradient, self.coordinates())];
        match curvature {
            Curvature::None => {}
            Curvature::Complete => {
                let blocks = (0..self.design.len()).map(|j| triangle(self.design.span(j).len()));
                slots.push(slot(Statistic::CompleteInformation, blocks.sum()));
            }
            Curvature::Observed => {
                slots.push(slot(Statistic::Information, triangle(self.coordinates())));
            }
        }
        if self.effects == Effects::Fixed && effect_totals {
            slots.push(slot(Statistic::EffectSites, parts));
            slots.push(slot(Statistic::EffectSum, parts));
            if curvature == Curvature::Observed {
                slots.push(slot(Statistic::EffectLoadings, parts * p));
                slots.push(slot(Statistic::EffectVariances, parts));
            }
        }
        slots
    }

    /// The vectors of an answer, in order.
    pub fn schema(&self) -> Vec<Slot> {
        let slot = |statistic, len| Slot { statistic, len };
        let (p, cells, j) = (self.design.parameters(), self.design.cells(), self.design.len());
        let mut slots = Vec::new();
        match &self.ask {
            Ask::Counts => {
                slots.push(slot(Statistic::Students, 1));
                slots.push(slot(Statistic::Weight, 1));
                slots.push(slot(Statistic::CategoryCounts, cells));
            }
            Ask::Start { between } => {
                slots.push(slot(Statistic::Students, 1));
                slots.push(slot(Statistic::Weight, 1));
                slots.push(slot(Statistic::PairTable, triangle(cells)));
                if self.effects != Effects::None && *between != BetweenSites::Withheld {
                    slots.push(slot(Statistic::SchoolProducts, triangle(j)));
                    slots.push(slot(Statistic::SchoolPairs, triangle(j)));
                }
            }
            Ask::Evaluate { points, curvature, effect_totals } => {
                for _ in points {
                    slots.extend(self.schema_of_point(*curvature, *effect_totals));
                }
            }
            Ask::Published { .. } => {
                slots.push(slot(Statistic::Loglik, 1));
                slots.push(slot(Statistic::Gradient, p));
                slots.push(slot(Statistic::EffectGradient, 1));
            }
            Ask::Train { .. } => {
                slots.push(slot(Statistic::Weight, 1));
                slots.push(slot(Statistic::TrainedParameters, p));
                slots.push(slot(Statistic::TrainedEffect, 1));
            }
            Ask::LocalFit { .. } => {
                slots.push(slot(Statistic::LocalWeights, p));
                slots.push(slot(Statistic::LocalEstimates, p));
                slots.push(slot(Statistic::LocalVariances, p));
            }
            Ask::Products { .. } => {
                let size = match self.effects {
                    Effects::None => p,
                    Effects::Fixed => p + self.part_count(),
                    Effects::Random => p + 1,
                };
                slots.push(slot(Statistic::ScoreProducts, triangle(size)));
            }
            Ask::Close { publish_effects, .. } => {
                slots.push(slot(Statistic::Students, 1));
                slots.push(slot(Statistic::Loglik, 1));
                slots.push(slot(Statistic::Gradient, self.coordinates()));
                slots.push(slot(Statistic::Answers, j));
                slots.push(slot(Statistic::Curves, cells * CURVE_POINTS));
                slots.push(slot(Statistic::AbilityHistogram, CURVE_POINTS));
                if *publish_effects {
                    slots.push(slot(Statistic::OwnEffect, 2));
                }
            }
        }
        slots
    }
}

/// A site's answer: one vector per slot of the request's schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The vectors, in the order of the schema.
    pub vectors: Vec<Vec<f64>>,
}

/// All sites' answers, combined.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    sums: Vec<(Statistic, Vec<f64>)>,
    by_site: Vec<Vec<(Statistic, Vec<f64>)>>,
}

impl Aggregate {
    /// An aggregate from sums, in the order of the schema, and what is kept by site.
    pub fn new(sums: Vec<(Statistic, Vec<f64>)>, by_site: Vec<Vec<(Statistic, Vec<f64>)>>) -> Self {
        Self { sums, by_site }
    }

    /// The sum of a statistic; with several points, the `occurrence`-th.
    pub fn sum(&self, statistic: Statistic, occurrence: usize) -> &[f64] {
        self.sums.iter().filter(|(s, _)| *s == statistic).nth(occurrence).map_or(&[], |(_, v)| v)
    }

    /// A statistic of which some sum is not finite, if there is one.
    pub fn not_finite(&self) -> Option<Statistic> {
        self.sums.iter().find(|(_, v)| v.iter().any(|x| !x.is_finite())).map(|(statistic, _)| *statistic)
    }

    /// The first number of a sum, or zero.
    pub fn scalar(&self, statistic: Statistic) -> f64 {
        self.sum(statistic, 0).first().copied().unwrap_or(0.0)
    }

    /// What each site sent of a statistic that is kept by site.
    pub fn by_site(&self, statistic: Statistic) -> Vec<&[f64]> {
        debug_assert_eq!(statistic.info().combination, Combination::BySite);
        let of = |site: &'_ [(Statistic, Vec<f64>)]| site.iter().position(|(s, _)| *s == statistic);
        self.by_site.iter().filter_map(|site| of(site).map(|at| site[at].1.as_slice())).collect()
    }
}

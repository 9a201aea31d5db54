//! What is to be calibrated: the items, the assumptions, what the coordinator may see, and who has enrolled.

use super::algorithm::{AlgorithmKind, Settings};
use super::structure::Anchor;
use crate::code_set::{CodeSet, MergedCode};
use crate::diagnostics::dif::PASSES;
use crate::exchange::Effects;
use crate::population::Population;
use crate::questions::diagnose::Diagnostic;
use crate::questions::start::BetweenSites;

/// An item of the codebook.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemPlan {
    /// Name.
    pub name: String,
    /// Model; `2pl` or `gpcm` by the number of categories where none is given.
    pub model: Option<String>,
    /// Category codes of the codebook; those seen at any site where none are given.
    pub codes: Option<Vec<u8>>,
    /// Codes that the sites have turned into one of these: categories that were merged.
    pub merged: Vec<MergedCode>,
    /// Given parameters.
    pub anchor: Option<Anchor>,
}

/// What is to be calibrated, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The codebook.
    pub items: Vec<ItemPlan>,
    /// Assumption about sites.
    pub effects: Effects,
    /// Distribution of ability.
    pub population: Population,
    /// Maximisation.
    pub settings: Settings,
    /// Whether sites send their effects by name.
    pub publish_effects: bool,
    /// What the coordinator may see.
    pub secrecy: Secrecy,
    /// What is asked for at the estimates to see whether the model is right.
    pub diagnostics: Vec<Diagnostic>,
    /// Names of the groups of students that are compared, the reference group first; empty where none are.
    pub groups: Vec<String>,
    /// Whether items that work differently are taken out of the score that students are matched by, in further passes.
    pub purify: bool,
    /// Whether sites are compared item by item too.
    pub compare_sites: bool,
}

impl Plan {
    /// Whether groups of students, or sites, are compared at the estimates. In large banks they are not: each group's information
    /// would grow with the square of the items.
    pub fn compares(&self) -> bool {
        (self.groups.len() > 1 || self.compare_sites) && !self.by_item()
    }

    /// Whether the bank has so many items that nothing is asked about pairs of them: numbers that grow with the square of the items
    /// would be too many. Then Newton, which needs them, makes way for EM, and standard errors are those of each item by itself.
    /// It follows from the plan alone, so that coordinator, sites and previews agree on it.
    pub fn by_item(&self) -> bool {
        self.items.len() > self.settings.pairwise_items
    }

    /// The algorithm that is used.
    pub fn algorithm(&self) -> AlgorithmKind {
        match self.settings.algorithm {
            AlgorithmKind::Newton if self.by_item() => AlgorithmKind::Em,
            as_planned => as_planned,
        }
    }

    /// Most passes in which groups and sites are compared.
    pub fn passes(&self) -> usize {
        match (self.compares(), self.groups.len() > 1 && self.purify) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => PASSES,
        }
    }

    /// Most points of one evaluation: the starting points that are compared, each with every start of the population.
    pub fn most_points(&self) -> usize {
        self.settings.starts * self.population.starts().len()
    }
}

/// What the coordinator may see, which decides what can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Secrecy {
    /// Each site's sums.
    #[default]
    BySite,
    /// Sums over all sites only.
    Sums {
        /// Fewest sites that must give an item, or a pair of items.
        n_min: usize,
        /// Sites that do not work with the coordinator: sums of squares over fewer than six name them.
        honest: usize,
    },
}

/// Most exchanges that follow the estimation, whether or not it converged: the information at the solution, products of
/// scores (weighted fits), the closing sums, sums for diagnostics where some are listed, and the passes in which groups are compared.
/// [`Settings::max_rounds`] does not count them.
pub fn closing_exchanges(plan: &Plan) -> u32 {
    3 + u32::from(!plan.diagnostics.is_empty()) + plan.passes() as u32
}

/// Fewest rounds in which anything can be estimated: the opening sums and one evaluation.
pub const FEWEST_ROUNDS: u32 = 2;

/// Fewest honest sites for sums of squares over sites.
pub(super) const POWER_SUMS: usize = 6;

impl Secrecy {
    pub(super) fn by_site(self) -> bool {
        self == Self::BySite
    }

    /// How sums of squares over sites may be asked for.
    pub(super) fn between(self) -> BetweenSites {
        match self {
            Self::BySite => BetweenSites::Exact,
            Self::Sums { honest, .. } if honest >= POWER_SUMS => BetweenSites::Rounded,
            Self::Sums { .. } => BetweenSites::Withheld,
        }
    }
}

/// What a site said when it enrolled.
#[derive(Debug, Clone, PartialEq)]
pub struct Enrolled {
    /// Name.
    pub name: String,
    /// Rows.
    pub students: u64,
    /// For each item of the codebook, the codes it uses; none where it does not give the item.
    pub codes: Vec<CodeSet>,
    /// The groups of students that it has, as a bit mask in the plan's order.
    pub groups: u64,
    /// Whether its students carry weights.
    pub weighted: bool,
    /// Sum of the weights.
    pub total_weight: f64,
}

/// The sum of the sites' weights, whatever their order: added from the smallest up.
pub fn total_weight(weights: impl Iterator<Item = f64>) -> f64 {
    let mut weights: Vec<f64> = weights.collect();
    weights.sort_by(f64::total_cmp);
    weights.iter().sum()
}

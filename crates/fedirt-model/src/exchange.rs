//! What the centre sends to sites: a question with what it refers to. What comes back is a
//! [`Summary`](crate::questions::Summary); nothing else crosses.

use crate::design::Design;
use crate::population::Population;
use crate::questions::{Ask, Axis, Malformed, Need, Tensor};
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

/// Parameters at which sites evaluate: those of items and population for standardised ability, and the SD of random
/// effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// (a_j, d_j1..d_jm) item after item, then the parameters of the population.
    pub psi: Vec<f64>,
    /// SD of random school effects in units of the ability SD; ignored otherwise.
    pub site_sd: f64,
}

/// A round's question with what it refers to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Items.
    pub design: Design,
    /// Linked part of the design that each item belongs to.
    pub parts: Vec<usize>,
    /// Distribution of standardised ability, and the nodes at which it is evaluated.
    pub population: Population,
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

/// Most quadrature nodes.
const MAX_NODES: usize = 1001;

/// Entries of a lower triangle.
pub fn triangle(size: usize) -> usize {
    size * (size + 1) / 2
}

impl Request {
    /// Number of linked parts.
    pub fn part_count(&self) -> usize {
        self.parts.iter().max().map_or(1, |p| p + 1)
    }

    /// Number of parameters of items and population.
    pub fn parameters(&self) -> usize {
        self.design.parameters() + self.population.size()
    }

    /// The parameters of the population as an axis of a tensor: every site stands behind them, and behind those of a group
    /// the sites that have it.
    pub(crate) fn population_axis(&self) -> Axis {
        match self.population.groups() {
            1 => Axis::shared(self.population.size()),
            // Mean and SD of each group but the reference.
            groups => (1..groups).fold(Axis::shared(0), |axis, g| axis.then(Axis::shared(2).in_group(g))),
        }
    }

    /// The same parameters as an axis of a tensor.
    pub(crate) fn parameter_axis(&self) -> Axis {
        Axis::parameters(&self.design).then(self.population_axis())
    }

    /// Parameters that the gradient covers: items, population, and the SD of random effects.
    pub fn coordinates(&self) -> usize {
        self.parameters() + usize::from(self.effects == Effects::Random)
    }

    /// The same parameters as an axis of a tensor.
    pub(crate) fn coordinate_axis(&self) -> Axis {
        self.parameter_axis().then(Axis::shared(usize::from(self.effects == Effects::Random)))
    }

    /// The tensors of an answer, in order.
    pub fn tensors(&self) -> Vec<Tensor> {
        self.ask.tensors(self)
    }

    /// Item parameters at which a site evaluates its likelihood to answer.
    pub fn points(&self) -> Vec<Vec<f64>> {
        self.ask.points(self)
    }

    /// What a site must give to stand behind each number that is added up, in order.
    pub fn needs(&self) -> Vec<Need> {
        self.tensors().iter().filter(|tensor| tensor.summed()).flat_map(|t| t.shape.needs()).collect()
    }

    /// Whether a site that gives certain items (of the design), and has certain groups of students, stands behind a number.
    pub fn meets(
        &self,
        need: Need,
        gives: impl Fn(usize) -> bool,
        has_group: impl Fn(usize) -> bool,
    ) -> bool {
        match need {
            Need::Nothing => true,
            Need::Item(j) => gives(j),
            Need::Pair(j, l) => gives(j) && gives(l),
            Need::All => (0..self.design.len()).all(gives),
            Need::Part(part) => (0..self.design.len()).any(|j| self.parts[j] == part && gives(j)),
            Need::Group(g) => has_group(g),
            Need::InGroup(g, j, l) => has_group(g) && gives(j) && gives(l),
            Need::AllInGroup(g) => has_group(g) && (0..self.design.len()).all(gives),
        }
    }

    /// Checks shapes and numbers, so that no request, however strange, makes a site fail.
    pub fn check(&self, columns: usize) -> Result<(), Malformed> {
        let j = self.design.len();
        if j == 0 || self.parts.len() != j || self.parts.iter().any(|part| *part >= j) {
            return Err(Malformed::Parts);
        }
        if let Some(item) = self.design.items().iter().find(|item| item.column >= columns) {
            return Err(Malformed::NoSuchItem { column: item.column, columns });
        }
        let mut seen = vec![false; columns];
        for item in self.design.items() {
            if std::mem::replace(&mut seen[item.column], true) {
                return Err(Malformed::Twice { column: item.column });
            }
        }
        let Population { nodes, range, family } = self.population;
        if !self.population.exists() {
            return Err(Malformed::Population(family));
        }
        if !(2..=MAX_NODES).contains(&nodes) || !(f64::MIN_POSITIVE..=100.0).contains(&range) {
            return Err(Malformed::Grid { nodes, range });
        }
        if !(self.weight_scale.is_finite() && self.weight_scale > 0.0) {
            return Err(Malformed::NotPositive("the factor on weights"));
        }
        self.ask.check(self)
    }
}

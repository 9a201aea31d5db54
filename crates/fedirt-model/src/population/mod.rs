//! How ability is distributed: nodes, their log weights, and the parameters on which the weights depend.
//!
//! A [`Population`] is what a plan and every question carry. Its parameters are estimated with those of the items and
//! stand behind them wherever parameters stand (`psi` of a [`Point`](crate::exchange::Point), gradients, information). At given
//! parameters it is a [`Grid`]: nodes with log weights and the weights' derivatives. Kernels see only tables of node ×
//! category and the grid's log weights; nothing outside this module asks which family it is, except to name it.
//!
//! Ability is standardised in every family: mean 0 and SD 1. What sets unit and origin on the reported scale (a free SD,
//! anchors) is the centre's affair.

mod davidian;
mod groups;
mod jet;
mod mixture;

pub use mixture::Component;

use crate::quadrature::{Grid, GridSpec, Weighting};
use jet::Jet;
use serde::{Deserialize, Serialize};

/// Most components of a mixture: more are not told apart by answers to tests.
pub const MAX_COMPONENTS: u8 = 4;

/// Highest degree of a Davidian curve.
pub const MAX_DEGREE: u8 = 8;

/// Most groups of students that are compared.
pub const MAX_GROUPS: u8 = 20;

/// A family of distributions of standardised ability.
///
/// The order of the variants is that of their numbers in messages: the first two are the weightings of earlier versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Normal, nodes weighted by its density.
    Normal,
    /// Normal, nodes weighted by the mass of the bins around them, as published.
    NormalBins,
    /// A mixture of normals.
    Mixture {
        /// Number of components, 2 to [`MAX_COMPONENTS`].
        components: u8,
    },
    /// A squared polynomial times the normal density.
    Davidian {
        /// Degree of the polynomial, 1 to [`MAX_DEGREE`].
        degree: u8,
    },
    /// A normal in each group of students; the first has mean 0 and SD 1.
    Groups {
        /// Number of groups, 2 to [`MAX_GROUPS`].
        groups: u8,
    },
}

/// The names of families, for messages.
pub const FAMILIES: &str = "normal, mixture:2 (to 4 components), davidian:2 (degrees 1 to 8)";

/// There is no family of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no population {0:?}; there are {FAMILIES}")]
pub struct UnknownFamily(String);

impl std::str::FromStr for Family {
    type Err = UnknownFamily;

    /// Reads a name such as `mixture:2`.
    fn from_str(text: &str) -> Result<Self, UnknownFamily> {
        let unknown = || UnknownFamily(text.to_owned());
        let (name, size) = text.split_once(':').map_or((text, None), |(name, size)| (name, Some(size)));
        let size = size.map(str::parse::<u8>).transpose().map_err(|_| unknown())?;
        let family = match (name, size) {
            ("normal", None) => Self::Normal,
            ("mixture", Some(components)) => Self::Mixture { components },
            ("davidian", Some(degree)) => Self::Davidian { degree },
            _ => return Err(unknown()),
        };
        if (Population { family, ..Population::default() }).exists() { Ok(family) } else { Err(unknown()) }
    }
}

impl std::fmt::Display for Family {
    /// Its name with its size, such as `mixture:2`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Normal | Self::NormalBins => f.write_str("normal"),
            Self::Mixture { components } => write!(f, "mixture:{components}"),
            Self::Davidian { degree } => write!(f, "davidian:{degree}"),
            Self::Groups { groups } => write!(f, "groups:{groups}"),
        }
    }
}

/// What is assumed about the distribution of ability, and where it is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Population {
    /// Number of nodes, equally spaced.
    pub nodes: usize,
    /// Highest node; the lowest is its negative.
    pub range: f64,
    /// The family of distributions.
    pub family: Family,
}

impl Default for Population {
    /// Normal, on the default grid.
    fn default() -> Self {
        GridSpec::default().into()
    }
}

impl From<GridSpec> for Population {
    /// A normal population on a grid.
    fn from(GridSpec { nodes, range, weighting }: GridSpec) -> Self {
        let family = match weighting {
            Weighting::Density => Family::Normal,
            Weighting::Paper => Family::NormalBins,
        };
        Self { nodes, range, family }
    }
}

impl Population {
    /// A family on the nodes of a grid. How the grid weights its nodes matters to the normal family alone.
    pub fn of(family: Family, grid: GridSpec) -> Self {
        match family {
            Family::Normal | Family::NormalBins => grid.into(),
            Family::Mixture { .. } | Family::Davidian { .. } | Family::Groups { .. } => {
                Self { nodes: grid.nodes, range: grid.range, family }
            }
        }
    }

    /// The nodes, and how a normal population on them is weighted. Families other than the normal weight nodes by density.
    pub fn grid(&self) -> GridSpec {
        let weighting = match self.family {
            Family::NormalBins => Weighting::Paper,
            Family::Normal | Family::Mixture { .. } | Family::Davidian { .. } | Family::Groups { .. } => {
                Weighting::Density
            }
        };
        GridSpec { nodes: self.nodes, range: self.range, weighting }
    }

    /// Whether it is a normal one.
    pub fn is_normal(&self) -> bool {
        match self.family {
            Family::Normal | Family::NormalBins => true,
            Family::Mixture { .. } | Family::Davidian { .. } | Family::Groups { .. } => false,
        }
    }

    /// Whether there is such a population: a mixture needs two components, and neither family may be too large.
    pub fn exists(&self) -> bool {
        match self.family {
            Family::Normal | Family::NormalBins => true,
            Family::Mixture { components } => (2..=MAX_COMPONENTS).contains(&components),
            Family::Davidian { degree } => (1..=MAX_DEGREE).contains(&degree),
            Family::Groups { groups } => (2..=MAX_GROUPS).contains(&groups),
        }
    }

    /// The names of its parameters, in their order.
    pub fn parameters(&self) -> Vec<String> {
        match self.family {
            Family::Normal | Family::NormalBins => Vec::new(),
            Family::Mixture { components } => mixture::names(components.into()),
            Family::Davidian { degree } => davidian::names(degree.into()),
            Family::Groups { groups } => groups::names(groups.into()),
        }
    }

    /// Number of parameters.
    pub fn size(&self) -> usize {
        self.bounds().len()
    }

    /// The largest absolute value of each parameter. Sites refuse what lies beyond.
    pub fn bounds(&self) -> Vec<f64> {
        match self.family {
            Family::Normal | Family::NormalBins => Vec::new(),
            Family::Mixture { components } => mixture::bounds(components.into()),
            Family::Davidian { degree } => davidian::bounds(degree.into()),
            Family::Groups { groups } => groups::bounds(groups.into()),
        }
    }

    /// Points from which to start; the best of them is followed.
    pub fn starts(&self) -> Vec<Vec<f64>> {
        match self.family {
            Family::Normal | Family::NormalBins => vec![Vec::new()],
            Family::Mixture { components } => mixture::starts(components.into()),
            Family::Davidian { degree } => davidian::starts(degree.into()),
            Family::Groups { .. } => vec![vec![0.0; self.size()]],
        }
    }

    /// Whether these are parameters of the population.
    pub fn admissible(&self, parameters: &[f64]) -> bool {
        let bounds = self.bounds();
        parameters.len() == bounds.len() && parameters.iter().zip(bounds).all(|(x, bound)| x.abs() <= bound)
    }

    /// Number of groups that have a distribution of their own.
    pub fn groups(&self) -> usize {
        match self.family {
            Family::Normal | Family::NormalBins | Family::Mixture { .. } | Family::Davidian { .. } => 1,
            Family::Groups { groups } => groups.into(),
        }
    }

    /// Nodes, log weights and their derivatives at given parameters, of which there are [`Population::size`]: those of the
    /// reference group, where there are groups.
    ///
    /// log w_n = log f(V_n) − log Σ_n f(V_n).
    pub fn at(&self, parameters: &[f64]) -> Grid {
        self.of_group(0, parameters)
    }

    /// The same for every group.
    pub fn grids(&self, parameters: &[f64]) -> Vec<Grid> {
        (0..self.groups()).map(|group| self.of_group(group, parameters)).collect()
    }

    /// Mean and SD of each group, in units of the reference group's; none where there are no groups.
    pub fn group_moments(&self, parameters: &[f64]) -> Vec<(f64, f64)> {
        match self.family {
            Family::Normal | Family::NormalBins | Family::Mixture { .. } | Family::Davidian { .. } => {
                Vec::new()
            }
            Family::Groups { groups } => (0..groups.into())
                .map(|g| groups::of(g, parameters).map_or((0.0, 1.0), |(mean, log_sd)| (mean, log_sd.exp())))
                .collect(),
        }
    }

    fn of_group(&self, group: usize, parameters: &[f64]) -> Grid {
        match self.family {
            Family::Normal | Family::NormalBins => Grid::new(self.grid()),
            Family::Mixture { .. } | Family::Davidian { .. } | Family::Groups { .. } => {
                let nodes = self.grid().nodes();
                let k = parameters.len();
                let log_density = self.log_density(group, parameters, &nodes);
                let mut log_weights: Vec<Jet> = log_density.iter().map(Jet::without_last).collect();
                let total = Jet::log_sum_exp(&log_weights);
                log_weights.iter_mut().for_each(|w| *w = &*w - &total);
                let by_node = |entries: usize, of: &dyn Fn(&Jet, usize) -> f64| -> Vec<f64> {
                    (0..entries).flat_map(|h| log_weights.iter().map(move |w| of(w, h))).collect()
                };
                let scores = by_node(k, &|w, h| w.first[h]);
                let curvatures = by_node(k * k, &|w, hl| w.second[hl]);
                let last = k * (k + 1) + k;
                Grid {
                    nodes,
                    log_weights: log_weights.iter().map(|w| w.value).collect(),
                    pull: log_density.iter().map(|w| -w.first[k]).collect(),
                    stiffness: log_density.iter().map(|w| -w.second[last]).collect(),
                    scores,
                    curvatures,
                }
            }
        }
    }

    /// log f at some abilities, up to a constant, as a function of the parameters and, in the last place, of ability.
    fn log_density(&self, group: usize, parameters: &[f64], abilities: &[f64]) -> Vec<Jet> {
        match self.family {
            Family::Normal | Family::NormalBins => {
                let normal = |v: &f64| {
                    let v = Jet::parameter(*v, 0, 1);
                    (&v * &v).scale(-0.5)
                };
                abilities.iter().map(normal).collect()
            }
            Family::Mixture { .. } => mixture::log_density(parameters, abilities),
            Family::Davidian { .. } => davidian::log_density(parameters, abilities),
            Family::Groups { .. } => groups::log_density(group, parameters, abilities),
        }
    }

    /// log f at an ability, up to a constant, with its first two derivatives in ability.
    pub(crate) fn log_density_at(&self, parameters: &[f64], ability: f64) -> [f64; 3] {
        let last = parameters.len();
        let density = self.log_density(0, parameters, &[ability]).swap_remove(0);
        [density.value, density.first[last], density.second[last * (last + 1) + last]]
    }

    /// The components of standardised ability at given parameters; none where the family has none to estimate.
    pub fn components(&self, parameters: &[f64]) -> Vec<Component> {
        match self.family {
            Family::Normal | Family::NormalBins | Family::Davidian { .. } | Family::Groups { .. } => {
                Vec::new()
            }
            Family::Mixture { .. } => mixture::report(parameters),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<(Population, Vec<f64>)> {
        let of = |family| Population { family, ..Population::default() };
        let population = |components| of(Family::Mixture { components });
        let curve = |degree| of(Family::Davidian { degree });
        vec![
            (population(2), vec![-0.7, 1.9, -0.3]),
            (population(2), vec![0.4, -0.6, 0.8]),
            (population(3), vec![-0.3, 1.2, 0.2, 0.5, -2.1, -0.4]),
            (curve(1), vec![0.7]),
            (curve(2), vec![-2.122394, -0.617181]),
            (curve(4), vec![1.2, 0.6, -0.3, 0.2]),
        ]
    }

    #[test]
    fn weights_add_up_and_ability_is_standardised() {
        for (population, parameters) in shapes() {
            let grid = population.at(&parameters);
            let moment = |power: i32| -> f64 {
                grid.nodes().iter().zip(grid.log_weights()).map(|(v, w)| v.powi(power) * w.exp()).sum()
            };
            assert!((moment(0) - 1.0).abs() < 1e-13);
            assert!(moment(1).abs() < 1e-5 && (moment(2) - 1.0).abs() < 1e-4, "{} {}", moment(1), moment(2));
            // The components say the same, where there are any.
            let components = population.components(&parameters);
            if components.is_empty() {
                continue;
            }
            let sum = |f: &dyn Fn(&Component) -> f64| components.iter().map(f).sum::<f64>();
            assert!((sum(&|c| c.weight) - 1.0).abs() < 1e-13);
            assert!(sum(&|c| c.weight * c.mean).abs() < 1e-13);
            assert!((sum(&|c| c.weight * (c.mean * c.mean + c.sd * c.sd)) - 1.0).abs() < 1e-13);
        }
    }

    #[test]
    fn derivatives_of_log_weights_agree_with_differences() {
        let step = 1e-5;
        for (population, parameters) in shapes() {
            assert_eq!(population.parameters().len(), population.size());
            assert!(population.admissible(&parameters));
            let here = population.at(&parameters);
            for h in 0..parameters.len() {
                let moved = |by: f64| {
                    let mut parameters = parameters.clone();
                    parameters[h] += by;
                    population.at(&parameters)
                };
                let (up, down) = (moved(step), moved(-step));
                for n in 0..here.len() {
                    let want = (up.log_weights()[n] - down.log_weights()[n]) / (2.0 * step);
                    // Beside a root of a polynomial differences see too little.
                    if want.abs() > 20.0 {
                        continue;
                    }
                    let got = here.score(h)[n];
                    assert!((got - want).abs() < 1e-7 * (1.0 + want.abs()), "{h} {n}: {got} {want}");
                    for l in 0..parameters.len() {
                        let want = (up.score(l)[n] - down.score(l)[n]) / (2.0 * step);
                        let got = here.curvature(h, l)[n];
                        assert!((got - want).abs() < 1e-6 * (1.0 + want.abs()), "{h} {l} {n}: {got} {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn derivatives_in_ability_agree_with_differences() {
        for (population, parameters) in shapes() {
            // A finer grid has the same nodes and their neighbours; the constant of log f differs.
            let fine = Population { nodes: 60_001, ..population }.at(&parameters);
            let here = population.at(&parameters);
            let step = fine.nodes[1] - fine.nodes[0];
            for n in 1..here.len() - 1 {
                let around = |k: isize| fine.log_weights[(n * 1000).strict_add_signed(k * 10)];
                let slope = (around(1) - around(-1)) / (20.0 * step);
                let bend = (around(1) - 2.0 * around(0) + around(-1)) / (100.0 * step * step);
                // Beside a root of a polynomial differences see too little.
                if bend.abs() > 20.0 {
                    continue;
                }
                assert!((here.pull[n] + slope).abs() < 1e-4 * (1.0 + slope.abs()), "{n}");
                assert!((here.stiffness[n] + bend).abs() < 1e-3 * (1.0 + bend.abs()), "{n}");
            }
        }
    }

    #[test]
    fn equal_components_and_a_constant_polynomial_are_the_normal() {
        let population = Population { family: Family::Mixture { components: 2 }, ..Population::default() };
        let (mixture, normal) = (population.at(&[0.3, 0.0, 0.0]), Population::default().at(&[]));
        for (x, y) in mixture.log_weights().iter().zip(normal.log_weights()) {
            assert!((x - y).abs() < 1e-12);
        }
        // The same with an angle of a right one.
        let curve = Population { family: Family::Davidian { degree: 3 }, ..Population::default() };
        let right = curve.at(&[std::f64::consts::FRAC_PI_2, 0.3, -0.2]);
        for (x, y) in right.log_weights().iter().zip(normal.log_weights()) {
            assert!((x - y).abs() < 1e-12);
        }
        assert!(!population.admissible(&[0.0]) && !population.admissible(&[0.0, 0.0, f64::NAN]));
    }

    #[test]
    fn names_are_read_back_and_others_refused() {
        for name in ["normal", "mixture:2", "mixture:4", "davidian:1", "davidian:8"] {
            assert_eq!(name.parse::<Family>().unwrap().to_string(), name);
        }
        for name in ["", "mixture", "mixture:1", "mixture:5", "davidian:9", "normal:2", "davidian:x"] {
            assert!(name.parse::<Family>().unwrap_err().to_string().contains("davidian:2"), "{name}");
        }
    }
}

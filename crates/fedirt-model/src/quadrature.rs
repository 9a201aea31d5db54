//! The grid on which ability is integrated out.

use serde::{Deserialize, Serialize};
use statrs::function::erf::erfc;

/// How the nodes are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weighting {
    /// Proportional to the normal density: the error falls exponentially with the number of nodes.
    Density,
    /// Mass of the bin around each node, as the paper has it (its equation for A(n)): Var θ grows by h²/12.
    Paper,
}

impl Weighting {
    /// Every kind of weights, the default first.
    pub const ALL: [Self; 2] = [Self::Density, Self::Paper];

    /// The name used on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Density => "density",
            Self::Paper => "paper",
        }
    }
}

/// A request for a grid: equally spaced nodes on [-range, range].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GridSpec {
    /// Number of nodes, at least 3.
    pub nodes: usize,
    /// Highest node.
    pub range: f64,
    /// How nodes are weighted.
    pub weighting: Weighting,
}

impl Default for GridSpec {
    /// 61 density-weighted nodes on [-6, 6], the grid that users of mirt know.
    fn default() -> Self {
        Self { nodes: 61, range: 6.0, weighting: Weighting::Density }
    }
}

impl GridSpec {
    /// The nodes.
    pub(crate) fn nodes(&self) -> Vec<f64> {
        let step = 2.0 * self.range / (self.nodes.max(2) - 1) as f64;
        (0..self.nodes).map(|n| -self.range + n as f64 * step).collect()
    }
}

/// Nodes V(n) of standardised ability, the logarithms of their weights, and the derivatives of these in the parameters
/// of the population.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    pub(crate) nodes: Vec<f64>,
    pub(crate) log_weights: Vec<f64>,
    /// −∂ log f/∂V at each node.
    pub(crate) pull: Vec<f64>,
    /// −∂² log f/∂V² at each node; empty where it is 1 everywhere, as in a normal population.
    pub(crate) stiffness: Vec<f64>,
    /// ∂ log w_n/∂φ_h, a row per parameter φ_h.
    pub(crate) scores: Vec<f64>,
    /// ∂² log w_n/∂φ_h∂φ_l, a row per pair of parameters.
    pub(crate) curvatures: Vec<f64>,
}

/// Φ(x), the standard normal distribution function.
fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// The log mass of the bin of that width around each node, as the paper has it (its equation for A(n)). It does not normalise: the
/// mass beyond the last bins is lost, as published. Bins are mirrored to the lower tail, where differences of Φ keep their digits.
fn bin_masses(nodes: &[f64], step: f64) -> Vec<f64> {
    let mass = |v: &f64| normal_cdf(-v.abs() + step / 2.0) - normal_cdf(-v.abs() - step / 2.0);
    nodes.iter().map(|v| mass(v).ln()).collect()
}

impl Grid {
    /// The paper's grid between two bounds, which need not be symmetric: equally spaced nodes with the mass of their bins.
    pub fn of_bins(nodes: usize, lower: f64, upper: f64) -> Self {
        let step = (upper - lower) / (nodes.max(2) - 1) as f64;
        let nodes: Vec<f64> = (0..nodes).map(|n| lower + n as f64 * step).collect();
        let (log_weights, pull) = (bin_masses(&nodes, step), nodes.clone());
        Self { nodes, log_weights, pull, stiffness: Vec::new(), scores: Vec::new(), curvatures: Vec::new() }
    }

    /// A normal population on the grid of a specification.
    pub fn new(spec: GridSpec) -> Self {
        let nodes = spec.nodes();
        let step = 2.0 * spec.range / (spec.nodes.max(2) - 1) as f64;
        let log_weights = match spec.weighting {
            Weighting::Density => {
                let total: f64 = nodes.iter().map(|v| (-0.5 * v * v).exp()).sum();
                nodes.iter().map(|v| -0.5 * v * v - total.ln()).collect()
            }
            Weighting::Paper => bin_masses(&nodes, step),
        };
        let pull = nodes.clone();
        Self { nodes, log_weights, pull, stiffness: Vec::new(), scores: Vec::new(), curvatures: Vec::new() }
    }

    /// Standardised ability at each node.
    pub fn nodes(&self) -> &[f64] {
        &self.nodes
    }

    /// Log weight of each node.
    pub fn log_weights(&self) -> &[f64] {
        &self.log_weights
    }

    /// Number of parameters of the population.
    pub(crate) fn parameters(&self) -> usize {
        self.scores.len() / self.nodes.len().max(1)
    }

    /// ∂ log w_n/∂φ_h of each node.
    pub(crate) fn score(&self, h: usize) -> &[f64] {
        &self.scores[h * self.nodes.len()..(h + 1) * self.nodes.len()]
    }

    /// ∂² log w_n/∂φ_h∂φ_l of each node.
    pub(crate) fn curvature(&self, h: usize, l: usize) -> &[f64] {
        let at = (h * self.parameters() + l) * self.nodes.len();
        &self.curvatures[at..at + self.nodes.len()]
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the grid has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(grid: &Grid, power: i32) -> f64 {
        grid.nodes().iter().zip(grid.log_weights()).map(|(v, w)| v.powi(power) * w.exp()).sum()
    }

    #[test]
    fn density_weights_have_the_moments_of_the_normal() {
        let grid = Grid::new(GridSpec::default());
        // Poisson summation: the aliasing error at h = 0.2 is far below rounding; truncation at 6 is 2e-8.
        for (power, want) in [(0, 1.0), (2, 1.0), (4, 3.0)] {
            assert!((moment(&grid, power) - want).abs() < 3e-6, "moment {power}");
        }
    }

    #[test]
    fn bin_mass_inflates_the_variance_by_a_twelfth_of_the_squared_spacing() {
        let spec = GridSpec { nodes: 21, range: 5.0, weighting: Weighting::Paper };
        let grid = Grid::new(spec);
        let h = 0.5f64;
        assert!((moment(&grid, 2) - (1.0 + h * h / 12.0)).abs() < 1e-4);
        assert!((moment(&grid, 0) - 1.0).abs() < 1e-6);
    }
}

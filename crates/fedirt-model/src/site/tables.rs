//! Curves of all items at a site's abilities t = V + s, as padded rows.

use crate::design::Design;
use crate::items::{Curves, Order};
use crate::kernel::{lanes::PADDING, padded};
use crate::population::Population;
use crate::quadrature::Grid;

/// Everything that depends on the parameters and the school effect, but on no answer.
pub(crate) struct Tables {
    /// Padded number of nodes.
    pub width: usize,
    /// Ability V + s, padded with zeros.
    pub t: Vec<f64>,
    /// The distribution of ability in each group; one where there are no groups.
    pub priors: Vec<Prior>,
    log_p: Vec<f64>,
    score: Vec<f64>,
    score_at: Vec<usize>,
    /// Curves of every item.
    pub curves: Vec<Curves>,
}

/// The distribution of ability in a group, as padded rows.
pub(crate) struct Prior {
    /// −∂ log f/∂V of the population's density, which in a normal population is V; padded with zeros.
    pub pull: Vec<f64>,
    /// 1 + ∂² log f/∂V², padded with zeros; none in a normal population, where it is 0.
    pub excess: Option<Vec<f64>>,
    /// Log weights of the nodes, padded.
    pub log_prior: Vec<f64>,
    /// ∂ log w_n/∂φ_h, a padded row per parameter of the population.
    population_score: Vec<f64>,
    width: usize,
    /// The population, with the second derivatives.
    pub grid: Grid,
}

impl Prior {
    fn new(grid: Grid) -> Self {
        let width = padded(grid.len());
        let pad = |x: &[f64], with: f64| {
            let mut out = x.to_vec();
            out.resize(width, with);
            out
        };
        Self {
            pull: pad(&grid.pull, 0.0),
            excess: (!grid.stiffness.is_empty()).then(|| {
                let excess: Vec<f64> = grid.stiffness.iter().map(|x| 1.0 - x).collect();
                pad(&excess, 0.0)
            }),
            log_prior: pad(grid.log_weights(), PADDING),
            population_score: (0..grid.parameters()).flat_map(|h| pad(grid.score(h), 0.0)).collect(),
            width,
            grid,
        }
    }

    /// Number of parameters of the population.
    pub(crate) fn population_size(&self) -> usize {
        self.grid.parameters()
    }

    /// ∂ log w/∂φ_h at every node, padded.
    pub(crate) fn population_score(&self, h: usize) -> &[f64] {
        &self.population_score[h * self.width..(h + 1) * self.width]
    }
}

impl Tables {
    pub(crate) fn new(design: &Design, psi: &[f64], s: f64, population: &Population, order: Order) -> Self {
        let grids = population.grids(&psi[design.parameters()..]);
        let grid = &grids[0];
        let (q, width) = (grid.len(), padded(grid.len()));
        let abilities: Vec<f64> = grid.nodes().iter().map(|v| v + s).collect();
        let mut t = abilities.clone();
        t.resize(width, 0.0);
        let curves: Vec<Curves> = (0..design.len())
            .map(|j| {
                Curves::new(design.model(j), design.categories(j), &psi[design.span(j)], &abilities, order)
            })
            .collect();
        let mut log_p = vec![0.0; design.cells() * width];
        let mut score = Vec::new();
        let mut score_at = vec![0];
        for (j, item) in curves.iter().enumerate() {
            for c in 0..item.categories() {
                let at = (design.cell_offset(j) + c) * width;
                log_p[at..at + q].copy_from_slice(item.log_p(c));
                if order >= Order::Score {
                    for r in 0..=item.ability() {
                        score.extend_from_slice(item.score(c, r));
                        score.resize(score.len() + width - q, 0.0);
                    }
                }
            }
            score_at.push(score.len());
        }
        Self { width, t, log_p, priors: grids.into_iter().map(Prior::new).collect(), score, score_at, curves }
    }

    /// log p of a cell of the design at every node, padded.
    pub(crate) fn log_p(&self, position: usize) -> &[f64] {
        &self.log_p[position * self.width..(position + 1) * self.width]
    }

    /// ∂ log p_c/∂r of an item at every node, padded; r counts the item's parameters, then ability.
    pub(crate) fn score(&self, item: usize, c: usize, r: usize) -> &[f64] {
        let per_category = self.curves[item].ability() + 1;
        let at = self.score_at[item] + (c * per_category + r) * self.width;
        &self.score[at..at + self.width]
    }
}

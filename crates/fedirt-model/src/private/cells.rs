//! Students as the model imagines them: all answer patterns, or a simulated sample, cell by cell.

use super::PrivateError;
use super::coordinates::Coordinates;
use super::counts::Counts;
use super::plan::PrivatePlan;
use super::scorer::Scorer;
use crate::design::Design;
use crate::exchange::Effects;
use crate::quadrature::Grid;
use crate::responses::MISSING;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Students of one site with one booklet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub site: usize,
    pub booklet: usize,
    pub students: f64,
    /// Which count its complete rows add to; 0 where none are counted.
    pub count: usize,
}

/// Which simulated students: the same purpose always draws the same uniform numbers, whatever θ is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// Information for the whitening of a round.
    Whitening(usize),
    /// Steps of the fit after a round.
    Steps(usize),
    /// The last step, and the covariance.
    Last,
}

/// A sample: how many students in all, and which.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub draws: f64,
    pub purpose: Purpose,
}

/// All that the model needs to imagine students.
#[derive(Debug, Clone)]
pub(super) struct ExpectedStudents {
    pub coordinates: Coordinates,
    pub cells: Vec<Cell>,
    pub students: f64,
    pub counts: Counts,
    grid: Grid,
    spread: f64,
    booklets: Vec<Vec<usize>>,
    patterns: Option<Vec<Vec<u8>>>,
    seed: u64,
}

impl ExpectedStudents {
    /// The students of a plan, once it is checked.
    pub(super) fn new(plan: &PrivatePlan) -> Result<Self, PrivateError> {
        plan.check()?;
        let counts = plan.counts();
        let mut cells: Vec<Cell> = Vec::new();
        for (site, s) in plan.sites.iter().enumerate() {
            for (booklet, &n) in s.rows.iter().enumerate().filter(|(_, n)| **n > 0) {
                // Without effects all sites are one.
                let site = if plan.effects == Effects::None { 0 } else { site };
                match cells.iter_mut().find(|c| c.site == site && c.booklet == booklet) {
                    Some(cell) => cell.students += n as f64,
                    None => {
                        let count = if counts.any() { counts.of(site, booklet) } else { 0 };
                        cells.push(Cell { site, booklet, students: n as f64, count });
                    }
                }
            }
        }
        let patterns =
            plan.enumerated().then(|| plan.booklets.iter().map(|b| patterns(&plan.design, b)).collect());
        Ok(Self {
            coordinates: plan.coordinates()?,
            cells,
            students: plan.students() as f64,
            counts,
            grid: Grid::new(plan.grid),
            spread: plan.spread(),
            booklets: plan.booklets.clone(),
            patterns,
            seed: plan.seed,
        })
    }

    /// Whether expectations are exact.
    pub(super) fn enumerated(&self) -> bool {
        self.patterns.is_some()
    }

    /// Whether complete rows are counted.
    pub(super) fn counted(&self) -> bool {
        self.counts.any()
    }

    /// Students of each count.
    pub(super) fn students_by_count(&self) -> Vec<f64> {
        let mut students = vec![0.0; self.counts.len()];
        self.cells.iter().filter(|_| self.counted()).for_each(|cell| students[cell.count] += cell.students);
        students
    }

    /// Scorer of a site.
    pub(super) fn scorer(&self, theta: &[f64], site: usize) -> Scorer<'_> {
        Scorer::new(&self.coordinates, theta, site, self.spread, &self.grid)
    }

    /// Simulated students of a cell.
    pub(super) fn draws(&self, cell: &Cell, sample: Sample) -> usize {
        ((sample.draws * cell.students / self.students).round() as usize).max(20)
    }

    /// Simulated students in all.
    pub(super) fn all_draws(&self, sample: Sample) -> f64 {
        self.cells.iter().map(|c| self.draws(c, sample) as f64).sum()
    }

    /// Rows of a cell: all patterns of its booklet, or simulated ones; and their weights where these are known
    /// without scoring.
    ///
    /// Simulated abilities are stratified over the nodes of the grid: the model that is simulated is the one that is
    /// scored, so that scores have mean zero. The two constant rows come last, with the weights of their shares.
    pub(super) fn rows(
        &self,
        index: usize,
        scorer: &Scorer<'_>,
        theta: &[f64],
        sample: Sample,
    ) -> (Vec<u8>, Option<Vec<f64>>) {
        let cell = self.cells[index];
        if let Some(patterns) = &self.patterns {
            return (patterns[cell.booklet].clone(), None);
        }
        let design = self.coordinates.design();
        let n = self.draws(&cell, sample);
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let purpose = match sample.purpose {
            Purpose::Last => 0,
            Purpose::Whitening(round) => 1 + 2 * round as u64,
            Purpose::Steps(round) => 2 + 2 * round as u64,
        };
        rng.set_stream(purpose << 40 | index as u64);
        let (nodes, cumulative) = scorer.cumulative();
        let total: f64 = nodes.iter().sum();
        let (mut node, mut below) = (0, nodes[0]);
        let mut rows = vec![MISSING; (n + 2) * design.len()];
        let booklet = &self.booklets[cell.booklet];
        for (i, row) in rows.chunks_exact_mut(design.len()).take(n).enumerate() {
            let stratum = (i as f64 + rng.random::<f64>()) / n as f64 * total;
            while stratum > below && node + 1 < nodes.len() {
                node += 1;
                below += nodes[node];
            }
            for &j in booklet {
                let u: f64 = rng.random();
                let steps = design.categories(j) - 1;
                let above = |c: &usize| u >= cumulative[(design.cell_offset(j) + c) * nodes.len() + node];
                row[j] = (0..steps).take_while(above).count() as u8;
            }
        }
        let Some([low, high]) = self.coordinates.shares(theta) else {
            rows.truncate(n * design.len());
            return (rows, Some(vec![1.0 / n as f64; n]));
        };
        for &j in booklet {
            rows[n * design.len() + j] = 0;
            rows[(n + 1) * design.len() + j] = (design.categories(j) - 1) as u8;
        }
        let mut weights = vec![(1.0 - low - high) / n as f64; n];
        weights.extend([low, high]);
        (rows, Some(weights))
    }
}

/// All answer patterns of a booklet.
fn patterns(design: &Design, booklet: &[usize]) -> Vec<u8> {
    let count: usize = booklet.iter().map(|&j| design.categories(j)).product();
    let mut rows = vec![MISSING; count * design.len()];
    for (mut code, row) in rows.chunks_exact_mut(design.len()).enumerate() {
        for &j in booklet {
            row[j] = (code % design.categories(j)) as u8;
            code /= design.categories(j);
        }
    }
    rows
}

#[cfg(test)]
impl ExpectedStudents {
    /// Forgets the patterns.
    pub(super) fn simulate_only(&mut self) {
        self.patterns = None;
    }
}

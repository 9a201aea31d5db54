//! Data drawn from the fitted model, to see what is usual when it is right.

use super::Fitted;
use crate::items::{Curves, Order};
use crate::responses::{MISSING, ResponseTable};
use crate::site::SiteData;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Cumulated probabilities at every node, from which answers are drawn.
pub(super) struct Simulator<'a> {
    fitted: &'a Fitted<'a>,
    /// Cumulated weights of the nodes.
    nodes: Vec<f64>,
    /// Curves of the items.
    curves: Vec<Curves>,
    /// Share of students who answer each item.
    given: Vec<f64>,
}

impl<'a> Simulator<'a> {
    /// A simulator in which each item is answered by a share of the students, whoever they are.
    pub(super) fn new(fitted: &'a Fitted<'a>, given: Vec<f64>) -> Self {
        Self::at(fitted, fitted.psi, given)
    }

    /// The same with other parameters.
    pub(super) fn at(fitted: &'a Fitted<'a>, psi: &[f64], given: Vec<f64>) -> Self {
        let Fitted { design, grid, .. } = fitted;
        let total: f64 = grid.log_weights().iter().map(|w| w.exp()).sum();
        let mut sum = 0.0;
        let nodes = grid.log_weights().iter().map(|w| {
            sum += w.exp() / total;
            sum
        });
        let nodes = nodes.collect();
        let curves = |j: usize| {
            let (model, own) = (design.model(j), &psi[design.span(j)]);
            Curves::new(model, design.categories(j), own, grid.nodes(), Order::Probability)
        };
        Self { fitted, nodes, curves: (0..design.len()).map(curves).collect(), given }
    }

    /// Answers of some students. Every replication has a random stream of its own.
    pub(super) fn draw(&self, replication: usize, students: usize) -> SiteData {
        let design = self.fitted.design;
        let mut random = ChaCha8Rng::seed_from_u64(self.fitted.seed);
        random.set_stream(replication as u64);
        let columns = design.items().iter().map(|item| item.column + 1).max().unwrap_or(0);
        let mut cells = vec![MISSING; students * columns];
        for row in cells.chunks_exact_mut(columns) {
            let uniform: f64 = random.random();
            let node = self.nodes.partition_point(|sum| *sum < uniform).min(self.nodes.len() - 1);
            for ((item, curves), given) in design.items().iter().zip(&self.curves).zip(&self.given) {
                let (answer, here): (f64, f64) = (random.random(), random.random());
                if here < *given {
                    row[item.column] = item.codes[curves.draw(node, answer)];
                }
            }
        }
        let table =
            ResponseTable::new(students, columns, cells).expect("cells were made for students × columns");
        SiteData::new(&table, design, 1.0)
    }
}

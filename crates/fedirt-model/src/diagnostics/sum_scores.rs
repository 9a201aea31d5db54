//! Sum scores under the model: the recursion of Lord & Wingersky (1984), at each node of ability.

use crate::design::Design;
use crate::items::{Curves, Order};
use crate::quadrature::Grid;

/// Chances of sum scores, and of an answer together with a sum score, over the population of one site.
pub(crate) struct SumScores {
    /// P(S = s).
    pub score: Vec<f64>,
    /// Σ_q A(q) t(q) P(S = s | q).
    pub first: Vec<f64>,
    /// Σ_q A(q) t(q)² P(S = s | q).
    pub second: Vec<f64>,
    /// P(S = s, x_j = c): for each cell of the design, one number per score.
    pub joint: Vec<Vec<f64>>,
}

/// The highest sum score: every item in its highest category.
pub(crate) fn highest(design: &Design) -> usize {
    design.cells() - design.len()
}

/// The highest sum score over some items.
pub(crate) fn highest_of(design: &Design, items: &[usize]) -> usize {
    items.iter().map(|j| design.categories(*j) - 1).sum()
}

/// Distributions of a score at all nodes: `at[s·nodes + q]`.
#[derive(Clone)]
struct ByNode {
    nodes: usize,
    at: Vec<f64>,
}

impl ByNode {
    /// The distribution with one more item.
    fn with(&self, probabilities: &[Vec<f64>]) -> Self {
        let scores = self.at.len() / self.nodes;
        let mut at = vec![0.0; (scores + probabilities.len() - 1) * self.nodes];
        for (s, row) in self.at.chunks_exact(self.nodes).enumerate() {
            for (c, p) in probabilities.iter().enumerate() {
                let out = &mut at[(s + c) * self.nodes..][..self.nodes];
                out.iter_mut().zip(row.iter().zip(p)).for_each(|(out, (x, p))| *out += x * p);
            }
        }
        Self { nodes: self.nodes, at }
    }
}

impl SumScores {
    /// The chances at school effect s.
    pub(crate) fn new(design: &Design, psi: &[f64], s: f64, grid: &Grid) -> Self {
        let abilities: Vec<f64> = grid.nodes().iter().map(|v| v + s).collect();
        let items: Vec<Vec<Vec<f64>>> = (0..design.len())
            .map(|j| {
                let (model, own) = (design.model(j), &psi[design.span(j)]);
                let curves = Curves::new(model, design.categories(j), own, &abilities, Order::Probability);
                (0..curves.categories()).map(|c| curves.log_p(c).iter().map(|x| x.exp()).collect()).collect()
            })
            .collect();
        let weights: Vec<f64> = grid.log_weights().iter().map(|w| w.exp()).collect();
        let scores = highest(design) + 1;
        let mut out = Self {
            score: vec![0.0; scores],
            first: vec![0.0; scores],
            second: vec![0.0; scores],
            joint: vec![vec![0.0; scores]; design.cells()],
        };
        let nobody = ByNode { nodes: grid.len(), at: vec![1.0; grid.len()] };
        let rest = Rest { design, items: &items, weights: &weights };
        rest.without(0..design.len(), nobody.clone(), &mut out.joint);
        let all = items.iter().fold(nobody, |scores, item| scores.with(item));
        for (s, row) in all.at.chunks_exact(grid.len()).enumerate() {
            for ((p, w), t) in row.iter().zip(&weights).zip(&abilities) {
                out.score[s] += w * p;
                out.first[s] += w * p * t;
                out.second[s] += w * p * t * t;
            }
        }
        out
    }
}

struct Rest<'a> {
    design: &'a Design,
    items: &'a [Vec<Vec<f64>>],
    weights: &'a [f64],
}

impl Rest<'_> {
    /// Fills the joint chances of some items, from the scores of all others. Each half is done with the other half added:
    /// every item is added log₂ J times in all, instead of J times.
    fn without(&self, items: std::ops::Range<usize>, others: ByNode, joint: &mut [Vec<f64>]) {
        if items.len() == 1 {
            let j = items.start;
            for (c, cell) in self.design.cell_span(j).enumerate() {
                for (s, row) in others.at.chunks_exact(others.nodes).enumerate() {
                    let terms = row.iter().zip(&self.items[j][c]).zip(self.weights);
                    joint[cell][s + c] = terms.map(|((x, p), w)| x * p * w).sum();
                }
            }
            return;
        }
        let middle = items.start + items.len() / 2;
        let (left, right) = (items.start..middle, middle..items.end);
        let add = |range: std::ops::Range<usize>| {
            self.items[range].iter().fold(others.clone(), |scores, item| scores.with(item))
        };
        self.without(left.clone(), add(right.clone()), joint);
        self.without(right, add(left), joint);
    }
}

//! log p_c of every item at every node of a grid, laid out so that a row's log-likelihood is a sum of slices.

use super::ScoredItem;
use crate::items::{Curves, Order};
use crate::responses::MISSING;

/// log p_c by item, category and node.
#[derive(Debug)]
pub(super) struct Table {
    nodes: Vec<f64>,
    first: Vec<usize>,
    log_p: Vec<f64>,
}

impl Table {
    pub(super) fn new(items: &[ScoredItem], nodes: Vec<f64>) -> Self {
        let mut first = Vec::with_capacity(items.len());
        let mut log_p = Vec::new();
        for item in items {
            first.push(log_p.len());
            let curves = Curves::new(item.model, item.categories, &item.psi, &nodes, Order::Probability);
            for c in 0..item.categories {
                log_p.extend_from_slice(curves.log_p(c));
            }
        }
        Self { nodes, first, log_p }
    }

    /// Abilities of the nodes.
    pub(super) fn nodes(&self) -> &[f64] {
        &self.nodes
    }

    /// Adds l(t_n) = Σ_j log p_{x_j}(t_n) at the nodes `from..from + out.len()`; missing answers add nothing.
    pub(super) fn add_log_likelihood(&self, row: &[u8], from: usize, out: &mut [f64]) {
        let (q, width) = (self.nodes.len(), out.len());
        for (&first, &x) in self.first.iter().zip(row) {
            if x == MISSING {
                continue;
            }
            let at = first + usize::from(x) * q + from;
            for (sum, log_p) in out.iter_mut().zip(&self.log_p[at..at + width]) {
                *sum += log_p;
            }
        }
    }
}

/// Index of the largest value.
pub(super) fn best(values: &[f64]) -> usize {
    let mut best = 0;
    for (n, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = n;
        }
    }
    best
}

/// The highest point of a function given at equally spaced nodes: the vertex of the parabola through the best
/// node and its neighbours, at most half a cell from it. `None` where the function is nowhere finite.
pub(super) fn peak(values: &[f64], nodes: &[f64]) -> Option<f64> {
    let n = best(values);
    if !values[n].is_finite() {
        return None;
    }
    if n == 0 || n + 1 == values.len() {
        return Some(nodes[n]);
    }
    let (down, up) = (values[n] - values[n - 1], values[n] - values[n + 1]);
    let share = 0.5 * (down - up) / (down + up);
    Some(if share.is_finite() { nodes[n] + share * (nodes[n + 1] - nodes[n]) } else { nodes[n] })
}

//! An item's curves on a grid of abilities, and their derivatives.

use super::{ItemModel, Node, Order};

/// log p_c at every node, and its derivatives in the item's parameters and in ability.
///
/// Derivatives are indexed by `r`: the item's parameters in their order, then [`Curves::ability`].
#[derive(Debug, Clone)]
pub struct Curves {
    categories: usize,
    parameters: usize,
    nodes: usize,
    log_p: Vec<f64>,
    score: Vec<f64>,
    curvature: Vec<f64>,
}

impl Curves {
    /// Curves of an item with that many categories and the parameters `psi` at the abilities `t`.
    pub fn new(model: &dyn ItemModel, categories: usize, psi: &[f64], t: &[f64], order: Order) -> Self {
        let q = t.len();
        let width = psi.len() + 1;
        let mut node = Node::new(categories, psi.len(), 1, order);
        let mut out = Self {
            categories,
            parameters: psi.len(),
            nodes: q,
            log_p: vec![0.0; categories * q],
            score: vec![0.0; if order >= Order::Score { categories * width * q } else { 0 }],
            curvature: vec![0.0; if order == Order::Curvature { categories * width * width * q } else { 0 }],
        };
        for (n, t) in t.iter().enumerate() {
            model.node(psi, std::slice::from_ref(t), order, &mut node);
            for c in 0..categories {
                out.log_p[c * q + n] = node.log_p[c];
                if order >= Order::Score {
                    for (r, x) in node.first_row(c).iter().enumerate() {
                        out.score[(c * width + r) * q + n] = *x;
                    }
                }
                if order == Order::Curvature {
                    for (rs, x) in node.second_block(c).iter().enumerate() {
                        out.curvature[(c * width * width + rs) * q + n] = *x;
                    }
                }
            }
        }
        out
    }

    /// Number of categories.
    pub fn categories(&self) -> usize {
        self.categories
    }

    /// Number of abilities.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The index of ability among the derivatives, which is the number of parameters.
    pub fn ability(&self) -> usize {
        self.parameters
    }

    /// log p_c by node.
    pub fn log_p(&self, c: usize) -> &[f64] {
        &self.log_p[c * self.nodes..(c + 1) * self.nodes]
    }

    /// ∂ log p_c / ∂r by node.
    pub fn score(&self, c: usize, r: usize) -> &[f64] {
        let at = (c * (self.parameters + 1) + r) * self.nodes;
        &self.score[at..at + self.nodes]
    }

    /// ∂² log p_c / ∂r∂s by node.
    pub fn curvature(&self, c: usize, r: usize, s: usize) -> &[f64] {
        let width = self.parameters + 1;
        let at = ((c * width + r) * width + s) * self.nodes;
        &self.curvature[at..at + self.nodes]
    }

    /// Fisher information about ability at a node: Σ_c p_c (∂ log p_c/∂t)².
    pub fn information(&self, n: usize) -> f64 {
        (0..self.categories).map(|c| self.log_p(c)[n].exp() * self.score(c, self.ability())[n].powi(2)).sum()
    }

    /// Expected score Σ_c c·p_c at a node.
    pub fn expected_score(&self, n: usize) -> f64 {
        (0..self.categories).map(|c| c as f64 * self.log_p(c)[n].exp()).sum()
    }

    /// The category that a uniform number in [0, 1) draws at a node.
    pub fn draw(&self, n: usize, uniform: f64) -> usize {
        let mut below = 0.0;
        for c in 0..self.categories - 1 {
            below += self.log_p(c)[n].exp();
            if uniform < below {
                return c;
            }
        }
        self.categories - 1
    }
}

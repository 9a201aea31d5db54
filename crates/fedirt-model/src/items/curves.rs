//! An item's curves on a grid of abilities, and their derivatives.

use super::{ItemModel, Node, Order};
use crate::kernel::lanes;

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
        let by_row = model.one_slope().is_some_and(|model| model.divides_by_total());
        let mut out = Self {
            categories,
            parameters: psi.len(),
            nodes: q,
            log_p: vec![0.0; categories * q],
            score: vec![0.0; if order >= Order::Score { categories * width * q } else { 0 }],
            curvature: vec![0.0; if order == Order::Curvature { categories * width * width * q } else { 0 }],
        };
        if by_row {
            out.divide_by_total(psi, t, order);
            return out;
        }
        let mut node = Node::new(categories, psi.len(), 1, order);
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

    /// The same for models of one slope a that divide by a total: what [`ItemModel::node`] computes node by node, at all
    /// nodes at once. With the mean score x̄ and its variance v, the score of a is t(c − x̄), that of ability a(c − x̄), that of
    /// d_r is 1[c = r] − p_r; second derivatives are the same for every category, but for a with ability.
    fn divide_by_total(&mut self, psi: &[f64], t: &[f64], order: Order) {
        let (a, d, q, width) = (psi[0], &psi[1..], self.nodes, psi.len() + 1);
        let ability = self.parameters;
        for (c, row) in self.log_p.chunks_exact_mut(q).enumerate() {
            let (slope, d) = (c as f64 * a, if c == 0 { 0.0 } else { d[c - 1] });
            row.iter_mut().zip(t).for_each(|(x, t)| *x = slope * t + d);
        }
        let mut p = vec![0.0; self.log_p.len()];
        lanes::log_probabilities(&mut self.log_p, q, &mut p);
        if order == Order::Probability {
            return;
        }
        let p = |c: usize| &p[c * q..(c + 1) * q];
        let mut mean = vec![0.0; q];
        (1..self.categories).for_each(|c| lanes::axpy(c as f64, p(c), &mut mean));
        for (c, block) in self.score.chunks_exact_mut(width * q).enumerate() {
            for (r, row) in block.chunks_exact_mut(q).enumerate() {
                let own = f64::from(u8::from(c == r));
                if r == 0 {
                    row.iter_mut().zip(t).zip(&mean).for_each(|((o, t), m)| *o = t * (c as f64 - m));
                } else if r == ability {
                    row.iter_mut().zip(&mean).for_each(|(o, m)| *o = a * (c as f64 - m));
                } else {
                    row.iter_mut().zip(p(r)).for_each(|(o, p)| *o = own - p);
                }
            }
        }
        if order == Order::Score {
            return;
        }
        let mut variance = vec![0.0; q];
        for c in 0..self.categories {
            for ((v, p), m) in variance.iter_mut().zip(p(c)).zip(&mean) {
                *v += p * (c as f64 - m) * (c as f64 - m);
            }
        }
        let (first, others) = self.curvature.split_at_mut(width * width * q);
        for (at, row) in first.chunks_exact_mut(q).enumerate() {
            let (r, s) = (at / width, at % width);
            // Slope and ability multiply each other: z·c with z = t for the one and z = a for the other.
            let scored = |r: usize| r == 0 || r == ability;
            let z = |r: usize, n: usize| if r == 0 { t[n] } else { a };
            for (n, out) in row.iter_mut().enumerate() {
                *out = match (scored(r), scored(s)) {
                    (true, true) => -z(r, n) * z(s, n) * variance[n],
                    (true, false) => -z(r, n) * p(s)[n] * (s as f64 - mean[n]),
                    (false, true) => -z(s, n) * p(r)[n] * (r as f64 - mean[n]),
                    (false, false) => p(r)[n] * p(s)[n] - if r == s { p(r)[n] } else { 0.0 },
                };
            }
        }
        others.chunks_exact_mut(width * width * q).for_each(|block| block.copy_from_slice(first));
        for (c, block) in self.curvature.chunks_exact_mut(width * width * q).enumerate() {
            for at in [ability, ability * width] {
                let row = &mut block[at * q..(at + 1) * q];
                row.iter_mut().zip(&mean).for_each(|(o, m)| *o += c as f64 - m);
            }
        }
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

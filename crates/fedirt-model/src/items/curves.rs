//! An item's curves on a grid of abilities, and their derivatives.

use super::ItemModel;

/// How many derivatives are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Log-probabilities.
    Probability,
    /// And first derivatives.
    Score,
    /// And second derivatives.
    Curvature,
}

/// Log-probabilities at one ability and their derivatives in the predictor e and the intercepts d_1..d_m.
#[derive(Debug, Clone)]
pub struct Node {
    steps: usize,
    /// log p_c.
    pub log_p: Vec<f64>,
    /// ∂ log p_c / ∂e.
    pub f_e: Vec<f64>,
    /// ∂² log p_c / ∂e².
    pub g_ee: Vec<f64>,
    f_d: Vec<f64>,
    g_ed: Vec<f64>,
    g_dd: Vec<f64>,
}

impl Node {
    /// Room for an item of that many categories.
    pub fn new(categories: usize) -> Self {
        let m = categories - 1;
        Self {
            steps: m,
            log_p: vec![0.0; categories],
            f_e: vec![0.0; categories],
            g_ee: vec![0.0; categories],
            f_d: vec![0.0; categories * m],
            g_ed: vec![0.0; categories * m],
            g_dd: vec![0.0; categories * m * m],
        }
    }

    /// ∂ log p_c / ∂d_r, steps counted from 1.
    pub fn f_d(&mut self, c: usize, r: usize) -> &mut f64 {
        &mut self.f_d[c * self.steps + r - 1]
    }

    /// ∂² log p_c / ∂e ∂d_r.
    pub fn g_ed(&mut self, c: usize, r: usize) -> &mut f64 {
        &mut self.g_ed[c * self.steps + r - 1]
    }

    /// ∂² log p_c / ∂d_r ∂d_s.
    pub fn g_dd(&mut self, c: usize, r: usize, s: usize) -> &mut f64 {
        &mut self.g_dd[(c * self.steps + r - 1) * self.steps + s - 1]
    }
}

/// log p_c at every node, and its derivatives in the item's parameters (a, d_1..d_m) and in ability.
///
/// Derivatives are indexed by `r`: 0 is the slope, 1..=m the intercepts, [`Curves::ability`] the ability itself.
#[derive(Debug, Clone)]
pub struct Curves {
    categories: usize,
    nodes: usize,
    log_p: Vec<f64>,
    score: Vec<f64>,
    curvature: Vec<f64>,
}

impl Curves {
    /// Curves of an item with parameters `psi` = (a, d_1..d_m) at the abilities `t`.
    pub fn new(model: &dyn ItemModel, psi: &[f64], t: &[f64], order: Order) -> Self {
        let (a, d) = (psi[0], &psi[1..]);
        let (categories, q) = (psi.len(), t.len());
        let width = categories + 1;
        let mut node = Node::new(categories);
        let mut out = Self {
            categories,
            nodes: q,
            log_p: vec![0.0; categories * q],
            score: vec![0.0; if order >= Order::Score { categories * width * q } else { 0 }],
            curvature: vec![0.0; if order == Order::Curvature { categories * width * width * q } else { 0 }],
        };
        for (n, &t) in t.iter().enumerate() {
            model.node(a * t, d, order, &mut node);
            for c in 0..categories {
                out.log_p[c * q + n] = node.log_p[c];
            }
            if order >= Order::Score {
                out.set_scores(n, a, t, &mut node);
            }
            if order == Order::Curvature {
                out.set_curvatures(n, a, t, &mut node);
            }
        }
        out
    }

    /// e = a·t: ∂/∂a = t·F_e and ∂/∂t = a·F_e.
    fn set_scores(&mut self, n: usize, a: f64, t: f64, node: &mut Node) {
        let (width, q) = (self.categories + 1, self.nodes);
        for c in 0..self.categories {
            let row = &mut self.score[c * width * q..(c + 1) * width * q];
            row[n] = t * node.f_e[c];
            for r in 1..self.categories {
                row[r * q + n] = *node.f_d(c, r);
            }
            row[(width - 1) * q + n] = a * node.f_e[c];
        }
    }

    /// ∂²/∂a² = t²G_ee, ∂²/∂a∂t = F_e + a·t·G_ee, ∂²/∂t² = a²G_ee, ∂²/∂a∂d = t·G_ed, ∂²/∂t∂d = a·G_ed.
    fn set_curvatures(&mut self, n: usize, a: f64, t: f64, node: &mut Node) {
        let width = self.categories + 1;
        let last = width - 1;
        for c in 0..self.categories {
            let (f, g) = (node.f_e[c], node.g_ee[c]);
            *self.curvature_mut(c, 0, 0, n) = t * t * g;
            *self.curvature_mut(c, last, last, n) = a * a * g;
            let cross = f + a * t * g;
            *self.curvature_mut(c, 0, last, n) = cross;
            *self.curvature_mut(c, last, 0, n) = cross;
            for r in 1..self.categories {
                let mixed = *node.g_ed(c, r);
                for (other, factor) in [(0, t), (last, a)] {
                    *self.curvature_mut(c, r, other, n) = factor * mixed;
                    *self.curvature_mut(c, other, r, n) = factor * mixed;
                }
                for s in 1..self.categories {
                    *self.curvature_mut(c, r, s, n) = *node.g_dd(c, r, s);
                }
            }
        }
    }

    fn curvature_mut(&mut self, c: usize, r: usize, s: usize, n: usize) -> &mut f64 {
        let width = self.categories + 1;
        &mut self.curvature[((c * width + r) * width + s) * self.nodes + n]
    }

    /// Number of categories, which is also the number of parameters.
    pub fn categories(&self) -> usize {
        self.categories
    }

    /// Number of abilities.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The index of ability among the derivatives.
    pub fn ability(&self) -> usize {
        self.categories
    }

    /// log p_c by node.
    pub fn log_p(&self, c: usize) -> &[f64] {
        &self.log_p[c * self.nodes..(c + 1) * self.nodes]
    }

    /// ∂ log p_c / ∂r by node.
    pub fn score(&self, c: usize, r: usize) -> &[f64] {
        let at = (c * (self.categories + 1) + r) * self.nodes;
        &self.score[at..at + self.nodes]
    }

    /// ∂² log p_c / ∂r∂s by node.
    pub fn curvature(&self, c: usize, r: usize, s: usize) -> &[f64] {
        let width = self.categories + 1;
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

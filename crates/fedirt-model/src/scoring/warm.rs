//! Warm's weighted likelihood estimate.

use super::{RowScorer, Score, ScoredItem, Scorer};
use crate::items::{AbilityNode, Curves, Order};
use crate::responses::MISSING;

/// ½ log I on the grid for the items answered in the last row: rows of one booklet share it.
#[derive(Debug, Default)]
pub(super) struct PatternWeight {
    answered: Vec<bool>,
    log_weight: Vec<f64>,
}

/// l', I and J of a row at one ability.
struct Weighted {
    score: f64,
    information: f64,
    j: f64,
}

impl Weighted {
    /// l' + J/(2I): zero at the estimate.
    fn equation(&self) -> f64 {
        // Without information there is no bias to take out, either.
        if self.information > 0.0 { self.score + 0.5 * self.j / self.information } else { self.score }
    }
}

/// I_j(t_n) by item and node.
fn information(items: &[ScoredItem], nodes: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(items.len() * nodes.len());
    for item in items {
        let curves = Curves::new(item.model, item.categories, &item.psi, nodes, Order::Score);
        out.extend((0..nodes.len()).map(|n| curves.information(n)));
    }
    out
}

impl Scorer {
    /// l'(t), I(t) = Σ_j Σ_c P'²/P and J(t) = Σ_j Σ_c P'P''/P over the answered items, with
    /// P' = P·F and P'' = P·(G + F²), where F and G are the derivatives of log P, so that nothing is divided by P.
    fn weighted(&self, row: &[u8], t: f64, node: &mut AbilityNode) -> Weighted {
        let mut out = Weighted { score: 0.0, information: 0.0, j: 0.0 };
        for (item, x) in self.answers(row) {
            item.model.along_ability(&item.psi, t, node);
            out.score += node.first[x];
            for c in 0..item.categories {
                let (p, f) = (node.log_p[c].exp(), node.first[c]);
                out.information += p * f * f;
                out.j += p * f * (node.second[c] + f * f);
            }
        }
        out
    }
}

impl PatternWeight {
    /// Brings the table up to date for the items answered in `row`.
    fn follow(&mut self, row: &[u8], scorer: &Scorer) {
        let given = row.iter().map(|x| *x != MISSING);
        if !self.log_weight.is_empty() && given.clone().eq(self.answered.iter().copied()) {
            return;
        }
        self.answered.clear();
        self.answered.extend(given);
        let nodes = scorer.grid.nodes();
        let table = scorer.information.get_or_init(|| information(&scorer.items, nodes));
        self.log_weight.clear();
        self.log_weight.resize(nodes.len(), 0.0);
        for (of_item, answered) in table.chunks_exact(nodes.len()).zip(&self.answered) {
            if *answered {
                self.log_weight.iter_mut().zip(of_item).for_each(|(sum, i)| *sum += i);
            }
        }
        self.log_weight.iter_mut().for_each(|i| *i = 0.5 * i.ln());
    }
}

impl RowScorer<'_> {
    /// Warm's estimate, which takes the bias of order 1/J out of ML, with SE = 1/√I(t̂).
    ///
    /// l'(t̂) + J(t̂)/(2·I(t̂)) = 0, I = Σ_j Σ_c P'²/P, J = Σ_j Σ_c P'P''/P (Warm 1989 for two categories,
    /// where the inner sum is P'P''/(PQ); Samejima 1998 for any number). I is the *expected* information of the
    /// answered items. For the models of this crate J = I', so t̂ maximises L·√I, as mirt does (Magis 2015: true
    /// of divide-by-total and of graded items). Finite for perfect rows: J/2I tends to ∓min|a|/2.
    /// L·√I can have several modes where difficulties lie far apart: the search starts at the highest node, and
    /// the equation is then solved without the grid, by the secant method. No score without information (no
    /// answers, or zero slopes), or beyond 20 prior SDs.
    pub(super) fn wle(&mut self, row: &[u8]) -> Score {
        let scorer = self.scorer;
        self.weight.follow(row, scorer);
        self.on_grid.copy_from_slice(&self.weight.log_weight);
        scorer.grid.add_log_likelihood(row, 0, &mut self.on_grid);
        let (mut information, mut last) = (0.0, None::<(f64, f64)>);
        let mode = scorer.mode(&self.on_grid, |t| {
            let at = scorer.weighted(row, t, &mut self.node);
            let value = at.equation();
            let slope = match last {
                Some((t0, value0)) if t0 != t => (value - value0) / (t - t0),
                _ => -at.information,
            };
            (information, last) = (at.information, Some((t, value)));
            (value, slope)
        });
        mode.map_or(Score::NONE, |t| Score::with_information(t, information))
    }
}

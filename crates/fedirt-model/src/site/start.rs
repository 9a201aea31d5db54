//! The first round's sums: two-way tables, and how alike students of the site answer.

use super::panel::SiteData;
use crate::centre::StartSums;
use crate::exchange::Effects;
use nalgebra::DMatrix;

impl SiteData {
    /// Σ w z zᵀ over one-hot answers, and products of scores of *different* students over the site's weight:
    /// (x xᵀ − Σ_i w_i² x_i x_iᵀ)/Σw with x = Σ_i w_i x_i, for item scores and for answer indicators.
    pub(crate) fn start_sums(&self, effects: Effects) -> StartSums {
        let (p, items) = (self.design.cells(), self.design.len());
        let silent = effects == Effects::Fixed && self.no_finite_effect(None);
        let mut pairs = DMatrix::zeros(p, p);
        if !silent {
            self.add_cross_tables(&mut pairs, |w| w);
        }
        if effects == Effects::None {
            return StartSums {
                pairs,
                school_products: DMatrix::zeros(0, 0),
                school_pairs: DMatrix::zeros(0, 0),
                assumed_between: 0.0,
            };
        }
        let mut squared = DMatrix::zeros(p, p);
        if !silent {
            self.add_cross_tables(&mut squared, |w| w * w);
        }
        let scores: Vec<f64> =
            (0..items).flat_map(|j| (0..self.design.categories(j)).map(|c| c as f64)).collect();
        let score = |r: usize| scores[r];
        let mut totals = vec![(0.0, 0.0); items];
        for (j, total) in totals.iter_mut().enumerate() {
            for r in self.design.cell_span(j) {
                total.0 += score(r) * pairs[(r, r)];
                total.1 += pairs[(r, r)];
            }
        }
        let n = self.total_weight.max(f64::MIN_POSITIVE);
        let block = |j: usize, l: usize, scored: bool| {
            let mut sum = 0.0;
            for r in self.design.cell_span(j) {
                for c in self.design.cell_span(l) {
                    sum += squared[(r, c)] * if scored { score(r) * score(c) } else { 1.0 };
                }
            }
            sum
        };
        let school_products =
            DMatrix::from_fn(items, items, |j, l| (totals[j].0 * totals[l].0 - block(j, l, true)) / n);
        let school_pairs =
            DMatrix::from_fn(items, items, |j, l| (totals[j].1 * totals[l].1 - block(j, l, false)) / n);
        StartSums { pairs, school_products, school_pairs, assumed_between: 0.0 }
    }

    fn add_cross_tables(&self, out: &mut DMatrix<f64>, weight: impl Fn(f64) -> f64) {
        for panel in &self.panels {
            let weights: Vec<f64> = panel.weights.iter().map(|w| weight(*w)).collect();
            let table = panel.cross_table(&weights);
            let positions = panel.cell_positions(&self.design);
            for (r, &at) in positions.iter().enumerate() {
                for (c, &to) in positions.iter().enumerate() {
                    out[(at, to)] += table[r * positions.len() + c];
                }
            }
        }
    }
}

//! Item models: one file each, behind one trait. A new model is a new file and one line in [`MODELS`].
//!
//! Parameters of an item with categories 0..=m are its slope a and its intercepts d_1..d_m, in that order.
//! A model is written in terms of the linear predictor e = a·t, where t is ability; [`Curves`] holds what
//! follows from it by the chain rule for every node of a grid.

mod curves;
mod divide_by_total;
mod gpcm;
mod grm;
mod one_pl;
mod pcm;
mod rasch;
mod two_pl;

pub use curves::{Curves, Node, Order};

/// Every model, by the name that users type.
pub const MODELS: &[&dyn ItemModel] =
    &[&two_pl::TwoPl, &one_pl::OnePl, &rasch::Rasch, &pcm::Pcm, &gpcm::Gpcm, &grm::Grm];

/// The model of that name.
pub fn model(name: &str) -> Option<&'static dyn ItemModel> {
    MODELS.iter().copied().find(|m| m.name() == name)
}

/// Where an item's slope comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlopeRule {
    /// Estimated for the item.
    Free,
    /// Fixed at 1, with an ability of SD 1.
    One,
    /// Fixed at 1, with the SD of ability estimated: on standardised ability, one slope shared by such items.
    LatentSd,
}

/// An item response model.
pub trait ItemModel: Sync + std::fmt::Debug {
    /// The name that users type and files carry.
    fn name(&self) -> &'static str;

    /// Where the slope comes from.
    fn slope(&self) -> SlopeRule;

    /// Whether more than two categories make sense.
    fn polytomous(&self) -> bool;

    /// Log-probabilities of all categories and their derivatives in (e, d_1..d_m), at one ability.
    fn node(&self, e: f64, d: &[f64], order: Order, out: &mut Node);

    /// Whether the item is a divide-by-total item with scores 0..=m: then the score of a is t·Σ c·r_c and that
    /// of d_c is r_c, with residuals r_c = 1[x = c] − p_c, and information follows from cross tables.
    fn residual_scores(&self) -> bool;

    /// d_c grows by `a·shift_score(c)·x` when the origin of ability moves down by x.
    fn shift_score(&self, step: usize) -> f64;

    /// Whether the intercepts are admissible.
    fn admissible(&self, d: &[f64]) -> bool;

    /// Difficulties b_1..b_m from slope and intercepts.
    fn difficulties(&self, a: f64, d: &[f64]) -> Vec<f64>;

    /// Intercepts from slope and difficulties.
    fn intercepts(&self, a: f64, b: &[f64]) -> Vec<f64>;

    /// Coefficients of b_step = −Σ_r w_r·d_r/a, as pairs (r, w_r): for the delta method.
    fn difficulty_weights(&self, step: usize) -> Vec<(usize, f64)>;

    /// Intercepts that give the observed category shares for ability N(0, 1) and slope a (roughly).
    fn start_intercepts(&self, a: f64, shares: &[f64]) -> Vec<f64>;

    /// Intercepts as coordinates without bounds.
    fn unbounded(&self, d: &[f64]) -> Vec<f64>;

    /// Inverse of [`ItemModel::unbounded`].
    fn bounded(&self, y: &[f64]) -> Vec<f64>;

    /// Gradient in the unbounded coordinates from that in the intercepts.
    fn unbounded_gradient(&self, y: &[f64], gradient: &[f64]) -> Vec<f64>;
}

/// Each model below forwards the part of the trait that its family defines.
macro_rules! divide_by_total_methods {
    () => {
        fn node(&self, e: f64, d: &[f64], order: super::Order, out: &mut super::Node) {
            super::divide_by_total::node(e, d, order, out);
        }
        fn residual_scores(&self) -> bool {
            true
        }
        fn shift_score(&self, step: usize) -> f64 {
            step as f64
        }
        fn admissible(&self, _d: &[f64]) -> bool {
            true
        }
        fn difficulties(&self, a: f64, d: &[f64]) -> Vec<f64> {
            super::divide_by_total::difficulties(a, d)
        }
        fn intercepts(&self, a: f64, b: &[f64]) -> Vec<f64> {
            super::divide_by_total::intercepts(a, b)
        }
        fn difficulty_weights(&self, step: usize) -> Vec<(usize, f64)> {
            super::divide_by_total::difficulty_weights(step)
        }
        fn start_intercepts(&self, _a: f64, shares: &[f64]) -> Vec<f64> {
            super::divide_by_total::start_intercepts(shares)
        }
        fn unbounded(&self, d: &[f64]) -> Vec<f64> {
            d.to_vec()
        }
        fn bounded(&self, y: &[f64]) -> Vec<f64> {
            y.to_vec()
        }
        fn unbounded_gradient(&self, _y: &[f64], gradient: &[f64]) -> Vec<f64> {
            gradient.to_vec()
        }
    };
}
use divide_by_total_methods;

#[cfg(test)]
mod tests;

//! What a site computes from its rows: sums, and scores for its own students.

mod answer;
mod by_item;
mod curves;
mod effect;
mod evaluate;
mod general;
mod hessian;
mod own_effect;
mod panel;
mod residual;
mod start;
mod student_scores;
mod sweep;
mod tables;

pub use answer::{EffectEstimate, Site};
pub(crate) use answer::{SiteView, lower};
pub(crate) use effect::BOUND as EFFECT_BOUND;
pub(crate) use evaluate::{Depth, Evaluation};
pub(crate) use own_effect::{OwnEffect, posterior_error};
pub use panel::SiteData;
pub(crate) use sweep::{BLOCK, LookUp, chunks};
pub(crate) use tables::Tables;

#[cfg(test)]
pub(crate) mod tests;

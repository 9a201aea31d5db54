//! What a site computes from its rows: sums, and scores for its own students.

mod answer;
mod baselines;
mod close;
mod effect;
mod evaluate;
mod general;
mod panel;
mod residual;
mod start;
mod student_scores;
mod sweep;
mod tables;

pub use answer::{Place, Site};
pub use panel::SiteData;

#[cfg(test)]
pub(crate) mod tests;

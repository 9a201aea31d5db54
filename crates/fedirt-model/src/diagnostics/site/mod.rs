//! What a site sums for diagnostics, student by student, at the estimates.

mod residuals;
mod score_tables;

pub(crate) use residuals::{FLOOR, ITEM_MOMENTS, ResidualSums};
pub(crate) use score_tables::ExpectedTables;

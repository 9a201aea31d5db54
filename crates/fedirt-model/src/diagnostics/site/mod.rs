//! What a site sums for diagnostics, student by student, at the estimates.

mod groups;
mod influence;
mod latent;
mod residuals;
mod score_tables;

pub(crate) use groups::{GroupSums, group_sums, group_tables, site_contrasts};
pub(crate) use influence::influence;
pub(crate) use latent::{AbilityMass, SHAPES, shapes};
pub(crate) use residuals::{FLOOR, ITEM_MOMENTS, ResidualSums};
pub(crate) use score_tables::ExpectedTables;

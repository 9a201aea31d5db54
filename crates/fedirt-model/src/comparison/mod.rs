//! What several fits say beside each other: which fits the data better, which items moved, and how one scale turns into
//! the other.

mod free_items;
mod groups;
mod items;
mod linking;
mod nested;

pub use free_items::{Freed, name_in, plan_with, table_with};
pub use groups::test_group;
pub use items::{Comparison, ItemPair, ItemValue, compare};
pub use linking::{Drift, DriftLimits, Link, LinkError, LinkMethod, link};
pub use nested::{LikelihoodRatio, NotNested, likelihood_ratio};

#[cfg(test)]
mod tests;

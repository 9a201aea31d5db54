//! The hot loops: posteriors by table look-up, expected counts, cross tables.
//!
//! A student's log-likelihood at every node is a sum of rows: one row per item and category. Items are
//! taken in groups, and the sums of a group are tabulated for every combination of its answers
//! ([`codes`]), so that a student costs one row per group. Everything runs over nodes in lanes of eight
//! doubles ([`lanes`]), dispatched on the CPU at run time.

pub(crate) mod aligned;
pub(crate) mod codes;
pub(crate) mod cross;
pub(crate) mod lanes;

/// Nodes are padded to a multiple of this, so that loops over nodes have no remainder.
pub(crate) const LANES: usize = 8;

/// Number of doubles in a padded row of `nodes` nodes.
pub(crate) fn padded(nodes: usize) -> usize {
    nodes.next_multiple_of(LANES)
}

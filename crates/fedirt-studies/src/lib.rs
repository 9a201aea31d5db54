//! Simulated data, and studies that compare algorithms on them.

pub mod rounds;
pub mod simulate;

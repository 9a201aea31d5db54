//! Simulated data, and studies that compare algorithms on them.

pub mod simulate;

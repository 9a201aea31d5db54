//! Simulated data, and studies that compare algorithms on them.

pub mod harness;
pub mod private;
pub mod rounds;
pub mod simulate;

//! Simulated data, and studies that compare algorithms on them.

pub mod attack;
pub mod empirical;
pub mod harness;
pub mod paper;
pub mod private;
pub mod publish;
pub mod rounds;
pub mod simulate;

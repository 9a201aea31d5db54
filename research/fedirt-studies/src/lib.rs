//! The studies behind the paper, which compare algorithms on simulated data, and the baselines that they need.

pub mod attack;
pub mod empirical;
mod error;
pub mod fedirt_dp;
pub mod harness;
pub mod issues;
pub mod paper;
pub mod private;
pub mod publish;
pub mod rounds;

pub use error::StudyError;

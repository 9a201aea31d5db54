//! Private calibrations of simulated data: how far noise takes the estimates from the truth, and whether their
//! standard errors say so.

pub mod published;
mod release;
mod trial;
mod truth;

pub use release::release;
pub use trial::{Condition, Trial, run, trial};
pub use truth::{contaminate, uniform_truth};

#[cfg(test)]
mod forecast_tests;
#[cfg(test)]
mod incomplete_tests;
#[cfg(test)]
mod tests;

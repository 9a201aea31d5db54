//! Private calibrations of simulated data: how far noise takes the estimates from the truth, and whether their
//! standard errors say so.

pub mod audit;
pub mod audit_faults;
pub mod audit_machines;
pub mod audit_run;
pub mod forecast;
pub mod forecast_terms;
pub mod published;
mod release;
mod trial;
mod truth;

pub use release::release;
pub use trial::{Condition, Trial, run, trial};
pub use truth::{contaminate, uniform_truth};

#[cfg(test)]
mod incomplete_tests;
#[cfg(test)]
mod tests;

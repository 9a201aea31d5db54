//! Private calibrations of simulated data. The tests check how far noise moves the estimates from the true values, and whether
//! the standard errors account for it; [`study`] compares mechanisms.

mod release;
pub mod study;
mod truth;

pub(crate) use release::{release, run};
pub(crate) use truth::uniform_truth;

#[cfg(test)]
mod forecast_tests;
#[cfg(test)]
mod incomplete_tests;
#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trial;

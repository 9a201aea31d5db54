//! Privacy machinery: it sees named vectors of numbers, and knows nothing of items or networks.

pub mod accountant;
pub mod audit;
pub mod clip;
pub mod fixed_point;
pub mod ledger;
pub mod noise;
pub mod secure;

//! Privacy machinery: it sees named vectors of numbers, and knows nothing of items or networks.
//!
//! ```text
//! exact sums     fixed_point ─ secure (masks) ─ sum
//! private sums   clip ─ noise ─ ledger (debit) ─ secure (masks) ─ noisy sum
//! ```
//!
//! [`accountant`] says what noise buys, [`ledger`] what has been spent, [`audit`] whether it is true.

pub mod accountant;
pub mod audit;
pub mod clip;
pub mod fixed_point;
pub mod hash_chain;
pub mod ledger;
pub mod noise;
pub mod secure;

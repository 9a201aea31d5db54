//! Ways to combine the sites' answers.

use crate::declaration::Bounds;
use crate::encoding::{self, EncodingError, Precision};
use fedirt_model::exchange::Request;
use fedirt_model::questions::Named;
use fedirt_model::statistics::Combination;
use fedirt_privacy::fixed_point;

/// Combines the sites' ring elements; the sum is the default, and the only one that can be masked.
pub trait Aggregator: Send {
    /// One vector per summed tensor from all answers, in the order of the cohort.
    fn aggregate(
        &self,
        request: &Request,
        bounds: Bounds,
        answers: &[&[u64]],
    ) -> Result<Named, EncodingError>;
}

/// Exact sums modulo 2⁶⁴.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactSum;

impl Aggregator for ExactSum {
    fn aggregate(
        &self,
        request: &Request,
        bounds: Bounds,
        answers: &[&[u64]],
    ) -> Result<Named, EncodingError> {
        let mut total = vec![0u64; encoding::summed_len(request)];
        answers.iter().for_each(|words| fixed_point::add(&mut total, words));
        encoding::decode(request, bounds, Precision::Full, Combination::Sum, &total)
    }
}

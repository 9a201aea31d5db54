//! Gradients combined so that a few odd sites cannot drag them away: coordinate-wise trimmed mean and median
//! (Yin, Chen, Kannan & Bartlett 2018).
//!
//! Both look at each site's gradient by itself. That is a fact about them, not about this code: they work in `plain`
//! only, and they help against odd *sites*. Odd students within every site move every site's gradient alike.

use super::aggregate::Aggregator;
use crate::declaration::Bounds;
use crate::encoding::{self, EncodingError, Precision};
use fedirt_model::exchange::Request;
use fedirt_model::questions::{GRADIENT, Named};
use fedirt_model::statistics::Combination;

/// How the sites' gradients are combined. What is not a gradient is added up as ever.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Robust {
    /// Number of sites times the mean of what is left when this share of the sites is taken off at either end.
    ///
    /// Sites count alike, so they should be of about the same size.
    TrimmedMean(f64),
    /// Number of sites times the median.
    Median,
}

impl Robust {
    /// What stands for the sum of these numbers, one for each site.
    fn combine(self, values: &mut [f64]) -> f64 {
        values.sort_by(f64::total_cmp);
        let sites = values.len();
        let half = sites.saturating_sub(1) / 2;
        let off = match self {
            // A share of a half leaves the median.
            Self::TrimmedMean(share) => ((share * sites as f64).floor() as usize).min(half),
            Self::Median => half,
        };
        let left = &values[off..sites - off];
        left.iter().sum::<f64>() / left.len().max(1) as f64 * sites as f64
    }
}

impl Aggregator for Robust {
    fn aggregate(
        &self,
        request: &Request,
        bounds: Bounds,
        answers: &[&[u64]],
    ) -> Result<Named, EncodingError> {
        let decode =
            |words: &&[u64]| encoding::decode(request, bounds, Precision::Full, Combination::Sum, words);
        let sites: Vec<Named> = answers.iter().map(decode).collect::<Result<_, _>>()?;
        let Some(first) = sites.first() else { return Ok(Vec::new()) };
        let mut out = Vec::with_capacity(first.len());
        let mut values = Vec::with_capacity(sites.len());
        for (slot, (statistic, numbers)) in first.iter().enumerate() {
            let combined = (0..numbers.len()).map(|at| {
                values.clear();
                values.extend(sites.iter().map(|site| site[slot].1[at]));
                if *statistic == GRADIENT { self.combine(&mut values) } else { values.iter().sum() }
            });
            out.push((*statistic, combined.collect()));
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_sites_do_not_count() {
        let combine = |how: Robust| how.combine(&mut [1.0, 2.0, 3.0, 4.0, 1e9]);
        assert_eq!(combine(Robust::TrimmedMean(0.2)), 15.0);
        assert_eq!(combine(Robust::Median), 15.0);
        assert_eq!(Robust::Median.combine(&mut [1.0, 3.0, 9.0, -1e9]), 8.0);
        assert_eq!(Robust::TrimmedMean(0.0).combine(&mut [1.0, 3.0]), 4.0);
        assert_eq!(Robust::TrimmedMean(0.9).combine(&mut [1.0, 3.0, 50.0]), 9.0);
    }
}

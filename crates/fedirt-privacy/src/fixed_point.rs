//! Sums of real numbers as sums of integers modulo 2⁶⁴: exact, so the order of sites and threads cannot
//! change a bit of the result.

/// Fraction bits are never more than this: doubles of ordinary size have no more to give.
const MAX_FRACTION_BITS: i32 = 44;

/// Fewer fraction bits than this would lose digits that estimates need.
const MIN_FRACTION_BITS: i32 = 6;

/// Why a number cannot be written in fixed point.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FixedPointError {
    /// The bound leaves too few fraction bits.
    #[error("a sum bounded by {bound:e} leaves {bits} fraction bits, and {MIN_FRACTION_BITS} are needed")]
    TooLarge {
        /// Bound on the sum.
        bound: f64,
        /// Bits that would be left.
        bits: i32,
    },
    /// A number is not finite or beyond its bound. The number itself is a site's secret, and not told.
    #[error("number {index} is not finite, or beyond its bound {bound:e}")]
    OutOfBound {
        /// Position in the vector.
        index: usize,
        /// The bound on the number.
        bound: f64,
    },
}

/// A format for numbers whose sum over all sites stays within a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedPoint {
    bound: f64,
    scale: f64,
}

impl FixedPoint {
    /// As many fraction bits as log2(bound) + bits + 1 ≤ 62 allows.
    pub fn for_bound(bound: f64) -> Result<Self, FixedPointError> {
        let bits = (61 - bound.max(1.0).log2().ceil() as i32).min(MAX_FRACTION_BITS);
        if bits < MIN_FRACTION_BITS || !bound.is_finite() {
            return Err(FixedPointError::TooLarge { bound, bits });
        }
        Ok(Self { bound, scale: 2f64.powi(bits) })
    }

    /// No finer than this step, or the nearest power of two below it: digits that nobody needs would only tell more.
    /// Whole numbers stay exact.
    #[must_use]
    pub fn no_finer_than(self, step: f64) -> Self {
        let bits = (-step.log2()).ceil().clamp(f64::from(MIN_FRACTION_BITS), f64::from(MAX_FRACTION_BITS));
        Self { scale: self.scale.min(bits.exp2()), ..self }
    }

    /// The distance between neighbouring numbers.
    pub fn step(&self) -> f64 {
        self.scale.recip()
    }

    /// Converts numbers to ring elements, rounded to nearest.
    pub fn encode(&self, values: &[f64]) -> Result<Vec<u64>, FixedPointError> {
        let mut words = vec![0; values.len()];
        self.add(values, &mut words)?;
        Ok(words)
    }

    /// Adds numbers to ring elements, each rounded to nearest. Nothing is added where one of them is out of bounds.
    pub fn add(&self, values: &[f64], total: &mut [u64]) -> Result<(), FixedPointError> {
        // A comparison with a number that is not finite is false.
        let fits = |value: &f64| value.abs() <= self.bound;
        if let Some(index) = values.iter().position(|value| !fits(value)) {
            return Err(FixedPointError::OutOfBound { index, bound: self.bound });
        }
        for (word, value) in total.iter_mut().zip(values) {
            *word = word.wrapping_add(nearest(value * self.scale) as u64);
        }
        Ok(())
    }

    /// Converts ring elements to numbers.
    pub fn decode(&self, words: &[u64]) -> Vec<f64> {
        words.iter().map(|&w| w as i64 as f64 / self.scale).collect()
    }
}

/// The nearest integer, halves away from zero as [`f64::round`] has it, without a call into the mathematical library: the part
/// behind the point is exact.
fn nearest(x: f64) -> i64 {
    let whole = x as i64;
    let rest = x - whole as f64;
    whole + i64::from(rest >= 0.5) - i64::from(rest <= -0.5)
}

/// Adds ring elements in place.
pub fn add(total: &mut [u64], words: &[u64]) {
    total.iter_mut().zip(words).for_each(|(t, w)| *t = t.wrapping_add(*w));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_do_not_depend_on_order(values in prop::collection::vec(-1e3f64..1e3, 1..40)) {
            let format = FixedPoint::for_bound(1e5).unwrap();
            let encoded: Vec<Vec<u64>> = values.iter().map(|v| format.encode(&[*v]).unwrap()).collect();
            let (mut forward, mut backward) = (vec![0], vec![0]);
            encoded.iter().for_each(|w| add(&mut forward, w));
            encoded.iter().rev().for_each(|w| add(&mut backward, w));
            prop_assert_eq!(&forward, &backward);
            let sum: f64 = values.iter().sum();
            prop_assert!((format.decode(&forward)[0] - sum).abs() < 1e-9);
        }
    }

    #[test]
    fn the_nearest_integer_is_that_of_the_standard_library() {
        let below_half = 0.5f64.next_down();
        for x in
            [0.0, below_half, 0.5, 1.5, 2.5, 4_503_599_627_370_495.5, 9_007_199_254_740_993.0, 2f64.powi(61)]
        {
            for x in [x, -x] {
                assert_eq!(nearest(x), x.round() as i64, "{x:e}");
            }
        }
    }

    #[test]
    fn digits_that_nobody_needs_are_rounded_away() {
        let full = FixedPoint::for_bound(1e4).unwrap();
        let coarse = full.no_finer_than(1e-4);
        assert!(coarse.step() <= 1e-4 && coarse.step() > 0.5e-4, "{}", coarse.step());
        let told = coarse.decode(&coarse.encode(&[0.123_456_789, 17.0]).unwrap());
        assert!((told[0] - 0.123_456_789).abs() <= 0.5e-4 && told[0] != 0.123_456_789);
        assert_eq!(told[1], 17.0, "a count stays exact");
        assert_eq!(full.no_finer_than(1e-30).step(), full.step(), "never finer than the room allows");
        assert_eq!(full.no_finer_than(1e9).step(), 2f64.powi(-MIN_FRACTION_BITS));
    }

    #[test]
    fn numbers_beyond_their_bound_are_refused() {
        let format = FixedPoint::for_bound(10.0).unwrap();
        for value in [10.1, -11.0, f64::NAN, f64::INFINITY] {
            assert!(format.encode(&[0.0, value]).is_err());
        }
        assert!(FixedPoint::for_bound(1e17).is_err());
        assert_eq!(format.decode(&format.encode(&[-2.5]).unwrap()), [-2.5]);
    }
}

//! Clipped rows, added up in integers; and the only way their sum leaves a site.
//!
//! Types hold the rule that nothing else leaves: a [`Clipper`] becomes a [`ClippedSum`], whose numbers nobody
//! can read, and only noise makes of it a [`NoisySum`], which has words.

use crate::noise::NoiseShare;
use zeroize::{Zeroize, Zeroizing};

/// Largest ratio C/γ of clipping norm and lattice step.
const MOST_STEPS: f64 = 4_611_686_018_427_387_904.0;

/// Why rows cannot be added up, or noise not added to their sum. Never because of a row.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClipError {
    /// The lattice step γ is not a power of two.
    #[error("the lattice step is {0:e}; it must be a power of two")]
    Step(f64),
    /// C has less than one lattice step, or more than 2⁶².
    #[error("the clipping norm {clip:e} is not from 1 to 2^62 lattice steps of {step:e}")]
    Clip {
        /// C, the clipping norm: no row is longer.
        clip: f64,
        /// γ, the lattice step: rows are rounded to multiples of it.
        step: f64,
    },
    /// The noise has another number of coordinates than the sum.
    #[error("the sum has {rows} coordinates, and the noise {noise}")]
    Width {
        /// Coordinates of the sum.
        rows: usize,
        /// Coordinates of the noise.
        noise: usize,
    },
}

/// Adds up rows, each clipped to norm C and rounded to the lattice.
///
/// q = trunc(ψ·min(1, C/‖ψ‖)/γ), toward zero, depends on the row and on broadcast numbers alone. Whatever the
/// floating-point unit made of it, Σ q² ≤ ⌊(C/γ)²⌋ is checked in whole numbers; a row that fails, is not finite
/// or has the wrong width is 0. So the sensitivity is C/γ steps for any parameters that a hostile coordinator
/// may send, and no row can make a site refuse, which would be a message about the row.
pub struct Clipper {
    clip: f64,
    step: f64,
    limit: u128,
    row: Zeroizing<Vec<i64>>,
    sum: Zeroizing<Vec<i64>>,
}

/// ⌊x²⌋ for a double from 1 to 2⁶², exactly: x = m·2^e with a whole number m of 53 bits.
pub(crate) fn floor_of_square(x: f64) -> u128 {
    let exponent = (x.to_bits() >> 52) as i32 - 1075;
    let mantissa = u128::from(x.to_bits() & ((1 << 52) - 1) | 1 << 52);
    let square = mantissa * mantissa;
    if exponent >= 0 { square << (2 * exponent) } else { square >> (-2 * exponent) }
}

impl Clipper {
    /// For the clipping norm C, the lattice step γ (a power of two, see [`crate::noise::Lattice`]) and rows of
    /// a width.
    pub fn new(clip: f64, step: f64, width: usize) -> Result<Self, ClipError> {
        if !(step.is_normal() && step > 0.0 && step.to_bits() & ((1 << 52) - 1) == 0) {
            return Err(ClipError::Step(step));
        }
        let steps = clip / step;
        if !(1.0..MOST_STEPS).contains(&steps) {
            return Err(ClipError::Clip { clip, step });
        }
        let zeros = || Zeroizing::new(vec![0; width]);
        Ok(Self { clip, step, limit: floor_of_square(steps), row: zeros(), sum: zeros() })
    }

    /// Clips a row to the lattice; `None` if it counts as 0.
    fn quantise(&mut self, row: &[f64]) -> Option<()> {
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        // An infinite norm gives factor 0; a norm that is no number gives a product that is none.
        let factor = if norm <= self.clip { 1.0 } else { self.clip / norm };
        let mut square = 0u128;
        for (q, x) in self.row.iter_mut().zip(row) {
            let scaled = x * factor / self.step;
            if !scaled.is_finite() {
                return None;
            }
            *q = scaled as i64;
            square = square.saturating_add(u128::from(q.unsigned_abs()).pow(2));
        }
        (square <= self.limit && row.len() == self.sum.len()).then_some(())
    }

    /// Clips a row and adds it to the sum.
    pub fn add(&mut self, row: &[f64]) {
        if self.quantise(row).is_some() {
            self.sum.iter_mut().zip(self.row.iter()).for_each(|(s, q)| *s = s.wrapping_add(*q));
        }
        self.row.as_mut_slice().zeroize();
    }

    /// Ends the summation.
    pub fn finish(self) -> ClippedSum {
        ClippedSum(self.sum)
    }
}

impl std::fmt::Debug for Clipper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Clipper(norm {}, step {:e}, width {})", self.clip, self.step, self.sum.len())
    }
}

/// A sum of clipped rows. It cannot be read, copied, printed or written; it is wiped when dropped.
///
/// ```compile_fail
/// # fn read(sum: fedirt_privacy::clip::ClippedSum) {
/// let words = sum.words();
/// # }
/// ```
pub struct ClippedSum(Zeroizing<Vec<i64>>);

impl ClippedSum {
    /// The number of coordinates.
    pub fn width(&self) -> usize {
        self.0.len()
    }

    fn words(&self) -> Vec<u64> {
        self.0.iter().map(|&q| q as u64).collect()
    }

    /// The sum under noise: both are used up.
    pub fn with_noise(self, share: NoiseShare) -> Result<NoisySum, ClipError> {
        let mut words = Zeroizing::new(self.words());
        share.add_to(&mut words)?;
        Ok(NoisySum(std::mem::take(&mut *words)))
    }

    /// The sum **without noise**, for `central` noise: the published algorithm, where the coordinator is
    /// trusted with exact sums. The ledger counts it as an exact release.
    pub fn exact_sum_for_a_trusted_server(self) -> Vec<u64> {
        self.words()
    }
}

impl std::fmt::Debug for ClippedSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClippedSum({} secret numbers)", self.0.len())
    }
}

/// A sum under the site's noise: what may be masked and sent, once the ledger has its debit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoisySum(Vec<u64>);

impl NoisySum {
    /// Signed numbers of lattice steps, modulo 2⁶⁴.
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// The words, ready to be masked.
    pub fn into_words(self) -> Vec<u64> {
        self.0
    }
}

#[cfg(test)]
#[path = "clip_tests.rs"]
mod tests;

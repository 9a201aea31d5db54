//! One site's share of the noise: it is drawn, added to one sum, and wiped.

use super::gaussian::discrete_gaussian;
use crate::clip::ClipError;
use rand::CryptoRng;
use zeroize::Zeroizing;

/// The noise that one site adds to one sum in one attempt.
///
/// It is used once: [`crate::clip::ClippedSum::with_noise`] takes it away. It cannot be copied, written to disk
/// or printed, and is wiped when dropped; the same share in two attempts with different cohorts would show a
/// site's numbers.
///
/// ```compile_fail
/// # fn twice(share: fedirt_privacy::noise::NoiseShare) {
/// let again = share.clone();
/// # }
/// ```
pub struct NoiseShare(Zeroizing<Vec<i64>>);

impl NoiseShare {
    /// Independent discrete Gaussian numbers of standard deviation `sd` lattice steps, one for each of `width`
    /// coordinates. The randomness must be the operating system's, except in simulations, and fresh.
    pub fn draw(random: &mut impl CryptoRng, sd: u64, width: usize) -> Self {
        Self(Zeroizing::new((0..width).map(|_| discrete_gaussian(random, sd)).collect()))
    }

    /// The number of coordinates.
    pub fn width(&self) -> usize {
        self.0.len()
    }

    /// Adds the noise to words, modulo 2⁶⁴.
    pub(crate) fn add_to(self, words: &mut [u64]) -> Result<(), ClipError> {
        if words.len() != self.0.len() {
            return Err(ClipError::Width { rows: words.len(), noise: self.0.len() });
        }
        words.iter_mut().zip(self.0.iter()).for_each(|(w, n)| *w = w.wrapping_add(*n as u64));
        Ok(())
    }
}

impl std::fmt::Debug for NoiseShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NoiseShare({} secret numbers)", self.0.len())
    }
}

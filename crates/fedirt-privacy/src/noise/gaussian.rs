//! An exact sampler of the discrete Gaussian distribution.

use super::bernoulli::{below, exp_minus, exp_minus_one};
use rand::CryptoRng;

/// Largest standard deviation: with it every number of the sampler fits into 128 bits.
pub const LARGEST_SD: u64 = 1 << 52;

/// A geometric number beyond this, of probability e^{−1024}, is drawn again.
const LONGEST_RUN: u64 = 1024;

/// |Y| and the sign of the discrete Laplace distribution of scale t: P(Y = y) ∝ e^{−|y|/t}.
///
/// Canonne, Kamath and Steinke 2020, algorithm 2 with s = 1: |Y| = U + tV, U in 0..t with weight e^{−U/t}, V
/// geometric with ratio e^{−1}; "minus zero" is drawn again. `None`: draw again.
fn laplace(random: &mut impl CryptoRng, t: u64) -> Option<(u64, bool)> {
    let u = below(random, u128::from(t)) as u64;
    if !exp_minus(random, u128::from(u), u128::from(t)) {
        return None;
    }
    let mut v = 0;
    while exp_minus_one(random) {
        v += 1;
        if v == LONGEST_RUN {
            return None;
        }
    }
    let negative = below(random, 2) == 1;
    let size = u + t * v;
    if negative && size == 0 { None } else { Some((size, negative)) }
}

/// A whole number with P(x) ∝ e^{−x²/2s²}, for a whole number s of at most [`LARGEST_SD`]; larger ones are
/// taken as it, and s = 0 gives 0.
///
/// Canonne, Kamath and Steinke 2020, algorithm 3: a discrete Laplace number Y of scale t = s, kept with
/// probability e^{−(|Y| − s)²/2s²}. (They take t = ⌊s⌋ + 1; any t is right, since −y²/2s² =
/// −|y|/t − (|y| − s²/t)²/2s² + a constant, and t = s ≥ 1 leaves whole numbers.) Every comparison is between
/// whole numbers: no rounding anywhere. Its variance is s²(1 − 8π²s² e^{−2π²s²} + …), by Poisson's summation:
/// s² to 2·10⁻⁷ for s = 1, and to all digits of a double from s = 2 on. The tail beyond 1024 s, of probability below e^{−500000}, is left out.
pub fn discrete_gaussian(random: &mut impl CryptoRng, sd: u64) -> i64 {
    let s = sd.min(LARGEST_SD);
    if s == 0 {
        return 0;
    }
    let twice_variance = 2 * u128::from(s) * u128::from(s);
    loop {
        let Some((size, negative)) = laplace(random, s) else { continue };
        let distance = u128::from(size.abs_diff(s));
        if exp_minus(random, distance * distance, twice_variance) {
            let size = size as i64;
            return if negative { -size } else { size };
        }
    }
}

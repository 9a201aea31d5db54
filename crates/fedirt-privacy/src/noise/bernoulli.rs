//! Bernoulli draws whose probability is exact, not the approximation that a double would give.

use rand::CryptoRng;

/// 2¹²⁸.
const TWO_128: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

fn bits(random: &mut impl CryptoRng) -> u128 {
    u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())
}

/// A uniform number from 0 to n − 1, n ≥ 1: draws of just enough bits until one is below n.
pub(super) fn below(random: &mut impl CryptoRng, n: u128) -> u128 {
    let unused = (n - 1).leading_zeros();
    loop {
        let draw = match unused {
            128 => return 0,
            64.. => u128::from(random.next_u64() >> (unused - 64)),
            _ => bits(random) >> unused,
        };
        if draw < n {
            return draw;
        }
    }
}

/// True with probability e^{−x}, x = numerator/denominator in \[0, 1\], denominator ≥ 1.
///
/// Canonne, Kamath and Steinke 2020, algorithm 1: coins of probability x/1, x/2, x/3, … until the first that is
/// false; it is an odd one with probability Σ (−x)^k/k!. A coin of probability x/k is two coins, x and 1/k, so
/// that no product leaves 128 bits.
fn exp_minus_fraction(random: &mut impl CryptoRng, numerator: u128, denominator: u128) -> bool {
    let mut k: u64 = 1;
    while below(random, u128::from(k)) == 0 && below(random, denominator) < numerator {
        k += 1;
    }
    k % 2 == 1
}

/// True with probability e^{−1}.
pub(super) fn exp_minus_one(random: &mut impl CryptoRng) -> bool {
    exp_minus_fraction(random, 1, 1)
}

/// True with probability e^{−x}, x = numerator/denominator ≥ 0, denominator ≥ 1.
///
/// Canonne, Kamath and Steinke 2020, algorithm 1: ⌊x⌋ coins of e^{−1}, then one of what is left.
pub(super) fn exp_minus(random: &mut impl CryptoRng, numerator: u128, denominator: u128) -> bool {
    let mut whole = numerator / denominator;
    while whole > 0 {
        if !exp_minus_one(random) {
            return false;
        }
        whole -= 1;
    }
    exp_minus_fraction(random, numerator % denominator, denominator)
}

/// Whether a student takes part in this attempt (Poisson sampling): true with probability `rate`.
///
/// 128 random bits are compared with the rate's own binary digits. That is exact for every double from 2⁻⁷⁵
/// to 1; smaller ones are rounded down by less than 2⁻¹²⁸, which costs no privacy. What is no number, or
/// negative, is 0. Each site draws its sample secretly, fresh per attempt, and never sends its size.
pub fn sample(random: &mut impl CryptoRng, rate: f64) -> bool {
    let draw = bits(random);
    rate >= 1.0 || draw < (rate * TWO_128) as u128
}

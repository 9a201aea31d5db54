//! The noise for a budget.

use super::solve::root;
use super::{AccountantError, Delta, Epsilon, GaussianDp, Mechanism};

/// Noise multipliers that are tried under sampling. Below the first, sampling alone protects.
const LEAST: f64 = 0.05;
const MOST: f64 = 1e6;

/// ε of the answer lies between (1 − 2 · this) and 1 times the wanted one.
const TOLERANCE: f64 = 2e-7;

/// The smallest noise multiplier σ that keeps (ε, δ) over the rounds at sampling rate q.
///
/// Without sampling σ = √rounds / μ(ε, δ), exact (see [`GaussianDp`]); otherwise ε(σ) of the privacy-loss
/// distribution is inverted, from the safe side: ε of the answer is never above the wanted one, and at most
/// 4e-7 of it below.
pub fn noise_multiplier(
    budget: (Epsilon, Delta),
    sampling_rate: f64,
    rounds: u32,
) -> Result<f64, AccountantError> {
    let (epsilon, delta) = budget;
    // Checks rate and rounds before anything is computed.
    Mechanism::new(sampling_rate, 1.0, rounds)?;
    if sampling_rate == 1.0 {
        return Ok(f64::from(rounds).sqrt() / GaussianDp::for_budget(epsilon, delta).mu());
    }
    // A share of TOLERANCE below the target, so that the answer's own tolerance keeps it below.
    let ln_target = epsilon.value().ln() - TOLERANCE;
    let excess = |ln_sigma: f64| -> Result<f64, AccountantError> {
        let found = Mechanism::new(sampling_rate, ln_sigma.exp(), rounds)?.epsilon(delta);
        Ok(found.ln().max(ln_target - 5.0) - ln_target)
    };
    // Rounds of q at σ are close to rounds of σ/q without sampling when σ is large.
    let gaussian = f64::from(rounds).sqrt() / GaussianDp::for_budget(epsilon, delta).mu();
    let guess = (sampling_rate * gaussian).clamp(0.6, MOST).ln();
    let mut near = (guess, excess(guess)?);
    let stride = if near.1 > 0.0 { 0.25 } else { -0.25 };
    let mut far = near;
    while (far.1 > 0.0) == (near.1 > 0.0) {
        near = far;
        let next = far.0 + stride;
        if !(LEAST.ln()..=MOST.ln()).contains(&next) {
            let (epsilon, delta) = (epsilon.value(), delta.value());
            return Err(AccountantError::OutOfReach { epsilon, delta, least: LEAST, most: MOST });
        }
        far = (next, excess(next)?);
    }
    let (low, high) = if near.0 < far.0 { (near, far) } else { (far, near) };
    let mut ln_sigma = root(excess, low, high, TOLERANCE)?;
    // A search that ended on the width of its bracket may have stopped on the wrong side.
    while excess(ln_sigma)? > TOLERANCE {
        ln_sigma += TOLERANCE;
    }
    Ok(ln_sigma.exp())
}

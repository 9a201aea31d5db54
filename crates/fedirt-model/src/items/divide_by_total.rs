//! Formulas shared by the divide-by-total family (2PL, 1PL, Rasch, PCM, GPCM).
//!
//! log p_c = c·e + d_c − log Σ_h exp(h·e + d_h), d_0 = 0, with *cumulative* d as in mirt
//! (Muraki 1992, in slope–intercept form). F_e = c − E[c], F_{d_r} = 1[c = r] − p_r; second derivatives are
//! minus the covariances of (score, indicators), the same for every category.

use super::{Node, Order};

pub(super) fn node(e: f64, d: &[f64], order: Order, out: &mut Node) {
    let m = d.len();
    out.log_p[0] = 0.0;
    let mut top = 0.0f64;
    for c in 1..=m {
        let x = c as f64 * e + d[c - 1];
        out.log_p[c] = x;
        top = top.max(x);
    }
    let total: f64 = out.log_p[..=m].iter().map(|x| (x - top).exp()).sum();
    let shift = top + total.ln();
    for x in &mut out.log_p[..=m] {
        *x -= shift;
    }
    if order == Order::Probability {
        return;
    }
    let p: Vec<f64> = out.log_p[..=m].iter().map(|x| x.exp()).collect();
    let mean: f64 = p.iter().enumerate().map(|(c, p)| c as f64 * p).sum();
    for c in 0..=m {
        out.f_e[c] = c as f64 - mean;
        for r in 1..=m {
            *out.f_d(c, r) = f64::from(u8::from(c == r)) - p[r];
        }
    }
    if order == Order::Score {
        return;
    }
    let variance: f64 = p.iter().enumerate().map(|(c, p)| p * (c as f64 - mean).powi(2)).sum();
    for c in 0..=m {
        out.g_ee[c] = -variance;
        for r in 1..=m {
            *out.g_ed(c, r) = -p[r] * (r as f64 - mean);
            for s in 1..=m {
                *out.g_dd(c, r, s) = p[r] * p[s] - if r == s { p[r] } else { 0.0 };
            }
        }
    }
}

/// b_c = −(d_c − d_{c−1})/a.
pub(super) fn difficulties(a: f64, d: &[f64]) -> Vec<f64> {
    (0..d.len()).map(|c| -(d[c] - if c == 0 { 0.0 } else { d[c - 1] }) / a).collect()
}

/// d_c = −a·(b_1 + … + b_c).
pub(super) fn intercepts(a: f64, b: &[f64]) -> Vec<f64> {
    b.iter()
        .scan(0.0, |sum, b| {
            *sum -= a * b;
            Some(*sum)
        })
        .collect()
}

pub(super) fn difficulty_weights(step: usize) -> Vec<(usize, f64)> {
    if step == 1 { vec![(1, 1.0)] } else { vec![(step, 1.0), (step - 1, -1.0)] }
}

/// Log odds of each category against the lowest.
pub(super) fn start_intercepts(shares: &[f64]) -> Vec<f64> {
    shares[1..].iter().map(|p| (p / shares[0]).ln()).collect()
}

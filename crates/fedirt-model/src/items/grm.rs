//! Graded response model (Samejima 1969): P(x ≥ c) = P*_c = σ(e + d_c), with d_1 > d_2 > … > d_m.
//!
//! log p_c = log σ(e + d_c) + log σ(−e − d_{c+1}) + log(1 − exp(−(d_c − d_{c+1}))): no difference of
//! probabilities, so no cancellation. With w = P*(1 − P*): F_e = 1 − P*_c − P*_{c+1}, F_{d_c} = w_c/p_c,
//! F_{d_{c+1}} = −w_{c+1}/p_c.

use super::{AbilityNode, Logits, Node, OneSlope, Order, SlopeRule};

/// Smallest distance between neighbouring intercepts that counts as ordered.
const MIN_GAP: f64 = 1e-4;

/// The GRM.
#[derive(Debug)]
pub(super) struct Grm;

/// log σ(x) without overflow.
fn log_logistic(x: f64) -> f64 {
    if x >= 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

/// Writes log p_c.
fn log_probabilities(e: f64, d: &[f64], log_p: &mut [f64]) {
    let m = d.len();
    for c in 0..=m {
        let mut x = 0.0;
        if c >= 1 {
            x += log_logistic(e + d[c - 1]);
        }
        if c < m {
            x += log_logistic(-e - d[c]);
        }
        if c >= 1 && c < m {
            x += (-(-(d[c - 1] - d[c])).exp_m1()).ln();
        }
        log_p[c] = x;
    }
}

impl OneSlope for Grm {
    fn name(&self) -> &'static str {
        "grm"
    }

    fn title(&self) -> &'static str {
        "GRM"
    }

    fn summary(&self) -> &'static str {
        "graded response: slopes free, ordered categories"
    }

    fn slope(&self) -> SlopeRule {
        SlopeRule::Free
    }

    fn logits(&self) -> Logits {
        Logits::Cumulative
    }

    fn polytomous(&self) -> bool {
        true
    }

    fn divides_by_total(&self) -> bool {
        false
    }

    fn predict(&self, e: f64, d: &[f64], order: Order, out: &mut Node) {
        let m = d.len();
        log_probabilities(e, d, &mut out.log_p);
        if order == Order::Probability {
            return;
        }
        // above[c] = P*_c with P*_0 = 1 and P*_{m+1} = 0; w[c] = P*_c (1 − P*_c).
        let above: Vec<f64> = (0..=m + 1)
            .map(|c| match c {
                0 => 1.0,
                c if c == m + 1 => 0.0,
                c => log_logistic(e + d[c - 1]).exp(),
            })
            .collect();
        let w: Vec<f64> = (0..=m + 1)
            .map(|c| {
                if c == 0 || c == m + 1 {
                    0.0
                } else {
                    (log_logistic(e + d[c - 1]) + log_logistic(-e - d[c - 1])).exp()
                }
            })
            .collect();
        for c in 0..=m {
            // e^300 is as good as infinity here: w/p stays finite because w vanishes with p.
            let inv = (-out.log_p[c].max(-300.0)).exp();
            *out.first(c, 0) = 1.0 - above[c] - above[c + 1];
            for r in 1..=m {
                *out.first(c, r) = if r == c {
                    w[c] * inv
                } else if r == c + 1 {
                    -w[c + 1] * inv
                } else {
                    0.0
                };
            }
            if order != Order::Curvature {
                continue;
            }
            *out.second(c, 0, 0) = -w[c] - w[c + 1];
            for r in 1..=m {
                let near = r == c || r == c + 1;
                *out.second(c, 0, r) = if near { -w[r] } else { 0.0 };
                for s in 1..=m {
                    let product = *out.first(c, r) * *out.first(c, s);
                    let own = match r {
                        r if r != s => 0.0,
                        r if r == c => w[r] * (1.0 - 2.0 * above[r]) * inv,
                        r if r == c + 1 => -w[r] * (1.0 - 2.0 * above[r]) * inv,
                        _ => 0.0,
                    };
                    *out.second(c, r, s) = own - product;
                }
            }
        }
    }

    fn predict_along(&self, e: f64, d: &[f64], out: &mut AbilityNode) {
        let m = d.len();
        log_probabilities(e, d, &mut out.log_p);
        let above = |c: usize| match c {
            0 => 1.0,
            c if c == m + 1 => 0.0,
            c => log_logistic(e + d[c - 1]).exp(),
        };
        let w = |c: usize| match c {
            0 => 0.0,
            c if c == m + 1 => 0.0,
            c => (log_logistic(e + d[c - 1]) + log_logistic(-e - d[c - 1])).exp(),
        };
        for c in 0..=m {
            out.first[c] = 1.0 - above(c) - above(c + 1);
            out.second[c] = -w(c) - w(c + 1);
        }
    }

    fn shift_score(&self, step: usize) -> f64 {
        f64::from(u8::from(step > 0))
    }

    fn admissible_intercepts(&self, d: &[f64]) -> bool {
        d.windows(2).all(|w| w[0] - w[1] > MIN_GAP)
    }

    fn difficulties(&self, a: f64, d: &[f64]) -> Vec<f64> {
        d.iter().map(|d| -d / a).collect()
    }

    fn intercepts(&self, a: f64, b: &[f64]) -> Vec<f64> {
        b.iter().map(|b| -a * b).collect()
    }

    fn difficulty_weights(&self, step: usize) -> Vec<(usize, f64)> {
        vec![(step, 1.0)]
    }

    fn start_intercepts(&self, a: f64, shares: &[f64]) -> Vec<f64> {
        // A logistic smeared by N(0, a²): logits shrink by about √(1 + a²/2.9).
        let widen = (1.0 + a * a / 2.9).sqrt();
        (1..shares.len())
            .map(|c| {
                let up: f64 = shares[c..].iter().sum();
                widen * (up / (1.0 - up)).ln()
            })
            .collect()
    }

    fn unbounded_intercepts(&self, d: &[f64]) -> Vec<f64> {
        (0..d.len()).map(|c| if c == 0 { d[0] } else { (d[c - 1] - d[c]).ln() }).collect()
    }

    fn bounded_intercepts(&self, y: &[f64]) -> Vec<f64> {
        let mut d = Vec::with_capacity(y.len());
        for (c, y) in y.iter().enumerate() {
            d.push(if c == 0 { *y } else { d[c - 1] - y.clamp(-7.0, 4.0).exp() });
        }
        d
    }

    fn unbounded_intercept_gradient(&self, y: &[f64], gradient: &[f64]) -> Vec<f64> {
        let mut tail = 0.0;
        let mut out = vec![0.0; y.len()];
        for c in (0..y.len()).rev() {
            tail += gradient[c];
            out[c] = if c == 0 { tail } else { -tail * y[c].clamp(-7.0, 4.0).exp() };
        }
        out
    }
}

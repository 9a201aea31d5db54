//! The divide-by-total family with scores 0..=m: 2PL, 1PL, Rasch, PCM and GPCM.
//!
//! log p_c = c·e + d_c − log Σ_h exp(h·e + d_h), d_0 = 0, with *cumulative* d as in mirt (Muraki 1992, in
//! slope–intercept form). F_e = c − E[c], F_{d_r} = 1[c = r] − p_r; second derivatives are minus the covariances of
//! (score, indicators), the same for every category. The members differ in where their slope comes from and in how
//! many categories they take.

use super::{AbilityNode, Logits, Node, OneSlope, Order, SlopeRule};

/// A member of the family.
#[derive(Debug)]
pub(super) struct DivideByTotal {
    pub(super) name: &'static str,
    title: &'static str,
    summary: &'static str,
    slope: SlopeRule,
    polytomous: bool,
}

/// Two-parameter logistic model (Birnbaum 1968; the paper's equation 4): P(x = 1) = σ(a·t + d).
pub(super) const TWO_PL: DivideByTotal = DivideByTotal {
    name: "2pl",
    title: "2PL",
    summary: "slopes free, two categories",
    slope: SlopeRule::Free,
    polytomous: false,
};

/// One-parameter model as textbooks and ltm have it: one slope for all items, ability of SD 1. Its likelihood is that of
/// [`RASCH`].
pub(super) const ONE_PL: DivideByTotal = DivideByTotal {
    name: "1pl",
    title: "1PL",
    summary: "one slope for all items, SD of ability 1",
    slope: SlopeRule::Common,
    polytomous: true,
};

/// Rasch's model (1960) as mirt and TAM fit it: slopes 1, SD of ability estimated. With more categories it is the PCM.
pub(super) const RASCH: DivideByTotal = DivideByTotal {
    name: "rasch",
    title: "Rasch",
    summary: "slopes 1, SD of ability estimated",
    slope: SlopeRule::LatentSd,
    polytomous: true,
};

/// The paper's one-parameter model: every slope 1 and ability of SD 1. With more categories, Masters' steps.
pub(super) const RASCH_SD1: DivideByTotal = DivideByTotal {
    name: "rasch-sd1",
    title: "Rasch (SD 1)",
    summary: "slopes 1, SD of ability 1 (the paper's)",
    slope: SlopeRule::One,
    polytomous: true,
};

/// Partial credit model (Masters 1982): slopes 1, SD of ability estimated.
pub(super) const PCM: DivideByTotal = DivideByTotal {
    name: "pcm",
    title: "PCM",
    summary: "rasch for more than two categories",
    slope: SlopeRule::LatentSd,
    polytomous: true,
};

/// Generalised partial credit model (Muraki 1992; the paper's equation 7).
pub(super) const GPCM: DivideByTotal = DivideByTotal {
    name: "gpcm",
    title: "GPCM",
    summary: "generalised partial credit: slopes free",
    slope: SlopeRule::Free,
    polytomous: true,
};

/// Writes log p_c without overflow.
fn probabilities(e: f64, d: &[f64], log_p: &mut [f64]) {
    let m = d.len();
    log_p[0] = 0.0;
    let mut top = 0.0f64;
    for c in 1..=m {
        let x = c as f64 * e + d[c - 1];
        log_p[c] = x;
        top = top.max(x);
    }
    let total: f64 = log_p[..=m].iter().map(|x| (x - top).exp()).sum();
    let shift = top + total.ln();
    for x in &mut log_p[..=m] {
        *x -= shift;
    }
}

impl OneSlope for DivideByTotal {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn slope(&self) -> SlopeRule {
        self.slope
    }

    fn logits(&self) -> Logits {
        Logits::Adjacent
    }

    fn polytomous(&self) -> bool {
        self.polytomous
    }

    fn divides_by_total(&self) -> bool {
        true
    }

    fn predict(&self, e: f64, d: &[f64], order: Order, out: &mut Node) {
        let m = d.len();
        probabilities(e, d, &mut out.log_p);
        if order == Order::Probability {
            return;
        }
        let p: Vec<f64> = out.log_p[..=m].iter().map(|x| x.exp()).collect();
        let mean: f64 = p.iter().enumerate().map(|(c, p)| c as f64 * p).sum();
        for c in 0..=m {
            *out.first(c, 0) = c as f64 - mean;
            for r in 1..=m {
                *out.first(c, r) = f64::from(u8::from(c == r)) - p[r];
            }
        }
        if order == Order::Score {
            return;
        }
        let variance: f64 = p.iter().enumerate().map(|(c, p)| p * (c as f64 - mean).powi(2)).sum();
        for c in 0..=m {
            *out.second(c, 0, 0) = -variance;
            for r in 1..=m {
                *out.second(c, 0, r) = -p[r] * (r as f64 - mean);
                for s in 1..=m {
                    *out.second(c, r, s) = p[r] * p[s] - if r == s { p[r] } else { 0.0 };
                }
            }
        }
    }

    fn predict_along(&self, e: f64, d: &[f64], out: &mut AbilityNode) {
        let m = d.len();
        probabilities(e, d, &mut out.log_p);
        let p = |log_p: f64| log_p.exp();
        let mean: f64 = out.log_p[..=m].iter().enumerate().map(|(c, x)| c as f64 * p(*x)).sum();
        let variance: f64 =
            out.log_p[..=m].iter().enumerate().map(|(c, x)| p(*x) * (c as f64 - mean).powi(2)).sum();
        for c in 0..=m {
            out.first[c] = c as f64 - mean;
            out.second[c] = -variance;
        }
    }

    fn shift_score(&self, step: usize) -> f64 {
        step as f64
    }

    fn admissible_intercepts(&self, _d: &[f64]) -> bool {
        true
    }

    /// b_c = −(d_c − d_{c−1})/a.
    fn difficulties(&self, a: f64, d: &[f64]) -> Vec<f64> {
        (0..d.len()).map(|c| -(d[c] - if c == 0 { 0.0 } else { d[c - 1] }) / a).collect()
    }

    /// d_c = −a·(b_1 + … + b_c).
    fn intercepts(&self, a: f64, b: &[f64]) -> Vec<f64> {
        b.iter()
            .scan(0.0, |sum, b| {
                *sum -= a * b;
                Some(*sum)
            })
            .collect()
    }

    fn difficulty_weights(&self, step: usize) -> Vec<(usize, f64)> {
        if step == 1 { vec![(1, 1.0)] } else { vec![(step, 1.0), (step - 1, -1.0)] }
    }

    /// Log odds of each category against the lowest.
    fn start_intercepts(&self, _a: f64, shares: &[f64]) -> Vec<f64> {
        shares[1..].iter().map(|p| (p / shares[0]).ln()).collect()
    }

    fn unbounded_intercepts(&self, d: &[f64]) -> Vec<f64> {
        d.to_vec()
    }

    fn bounded_intercepts(&self, y: &[f64]) -> Vec<f64> {
        y.to_vec()
    }

    fn unbounded_intercept_gradient(&self, _y: &[f64], gradient: &[f64]) -> Vec<f64> {
        gradient.to_vec()
    }
}

//! Nominal response model (Bock 1972): categories without order.
//!
//! log p_c = a_c·t + d_c − log Σ_h exp(a_h·t + d_h), with a_0 = d_0 = 0 inside. The parameters of an item with
//! categories 0..=m are a_1..a_m, d_1..d_m. The model is linear in them: F_{a_r} = t·(1[c = r] − p_r),
//! F_{d_r} = 1[c = r] − p_r, and second derivatives are minus covariances of these, the same for every category.
//!
//! Reported are mirt's parameters (a1, ak_c, d_c: a_c = a1·ak_c, ak_0 = 0, ak_m = m) and Bock's, which sum to zero over
//! the categories.

use super::{AbilityNode, ItemModel, Logits, Node, OneSlope, Order, Parameter, Reported, Role, SlopeRule};

/// The nominal model.
#[derive(Debug)]
pub(super) struct Nrm;

/// A first guess of how much the log-odds change by one unit of the category scores, which have variance 1.
const SLOPE_OF_SCORES: f64 = 0.8;

/// Writes log p_c without overflow.
fn log_probabilities(psi: &[f64], t: f64, log_p: &mut [f64]) {
    let m = psi.len() / 2;
    log_p[0] = 0.0;
    let mut top = 0.0f64;
    for c in 1..=m {
        log_p[c] = psi[c - 1] * t + psi[m + c - 1];
        top = top.max(log_p[c]);
    }
    let shift = top + log_p[..=m].iter().map(|x| (x - top).exp()).sum::<f64>().ln();
    log_p[..=m].iter_mut().for_each(|x| *x -= shift);
}

/// The slope of a category.
fn slope(psi: &[f64], c: usize) -> f64 {
    if c == 0 { 0.0 } else { psi[c - 1] }
}

impl ItemModel for Nrm {
    fn name(&self) -> &'static str {
        "nrm"
    }

    fn title(&self) -> &'static str {
        "nominal"
    }

    fn summary(&self) -> &'static str {
        "nominal: a slope and an intercept for each category, in no order"
    }

    fn slope(&self) -> SlopeRule {
        SlopeRule::Free
    }

    fn logits(&self) -> Logits {
        Logits::Baseline
    }

    fn polytomous(&self) -> bool {
        true
    }

    fn parameters(&self, categories: usize) -> Vec<Parameter> {
        let slopes = (1..categories)
            .map(|c| Parameter { name: format!("slope{c}"), role: Role::Slope { dimension: 0 } });
        let intercepts = (1..categories)
            .map(|c| Parameter { name: format!("d{c}"), role: Role::Intercept { slope: c - 1, score: 1.0 } });
        slopes.chain(intercepts).collect()
    }

    fn node(&self, psi: &[f64], point: &[f64], order: Order, out: &mut Node) {
        let (m, t) = (psi.len() / 2, point[0]);
        log_probabilities(psi, t, &mut out.log_p);
        if order == Order::Probability {
            return;
        }
        let p: Vec<f64> = out.log_p[..=m].iter().map(|x| x.exp()).collect();
        let mean: f64 = (1..=m).map(|c| psi[c - 1] * p[c]).sum();
        let ability = 2 * m;
        for c in 0..=m {
            for r in 1..=m {
                let residual = f64::from(u8::from(c == r)) - p[r];
                *out.first(c, r - 1) = t * residual;
                *out.first(c, m + r - 1) = residual;
            }
            *out.first(c, ability) = slope(psi, c) - mean;
        }
        if order == Order::Score {
            return;
        }
        let variance: f64 = (0..=m).map(|c| p[c] * (slope(psi, c) - mean).powi(2)).sum();
        for c in 0..=m {
            *out.second(c, ability, ability) = -variance;
            for r in 1..=m {
                // ∂p_r/∂t = p_r (a_r − ā).
                let drift = p[r] * (psi[r - 1] - mean);
                let residual = f64::from(u8::from(c == r)) - p[r];
                for (at, mixed) in [(r - 1, residual - t * drift), (m + r - 1, -drift)] {
                    *out.second(c, at, ability) = mixed;
                    *out.second(c, ability, at) = mixed;
                }
                for s in 1..=m {
                    let g = p[r] * p[s] - if r == s { p[r] } else { 0.0 };
                    *out.second(c, r - 1, s - 1) = t * t * g;
                    *out.second(c, m + r - 1, m + s - 1) = g;
                    *out.second(c, r - 1, m + s - 1) = t * g;
                    *out.second(c, m + s - 1, r - 1) = t * g;
                }
            }
        }
    }

    fn along_ability(&self, psi: &[f64], t: f64, out: &mut AbilityNode) {
        let m = psi.len() / 2;
        log_probabilities(psi, t, &mut out.log_p);
        let p = |c: usize, out: &AbilityNode| out.log_p[c].exp();
        let mean: f64 = (1..=m).map(|c| psi[c - 1] * p(c, out)).sum();
        let variance: f64 = (0..=m).map(|c| p(c, out) * (slope(psi, c) - mean).powi(2)).sum();
        for c in 0..=m {
            out.first[c] = slope(psi, c) - mean;
            out.second[c] = -variance;
        }
    }

    fn category_weights(&self, categories: usize) -> Option<Vec<Vec<f64>>> {
        let row = |c: usize| (0..categories).map(|h| f64::from(u8::from(h == c))).collect();
        Some((1..categories).chain(1..categories).map(row).collect())
    }

    fn admissible(&self, _psi: &[f64]) -> bool {
        true
    }

    fn end_categories(&self, psi: &[f64]) -> Option<(usize, usize)> {
        let by_slope = |x: &usize, y: &usize| slope(psi, *x).total_cmp(&slope(psi, *y));
        let lowest = (0..=psi.len() / 2).min_by(by_slope)?;
        let highest = (0..=psi.len() / 2).max_by(by_slope)?;
        (slope(psi, lowest) < slope(psi, highest)).then_some((lowest, highest))
    }

    fn one_slope(&self) -> Option<&dyn OneSlope> {
        None
    }

    fn start(&self, slope: f64, scores: &[f64], shares: &[f64]) -> Vec<f64> {
        let slopes = scores[1..].iter().map(|score| SLOPE_OF_SCORES * slope * (score - scores[0]));
        slopes.chain(shares[1..].iter().map(|p| (p / shares[0]).ln())).collect()
    }

    fn unbounded(&self, psi: &[f64]) -> Vec<f64> {
        psi.to_vec()
    }

    fn bounded(&self, y: &[f64], _sign: f64) -> Vec<f64> {
        y.to_vec()
    }

    fn unbounded_gradient(&self, _y: &[f64], _psi: &[f64], gradient: &[f64]) -> Vec<f64> {
        gradient.to_vec()
    }

    fn reported(&self, psi: &[f64]) -> Vec<Reported> {
        let m = psi.len() / 2;
        let top = psi[m - 1];
        let sparse = |entries: &[(usize, f64)]| {
            let mut gradient = vec![0.0; psi.len()];
            entries.iter().for_each(|(r, g)| gradient[*r] += g);
            gradient
        };
        let mut out = vec![Reported {
            name: "a1".into(),
            value: top / m as f64,
            gradient: sparse(&[(m - 1, 1.0 / m as f64)]),
        }];
        for c in 0..=m {
            // ak_c = a_c/a1 = m·a_c/a_m.
            let (value, gradient) = match c {
                0 => (0.0, sparse(&[])),
                c if c == m => (m as f64, sparse(&[])),
                c => {
                    let value = m as f64 * psi[c - 1] / top;
                    (value, sparse(&[(c - 1, m as f64 / top), (m - 1, -value / top)]))
                }
            };
            out.push(Reported { name: format!("ak{c}"), value, gradient });
        }
        for c in 0..=m {
            let (value, gradient) =
                if c == 0 { (0.0, sparse(&[])) } else { (psi[m + c - 1], sparse(&[(m + c - 1, 1.0)])) };
            out.push(Reported { name: format!("d{c}"), value, gradient });
        }
        for (letter, first) in [("a", 0), ("c", m)] {
            let own = &psi[first..first + m];
            let mean = own.iter().sum::<f64>() / (m + 1) as f64;
            for c in 0..=m {
                let mut gradient = vec![0.0; psi.len()];
                gradient[first..first + m].fill(-1.0 / (m + 1) as f64);
                if c > 0 {
                    gradient[first + c - 1] += 1.0;
                }
                let value = if c == 0 { -mean } else { own[c - 1] - mean };
                out.push(Reported { name: format!("bock_{letter}{c}"), value, gradient });
            }
        }
        out
    }

    /// From Bock's slopes, which determine a_c even where the highest category's is zero.
    fn read_reported(&self, categories: usize, value: &dyn Fn(&str) -> Option<f64>) -> Option<Vec<f64>> {
        let lowest = value("bock_a0")?;
        let slopes = (1..categories).map(|c| Some(value(&format!("bock_a{c}"))? - lowest));
        let intercepts = (1..categories).map(|c| value(&format!("d{c}")));
        slopes.chain(intercepts).collect()
    }
}

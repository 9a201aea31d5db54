//! The school effect: found at the site, or integrated there.

use super::evaluate::{Depth, Evaluation};
use super::hessian::Hessian;
use super::panel::SiteData;
use crate::population::Population;

/// Effects are kept within this many ability SDs: the nodes move with the effect.
pub(crate) const BOUND: f64 = 20.0;

/// Nodes over a random effect: mode ± 6 posterior SDs, one SD apart.
const EFFECT_NODES: i32 = 6;

/// A school effect with the evaluation there.
pub(crate) struct Profiled {
    pub s: f64,
    pub evaluation: Evaluation,
}

/// Where a log-likelihood in s (plus a normal prior of precision `precision`) has its maximum, and its curvature.
///
/// In the continuum shifting the nodes is shifting the prior: in a normal population the score of s is Σ w E[V] and its
/// derivative −Σ w (1 − Var V), and in any other the same of −∂ log f/∂V. Newton from 0 with halving, so the result depends on nothing but data and parameters.
fn mode(data: &SiteData, psi: &[f64], population: &Population, precision: f64) -> (f64, f64) {
    let weight = data.total_weight;
    let mut s = 0.0f64;
    let mut here = data.moments(psi, s, population);
    let objective = |loglik: f64, s: f64| loglik - precision * s * s / 2.0;
    for _ in 0..50 {
        let gradient = here.mean - precision * s;
        let curvature = (weight - here.variance + precision).max(1e-3 * weight + 1e-9);
        let mut step = (gradient / curvature).clamp(-2.0, 2.0);
        let before = objective(here.loglik, s);
        let (next, there) = loop {
            let next = (s + step).clamp(-BOUND, BOUND);
            let there = data.moments(psi, next, population);
            if objective(there.loglik, next) >= before - 1e-12 * before.abs() || step.abs() < 1e-7 {
                break (next, there);
            }
            step /= 3.0;
        };
        let moved = (next - s).abs();
        (s, here) = (next, there);
        // Newton is quadratic: after a step of 1e-6 the error is about its square.
        if moved < 1e-6 {
            break;
        }
    }
    (s, weight - here.variance + precision)
}

impl SiteData {
    /// The school effect that maximises the site's likelihood, and everything there.
    pub(crate) fn profile(&self, psi: &[f64], population: &Population, depth: Depth) -> Profiled {
        let (mut s, information) = mode(self, psi, population, 0.0);
        let last = psi.len();
        let curvature = information.max(1e-3 * self.total_weight);
        // On coarse grids the sums' own score differs a little from the continuum's: finish on the sums. The continuum's
        // curvature is near enough to gain two digits or more with every step.
        let at_maximum = |s: f64, evaluation: &Evaluation| {
            evaluation.gradient[last].abs() < 1e-10 * self.total_weight || s.abs() >= BOUND
        };
        let mut evaluation = self.evaluate(psi, s, population, depth);
        if at_maximum(s, &evaluation) {
            return Profiled { s, evaluation };
        }
        for _ in 0..20 {
            s = (s + (evaluation.gradient[last] / curvature).clamp(-0.5, 0.5)).clamp(-BOUND, BOUND);
            evaluation = self.evaluate(psi, s, population, Depth::Gradient);
            if at_maximum(s, &evaluation) {
                break;
            }
        }
        if depth > Depth::Gradient {
            evaluation = self.evaluate(psi, s, population, depth);
        }
        Profiled { s, evaluation }
    }

    /// Log-likelihood and derivatives over (ψ, log τ) with s ~ N(0, τ²) integrated out, and the
    /// posterior mean and variance of s.
    ///
    /// Posterior weights π_m on 13 nodes around the mode; g = Σ π_m g_m, H = Σ π_m H_m + Cov_π(g_m). The mean of
    /// H_m is taken at three Gauss–Hermite points of the posterior of s.
    pub(crate) fn integrate(
        &self,
        psi: &[f64],
        tau: f64,
        population: &Population,
        depth: Depth,
    ) -> Integrated {
        let p = psi.len();
        let precision = 1.0 / (tau * tau);
        let (centre, curvature) = mode(self, psi, population, precision);
        let sd = 1.0 / curvature.max(precision).sqrt();
        let nodes: Vec<f64> = (-EFFECT_NODES..=EFFECT_NODES).map(|m| centre + f64::from(m) * sd).collect();
        let parts: Vec<Evaluation> =
            nodes.iter().map(|&s| self.evaluate(psi, s, population, Depth::Gradient)).collect();
        let log_joint: Vec<f64> = nodes
            .iter()
            .zip(&parts)
            .map(|(s, e)| {
                e.loglik - 0.5 * precision * s * s - tau.ln() - 0.5 * std::f64::consts::TAU.ln() + sd.ln()
            })
            .collect();
        let top = log_joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = log_joint.iter().map(|x| (x - top).exp()).sum();
        let weights: Vec<f64> = log_joint.iter().map(|x| (x - top).exp() / total).collect();

        let scores: Vec<Vec<f64>> = nodes
            .iter()
            .zip(&parts)
            .map(|(s, e)| {
                let mut g = e.gradient[..p].to_vec();
                g.push(s * s * precision - 1.0);
                g
            })
            .collect();
        let mut gradient = vec![0.0; p + 1];
        for (w, g) in weights.iter().zip(&scores) {
            gradient.iter_mut().zip(g).for_each(|(o, g)| *o += w * g);
        }
        let mean: f64 = weights.iter().zip(&nodes).map(|(w, s)| w * s).sum();
        let square: f64 = weights.iter().zip(&nodes).map(|(w, s)| w * s * s).sum();
        let mut counts = vec![0.0; parts[0].counts.len()];
        for (w, e) in weights.iter().zip(&parts) {
            counts.iter_mut().zip(&e.counts).for_each(|(o, c)| *o += w * c);
        }
        let mut hessian: Option<Hessian> = None;
        if depth > Depth::Gradient {
            let root = 3f64.sqrt();
            for (weight, x) in [(1.0 / 6.0, -root), (2.0 / 3.0, 0.0), (1.0 / 6.0, root)] {
                let e =
                    self.evaluate(psi, mean + x * (square - mean * mean).max(0.0).sqrt(), population, depth);
                hessian.get_or_insert_with(|| e.hessian.zeroed()).add_scaled(weight, &e.hessian);
            }
        }
        let mut hessian = hessian.unwrap_or_else(|| Hessian::full(0));
        if depth > Depth::Gradient {
            // Where the derivatives in s stood, those in log τ stand.
            hessian.clear_last();
        }
        if depth >= Depth::ObservedByItem {
            hessian.add(p, p, -2.0 * square * precision);
            for (w, g) in weights.iter().zip(&scores) {
                let deviation: Vec<f64> = g.iter().zip(&gradient).map(|(g, mean)| g - mean).collect();
                hessian.add_outer(*w, &deviation);
            }
        }
        let loglik = top + total.ln();
        let mut loading = vec![0.0; p + 1];
        for ((w, s), g) in weights.iter().zip(&nodes).zip(&scores) {
            loading
                .iter_mut()
                .zip(g.iter().zip(&gradient))
                .for_each(|(l, (g, m))| *l += w * (s - mean) * (g - m));
        }
        let evaluation = Evaluation { loglik, gradient, hessian, counts };
        Integrated { evaluation, mean, square, loading }
    }
}

/// A random school effect integrated out.
pub(crate) struct Integrated {
    pub evaluation: Evaluation,
    /// Posterior mean of s.
    pub mean: f64,
    /// Posterior mean of s².
    pub square: f64,
    /// Derivative of the posterior mean in (ψ, log τ): its posterior covariance with the score.
    pub loading: Vec<f64>,
}

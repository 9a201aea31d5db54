//! Cumulant functions of composed losses: where the tail of interest lies, before it is computed.

use super::step::Losses;
use crate::accountant::solve::minimise;
use crate::accountant::special::ln_sum_exp;

/// Widest cell, relative to its distance from 0.
const CELL: f64 = 1.0 / 32.0;

/// ln of the share of δ that may be lost or doubled at the window's ends.
const LN_NEGLIGIBLE: f64 = -28.0;

/// ln of how far above δ the scale of rounding may be, for one round; more rounds leave less, by √rounds.
const LN_ROUNDING: f64 = 11.0;

/// A cell: ln mass, mean loss, half the variance of the loss.
type Cell = (f64, f64, f64);

/// K(θ) = Σ rounds · ln Σ mass e^{θ loss}, from masses gathered into a few hundred cells.
///
/// It only places the window and the tilt, so cells keep mass, mean and variance and no more.
pub(super) struct Cumulant {
    parts: Vec<(Vec<Cell>, f64)>,
    lowest: f64,
    highest: f64,
}

impl Cumulant {
    /// Of these rounds on a grid of step h.
    pub(super) fn new(rounds: &[(Losses, u32)], h: f64) -> Self {
        let bounds = |f: &dyn Fn(&Losses) -> i64| -> f64 {
            rounds.iter().map(|(l, n)| f(l) as f64 * f64::from(*n)).sum::<f64>() * h
        };
        Self {
            parts: rounds.iter().map(|(l, n)| (cells(l, h), f64::from(*n))).collect(),
            lowest: bounds(&|l| l.first),
            highest: bounds(&|l| l.first + l.mass.len() as i64 - 1),
        }
    }

    fn at(&self, theta: f64) -> f64 {
        let ln_mean = |cells: &[Cell]| {
            let terms: Vec<f64> = cells.iter().map(|(m, l, v)| m + theta * l + theta * theta * v).collect();
            ln_sum_exp(&terms)
        };
        self.parts.iter().map(|(cells, n)| n * ln_mean(cells)).sum()
    }

    /// The Rényi bound of ε at δ, and the tilt for it.
    ///
    /// ε ≤ (K(θ) − ln δ + θ ln θ − (1+θ) ln(1+θ))/θ (Canonne, Kamath and Steinke 2020, proposition 12; the
    /// order is 1 + θ).
    pub(super) fn for_delta(&self, ln_delta: f64) -> (f64, f64) {
        let (theta, epsilon) = minimise(1e-2, |t| (self.at(t) - ln_delta + entropy(t)) / t);
        (epsilon, self.gentlest(theta, epsilon, ln_delta))
    }

    /// The Rényi bound of ln δ at ε, and the tilt for it.
    pub(super) fn for_epsilon(&self, epsilon: f64) -> (f64, f64) {
        let (theta, ln_delta) = minimise(1e-2, |t| self.at(t) - t * epsilon + entropy(t));
        (ln_delta, self.gentlest(theta, epsilon, ln_delta))
    }

    /// The smallest tilt, up to the Rényi bound's, under which δ is not below the transform's rounding.
    ///
    /// Rounding is relative to e^{K(θ) − θε}, a convex function that falls to about δ. A tilt beyond need
    /// would only fatten the upper tail, and with it the window.
    fn gentlest(&self, theta: f64, epsilon: f64, ln_delta: f64) -> f64 {
        let rounds: f64 = self.parts.iter().map(|(_, n)| n).sum();
        let ceiling = ln_delta + LN_ROUNDING - 0.5 * rounds.ln();
        let (mut low, mut high) = (0.0, theta);
        for _ in 0..12 {
            let middle = 0.5 * (low + high);
            if self.at(middle) - middle * epsilon > ceiling {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// The window outside which the losses do not matter at δ, with the tilt that bounds its upper tail
    /// (Chernoff): (low, high, tilt).
    ///
    /// Above it lies a negligible share of δ, and of the tilted mass, which would wrap around to where δ is
    /// decided. Mass from below wraps to the far end of the tail, where little harm is done.
    pub(super) fn window(&self, theta: f64, ln_delta: f64) -> (f64, f64, f64) {
        let here = self.at(theta);
        let (upper_tilt, high) = minimise(theta.min(1e-2), |t| (self.at(t) - ln_delta - LN_NEGLIGIBLE) / t);
        let (_, tilted_high) = minimise(1e-2, |s| (self.at(theta + s) - here - LN_NEGLIGIBLE) / s);
        let (_, low) = minimise(1e-2, |s| (self.at(theta - s) - here - LN_NEGLIGIBLE) / s);
        ((-low).max(self.lowest), high.max(tilted_high).min(self.highest), upper_tilt)
    }
}

/// θ ln θ − (1+θ) ln(1+θ).
fn entropy(t: f64) -> f64 {
    t * t.ln() - (1.0 + t) * t.ln_1p()
}

fn cells(losses: &Losses, h: f64) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut next = 0;
    while next < losses.mass.len() {
        let index = losses.first + next as i64;
        let width = 1 + (index.unsigned_abs() as f64 * CELL) as usize;
        let end = (next + width).min(losses.mass.len());
        let members = &losses.mass[next..end];
        let mass: f64 = members.iter().sum();
        if mass > 0.0 {
            let moment = |power| -> f64 {
                members.iter().enumerate().map(|(i, p)| p * (i as f64).powi(power)).sum::<f64>() / mass
            };
            let (mean, square) = (moment(1), moment(2));
            let half_variance = 0.5 * h * h * (square - mean * mean).max(0.0);
            cells.push((mass.ln(), (index as f64 + mean) * h, half_variance));
        }
        next = end;
    }
    cells
}

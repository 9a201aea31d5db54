//! Bounds of the coordinates, which no sensible item reaches, and steps within them.

use super::{Structure, Tie};
use nalgebra::DVector;

impl Structure {
    /// Each bounded coordinate with its bound.
    fn bounds(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.ties.iter().filter_map(|tie| match *tie {
            Tie::OwnSlope(u) | Tie::CommonSlope(u) => Some((u, self.slope_bound)),
            Tie::LinearSlope(u) => Some((u, self.slope_bound.sinh())),
            Tie::OwnIntercept { at, step, .. } => Some((at, self.step_bound * step as f64)),
            Tie::Population { at, bound } => Some((at, bound)),
            Tie::Sd(_) | Tie::Fixed(_) | Tie::Given { .. } => None,
        })
    }

    /// Keeps coordinates within bounds that no sensible item reaches.
    pub(crate) fn clamp(&self, y: &mut DVector<f64>) {
        for (at, bound) in self.bounds() {
            y[at] = y[at].clamp(-bound, bound);
        }
        if let Some(at) = self.sd {
            y[at] = y[at].clamp(-5.0, 3.0);
        }
    }

    /// Scales down each item's part of a step so that no coordinate moves further than `radius`.
    pub(crate) fn shorten_items(&self, step: &mut DVector<f64>, radius: f64) {
        for j in 0..self.design.len() {
            let own = self.coordinates_of(&[j]);
            let size = own.iter().fold(0.0f64, |m, &c| m.max(step[c].abs()));
            if size > radius {
                own.iter().for_each(|&c| step[c] *= radius / size);
            }
        }
    }

    /// Slopes on their way to infinity go to the bound at once: steep already, and growing by about as much as in
    /// the step before. Where a slope belongs lower after all, the gradient at the bound brings it back.
    pub(crate) fn send_runaways(&self, y: &mut DVector<f64>, last: &DVector<f64>, step: &DVector<f64>) {
        const STEEP: f64 = 3.0;
        const LONG: f64 = 0.3;
        for tie in &self.ties {
            if let Tie::OwnSlope(u) = *tie {
                let outward = y[u].signum();
                let running = last[u] * outward > LONG && step[u] * outward > LONG;
                if running && 0.5 * y[u].abs().sinh() > STEEP {
                    y[u] = outward * self.slope_bound;
                }
            }
        }
    }

    /// Coordinates at a bound that the gradient (of ψ) would push beyond it.
    pub(crate) fn held(&self, y: &DVector<f64>, gradient: &[f64]) -> Vec<usize> {
        let g = self.pulled_back(y, gradient);
        self.bounds()
            .filter(|&(at, bound)| y[at].abs() >= bound * (1.0 - 1e-9) && g[at] * y[at] > 0.0)
            .map(|(at, _)| at)
            .collect()
    }
}

//! What is drawn of a site's answers at the estimates: expected answers by ability, and the histogram of ability.

use super::SiteView;
use super::evaluate::Depth;
use super::panel::SiteData;
use crate::exchange::{CURVE_POINTS, CURVE_STEP};
use crate::kernel::padded;

impl SiteView<'_> {
    /// Expected answers by ability and the posterior histogram, shared linearly between neighbouring points.
    pub(crate) fn curves(&self, psi: &[f64], s: f64) -> (Vec<f64>, Vec<f64>) {
        let e = self.data.evaluate(psi, s, self.population, Depth::Gradient);
        let nodes = self.population.grid().nodes();
        let width = padded(nodes.len());
        let spread = |row: &[f64], out: &mut [f64]| {
            for (mass, v) in row.iter().zip(&nodes) {
                let half = (CURVE_POINTS - 1) as f64 / 2.0;
                let x = ((v + s) / CURVE_STEP + half).clamp(0.0, (CURVE_POINTS - 1) as f64);
                let low = (x.floor() as usize).min(CURVE_POINTS - 2);
                let share = x - low as f64;
                out[low] += mass * (1.0 - share);
                out[low + 1] += mass * share;
            }
        };
        let mut curves = vec![0.0; self.data.design.cells() * CURVE_POINTS];
        for (row, out) in e.counts.chunks_exact(width).zip(curves.chunks_exact_mut(CURVE_POINTS)) {
            spread(row, out);
        }
        let mut histogram = vec![0.0; CURVE_POINTS];
        spread(&self.data.posterior_mass(psi, s, self.population), &mut histogram);
        (curves, histogram)
    }
}

impl SiteData {
    /// Students who answered an item.
    pub(crate) fn answers_unweighted(&self, item: usize) -> f64 {
        let mut n = 0usize;
        for panel in &self.panels {
            if let Some(k) = panel.items.iter().position(|&j| j == item) {
                n += panel.column(k).iter().filter(|c| **c != crate::responses::MISSING).count();
            }
        }
        n as f64
    }
}

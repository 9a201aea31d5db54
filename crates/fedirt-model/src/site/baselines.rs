//! What the comparators ask of a site: local training and local fits.

use super::answer::Answer;
use super::evaluate::Depth;
use super::panel::SiteData;
use crate::centre::{Layout, LocalNewton};
use crate::design::Design;
use crate::exchange::{Ask, Effects};

impl Answer<'_> {
    /// Steps of gradient ascent on the site's mean log-likelihood, in slopes and difficulties.
    pub(super) fn train(&self, vectors: &mut Vec<Vec<f64>>) {
        let Ask::Train { items, effects, chosen, epochs, learning_rate } = &self.request.ask else { return };
        let design = &self.data.design;
        let layout =
            Layout::new(design, 1).filter(|_| chosen.contains(&self.index) && self.data.total_weight > 0.0);
        let Some(layout) = layout else {
            vectors.extend([vec![0.0], vec![0.0; design.parameters()], vec![0.0]]);
            return;
        };
        let mut x = vec![0.0; layout.size];
        layout.set_items(design, items, &mut x);
        let fixed = self.request.effects == Effects::Fixed;
        x[layout.effects] = if fixed { self.own(effects) } else { 0.0 };
        for _ in 0..*epochs {
            let here = layout.psi(design, &x);
            let e = self.data.evaluate(&here, x[layout.effects], self.grid, Depth::Gradient);
            let own = if fixed { e.gradient[design.parameters()] } else { 0.0 };
            let g = layout.gradient(design, &x, &e.gradient[..design.parameters()], &[own]);
            let mut rate = learning_rate / self.data.total_weight;
            loop {
                let next: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x + rate * g).collect();
                if design.admissible(&layout.psi(design, &next)) || rate < 1e-12 {
                    x = next;
                    break;
                }
                rate /= 2.0;
            }
        }
        let weight = self.data.total_weight;
        vectors.push(vec![weight]);
        vectors.push(layout.items(design, &x).iter().map(|v| v * weight).collect());
        vectors.push(vec![x[layout.effects]]);
    }

    /// Slopes and difficulties of a fit at this site alone; items without a sensible estimate weigh nothing.
    pub(super) fn local_fit(&self, tolerance: f64, iterations: usize, vectors: &mut Vec<Vec<f64>>) {
        let design = &self.data.design;
        let p = design.parameters();
        let mut out = [vec![0.0; p], vec![0.0; p], vec![0.0; p]];
        // Items of which this site saw every category; the others have no estimate here.
        let counts = self.data.category_counts();
        let kept: Vec<usize> =
            (0..design.len()).filter(|&j| counts[design.cell_span(j)].iter().all(|n| *n > 0.0)).collect();
        let items: Vec<_> = kept.iter().map(|&j| design.items()[j].clone()).collect();
        if let (Some(table), Ok(small), true) = (self.table, Design::try_from(items), kept.len() > 1) {
            let data = SiteData::new(table, &small, self.request.weight_scale);
            let local = LocalNewton::fit(&data, self.grid, tolerance, iterations);
            for (k, &j) in kept.iter().enumerate() {
                let (from, to) = (small.span(k), design.span(j));
                let psi = &local.psi[from];
                let Some(model) = design.model(j).one_slope() else { continue };
                let b = model.difficulties(psi[0], &psi[1..]);
                // A local estimate that ran away would drown the others' in an average.
                if psi[0].abs() < 0.05 || psi[0].abs() > 20.0 || b.iter().any(|b| b.abs() > 20.0) {
                    continue;
                }
                let n: f64 = counts[design.cell_span(j)].iter().sum();
                for r in 0..to.len() {
                    let value = if r == 0 { psi[0] } else { b[r - 1] };
                    let variance = local.variance(&small, k, r);
                    out[0][to.start + r] = n;
                    out[1][to.start + r] = n * value;
                    out[2][to.start + r] = n * n * variance.min(1e4);
                }
            }
        }
        vectors.extend(out);
    }
}

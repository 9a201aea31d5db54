//! Score vectors of single students: the gradient of one student's log-likelihood.

use super::panel::SiteData;
use super::sweep::LookUp;
use super::tables::Tables;
use crate::exchange::triangle;
use crate::items::Order;
use crate::kernel::lanes;
use crate::population::Population;
use crate::responses::MISSING;

impl SiteData {
    /// Calls `each(weight, score)` for every student: ∂ log-likelihood of the student over (ψ, s).
    pub(crate) fn each_student_score(
        &self,
        psi: &[f64],
        s: f64,
        population: &Population,
        mut each: impl FnMut(f64, &[f64]),
    ) {
        let tables = Tables::new(&self.design, psi, s, population, Order::Score);
        let last = psi.len();
        let mut score = vec![0.0; last + 1];
        for panel in &self.panels {
            let look_up = LookUp::new(&self.design, panel, &tables);
            look_up.posteriors(0..panel.students(), |block, rows, _| {
                for (i, row) in block.zip(rows.chunks_exact(tables.width)) {
                    score.fill(0.0);
                    for (k, &j) in panel.items.iter().enumerate() {
                        let c = panel.column(k)[i];
                        if c == MISSING {
                            continue;
                        }
                        let (at, p) = (self.design.offset(j), self.design.span(j).len());
                        for r in 0..p {
                            score[at + r] = lanes::dot(row, tables.score(j, usize::from(c), r));
                        }
                        score[last] += lanes::dot(row, tables.score(j, usize::from(c), p));
                    }
                    for (h, out) in score[self.design.parameters()..last].iter_mut().enumerate() {
                        *out = lanes::dot(row, look_up.prior.population_score(h));
                    }
                    each(panel.weights[i], &score);
                }
            });
        }
    }

    /// Σ_i w_i² v_i v_iᵀ (lower triangle), where v is the score of ψ; with a profiled effect of loading B and
    /// variance 1/I, v = (g_ψ + B·g_s, g_s/I), the student's part in items and in the effect, which stands in the
    /// place of the site's linked part (part, number of parts).
    pub(crate) fn score_products(
        &self,
        psi: &[f64],
        s: f64,
        population: &Population,
        profiled: Option<(&[f64], f64, (usize, usize))>,
    ) -> Vec<f64> {
        let p = psi.len();
        let size = p + profiled.map_or(0, |(_, _, (_, parts))| parts);
        let mut out = vec![0.0; triangle(size)];
        let mut v = vec![0.0; size];
        self.each_student_score(psi, s, population, |w, score| {
            v[..p].copy_from_slice(&score[..p]);
            if let Some((loading, variance, (part, _))) = profiled {
                v[..p].iter_mut().zip(loading).for_each(|(v, b)| *v += b * score[p]);
                v[p + part] = score[p] * variance;
            }
            let mut at = 0;
            for r in 0..size {
                let factor = w * w * v[r];
                for c in 0..=r {
                    out[at] += factor * v[c];
                    at += 1;
                }
            }
        });
        out
    }

    /// Σ_i w_i P_i(n): how the site's students spread over the nodes.
    pub(crate) fn posterior_mass(&self, psi: &[f64], s: f64, population: &Population) -> Vec<f64> {
        let tables = Tables::new(&self.design, psi, s, population, Order::Probability);
        let mut mass = vec![0.0; tables.width];
        for panel in &self.panels {
            let look_up = LookUp::new(&self.design, panel, &tables);
            look_up.posteriors(0..panel.students(), |block, rows, _| {
                for (w, row) in panel.weights[block].iter().zip(rows.chunks_exact(tables.width)) {
                    lanes::axpy(*w, row, &mut mass);
                }
            });
        }
        mass
    }
}

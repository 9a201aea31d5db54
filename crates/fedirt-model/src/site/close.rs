//! The closing exchange: what is wanted once, at the estimates.

use super::answer::{Answer, lower};
use super::effect::BOUND;
use super::evaluate::Depth;
use super::panel::SiteData;
use crate::exchange::{Ask, CURVE_POINTS, CURVE_STEP, EffectErrors, Effects, triangle};
use crate::kernel::padded;
use nalgebra::{DMatrix, DVector};

impl Answer<'_> {
    pub(super) fn close(&self, vectors: &mut Vec<Vec<f64>>) {
        let Ask::Close { point, sd, errors, effects, publish_effects } = &self.request.ask else { return };
        let design = &self.data.design;
        let p = design.parameters();
        let mut own = (0.0, -1.0);
        let mut score_products = Vec::new();
        let (loglik, gradient, s) = match (self.request.effects, effects) {
            (Effects::Random, _) => {
                let i = self.data.integrate(&point.psi, point.site_sd, self.grid, Depth::Gradient);
                own = (i.mean * sd, (i.square - i.mean * i.mean).max(0.0).sqrt() * sd);
                let g = i.evaluation.gradient;
                score_products = lower(p + 1, 1.0, |r, c| g[r] * g[c]);
                (i.evaluation.loglik, g, i.mean)
            }
            (Effects::Fixed, None) if !self.data.no_finite_effect(&point.psi) => {
                let depth = if errors.is_some() { Depth::Observed } else { Depth::Gradient };
                let profiled = self.data.profile(&point.psi, self.grid, depth);
                let e = profiled.evaluation;
                let mut loading = vec![0.0; p];
                let mut variance = 0.0;
                if let Some(errors) = errors
                    && profiled.s.abs() < BOUND
                {
                    let i = -e.hessian[(p, p)];
                    loading.iter_mut().enumerate().for_each(|(r, l)| *l = e.hessian[(r, p)] / i);
                    variance = 1.0 / i;
                    own.1 = self.effect_error(errors, &loading, variance, profiled.s, *sd);
                }
                own.0 = profiled.s * sd;
                if self.request.weighted {
                    score_products = self.data.score_products(
                        &point.psi,
                        profiled.s,
                        self.grid,
                        Some((&loading, variance)),
                    );
                }
                (e.loglik, e.gradient[..p].to_vec(), profiled.s)
            }
            (Effects::Fixed, None) => {
                score_products = vec![0.0; triangle(p + 1)];
                (0.0, vec![0.0; p], 0.0)
            }
            (_, given) => {
                let s = given.as_ref().map_or(0.0, |e| self.own(e));
                let e = self.data.evaluate(&point.psi, s, self.grid, Depth::Gradient);
                if self.request.effects == Effects::Fixed {
                    own = (s * sd, -1.0);
                }
                if self.request.weighted {
                    score_products = self.data.score_products(&point.psi, s, self.grid, None);
                    if self.request.effects == Effects::Fixed {
                        score_products.resize(triangle(p + 1), 0.0);
                    }
                }
                (e.loglik, e.gradient[..p].to_vec(), s)
            }
        };
        vectors.push(vec![loglik]);
        vectors.push(gradient);
        vectors.push((0..design.len()).map(|j| self.data.answers_unweighted(j)).collect());
        let (curves, histogram) = self.curves(&point.psi, s);
        vectors.push(curves);
        vectors.push(histogram);
        if self.request.weighted {
            vectors.push(score_products);
        }
        if *publish_effects {
            vectors.push(vec![own.0, own.1]);
        }
    }

    /// Standard error of the site's own effect on the reported scale: s_k − s̄ depends on the items through
    /// B_k − B̄, and on the noise of all effects of its linked part.
    fn effect_error(&self, errors: &EffectErrors, loading: &[f64], variance: f64, s: f64, sd: f64) -> f64 {
        let p = loading.len();
        let part = self.part();
        let sites = errors.sites.get(part).copied().unwrap_or(0.0);
        let mut direction = DVector::from_row_slice(loading);
        let mut own = variance;
        if sites > 0.0 {
            for r in 0..p {
                direction[r] -= errors.mean_loadings[part * p + r];
            }
            own = variance * (1.0 - 2.0 / sites) + errors.variances[part] / (sites * sites);
        }
        direction *= sd;
        for (d, w) in direction.iter_mut().zip(&errors.sd_gradient) {
            *d += s * w;
        }
        let mut covariance = DMatrix::zeros(p, p);
        let mut at = 0;
        for r in 0..p {
            for c in 0..=r {
                covariance[(r, c)] = errors.covariance[at];
                covariance[(c, r)] = errors.covariance[at];
                at += 1;
            }
        }
        (direction.dot(&(covariance * &direction)) + own * sd * sd).max(0.0).sqrt()
    }

    /// Expected answers by ability and the posterior histogram, shared linearly between neighbouring points.
    fn curves(&self, psi: &[f64], s: f64) -> (Vec<f64>, Vec<f64>) {
        let e = self.data.evaluate(psi, s, self.grid, Depth::Gradient);
        let width = padded(self.grid.len());
        let spread = |row: &[f64], out: &mut [f64]| {
            for (n, mass) in row.iter().take(self.grid.len()).enumerate() {
                let half = (CURVE_POINTS - 1) as f64 / 2.0;
                let x =
                    ((self.grid.nodes()[n] + s) / CURVE_STEP + half).clamp(0.0, (CURVE_POINTS - 1) as f64);
                let low = (x.floor() as usize).min(CURVE_POINTS - 2);
                let share = x - low as f64;
                out[low] += mass * (1.0 - share);
                out[low + 1] += mass * share;
            }
        };
        let p = self.data.design.parameters();
        let mut curves = vec![0.0; p * CURVE_POINTS];
        for (row, out) in e.counts.chunks_exact(width).zip(curves.chunks_exact_mut(CURVE_POINTS)) {
            spread(row, out);
        }
        let mut histogram = vec![0.0; CURVE_POINTS];
        spread(&self.data.posterior_mass(psi, s, self.grid), &mut histogram);
        (curves, histogram)
    }
}

impl SiteData {
    /// Weighted answers to an item.
    pub(super) fn answers(&self, item: usize) -> f64 {
        self.category_counts()[self.design.span(item)].iter().sum()
    }

    /// Students who answered an item.
    fn answers_unweighted(&self, item: usize) -> f64 {
        let mut n = 0usize;
        for panel in &self.panels {
            if let Some(k) = panel.items.iter().position(|&j| j == item) {
                n += panel.column(k).iter().filter(|c| **c != crate::responses::MISSING).count();
            }
        }
        n as f64
    }
}

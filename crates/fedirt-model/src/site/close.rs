//! The closing exchange: what is wanted once, at the estimates.

use super::answer::{Answer, Place, lower};
use super::effect::{BOUND, Profiled};
use super::evaluate::Depth;
use super::panel::SiteData;
use crate::centre::symmetric;
use crate::exchange::{Ask, CURVE_POINTS, CURVE_STEP, EffectErrors, Effects, Point, Summary, triangle};
use crate::kernel::padded;
use nalgebra::DVector;

/// A profiled effect with what its standard error needs.
struct OwnEffect {
    s: f64,
    /// B = ∂s/∂ψ.
    loading: Vec<f64>,
    /// 1/I.
    variance: f64,
}

impl OwnEffect {
    /// None at the bound, or where the likelihood does not bend.
    fn of(profiled: &Profiled, p: usize) -> Option<Self> {
        let hessian = &profiled.evaluation.hessian;
        let information = -hessian[(p, p)];
        (profiled.s.abs() < BOUND && information > 0.0).then(|| Self {
            s: profiled.s,
            loading: (0..p).map(|r| hessian[(r, p)] / information).collect(),
            variance: 1.0 / information,
        })
    }
}

/// Standard error of a random effect on the reported scale: its posterior variance, and what the uncertainty of
/// items and SDs adds (Kass & Steffey 1989).
fn posterior_error(errors: &EffectErrors, loading: &[f64], s: f64, posterior: f64, sd: f64) -> f64 {
    let mut direction = DVector::from_row_slice(loading) * sd;
    for (d, w) in direction.iter_mut().zip(&errors.sd_gradient) {
        *d += s * w;
    }
    let covariance = symmetric(loading.len(), &errors.covariance);
    (posterior * sd * sd + direction.dot(&(covariance * &direction))).max(0.0).sqrt()
}

impl Answer<'_> {
    /// The closing sums, and the site's own place; nothing if another question was asked.
    pub(super) fn closing(&self) -> Option<(Summary, Place)> {
        let Ask::Close { point, sd, errors, effects, publish_effects } = &self.request.ask else {
            return None;
        };
        let mut vectors = Vec::new();
        let design = &self.data.design;
        let p = design.parameters();
        // Effect and standard error; a negative error says that there is none.
        let mut own = (0.0, -1.0);
        let (loglik, gradient, s) = match (self.request.effects, effects) {
            (Effects::Random, _) => {
                let i = self.data.integrate(&point.psi, point.site_sd, self.grid, Depth::Gradient);
                let posterior = (i.square - i.mean * i.mean).max(0.0);
                own = (i.mean * sd, posterior.sqrt() * sd);
                if let Some(errors) = errors {
                    own.1 = posterior_error(errors, &i.loading, i.mean, posterior, *sd);
                }
                (i.evaluation.loglik, i.evaluation.gradient, i.mean)
            }
            (Effects::Fixed, None) if self.data.no_finite_effect(Some(&point.psi)) => {
                (0.0, vec![0.0; p], 0.0)
            }
            (Effects::Fixed, None) => {
                let depth = if errors.is_some() { Depth::Observed } else { Depth::Gradient };
                let profiled = self.data.profile(&point.psi, self.grid, depth);
                let finite = profiled.s.abs() < BOUND;
                own.0 = if finite { profiled.s * sd } else { 0.0 };
                if let Some(errors) = errors
                    && let Some(effect) = OwnEffect::of(&profiled, p)
                {
                    own.1 = self.effect_error(errors, &effect, point, *sd);
                }
                (profiled.evaluation.loglik, profiled.evaluation.gradient[..p].to_vec(), profiled.s)
            }
            (_, given) => {
                let s = given.as_ref().map_or(0.0, |e| self.own(e));
                let e = self.data.evaluate(&point.psi, s, self.grid, Depth::Gradient);
                if self.request.effects == Effects::Fixed {
                    own = (s * sd, -1.0);
                }
                (e.loglik, e.gradient[..p].to_vec(), s)
            }
        };
        vectors.push(vec![self.data.students as f64]);
        vectors.push(vec![loglik]);
        vectors.push(gradient);
        vectors.push((0..design.len()).map(|j| self.data.answers_unweighted(j)).collect());
        let (curves, histogram) = self.curves(&point.psi, s);
        vectors.push(curves);
        vectors.push(histogram);
        if *publish_effects {
            vectors.push(vec![own.0, own.1]);
        }
        let place = if self.request.effects == Effects::None {
            Place { effect: None, se: None }
        } else {
            Place::read(&[own.0, own.1])
        };
        Some((Summary { vectors }, place))
    }

    /// Products of scores, lower triangle: of students, or with random effects of the site as a whole.
    pub(super) fn score_products(&self, point: &Point, effect_unit: f64) -> Vec<f64> {
        let p = self.data.design.parameters();
        let size = p + self.request.part_count();
        match self.request.effects {
            Effects::None => self.data.score_products(&point.psi, 0.0, self.grid, None),
            Effects::Random => {
                let i = self.data.integrate(&point.psi, point.site_sd, self.grid, Depth::Gradient);
                let g = i.evaluation.gradient;
                lower(p + 1, 1.0, |r, c| g[r] * g[c])
            }
            Effects::Fixed if self.data.no_finite_effect(Some(&point.psi)) => vec![0.0; triangle(size)],
            Effects::Fixed => {
                let profiled = self.data.profile(&point.psi, self.grid, Depth::Observed);
                OwnEffect::of(&profiled, p).map_or_else(
                    || vec![0.0; triangle(size)],
                    |own| self.own_products(point, &own, effect_unit),
                )
            }
        }
    }

    fn own_products(&self, point: &Point, own: &OwnEffect, effect_unit: f64) -> Vec<f64> {
        let place = (self.part(), self.request.part_count());
        let scaled = own.variance * effect_unit;
        self.data.score_products(&point.psi, own.s, self.grid, Some((&own.loading, scaled, place)))
    }

    /// Standard error of the site's own effect on the reported scale.
    ///
    /// s_k − s̄ = (B_k − B̄)ᵀδψ + ε_k − ε̄, with δψ = C·Σu and ε_k = Σe over students. Without weights
    /// Var Σu = C⁻¹ and Var ε_k = 1/I_k, independent; with weights both, and their covariance, come from the products
    /// of scores: of all sites for Σu and ε̄, of this site for ε_k.
    fn effect_error(&self, errors: &EffectErrors, own: &OwnEffect, point: &Point, sd: f64) -> f64 {
        let p = own.loading.len();
        let part = self.part();
        // Without sites in the mean (anchored items set the origin) nothing is centred.
        let sites = errors.sites.get(part).copied().unwrap_or(0.0);
        let share = if sites > 0.0 { 1.0 / sites } else { 0.0 };
        let mut direction = DVector::from_row_slice(&own.loading);
        if sites > 0.0 {
            for r in 0..p {
                direction[r] -= errors.mean_loadings[part * p + r];
            }
        }
        direction *= sd;
        for (d, w) in direction.iter_mut().zip(&errors.sd_gradient) {
            *d += own.s * w;
        }
        let covariance = symmetric(p, &errors.covariance);
        let pull = covariance * &direction;
        let variance = if errors.products.is_empty() {
            let all = errors.variances.get(part).copied().unwrap_or(0.0);
            direction.dot(&pull) + sd * sd * (own.variance * (1.0 - 2.0 * share) + all * share * share)
        } else {
            let size = p + self.request.part_count();
            let all = symmetric(size, &errors.products);
            let mine = symmetric(size, &self.own_products(point, own, errors.effect_unit));
            let (e, unit) = (p + part, errors.effect_unit);
            let items = pull.dot(&(all.view((0, 0), (p, p)) * &pull));
            let cross = (0..p).map(|r| pull[r] * (mine[(r, e)] - share * all[(r, e)])).sum::<f64>();
            let noise = mine[(e, e)] * (1.0 - 2.0 * share) + all[(e, e)] * share * share;
            items + 2.0 * sd * cross / unit + sd * sd * noise / (unit * unit)
        };
        variance.max(0.0).sqrt()
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

//! The site's own effect at the estimates: its standard error, and what it adds to products of scores.

use super::SiteView;
use super::effect::{BOUND, Profiled};
use crate::centre::symmetric;
use crate::exchange::Request;
use crate::questions::close::EffectErrors;
use nalgebra::DVector;

/// A profiled effect with what its standard error needs.
pub(crate) struct OwnEffect {
    s: f64,
    /// B = ∂s/∂ψ.
    loading: Vec<f64>,
    /// 1/I.
    variance: f64,
}

impl OwnEffect {
    /// None at the bound, or where the likelihood does not bend.
    pub(crate) fn of(profiled: &Profiled, p: usize) -> Option<Self> {
        let hessian = &profiled.evaluation.hessian;
        let information = -hessian[(p, p)];
        (profiled.s.abs() < BOUND && information > 0.0).then(|| Self {
            s: profiled.s,
            loading: (0..p).map(|r| hessian[(r, p)] / information).collect(),
            variance: 1.0 / information,
        })
    }

    /// Products of the students' scores in the item parameters and the effects, lower triangle.
    pub(crate) fn products(&self, site: &SiteView<'_>, psi: &[f64], effect_unit: f64) -> Vec<f64> {
        let place = (site.part(), site.request.part_count());
        let scaled = self.variance * effect_unit;
        site.data.score_products(psi, self.s, site.population, Some((&self.loading, scaled, place)))
    }

    /// Standard error of the site's own effect on the reported scale.
    ///
    /// s_k − s̄ = (B_k − B̄)ᵀδψ + ε_k − ε̄, with δψ = C·Σu and ε_k = Σe over students. Without weights
    /// Var Σu = C⁻¹ and Var ε_k = 1/I_k, independent; with weights both, and their covariance, come from the products
    /// of scores: of all sites for Σu and ε̄, of this site for ε_k.
    pub(crate) fn standard_error(
        &self,
        site: &SiteView<'_>,
        errors: &EffectErrors,
        psi: &[f64],
        sd: f64,
    ) -> f64 {
        let p = self.loading.len();
        let part = site.part();
        // Without sites in the mean (anchored items set the origin) nothing is centred.
        let sites = errors.sites.get(part).copied().unwrap_or(0.0);
        let share = if sites > 0.0 { 1.0 / sites } else { 0.0 };
        let mut direction = DVector::from_row_slice(&self.loading);
        if sites > 0.0 {
            for r in 0..p {
                direction[r] -= errors.mean_loadings[part * p + r];
            }
        }
        direction *= sd;
        for (d, w) in direction.iter_mut().zip(&errors.sd_gradient) {
            *d += self.s * w;
        }
        let pull = DVector::from_vec(errors.times(site.request, direction.as_slice()));
        let variance = if errors.products.is_empty() {
            let all = errors.variances.get(part).copied().unwrap_or(0.0);
            direction.dot(&pull) + sd * sd * (self.variance * (1.0 - 2.0 * share) + all * share * share)
        } else {
            let size = p + site.request.part_count();
            let all = symmetric(size, &errors.products);
            let mine = symmetric(size, &self.products(site, psi, errors.effect_unit));
            let (e, unit) = (p + part, errors.effect_unit);
            let items = pull.dot(&(all.view((0, 0), (p, p)) * &pull));
            let cross = (0..p).map(|r| pull[r] * (mine[(r, e)] - share * all[(r, e)])).sum::<f64>();
            let noise = mine[(e, e)] * (1.0 - 2.0 * share) + all[(e, e)] * share * share;
            items + 2.0 * sd * cross / unit + sd * sd * noise / (unit * unit)
        };
        variance.max(0.0).sqrt()
    }
}

/// Standard error of a random effect on the reported scale: its posterior variance, and what the uncertainty of
/// items and SDs adds (Kass & Steffey 1989).
pub(crate) fn posterior_error(
    request: &Request,
    errors: &EffectErrors,
    loading: &[f64],
    s: f64,
    posterior: f64,
    sd: f64,
) -> f64 {
    let mut direction = DVector::from_row_slice(loading) * sd;
    for (d, w) in direction.iter_mut().zip(&errors.sd_gradient) {
        *d += s * w;
    }
    let pull = DVector::from_vec(errors.times(request, direction.as_slice()));
    (posterior * sd * sd + direction.dot(&pull)).max(0.0).sqrt()
}

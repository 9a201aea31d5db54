//! What a private run reports: estimates with standard errors that include the noise, and nothing else.
//!
//! Everything that would be another look at the data (log-likelihood, criteria, answers per item, curves, gradients,
//! convergence) is null.

use super::plan::{ROUND_SHARES, Score2Plan};
use super::score2::Score2Result;
use crate::exchange::Effects;
use crate::fit::{FORMAT, Fit, FitItem, FitSite, Latent, Privacy, Quadrature, TraceEntry, Warning};
use nalgebra::DVector;

/// An item's estimates and their standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateItem {
    /// Slope.
    pub a: f64,
    /// Its standard error; `None` where the slope is fixed.
    pub se_a: Option<f64>,
    /// Intercepts.
    pub d: Vec<f64>,
    /// Their standard errors.
    pub se_d: Vec<f64>,
    /// Difficulties.
    pub b: Vec<f64>,
    /// Their standard errors.
    pub se_b: Vec<f64>,
}

impl Score2Result {
    /// √(vᵀ Σ v) over some coordinates.
    fn error(&self, direction: &[(usize, f64)]) -> f64 {
        let mut v = DVector::zeros(self.theta.len());
        direction.iter().for_each(|(at, x)| v[*at] += x);
        v.dot(&(&self.covariance * &v)).max(0.0).sqrt()
    }

    /// Items in the order of the design; by the delta method, ∂d_r/∂log a = d_r and d is linear in b.
    pub fn items(&self) -> Vec<PrivateItem> {
        let coordinates = &self.coordinates;
        let design = coordinates.design();
        (0..design.len())
            .map(|j| {
                let (a, span) = (coordinates.slope(&self.theta, j), coordinates.difficulties(j));
                let b = self.theta[span.clone()].to_vec();
                let d = design.model(j).intercepts(a, &b);
                let slope = coordinates.slope_is_free(j).then(|| coordinates.span(j).start);
                let by_step = coordinates.intercept_slopes(j, a);
                let se_d = d.iter().zip(&by_step).map(|(d, slopes)| {
                    let mut direction: Vec<(usize, f64)> = span.clone().zip(slopes.iter().copied()).collect();
                    direction.extend(slope.map(|at| (at, *d)));
                    self.error(&direction)
                });
                PrivateItem {
                    a,
                    se_a: slope.map(|at| self.error(&[(at, a)])),
                    se_d: se_d.collect(),
                    se_b: span.map(|at| self.error(&[(at, 1.0)])).collect(),
                    d,
                    b,
                }
            })
            .collect()
    }

    /// Effect and standard error of each site; empty without effects.
    pub fn sites(&self) -> Vec<(f64, f64)> {
        let coordinates = &self.coordinates;
        let span = coordinates.contrast_span();
        let error = |k: usize| {
            let direction: Vec<_> =
                span.clone().enumerate().map(|(c, at)| (at, coordinates.contrast(k, c))).collect();
            self.error(&direction)
        };
        coordinates.effects(&self.theta).into_iter().enumerate().map(|(k, s)| (s, error(k))).collect()
    }

    /// Shares of all-lowest and all-highest rows with their standard errors, where they are parameters.
    pub fn shares(&self) -> Option<[(f64, f64); 2]> {
        let at = self.theta.len().checked_sub(2)?;
        let [low, high] = self.coordinates.shares(&self.theta)?;
        Some([(low, self.error(&[(at, 1.0)])), (high, self.error(&[(at + 1, 1.0)]))])
    }

    /// Everything that a reader should know before using the numbers.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.noise_ratio > 1.0 {
            warnings.push(Warning {
                code: "noise_dominates".into(),
                message: format!(
                    "the noise outweighs the sampling error about {:.1} to 1: intervals are too short, and estimates lean on their priors (fewer items or sites, more students or a larger ε would help)",
                    self.noise_ratio
                ),
            });
        }
        if let Some([(low, se_low), (high, se_high)]) = self.shares()
            && (low > 2.0 * se_low.max(0.01) || high > 2.0 * se_high.max(0.01))
        {
            warnings.push(Warning {
                code: "constant_rows".into(),
                message: format!(
                    "about {:.0} % of the rows are all lowest and {:.0} % all highest beyond what ability explains; they were modelled apart",
                    100.0 * low,
                    100.0 * high
                ),
            });
        }
        warnings
    }
}

/// `fit.json` of a private run. `names` are the items' names in the order of the design.
pub fn fit(
    plan: &Score2Plan,
    result: &Score2Result,
    names: &[String],
    privacy: Privacy,
    codebook_hash: String,
    version: String,
) -> Fit {
    let design = &plan.design;
    let items: Vec<FitItem> = result
        .items()
        .into_iter()
        .enumerate()
        .map(|(j, item)| FitItem {
            name: names.get(j).cloned().unwrap_or_default(),
            model: design.model(j).name().to_owned(),
            categories: design.categories(j),
            codes: design.items()[j].codes.clone(),
            a: Some(item.a),
            d: item.d.into_iter().map(Some).collect(),
            b: item.b.into_iter().map(Some).collect(),
            se_a: item.se_a,
            se_d: item.se_d.into_iter().map(Some).collect(),
            se_b: item.se_b.into_iter().map(Some).collect(),
            n: None,
            fixed: false,
        })
        .collect();
    let effects = result.sites();
    let sites = plan.sites.iter().enumerate().map(|(k, site)| FitSite {
        name: site.name.clone(),
        n: site.rows.iter().sum(),
        effect: effects.get(k).map(|e| e.0),
        se: effects.get(k).map(|e| e.1),
    });
    let mut models = items.iter().map(|i| i.model.as_str());
    let first = models.next().unwrap_or("2pl");
    let model = if models.all(|m| m == first) { first } else { "mixed" }.to_owned();
    let rounds = ROUND_SHARES.len();
    let width = result.theta.len() + usize::from(result.complete.is_some());
    let silent = |round| TraceEntry {
        round,
        loglik: None,
        max_gradient: None,
        max_change: None,
        slowest_items: Vec::new(),
    };
    Fit {
        format: FORMAT.into(),
        model,
        effects: plan.effects.name().to_owned(),
        algorithm: "score2".into(),
        mode: "private".into(),
        n: plan.students(),
        loglik: None,
        npar: result.theta.len(),
        aic: None,
        bic: None,
        sabic: None,
        converged: None,
        rounds,
        exchanges: rounds,
        numbers_sent: (rounds * width) as u64,
        max_gradient: None,
        se_type: Some("private".into()),
        condition_number: None,
        quadrature: Quadrature {
            nodes: plan.grid.nodes,
            from: -plan.grid.range,
            to: plan.grid.range,
            weights: plan.grid.weighting.name().to_owned(),
        },
        latent: Latent { mean: 0.0, sd: 1.0, se_sd: None, se_mean: None },
        site_sd: (plan.effects == Effects::None && plan.site_sd > 0.0).then_some(plan.site_sd),
        se_site_sd: None,
        items,
        sites: sites.collect(),
        trace: (1..=rounds).map(silent).collect(),
        curves: None,
        ability_histogram: None,
        privacy: Some(privacy),
        codebook_hash,
        warnings: result.warnings(),
        seed: None,
        version,
    }
}

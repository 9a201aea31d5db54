//! What a private run reports: estimates with standard errors that include the noise, and nothing else.
//!
//! Everything that would be another look at the data (log-likelihood, criteria, answers per item, curves, gradients) is
//! null. Whether the fit of the noisy sums came to rest, and where, is a function of these sums, and is told.

use super::machine::PrivateResult;
use super::plan::{PrivatePlan, ROUND_SHARES};
use crate::diagnostics;
use crate::exchange::Effects;
use crate::fit::{
    ErrorSource, FORMAT, Fit, FitItem, FitSite, Latent, Privacy, Quadrature, TraceEntry, Warning,
    common_model,
};
use nalgebra::DMatrix;

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
    /// Whether the prior has a large part in its estimates ([`PrivateResult::leans_on_prior`]).
    pub leans_on_prior: bool,
}

impl PrivateResult {
    /// Derivatives of (a, d of all items; s of all sites) in θ: ∂a/∂log a = a, ∂d_r/∂log a = d_r, d is linear in b,
    /// and s = B z.
    fn jacobian(&self) -> DMatrix<f64> {
        let coordinates = &self.coordinates;
        let (design, psi) = (coordinates.design(), coordinates.psi(&self.theta));
        let p = design.parameters();
        let sites = if coordinates.contrasts() > 0 { coordinates.sites() } else { 0 };
        let mut out = DMatrix::zeros(p + sites, self.theta.len());
        for j in 0..design.len() {
            let at = design.offset(j);
            if coordinates.slope_is_free(j) {
                design.span(j).for_each(|r| out[(r, coordinates.span(j).start)] = psi[r]);
            }
            for (r, slopes) in coordinates.intercept_slopes(j, psi[at]).iter().enumerate() {
                coordinates.difficulties(j).zip(slopes).for_each(|(h, x)| out[(at + 1 + r, h)] = *x);
            }
        }
        for k in 0..sites {
            coordinates
                .contrast_span()
                .enumerate()
                .for_each(|(c, at)| out[(p + k, at)] = coordinates.contrast(k, c));
        }
        out
    }

    /// Covariance of (a, d of all items, as [`crate::design::Design`] lays them out; s of all sites).
    pub fn reported_covariance(&self) -> DMatrix<f64> {
        let jacobian = self.jacobian();
        &jacobian * &self.covariance * jacobian.transpose()
    }

    /// Names of the rows of [`Self::reported_covariance`], from those of items and sites.
    pub fn covariance_names(&self, items: &[String], sites: &[String]) -> Vec<String> {
        let mut names = Vec::new();
        for (j, name) in items.iter().enumerate().take(self.coordinates.design().len()) {
            names.push(format!("{name}.a"));
            match self.coordinates.design().categories(j) {
                2 => names.push(format!("{name}.d")),
                c => names.extend((1..c).map(|step| format!("{name}.d{step}"))),
            }
        }
        if self.coordinates.contrasts() > 0 {
            names.extend(sites.iter().map(|name| format!("{name}.effect")));
        }
        names
    }

    /// Items in the order of the design, with standard errors by the delta method.
    pub fn items(&self) -> Vec<PrivateItem> {
        let coordinates = &self.coordinates;
        let (design, psi) = (coordinates.design(), coordinates.psi(&self.theta));
        let (reported, own) = (errors(&self.reported_covariance()), errors(&self.covariance));
        (0..design.len())
            .map(|j| {
                let (at, b) = (design.span(j), coordinates.difficulties(j));
                PrivateItem {
                    a: psi[at.start],
                    se_a: coordinates.slope_is_free(j).then_some(reported[at.start]),
                    d: psi[at.start + 1..at.end].to_vec(),
                    se_d: reported[at.start + 1..at.end].to_vec(),
                    b: self.theta[b.clone()].to_vec(),
                    se_b: own[b].to_vec(),
                    leans_on_prior: self.leans_on_prior(j),
                }
            })
            .collect()
    }

    /// Where the errors of slopes and difficulties come from, with the names of items.
    pub fn error_sources(&self, items: &[String]) -> Vec<ErrorSource> {
        let Some(sources) = &self.sources else { return Vec::new() };
        let coordinates = &self.coordinates;
        let mut out = Vec::new();
        for (j, item) in items.iter().enumerate().take(coordinates.design().len()) {
            let difficulties = coordinates.difficulties(j);
            for r in coordinates.span(j) {
                let slope = r < difficulties.start;
                // The error of a slope is a times that of its logarithm.
                let scale = if slope { coordinates.slope(&self.theta, j) } else { 1.0 };
                let variances = [self.covariance[(r, r)], sources.noise[(r, r)], sources.prior[(r, r)]]
                    .map(|v| v.max(0.0));
                let [whole, noise, prior] = variances.map(|v| scale * v.sqrt());
                let sampling = scale * (variances[0] - variances[1] - variances[2]).max(0.0).sqrt();
                let parameter = match (slope, difficulties.len()) {
                    (true, _) => "a".to_owned(),
                    (false, 1) => "b".to_owned(),
                    (false, _) => format!("b{}", r - difficulties.start + 1),
                };
                let prior_share = sources.prior_share[r].clamp(0.0, 1.0);
                out.push(ErrorSource {
                    item: item.clone(),
                    parameter,
                    se: whole,
                    sampling,
                    noise,
                    prior,
                    prior_share,
                    drawn: scale * sources.drawn[r],
                    leans_on_prior: !slope && self.leans(r),
                });
            }
        }
        out
    }

    /// Whether the prior has a part in an item's difficulty that is not small: more than a tenth of all that is known
    /// about it, or it has drawn the estimate by more than a fifth of its standard error.
    pub fn leans_on_prior(&self, item: usize) -> bool {
        self.coordinates.difficulties(item).any(|r| self.leans(r))
    }

    fn leans(&self, r: usize) -> bool {
        let Some(sources) = &self.sources else { return false };
        let error = self.covariance[(r, r)].max(0.0).sqrt();
        sources.prior_share[r] > LEANING || sources.drawn[r].abs() > DRAWN * error
    }

    /// Effect and standard error of each site; empty without effects.
    pub fn sites(&self) -> Vec<(f64, f64)> {
        let errors = errors(&self.reported_covariance());
        let effects = self.coordinates.effects(&self.theta);
        effects.into_iter().zip(errors[self.coordinates.design().parameters()..].iter().copied()).collect()
    }

    /// Shares of all-lowest and all-highest rows with their standard errors, where they are parameters.
    pub fn shares(&self) -> Option<[(f64, f64); 2]> {
        let [low, high] = self.coordinates.shares(&self.theta)?;
        let errors = errors(&self.covariance);
        let at = errors.len() - 2;
        Some([(low, errors[at]), (high, errors[at + 1])])
    }

    /// Everything that a reader should know before using the numbers, with the names of items and sites.
    pub fn warnings(&self, items: &[String], sites: &[String]) -> Vec<Warning> {
        let mut warnings: Vec<Warning> =
            [self.unfinished(), self.on_a_bound(items, sites), self.leaning(items), self.incomplete(sites)]
                .into_iter()
                .flatten()
                .collect();
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

/// Share of the prior in what is known about a difficulty at which an item is named: its precision over that of the result.
/// With a prior SD of 2 that is a standard error of about 0.6.
const LEANING: f64 = 0.1;

/// Part of its standard error by which the prior has drawn a difficulty at which an item is named. An interval that is off
/// by d standard errors holds the truth with probability Φ(1.96 − d) − Φ(−1.96 − d): 94.5 % at 0.2.
const DRAWN: f64 = 0.2;

/// Square roots of the diagonal.
fn errors(covariance: &DMatrix<f64>) -> Vec<f64> {
    covariance.diagonal().iter().map(|v| v.max(0.0).sqrt()).collect()
}

/// `fit.json` of a private run. `names` are the items' names in the order of the design.
pub fn fit(
    plan: &PrivatePlan,
    result: &PrivateResult,
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
        .map(|(j, item)| {
            let mut entry = FitItem {
                categories: design.categories(j),
                codes: design.items()[j].codes.clone(),
                a: Some(item.a),
                d: item.d.into_iter().map(Some).collect(),
                b: item.b.into_iter().map(Some).collect(),
                se_a: item.se_a,
                se_d: item.se_d.into_iter().map(Some).collect(),
                se_b: item.se_b.into_iter().map(Some).collect(),
                ..FitItem::without_estimates(names.get(j).map_or("", String::as_str), design.model(j).name())
            };
            entry.name_parameters();
            entry
        })
        .collect();
    let effects = result.sites();
    let site_names: Vec<String> = plan.sites.iter().map(|site| site.name.clone()).collect();
    let sites = plan.sites.iter().enumerate().map(|(k, site)| FitSite {
        name: site.name.clone(),
        n: site.rows.iter().sum(),
        effect: effects.get(k).map(|e| e.0),
        se: effects.get(k).map(|e| e.1),
    });
    let model = common_model(&items);
    let rounds = ROUND_SHARES.len();
    let width = result.theta.len() + plan.counts().len();
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
        algorithm: plan.mechanism.name().into(),
        mode: "private".into(),
        n: plan.students(),
        loglik: None,
        npar: result.theta.len(),
        aic: None,
        bic: None,
        sabic: None,
        converged: Some(result.converged),
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
        latent: Latent::standard_normal(),
        site_sd: (plan.effects == Effects::None && plan.site_sd > 0.0).then_some(plan.site_sd),
        se_site_sd: None,
        site_sd_interval: None,
        items,
        sites: sites.collect(),
        trace: (1..=rounds).map(silent).collect(),
        curves: None,
        ability_histogram: None,
        diagnostics: Some(diagnostics::not_in_private()),
        privacy: Some(Privacy { error_sources: result.error_sources(names), ..privacy }),
        codebook_hash,
        warnings: result.warnings(names, &site_names),
        seed: None,
        version,
        provenance: None,
    }
}

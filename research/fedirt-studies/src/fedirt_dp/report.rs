//! What a run of FedIRT-DP reports: estimates without standard errors, for the published algorithm has none.
//!
//! Everything that would be another look at the data is null, as for every private run.

use super::plan::{Layout, Plan};
use fedirt_model::exchange::Effects;
use fedirt_model::fit::{
    FORMAT, Fit, FitItem, FitSite, Latent, Privacy, Quadrature, TraceEntry, Warning, common_model,
};

/// What a run found.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    /// Where parameters stand.
    pub layout: Layout,
    /// The mean of θ over the last rounds (Polyak & Juditsky 1992).
    pub theta: Vec<f64>,
    /// Rounds that were asked: fewer than planned if the run stopped early.
    pub rounds: usize,
    /// dσ²/(q_s²RN): about how much of the variance is due to noise.
    pub noise_ratio: f64,
}

impl Estimates {
    /// Where the parameters stand.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Slope of an item.
    pub fn slope(&self, item: usize) -> f64 {
        self.layout.items().slope(&self.theta, item)
    }

    /// Difficulties of an item.
    pub fn difficulties(&self, item: usize) -> &[f64] {
        &self.theta[self.layout.items().difficulties(item)]
    }

    /// Effects of all sites; empty without them.
    pub fn effects(&self) -> &[f64] {
        &self.theta[self.layout.effects()]
    }

    /// Everything that a reader should know before using the numbers.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = vec![Warning {
            code: "no_standard_errors".into(),
            message: "FedIRT-DP as published gives no standard errors; clipping biases its estimates by an unknown amount"
                .into(),
        }];
        if self.noise_ratio > 1.0 {
            warnings.push(Warning {
                code: "noise_dominates".into(),
                message: format!(
                    "the noise outweighs the sampling error about {:.1} to 1: estimates lean on their priors (fewer items or sites, more students or a larger ε would help)",
                    self.noise_ratio
                ),
            });
        }
        warnings
    }
}

/// `fit.json` of a run. `names` are the items' names in the order of the design. Effects are reported by the names
/// of their sites: they were broadcast in every round.
pub fn fit(
    plan: &Plan,
    estimates: &Estimates,
    names: &[String],
    privacy: Privacy,
    codebook_hash: String,
    version: String,
) -> Fit {
    let design = &plan.design;
    let item = |j: usize| {
        let (a, b) = (estimates.slope(j), estimates.difficulties(j));
        let mut entry = FitItem {
            categories: design.categories(j),
            codes: design.items()[j].codes.clone(),
            a: Some(a),
            d: estimates.layout().items().model(j).intercepts(a, b).into_iter().map(Some).collect(),
            b: b.iter().copied().map(Some).collect(),
            se_d: vec![None; b.len()],
            se_b: vec![None; b.len()],
            ..FitItem::without_estimates(names.get(j).map_or("", String::as_str), design.model(j).name())
        };
        entry.name_parameters();
        entry
    };
    let items: Vec<FitItem> = (0..design.len()).map(item).collect();
    let sites = plan.sites.iter().enumerate().map(|(k, site)| FitSite {
        name: site.name.clone(),
        n: site.rows.iter().sum(),
        effect: estimates.effects().get(k).copied(),
        se: None,
    });
    let model = common_model(&items);
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
        algorithm: "fedirt-dp".into(),
        mode: "private".into(),
        n: plan.students(),
        loglik: None,
        // Effects sum to zero.
        npar: estimates.layout.len() - usize::from(!estimates.effects().is_empty()),
        aic: None,
        bic: None,
        sabic: None,
        converged: None,
        rounds: estimates.rounds,
        exchanges: estimates.rounds,
        numbers_sent: (estimates.rounds * estimates.layout.len()) as u64,
        max_gradient: None,
        se_type: None,
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
        trace: (1..=estimates.rounds).map(silent).collect(),
        curves: None,
        ability_histogram: None,
        diagnostics: None,
        privacy: Some(privacy),
        codebook_hash,
        warnings: estimates.warnings(),
        seed: None,
        version,
        provenance: None,
    }
}

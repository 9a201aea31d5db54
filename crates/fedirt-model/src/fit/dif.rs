//! Differential item functioning: the parts `dif` and `site_heterogeneity` of the diagnostics of `fit.json`.

use serde::{Deserialize, Serialize};

/// An item in a focal group, compared with the reference group at equal ability.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Dif {
    /// The item.
    pub item: String,
    /// The focal group.
    pub group: String,
    /// Mantel–Haenszel odds ratio of an item with two categories: above 1 where it is easier for the reference group.
    #[serde(rename = "alpha_MH")]
    pub alpha_mh: Option<f64>,
    /// Standard error of its logarithm.
    #[serde(rename = "se_log_alpha_MH")]
    pub se_log_alpha_mh: Option<f64>,
    /// Mantel's χ² with one degree of freedom; for two categories Mantel–Haenszel's without continuity correction.
    pub chi2: Option<f64>,
    /// The same with continuity correction (two categories).
    pub chi2_cc: Option<f64>,
    /// p of the χ²: with correction where there is one.
    pub p: Option<f64>,
    /// p, adjusted for the number of items and groups (Benjamini & Hochberg 1995).
    pub p_adjusted: Option<f64>,
    /// −2.35 log α: the difference in difficulty on the delta scale of ETS, negative where the item is harder for the focal group.
    #[serde(rename = "delta_MH")]
    pub delta_mh: Option<f64>,
    /// Class of effect size, A (negligible), B or C (large). Two categories: the rules of ETS (Zwick 2012). More: A where
    /// Mantel's p ≥ .05 or |`smd_sd`| ≤ .17, C above .25, B between (Zwick, Thayer & Mazzeo 1997).
    pub ets: Option<String>,
    /// Generalised Mantel–Haenszel χ² of all categories.
    pub gmh: Option<f64>,
    /// Its degrees of freedom.
    pub gmh_df: Option<f64>,
    /// Its p.
    pub gmh_p: Option<f64>,
    /// Mean item score of the focal group less that of its match in the reference group.
    pub smd: Option<f64>,
    /// The same over the SD of the item.
    pub smd_sd: Option<f64>,
    /// Logistic regression on sum score and group.
    pub logistic: Option<LogisticDif>,
    /// Score test at the pooled fit.
    pub score: Option<f64>,
    /// Its degrees of freedom.
    pub score_df: Option<f64>,
    /// Its p.
    pub score_p: Option<f64>,
    /// Likelihood ratio of the fit with the item's own parameters in each group.
    pub lr: Option<f64>,
    /// Its degrees of freedom.
    pub lr_df: Option<f64>,
    /// Its p.
    pub lr_p: Option<f64>,
    /// Wald's test of the same parameters being equal.
    pub wald: Option<f64>,
    /// Its p.
    pub wald_p: Option<f64>,
    /// Expected item score with the focal group's parameters less that with the reference group's, averaged over the focal
    /// group's distribution of ability.
    pub expected_score_difference: Option<f64>,
    /// Whether students were matched by this item too, in the last pass.
    pub anchor: bool,
    /// Whether effect size and adjusted p both say that it works differently.
    pub flagged: bool,
}

/// Likelihood-ratio tests of logistic regressions, by proportional odds where there are more than two categories.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogisticDif {
    /// χ² of the group, one degree of freedom.
    pub uniform: f64,
    /// Its p.
    pub uniform_p: f64,
    /// χ² of group × score on top, one degree of freedom.
    pub nonuniform: f64,
    /// Its p.
    pub nonuniform_p: f64,
    /// χ² of both, two degrees of freedom.
    pub both: f64,
    /// Its p.
    pub both_p: f64,
    /// What the group adds to Nagelkerke's R².
    #[serde(rename = "delta_R2_uniform")]
    pub delta_r2_uniform: f64,
    /// What group × score adds on top.
    #[serde(rename = "delta_R2_nonuniform")]
    pub delta_r2_nonuniform: f64,
}

/// Whether an item's parameters differ between sites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteHeterogeneity {
    /// The item.
    pub item: String,
    /// Σ of the sites' χ² contributions.
    #[serde(rename = "Q")]
    pub q: f64,
    /// Degrees of freedom: sites that give the item, less one, times its free parameters.
    pub df: f64,
    /// p, about.
    pub p: f64,
    /// p, adjusted for the number of items.
    pub p_adjusted: Option<f64>,
    /// Share of Q beyond chance: max(0, (Q − df)/Q) (Higgins & Thompson 2002).
    #[serde(rename = "I2")]
    pub i2: f64,
}

/// A group of students.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// Its name.
    pub name: String,
    /// Its students.
    pub students: f64,
    /// Mean ability on the reported scale, where groups have distributions of their own.
    pub mean: Option<f64>,
    /// Its standard error; none for the reference group.
    pub se_mean: Option<f64>,
    /// SD of ability.
    pub sd: Option<f64>,
    /// Its standard error.
    pub se_sd: Option<f64>,
}

impl SiteHeterogeneity {
    /// Whether sites differ by more than chance (p adjusted below 0.05) and more than half of what is seen is no chance: many
    /// students make small differences significant.
    pub fn stands_out(&self) -> bool {
        self.i2 > 0.5 && self.p_adjusted.is_some_and(|p| p < 0.05)
    }
}

//! Whether the model is right: the part `diagnostics` of `fit.json`.

use super::{Dif, SiteHeterogeneity, Warning};
use serde::{Deserialize, Serialize};

/// What the sums at the estimates say about the model. What was not asked for, or cannot be told, is `None` and stands in
/// [`Diagnostics::not_available`] with the reason.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Diagnostics {
    /// Correlations of residuals.
    pub q3: Option<Q3>,
    /// Dependence of pairs of items beyond ability, from two-way tables of answers.
    pub ld: Option<Ld>,
    /// How well each item fits, in the order of the calibrated items.
    pub item_fit: Option<Vec<ItemFit>>,
    /// Fit of the whole model.
    pub global: Option<GlobalFit>,
    /// How many dimensions the answers have.
    pub dimensionality: Option<Dimensionality>,
    /// Whether ability is distributed as the model has it.
    pub latent: Option<LatentCheck>,
    /// What single sites change.
    pub influence: Option<Influence>,
    /// Ability by sum score.
    pub score_table: Option<Vec<ScoreRow>>,
    /// Reliability of ability estimates.
    pub reliability: Option<Reliability>,
    /// Students whose answers fit badly.
    pub person_fit: Option<PersonFitShare>,
    /// Classical statistics, in the order of the calibrated items.
    pub classical: Option<Vec<Classical>>,
    /// Cronbach's α.
    pub alpha: Option<f64>,
    /// Items by focal group, compared with the reference group.
    pub dif: Option<Vec<Dif>>,
    /// Items whose parameters differ between sites.
    pub site_heterogeneity: Option<Vec<SiteHeterogeneity>>,
    /// What cannot be told, with the reason.
    pub not_available: Vec<NotAvailable>,
    /// What stands out, each with what it means and what to do.
    pub findings: Vec<Warning>,
}

/// Correlations of the residuals of pairs of items, at the EAP (Yen 1984).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Q3 {
    /// The items, in the order of the matrix.
    pub items: Vec<String>,
    /// Correlations; none where nobody answered both items, or all residuals are alike.
    pub matrix: Vec<Vec<Option<f64>>>,
    /// Mean over pairs.
    pub mean: f64,
    /// In data simulated from the fitted model, the largest Q3 − mean stays below this in 95 of 100 cases (Christensen,
    /// Makransky & Horton 2017).
    pub critical: f64,
    /// Monte Carlo error of `critical`.
    pub critical_se: f64,
    /// Seed of the simulation.
    pub seed: u64,
    /// Simulated data sets.
    pub replications: usize,
    /// Pairs with Q3 − mean above the critical value, with their Q3, largest first.
    pub flagged: Vec<(String, String, f64)>,
}

/// Local dependence of pairs of items (Chen & Thissen 1997); matrices in the order of the calibrated items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ld {
    /// Σ (O − E)²/E over the two-way table of answers.
    #[serde(rename = "X2")]
    pub x2: Vec<Vec<Option<f64>>>,
    /// Its degrees of freedom, as usually taken: descriptive, as the estimation of parameters is not accounted for.
    pub df: Vec<Vec<Option<f64>>>,
    /// Its p.
    pub p: Vec<Vec<Option<f64>>>,
    /// Cramér's V, with the sign of the dependence: positive where answers go together more than ability explains.
    #[serde(rename = "V_signed")]
    pub v_signed: Vec<Vec<Option<f64>>>,
}

/// Fit of the whole model from first and second moments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GlobalFit {
    /// `M2` for items of two categories, `C2` otherwise.
    #[serde(rename = "type")]
    pub kind: String,
    /// χ².
    pub statistic: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// p.
    pub p: f64,
    /// Root mean square error of approximation.
    #[serde(rename = "RMSEA")]
    pub rmsea: f64,
    /// Lower limit of its 90 % interval.
    #[serde(rename = "RMSEA_5")]
    pub rmsea_5: f64,
    /// Upper limit.
    #[serde(rename = "RMSEA_95")]
    pub rmsea_95: f64,
    /// Standardised root mean square residual of the items' correlations.
    #[serde(rename = "SRMSR")]
    pub srmsr: f64,
    /// Tucker–Lewis index.
    #[serde(rename = "TLI")]
    pub tli: f64,
    /// Comparative fit index.
    #[serde(rename = "CFI")]
    pub cfi: f64,
}

/// Eigenvalues of the items' tetra- and polychoric correlations, beside those of data simulated from the fitted model, which has one
/// dimension (Drasgow & Lissak 1983).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dimensionality {
    /// Eigenvalues, largest first. Items of unordered categories are left out.
    pub eigenvalues: Vec<f64>,
    /// In one of twenty simulated data sets the eigenvalue of this rank is smaller.
    pub parallel_5: Vec<f64>,
    /// In one of twenty it is larger.
    pub parallel_95: Vec<f64>,
    /// Monte Carlo error of `parallel_95`.
    pub parallel_95_se: Vec<f64>,
    /// The first eigenvalue over the second.
    pub ratio: Option<f64>,
    /// One, and one more for each eigenvalue behind the first that lies above `parallel_95`, up to one that does not.
    pub dimensions: usize,
    /// Seed of the simulation.
    pub seed: u64,
    /// Simulated data sets.
    pub replications: usize,
}

/// Whether ability is distributed as the model has it.
///
/// Where it is taken to be normal, a score test of density φ(θ)(1 + γ₃ He₃(θ)/6 + γ₄ He₄(θ)/24) against the normal; item parameters
/// and site effects are eliminated by their information.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatentCheck {
    /// Twice the log-likelihood above that of a normal population, where a flexible one was fitted.
    pub lr: Option<f64>,
    /// χ² of the score test.
    pub score: Option<f64>,
    /// Degrees of freedom.
    pub df: f64,
    /// p of the test.
    pub p: Option<f64>,
    /// Skewness: γ₃ after one step from the normal, or that of the fitted density.
    pub skewness: f64,
    /// Its standard error, of the step.
    pub skewness_se: Option<f64>,
    /// Excess kurtosis: γ₄, likewise.
    pub kurtosis: f64,
    /// Its standard error.
    pub kurtosis_se: Option<f64>,
    /// Nodes of ability, on the reported scale.
    pub theta: Vec<f64>,
    /// Weights of the nodes in the model.
    pub expected: Vec<f64>,
    /// The mean of the students' posterior weights.
    pub observed: Vec<f64>,
    /// (observed − expected) over its standard error at given parameters. That parameters are estimated is not accounted for, which
    /// makes these smaller than standard normal numbers (Haberman, Sinharay & Chon 2013). None where nobody is near the node.
    pub residuals: Vec<Option<f64>>,
}

/// What would change without single sites, in one step from the estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Influence {
    /// How many sites would each change some item parameter by more than its standard error.
    pub influential: f64,
    /// In `plain` the parameter that each site changes most; the most influential site first.
    pub sites: Option<Vec<SiteInfluence>>,
}

/// The item parameter that would change most without a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteInfluence {
    /// The site.
    pub site: String,
    /// The item.
    pub item: String,
    /// The parameter, such as `a` or `d2`.
    pub parameter: String,
    /// Its estimate from all sites, on standardised ability.
    pub estimate: f64,
    /// What it would be without the site.
    pub without: f64,
    /// The change in standard errors of the estimate.
    pub change: f64,
}

/// The ability that belongs to a sum score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreRow {
    /// The items that are added up: `all`.
    pub form: String,
    /// Sum of the categories, counted from 0.
    pub score: usize,
    /// Mean of ability given the score, on the reported scale.
    pub theta: f64,
    /// Its SD.
    pub se: f64,
    /// Students with this score, of those who answered every item.
    pub observed: f64,
    /// Students expected.
    pub expected: f64,
}

/// How well one item fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemFit {
    /// Name.
    pub item: String,
    /// S-X²: answers given the sum score, over students who answered every item (Orlando & Thissen 2000).
    #[serde(rename = "S_X2")]
    pub s_x2: Option<f64>,
    /// Its degrees of freedom.
    #[serde(rename = "df.S_X2")]
    pub df_s_x2: Option<f64>,
    /// Its p.
    #[serde(rename = "p.S_X2")]
    pub p_s_x2: Option<f64>,
    /// Its root mean square error of approximation: how far the item is from fitting, whatever the number of students.
    #[serde(rename = "RMSEA.S_X2")]
    pub rmsea_s_x2: Option<f64>,
    /// Its p, adjusted for the number of items (Benjamini & Hochberg 1995).
    pub p_adjusted: Option<f64>,
    /// Information-weighted mean square.
    pub infit: Option<f64>,
    /// It as a standard normal number, about.
    #[serde(rename = "z.infit")]
    pub z_infit: Option<f64>,
    /// Unweighted mean square.
    pub outfit: Option<f64>,
    /// It as a standard normal number, about.
    #[serde(rename = "z.outfit")]
    pub z_outfit: Option<f64>,
}

impl ItemFit {
    /// Whether answers scatter more than the model has it: mean squares above 1.5 distort measurement (Linacre 2002).
    pub fn scatters(&self) -> bool {
        self.infit.is_some_and(|infit| infit > 1.5)
    }

    /// Whether answers depart from the model's curve by more than chance, and by enough to matter: S-X² with p adjusted below
    /// 0.05 and RMSEA above 0.05.
    pub fn leaves_its_curve(&self) -> bool {
        self.p_adjusted.is_some_and(|p| p < 0.05) && self.rmsea_s_x2.is_some_and(|x| x > 0.05)
    }
}

/// Reliability of ability estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Var(EAP)/(Var(EAP) + mean error variance), over the students.
    pub empirical: f64,
    /// The mean of I/(I + 1/σ²) over the population of one site, with the test information I.
    pub marginal: f64,
    /// √(ρ/(1 − ρ)) with the empirical reliability ρ: how many SDs of error the SD of ability is.
    pub separation: f64,
}

/// Students whose answers fit badly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonFitShare {
    /// Students with Zh < −2 at the EAP; with weights, the sum of theirs.
    pub below: f64,
    /// Of so many.
    pub students: f64,
}

/// Classical statistics of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classical {
    /// Name.
    pub item: String,
    /// Mean score over the highest one.
    pub p: Option<f64>,
    /// Correlation with the sum of the other items.
    pub item_rest_r: Option<f64>,
}

/// A diagnostic that cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotAvailable {
    /// Its name in this file.
    pub name: String,
    /// Why, and what would help.
    pub reason: String,
}

impl NotAvailable {
    /// A diagnostic with the reason.
    pub fn new(name: &str, reason: impl Into<String>) -> Self {
        Self { name: name.to_owned(), reason: reason.into() }
    }
}

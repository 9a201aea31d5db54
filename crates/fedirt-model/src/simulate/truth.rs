//! The parameters behind simulated answers.

use super::{SiteEffects, SiteSizes, Spec, SpecError, Stream};
use crate::items::SlopeRule;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use serde::Serialize;

/// SD of ln a: slopes are lognormal around 1.
const LOG_SLOPE_SD: f64 = 0.35;

/// SD of an item's mean difficulty, where it has several steps.
const MEAN_DIFFICULTY_SD: f64 = 0.5;

/// Least distance between neighbouring thresholds of a graded item: closer ones leave categories unused.
const THRESHOLD_GAP: f64 = 0.3;

/// One item on the reported scale.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrueItem {
    /// Column name.
    pub name: String,
    /// Model.
    pub model: String,
    /// Number of categories.
    pub categories: usize,
    /// Slope.
    pub a: f64,
    /// Intercepts, as in a fit.
    pub d: Vec<f64>,
    /// Difficulties, as in a fit.
    pub b: Vec<f64>,
}

/// One site.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrueSite {
    /// Name.
    pub name: String,
    /// Students.
    pub n: usize,
    /// Effect: mean ability of the site's population.
    pub effect: f64,
}

/// All parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// SD of ability within a site.
    pub latent_sd: f64,
    /// Items.
    pub items: Vec<TrueItem>,
    /// Sites.
    pub sites: Vec<TrueSite>,
}

impl Truth {
    /// Checks the specification and draws the parameters.
    pub fn draw(spec: &Spec) -> Result<Self, SpecError> {
        spec.check()?;
        let mut rng = Stream::Items.rng(spec.seed);
        let items = (0..spec.items).map(|j| draw_item(spec, j, &mut rng)).collect::<Result<_, _>>()?;
        let (sizes, effects) = (draw_sizes(spec), draw_effects(spec));
        let sites = sizes
            .into_iter()
            .zip(effects)
            .enumerate()
            .map(|(k, (n, effect))| TrueSite { name: numbered("site", k, spec.sites), n, effect })
            .collect();
        Ok(Self { latent_sd: spec.latent_sd, items, sites })
    }

    /// Students of all sites.
    pub fn students(&self) -> usize {
        self.sites.iter().map(|s| s.n).sum()
    }
}

fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// One item: difficulties are normal, and ascending within an item.
fn draw_item(spec: &Spec, j: usize, rng: &mut impl Rng) -> Result<TrueItem, SpecError> {
    let (model, categories) = spec.item(j)?;
    let steps_of = model.one_slope().ok_or_else(|| SpecError::Model(model.name().to_owned()))?;
    // Drawn for every model: difficulties of a seed are then the same whether slopes are free or not.
    let slope = (LOG_SLOPE_SD * normal(rng)).exp();
    let a = if model.slope() == SlopeRule::Free { slope } else { 1.0 };
    let steps = categories - 1;
    let mut b: Vec<f64> = (0..steps).map(|_| normal(rng)).collect();
    b.sort_by(f64::total_cmp);
    if steps > 1 {
        let mean = MEAN_DIFFICULTY_SD * normal(rng);
        let gap = if steps_of.divides_by_total() { 0.0 } else { THRESHOLD_GAP };
        for (c, b) in b.iter_mut().enumerate() {
            *b += mean + gap * (c as f64 - (steps - 1) as f64 / 2.0);
        }
    }
    let (name, model_name) = (numbered("i", j, spec.items), model.name().to_owned());
    Ok(TrueItem { name, model: model_name, categories, a, d: steps_of.intercepts(a, &b), b })
}

fn draw_sizes(spec: &Spec) -> Vec<usize> {
    let mut rng = Stream::Sizes.rng(spec.seed);
    match &spec.students {
        SiteSizes::Each(n) => vec![*n; spec.sites],
        SiteSizes::List(list) => list.clone(),
        SiteSizes::Between(from, to) => {
            (0..spec.sites).map(|_| rng.random_range(*from as u64..=*to as u64) as usize).collect()
        }
    }
}

fn draw_effects(spec: &Spec) -> Vec<f64> {
    let (sd, centred) = match &spec.effects {
        SiteEffects::Given(list) => return list.clone(),
        SiteEffects::Drawn { sd, centred } => (*sd, *centred),
    };
    let mut rng = Stream::Effects.rng(spec.seed);
    let mut effects: Vec<f64> = (0..spec.sites).map(|_| sd * normal(&mut rng)).collect();
    // One site has nothing to differ from.
    if centred {
        let mean = effects.iter().sum::<f64>() / effects.len() as f64;
        effects.iter_mut().for_each(|s| *s -= mean);
    }
    effects
}

/// Names of equal length, so that they sort as they are numbered.
fn numbered(prefix: &str, index: usize, count: usize) -> String {
    let width = count.to_string().len().max(2);
    format!("{prefix}{:0width$}", index + 1)
}

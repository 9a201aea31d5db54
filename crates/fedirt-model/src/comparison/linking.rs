//! Linking: the line θ = A θ' + B that turns the scale of one fit into that of another, from the items of both.
//!
//! An item of slope a and intercepts d on the scale θ' has slope a/A and intercepts d − s·a·B/A on the scale θ, where s
//! counts the slope in the intercept ([`Role::Intercept`](crate::items::Role::Intercept)); difficulties become A b + B. Kolen & Brennan (2014), *Test
//! Equating, Scaling, and Linking*, chapter 6:
//! - *mean–sigma* (Marco 1977): A = SD(b)/SD(b'), B = mean(b) − A mean(b'), over all difficulties of the common items;
//! - *Haebara* (1980): the least Σ_j Σ_c ∫ (P_jc(θ) − P'_jc((θ − B)/A))² g(θ) dθ;
//! - *Stocking–Lord* (1983): the least ∫ (T(θ) − T'((θ − B)/A))² g(θ) dθ, where T is the expected score on the common items.
//!
//! g is the normal distribution of ability of the fit that gives the scale, on 61 nodes within six standard deviations. Both
//! criteria are taken on that scale (not symmetrised).

use crate::fit::Fit;
use crate::items::{Curves, ItemModel, Order};

/// How the line is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkMethod {
    /// Means and standard deviations of the difficulties.
    MeanSigma,
    /// Curves of items and categories.
    Haebara,
    /// The expected score on the common items.
    StockingLord,
}

impl LinkMethod {
    /// All of them, by name.
    pub const ALL: [Self; 3] = [Self::StockingLord, Self::Haebara, Self::MeanSigma];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::MeanSigma => "mean-sigma",
            Self::Haebara => "haebara",
            Self::StockingLord => "stocking-lord",
        }
    }
}

/// When an item counts as drifting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftLimits {
    /// Its linked difficulty lies so many robust standard deviations (0.74 interquartile ranges) from the median of all
    /// items' differences (Huynh & Meyer 2010).
    pub robust_z: f64,
    /// And its expected scores differ by so much (root mean square over ability, as a share of the highest score): a
    /// difference that matters, however exact the estimates.
    pub rmsd: f64,
}

impl Default for DriftLimits {
    fn default() -> Self {
        Self { robust_z: 2.7, rmsd: 0.05 }
    }
}

/// How an item agrees with itself once its second estimates are on the first scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// The item.
    pub item: String,
    /// Mean difficulty in the fit that gives the scale, minus the linked one.
    pub difference: Option<f64>,
    /// The same, minus the median over items, in robust standard deviations.
    pub robust_z: Option<f64>,
    /// Root mean square of the difference of expected scores over ability, as a share of the highest score.
    pub rmsd: f64,
    /// Whether both limits are exceeded. Without difficulties, whether the second is.
    pub flagged: bool,
}

/// The line between two scales.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// How it was found.
    pub method: LinkMethod,
    /// A: a unit of the second scale in units of the first.
    pub slope: f64,
    /// B: the origin of the second scale on the first.
    pub intercept: f64,
    /// The criterion at the end (zero for mean–sigma, which has none), per unit of the weights.
    pub criterion: f64,
    /// Items of both fits that carry it, in the order of the first.
    pub drift: Vec<Drift>,
}

/// Why there is no line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// Too few items with estimates in both fits.
    #[error(
        "a link needs at least two items with estimates of the same categories in both fits; there are {common}"
    )]
    TooFewItems {
        /// How many there are.
        common: usize,
    },
    /// The difficulties of one fit are all equal, or there are none.
    #[error("the difficulties of the common items do not vary, so mean–sigma has no slope")]
    NoSpread,
    /// The search did not come to rest.
    #[error("{} did not come to rest: the common items say too little about the scale", .0.name())]
    NotFound(LinkMethod),
}

/// An item of both fits.
struct Common {
    name: String,
    categories: usize,
    first: (&'static dyn ItemModel, Vec<f64>),
    second: (&'static dyn ItemModel, Vec<f64>),
    difficulties: Option<[Vec<f64>; 2]>,
}

/// The line that turns the scale of `second` into that of `first`, from the items that have estimates in both.
pub fn link(first: &Fit, second: &Fit, method: LinkMethod, limits: DriftLimits) -> Result<Link, LinkError> {
    let common = common_items(first, second);
    if common.len() < 2 {
        return Err(LinkError::TooFewItems { common: common.len() });
    }
    let start = mean_sigma(&common);
    let ability = Ability::of(first);
    let (slope, intercept, criterion) = match method {
        LinkMethod::MeanSigma => {
            let (a, b) = start.ok_or(LinkError::NoSpread)?;
            (a, b, 0.0)
        }
        LinkMethod::Haebara | LinkMethod::StockingLord => {
            search(&common, &ability, method, start.unwrap_or((1.0, 0.0)))
                .ok_or(LinkError::NotFound(method))?
        }
    };
    let drift = drift(&common, &ability, (slope, intercept), limits);
    Ok(Link { method, slope, intercept, criterion, drift })
}

fn common_items(first: &Fit, second: &Fit) -> Vec<Common> {
    let common = first.items.iter().filter_map(|one| {
        let two = second.items.iter().find(|item| item.name == one.name)?;
        let difficulties =
            |b: &[Option<f64>]| b.iter().copied().collect::<Option<Vec<f64>>>().filter(|b| !b.is_empty());
        (one.categories == two.categories).then_some(())?;
        Some(Common {
            name: one.name.clone(),
            categories: one.categories,
            first: one.estimates()?,
            second: two.estimates()?,
            difficulties: difficulties(&one.b).zip(difficulties(&two.b)).map(|(one, two)| [one, two]),
        })
    });
    common.collect()
}

fn mean_sigma(common: &[Common]) -> Option<(f64, f64)> {
    let all =
        |k: usize| common.iter().filter_map(move |c| Some(&c.difficulties.as_ref()?[k])).flatten().copied();
    let moments = |k: usize| {
        let n = all(k).count() as f64;
        let mean = all(k).sum::<f64>() / n;
        (mean, (all(k).map(|b| (b - mean).powi(2)).sum::<f64>() / n).sqrt())
    };
    let ((mean_1, sd_1), (mean_2, sd_2)) = (moments(0), moments(1));
    let slope = sd_1 / sd_2;
    (slope.is_finite() && slope > 0.0).then_some((slope, mean_1 - slope * mean_2))
}

/// Abilities of the fit that gives the scale, with their shares.
struct Ability {
    theta: Vec<f64>,
    weights: Vec<f64>,
}

impl Ability {
    fn of(fit: &Fit) -> Self {
        let standard: Vec<f64> = (0..61).map(|n| -6.0 + 0.2 * f64::from(n)).collect();
        let total: f64 = standard.iter().map(|v| (-0.5 * v * v).exp()).sum();
        Self {
            weights: standard.iter().map(|v| (-0.5 * v * v).exp() / total).collect(),
            theta: standard.iter().map(|v| fit.latent.mean + fit.latent.sd * v).collect(),
        }
    }

    /// The same abilities on the second scale.
    fn turned(&self, (slope, intercept): (f64, f64)) -> Vec<f64> {
        self.theta.iter().map(|t| (t - intercept) / slope).collect()
    }
}

impl Common {
    fn curves(&self, of: &(&'static dyn ItemModel, Vec<f64>), theta: &[f64]) -> Curves {
        Curves::new(of.0, self.categories, &of.1, theta, Order::Score)
    }
}

/// Residuals with their derivatives in (log A, B), one after the other.
fn residuals(
    common: &[Common],
    ability: &Ability,
    method: LinkMethod,
    line: (f64, f64),
) -> Vec<(f64, [f64; 2])> {
    let turned = ability.turned(line);
    let q = ability.theta.len();
    let mut scores = vec![(0.0, 0.0); q];
    let mut out = Vec::new();
    // d((θ − B)/A)/d log A = −(θ − B)/A and d(·)/dB = −1/A.
    let directions = |n: usize, change: f64| [-turned[n] * change, -change / line.0];
    for item in common {
        let (one, two) = (item.curves(&item.first, &ability.theta), item.curves(&item.second, &turned));
        for n in 0..q {
            let root = ability.weights[n].sqrt();
            for c in 0..item.categories {
                let (p, p2) = (one.log_p(c)[n].exp(), two.log_p(c)[n].exp());
                let (gap, change) = (p - p2, -p2 * two.score(c, two.ability())[n]);
                match method {
                    LinkMethod::Haebara => out.push((root * gap, directions(n, root * change))),
                    LinkMethod::StockingLord | LinkMethod::MeanSigma => {
                        scores[n].0 += root * c as f64 * gap;
                        scores[n].1 += root * c as f64 * change;
                    }
                }
            }
        }
    }
    if method != LinkMethod::Haebara {
        out.extend(scores.iter().enumerate().map(|(n, (gap, change))| (*gap, directions(n, *change))));
    }
    out
}

const MOST_STEPS: usize = 200;

/// Least squares by Gauss–Newton steps with Marquardt's damping. (Expected scores and categories count as in the criteria.)
fn search(
    common: &[Common],
    ability: &Ability,
    method: LinkMethod,
    start: (f64, f64),
) -> Option<(f64, f64, f64)> {
    let sum = |r: &[(f64, [f64; 2])]| r.iter().map(|(gap, _)| gap * gap).sum::<f64>();
    let (mut line, mut damping) = (start, 1e-3);
    let mut at = residuals(common, ability, method, line);
    for _ in 0..MOST_STEPS {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for (gap, d) in &at {
            (g[0], g[1]) = (g[0] + d[0] * gap, g[1] + d[1] * gap);
            (h[0], h[1], h[2]) = (h[0] + d[0] * d[0], h[1] + d[0] * d[1], h[2] + d[1] * d[1]);
        }
        let (h00, h11) = (h[0] * (1.0 + damping), h[2] * (1.0 + damping));
        let determinant = h00 * h11 - h[1] * h[1];
        let step = [-(h11 * g[0] - h[1] * g[1]) / determinant, -(h00 * g[1] - h[1] * g[0]) / determinant];
        if !step.iter().all(|s| s.is_finite()) {
            return None;
        }
        let next = (line.0 * step[0].clamp(-1.0, 1.0).exp(), line.1 + step[1]);
        let there = residuals(common, ability, method, next);
        // Where rounding hides any progress, a step this small is the end.
        let small = step.iter().all(|s| s.abs() < 1e-9);
        if sum(&there) <= sum(&at) {
            (line, at, damping) = (next, there, damping * 0.1);
        } else {
            damping *= 10.0;
        }
        if small {
            return Some((line.0, line.1, sum(&at)));
        }
    }
    None
}

/// The difference between two items' expected scores, and the limits of what is usual among all items.
fn drift(common: &[Common], ability: &Ability, line: (f64, f64), limits: DriftLimits) -> Vec<Drift> {
    let turned = ability.turned(line);
    let mean = |b: &[f64]| b.iter().sum::<f64>() / b.len() as f64;
    let difference =
        |c: &Common| c.difficulties.as_ref().map(|[one, two]| mean(one) - (line.0 * mean(two) + line.1));
    let mut differences: Vec<f64> = common.iter().filter_map(difference).collect();
    differences.sort_by(f64::total_cmp);
    let (median, spread) =
        (quantile(&differences, 0.5), 0.74 * (quantile(&differences, 0.75) - quantile(&differences, 0.25)));
    let one_item = |item: &Common| {
        let (one, two) = (item.curves(&item.first, &ability.theta), item.curves(&item.second, &turned));
        let top = (item.categories - 1) as f64;
        let square =
            |n: usize| ability.weights[n] * ((one.expected_score(n) - two.expected_score(n)) / top).powi(2);
        let rmsd = (0..turned.len()).map(square).sum::<f64>().sqrt();
        let difference = difference(item);
        let robust_z = difference.filter(|_| spread > 0.0).map(|d| (d - median) / spread);
        let far = robust_z.is_none_or(|z| z.abs() > limits.robust_z);
        Drift { item: item.name.clone(), difference, robust_z, rmsd, flagged: far && rmsd > limits.rmsd }
    };
    common.iter().map(one_item).collect()
}

/// A quantile of sorted numbers, linear between neighbours (type 7 of Hyndman & Fan 1996).
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = p * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (at - low as f64) * (sorted[high] - sorted[low])
}

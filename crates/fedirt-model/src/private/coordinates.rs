//! The parameters of a private fit as one vector without ties.
//!
//! θ = (log a_j, b_j1..b_jm for each item; z_1..z_{K−1}; π₀, π₁): items whose slope is fixed at 1 have no log a;
//! fixed site effects are s = B z with orthonormal Helmert contrasts B (K × (K−1)), so that they sum to zero;
//! the last two are the shares of all-lowest and all-highest rows, where the plan asks for them.
//!
//! A student of site k needs only his *compact* score (items, s_k, π₀, π₁): every coordinate of θ takes its score
//! from one compact coordinate, times a factor ([`Coordinates::compact`]).

use super::PrivateError;
use crate::design::Design;
use crate::exchange::Effects;
use crate::items::{OneSlope, SlopeRule};

/// Which parameters there are, and where they stand.
#[derive(Debug, Clone)]
pub struct Coordinates {
    design: Design,
    models: Vec<&'static dyn OneSlope>,
    contrasts: usize,
    sites: usize,
    mixture: bool,
    /// First coordinate of each item, and at the end their number.
    offsets: Vec<usize>,
}

/// Models follow from the design.
impl PartialEq for Coordinates {
    fn eq(&self, other: &Self) -> bool {
        let rest = |c: &Self| (c.contrasts, c.sites, c.mixture);
        self.design == other.design && rest(self) == rest(other)
    }
}

impl Coordinates {
    /// The coordinates of a design at that many sites.
    pub fn new(design: &Design, effects: Effects, sites: usize, mixture: bool) -> Result<Self, PrivateError> {
        let contrasts = match effects {
            Effects::None => 0,
            Effects::Fixed => sites.saturating_sub(1),
            Effects::Random => return Err(PrivateError::RandomEffects),
        };
        let mut offsets = vec![0];
        let mut end = 0;
        let mut models = Vec::with_capacity(design.len());
        for j in 0..design.len() {
            let unknown = || PrivateError::Model(design.model(j).name().to_owned());
            let model = design.model(j).one_slope().ok_or_else(unknown)?;
            end += design.categories(j) - 1;
            match model.slope() {
                SlopeRule::Free => end += 1,
                SlopeRule::One => {}
                SlopeRule::LatentSd | SlopeRule::Common => return Err(unknown()),
            }
            offsets.push(end);
            models.push(model);
        }
        Ok(Self { design: design.clone(), models, contrasts, sites, mixture, offsets })
    }

    /// Number of coordinates.
    pub fn len(&self) -> usize {
        // Saturating: a request may name any number of sites, and is refused by its length.
        (self.items() + self.extra()).saturating_add(self.contrasts)
    }

    /// Whether there is nothing to estimate.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The calibrated items.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Model of an item.
    pub fn model(&self, item: usize) -> &'static dyn OneSlope {
        self.models[item]
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.sites
    }

    /// Groups of students that differ to the model: sites, or all students where there are no effects.
    pub(super) fn groups(&self) -> usize {
        if self.contrasts > 0 { self.sites } else { 1 }
    }

    /// The group of a site.
    pub(super) fn group(&self, site: usize) -> usize {
        if self.contrasts > 0 { site } else { 0 }
    }

    /// Number of coordinates that belong to items.
    pub fn items(&self) -> usize {
        self.offsets[self.design.len()]
    }

    /// Number of contrasts of site effects.
    pub fn contrasts(&self) -> usize {
        self.contrasts
    }

    /// Whether the shares of constant rows are parameters.
    pub fn mixture(&self) -> bool {
        self.mixture
    }

    fn extra(&self) -> usize {
        if self.mixture { 2 } else { 0 }
    }

    /// Whether an item has a log a.
    pub fn slope_is_free(&self, item: usize) -> bool {
        self.offsets[item + 1] - self.offsets[item] == self.design.categories(item)
    }

    /// Positions of an item's coordinates: log a where it is free, then b_1..b_m.
    pub fn span(&self, item: usize) -> std::ops::Range<usize> {
        self.offsets[item]..self.offsets[item + 1]
    }

    /// Positions of an item's difficulties.
    pub fn difficulties(&self, item: usize) -> std::ops::Range<usize> {
        self.offsets[item] + usize::from(self.slope_is_free(item))..self.offsets[item + 1]
    }

    /// Positions of the contrasts.
    pub fn contrast_span(&self) -> std::ops::Range<usize> {
        self.items()..self.items() + self.contrasts
    }

    /// Slope of an item.
    pub fn slope(&self, theta: &[f64], item: usize) -> f64 {
        if self.slope_is_free(item) { theta[self.offsets[item]].exp() } else { 1.0 }
    }

    /// (a, d) of all items, as [`Design`] lays them out.
    pub fn psi(&self, theta: &[f64]) -> Vec<f64> {
        let mut psi = Vec::with_capacity(self.design.parameters());
        for j in 0..self.design.len() {
            let a = self.slope(theta, j);
            psi.push(a);
            psi.extend(self.models[j].intercepts(a, &theta[self.difficulties(j)]));
        }
        psi
    }

    /// ∂d_r/∂b_h of an item of slope a (row r, column h, both from 0): d is linear in b.
    pub(crate) fn intercept_slopes(&self, item: usize, a: f64) -> Vec<Vec<f64>> {
        let m = self.design.categories(item) - 1;
        let mut by_step = Vec::with_capacity(m);
        let mut unit = vec![0.0; m];
        for h in 0..m {
            unit[h] = 1.0;
            by_step.push(self.models[item].intercepts(a, &unit));
            unit[h] = 0.0;
        }
        (0..m).map(|r| by_step.iter().map(|d| d[r]).collect()).collect()
    }

    /// Entry of the Helmert contrasts: column c compares site c + 1 with the mean of those before it.
    pub fn contrast(&self, site: usize, c: usize) -> f64 {
        let norm = ((c + 1) as f64 * (c + 2) as f64).sqrt();
        match site {
            k if k <= c => 1.0 / norm,
            k if k == c + 1 => -((c + 1) as f64) / norm,
            _ => 0.0,
        }
    }

    /// Effect of a site, s_k = Σ_c B_kc z_c.
    pub fn effect(&self, theta: &[f64], site: usize) -> f64 {
        let z = &theta[self.contrast_span()];
        z.iter().enumerate().map(|(c, z)| self.contrast(site, c) * z).sum()
    }

    /// Effects of all sites; empty without them.
    pub fn effects(&self, theta: &[f64]) -> Vec<f64> {
        if self.contrasts == 0 {
            Vec::new()
        } else {
            (0..self.sites).map(|k| self.effect(theta, k)).collect()
        }
    }

    /// Shares (π₀, π₁) of all-lowest and all-highest rows.
    pub fn shares(&self, theta: &[f64]) -> Option<[f64; 2]> {
        let at = self.len() - self.extra();
        self.mixture.then(|| [theta[at], theta[at + 1]])
    }

    /// θ from slopes, difficulties, effects (which must sum to zero) and shares.
    pub fn theta(&self, a: &[f64], b: &[Vec<f64>], effects: &[f64], shares: [f64; 2]) -> Vec<f64> {
        let mut theta = Vec::with_capacity(self.len());
        for (j, (a, b)) in a.iter().zip(b).enumerate() {
            if self.slope_is_free(j) {
                theta.push(a.ln());
            }
            theta.extend(b);
        }
        let z = (0..self.contrasts)
            .map(|c| effects.iter().enumerate().map(|(k, s)| self.contrast(k, c) * s).sum::<f64>());
        theta.extend(z);
        if self.mixture {
            theta.extend(shares);
        }
        theta
    }

    /// Number of compact coordinates.
    pub(crate) fn compact_len(&self) -> usize {
        self.items() + usize::from(self.contrasts > 0) + self.extra()
    }

    /// For each coordinate, the compact one that it takes its score from at a site, and the factor.
    pub(crate) fn compact(&self, site: usize) -> Vec<(usize, f64)> {
        let p = self.items();
        let mut map: Vec<(usize, f64)> = (0..p).map(|r| (r, 1.0)).collect();
        map.extend((0..self.contrasts).map(|c| (p, self.contrast(site, c))));
        let at = p + usize::from(self.contrasts > 0);
        map.extend((0..self.extra()).map(|e| (at + e, 1.0)));
        map
    }
}

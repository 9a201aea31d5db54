//! Which parameters are free, and the coordinates in which the centre steps.
//!
//! Sites work with item parameters ψ for *standardised* ability. Some of them are tied together: a Rasch item's slope is
//! the SD σ of ability; an anchored item with given slopes a* and intercepts d* has a = a*·σ and
//! d = d* + a*·score·μ. This file is the one place that knows. Coordinates are chosen so that the likelihood is nearly
//! quadratic: a single slope is a = ½·sinh(u), which passes through zero without a switch; its intercepts are
//! d = v·√(1.702² + a²), nearly normal-ogive thresholds; slopes and intercepts of single categories are linear; σ = exp(u).

mod bounds;
mod derivatives;

use crate::design::Design;
use crate::exchange::Effects;
use crate::items::{Role, SlopeRule};
use crate::population::Population;
use nalgebra::DVector;

/// 1.702²: the logistic curve nearest to the normal ogive.
const OGIVE: f64 = 1.702 * 1.702;

/// Thresholds stay within this many ability SDs per step.
const STEP_BOUND: f64 = 20.0;

/// A slope at which an item steps from wrong to right almost between two nodes: beyond it the sums over nodes are no
/// longer smooth, and nothing could be estimated anyway. At least 8, whatever the grid.
pub(crate) fn steepest(population: &Population) -> f64 {
    let spacing = 2.0 * population.range / (population.nodes.max(2) - 1) as f64;
    (1.6 / spacing).max(8.0)
}

/// Given parameters of an item, on the reported scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// Number of categories of the item.
    pub categories: usize,
    /// Its parameters, as its model lays them out.
    pub psi: Vec<f64>,
}

impl Anchor {
    /// The anchor of an item of one slope, with an intercept for each step.
    pub fn one_slope(a: f64, d: &[f64]) -> Self {
        Self { categories: d.len() + 1, psi: std::iter::once(a).chain(d.iter().copied()).collect() }
    }
}

/// How one item parameter follows from the free coordinates y.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tie {
    /// A slope with a coordinate of its own: ½·sinh(y_u).
    OwnSlope(usize),
    /// A slope of one category among several: y_u/2. Given ability, the likelihood of such items is concave in it.
    LinearSlope(usize),
    /// A slope that all items of its kind share: ½·sinh(y_u).
    CommonSlope(usize),
    /// A slope that is a multiple of σ.
    Sd(f64),
    /// A slope that is a constant.
    Fixed(f64),
    /// An intercept with a coordinate of its own: y_v·√(1.702² + a²).
    OwnIntercept {
        /// The coordinate v.
        at: usize,
        /// Position of its slope a among all item parameters; none where the slope is linear, and a = 0 stands here.
        slope: Option<usize>,
        /// Which of the item's intercepts it is, counted from 1: its bound is that many steps wide.
        step: usize,
    },
    /// An intercept of an anchored item: `value` + `pull`·μ.
    Given {
        /// The given intercept.
        value: f64,
        /// Given slope times score.
        pull: f64,
    },
    /// A parameter of the population, with a coordinate of its own.
    Population {
        /// The coordinate.
        at: usize,
        /// Largest absolute value.
        bound: f64,
    },
}

/// A slope with its first two derivatives in its coordinate, and that coordinate.
struct SlopeValue {
    a: f64,
    first: f64,
    second: f64,
    at: Option<usize>,
}

/// The gradient in the free parameters themselves.
pub(crate) struct NaturalGradient {
    /// Largest absolute derivative of each item's own parameters.
    pub items: Vec<f64>,
    /// Derivatives in σ, μ, the common slope and the population's parameters, where free.
    pub population: Vec<f64>,
}

/// Free coordinates: items, then σ, then μ, then the population. Where this file says ψ, the parameters of the population
/// stand behind those of the items.
#[derive(Debug, Clone)]
pub(crate) struct Structure {
    design: Design,
    anchored: Vec<bool>,
    ties: Vec<Tie>,
    sd: Option<usize>,
    mean: Option<usize>,
    size: usize,
    /// Largest coordinate of a slope.
    slope_bound: f64,
    /// Largest threshold per step.
    step_bound: f64,
}

impl Structure {
    /// The free parameters of a design with some items anchored, and of the population, whose grid bounds the slopes.
    pub(crate) fn new(
        design: &Design,
        anchors: &[Option<Anchor>],
        effects: Effects,
        population: &Population,
    ) -> Self {
        let anchored = anchors.iter().any(Option::is_some);
        let rule = |wanted: SlopeRule| (0..design.len()).any(|j| design.model(j).slope() == wanted);
        // The SD is free where slopes are fixed at 1 for that purpose, or where anchors set the unit.
        let sd_free = rule(SlopeRule::LatentSd) || (anchored && !rule(SlopeRule::One));
        let mut size = 0;
        let mut take = || {
            size += 1;
            size - 1
        };
        let mut common = None;
        let mut ties = Vec::with_capacity(design.parameters());
        for j in 0..design.len() {
            let given = anchors.get(j).and_then(Option::as_ref);
            let (span, slopes) = (design.span(j), design.slopes(j).len());
            for (k, r) in span.clone().enumerate() {
                ties.push(match (design.parameter(r).role, given) {
                    (Role::Slope { .. }, Some(anchor)) if sd_free => Tie::Sd(anchor.psi[k]),
                    (Role::Slope { .. }, Some(anchor)) => Tie::Fixed(anchor.psi[k]),
                    (Role::Slope { .. }, None) => match design.model(j).slope() {
                        SlopeRule::Free if slopes > 1 => Tie::LinearSlope(take()),
                        SlopeRule::Free => Tie::OwnSlope(take()),
                        SlopeRule::Common => Tie::CommonSlope(*common.get_or_insert_with(&mut take)),
                        SlopeRule::One => Tie::Fixed(1.0),
                        SlopeRule::LatentSd => Tie::Sd(1.0),
                    },
                    (Role::Intercept { slope, score }, Some(anchor)) => {
                        Tie::Given { value: anchor.psi[k], pull: anchor.psi[slope] * score }
                    }
                    (Role::Intercept { slope, .. }, None) => {
                        let slope = (slopes == 1).then_some(span.start + slope);
                        Tie::OwnIntercept { at: take(), slope, step: k + 1 - slopes }
                    }
                });
            }
        }
        let sd = sd_free.then(&mut take);
        // With fixed effects the effects themselves carry the mean.
        let mean = (anchored && effects != Effects::Fixed).then(&mut take);
        ties.extend(population.bounds().into_iter().map(|bound| Tie::Population { at: take(), bound }));
        let anchored = (0..design.len()).map(|j| anchors.get(j).is_some_and(Option::is_some)).collect();
        let slope_bound = (2.0 * steepest(population)).asinh();
        Self { design: design.clone(), anchored, ties, sd, mean, size, slope_bound, step_bound: STEP_BOUND }
    }

    /// The same with parameters that sites answer for whoever asks: slopes to 8, thresholds to 6 per step.
    pub(crate) fn within_policy(mut self) -> Self {
        self.slope_bound = self.slope_bound.min(16f64.asinh());
        self.step_bound = 6.0;
        self
    }

    /// Number of parameters for which sites give derivatives: those of items and of the population.
    pub(crate) fn parameters(&self) -> usize {
        self.ties.len()
    }

    /// Number of free item and population parameters.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Whether anchors fix the origin of ability.
    pub(crate) fn anchored(&self) -> bool {
        self.anchored.contains(&true)
    }

    /// Whether anchors fix the origin of a linked part.
    pub(crate) fn anchors_part(&self, parts: &[usize], part: usize) -> bool {
        self.anchored.iter().zip(parts).any(|(anchored, p)| *anchored && *p == part)
    }

    /// Whether the item's parameters are given.
    pub(crate) fn is_anchored(&self, item: usize) -> bool {
        self.anchored[item]
    }

    /// Whether an item parameter is estimated, as reported.
    pub(crate) fn is_free(&self, position: usize) -> bool {
        match self.ties[position] {
            Tie::OwnSlope(_)
            | Tie::LinearSlope(_)
            | Tie::CommonSlope(_)
            | Tie::OwnIntercept { .. }
            | Tie::Population { .. } => true,
            Tie::Sd(_) | Tie::Fixed(_) | Tie::Given { .. } => false,
        }
    }

    /// Whether a parameter is estimated for its item alone.
    pub(crate) fn is_own(&self, position: usize) -> bool {
        match self.ties[position] {
            Tie::OwnSlope(_) | Tie::LinearSlope(_) | Tie::OwnIntercept { .. } => true,
            Tie::CommonSlope(_) | Tie::Sd(_) | Tie::Fixed(_) | Tie::Given { .. } | Tie::Population { .. } => {
                false
            }
        }
    }

    /// Whether the SD of ability is estimated.
    pub(crate) fn sd_is_free(&self) -> bool {
        self.sd.is_some()
    }

    /// Whether the mean of ability is estimated.
    pub(crate) fn mean_is_free(&self) -> bool {
        self.mean.is_some()
    }

    /// σ at given coordinates.
    pub(crate) fn sd(&self, y: &DVector<f64>) -> f64 {
        self.sd.map_or(1.0, |at| y[at].exp())
    }

    /// μ at given coordinates.
    pub(crate) fn mean(&self, y: &DVector<f64>) -> f64 {
        self.mean.map_or(0.0, |at| y[at])
    }

    /// The slope on which an intercept's coordinate depends.
    fn intercept_slope(&self, y: &DVector<f64>, slope: Option<usize>) -> SlopeValue {
        match slope {
            Some(position) => self.slope(y, position),
            None => SlopeValue { a: 0.0, first: 0.0, second: 0.0, at: None },
        }
    }

    /// The slope at a position of ψ.
    fn slope(&self, y: &DVector<f64>, position: usize) -> SlopeValue {
        match self.ties[position] {
            Tie::OwnSlope(u) | Tie::CommonSlope(u) => {
                let a = 0.5 * y[u].sinh();
                SlopeValue { a, first: 0.5 * y[u].cosh(), second: a, at: Some(u) }
            }
            Tie::LinearSlope(u) => SlopeValue { a: 0.5 * y[u], first: 0.5, second: 0.0, at: Some(u) },
            Tie::Sd(factor) => {
                let a = factor * self.sd(y);
                SlopeValue { a, first: a, second: a, at: self.sd }
            }
            Tie::Fixed(a) => SlopeValue { a, first: 0.0, second: 0.0, at: None },
            Tie::OwnIntercept { .. } | Tie::Given { .. } | Tie::Population { .. } => {
                unreachable!("Role::Intercept names a slope of its own item")
            }
        }
    }

    /// Coordinates of the nearest point to ψ (exact for free items; σ and μ as given).
    pub(crate) fn coordinates(&self, psi: &[f64], sd: f64, mean: f64) -> DVector<f64> {
        let mut y = DVector::zeros(self.size);
        if let Some(at) = self.sd {
            y[at] = sd.max(1e-3).ln();
        }
        if let Some(at) = self.mean {
            y[at] = mean;
        }
        for (r, tie) in self.ties.iter().enumerate() {
            match *tie {
                Tie::OwnSlope(u) | Tie::CommonSlope(u) => y[u] = (2.0 * psi[r]).asinh(),
                Tie::LinearSlope(u) => y[u] = 2.0 * psi[r],
                Tie::OwnIntercept { at, slope, .. } => {
                    let a = self.intercept_slope(&y, slope).a;
                    y[at] = psi[r] / (OGIVE + a * a).sqrt();
                }
                Tie::Population { at, .. } => y[at] = psi[r],
                Tie::Sd(_) | Tie::Fixed(_) | Tie::Given { .. } => {}
            }
        }
        y
    }

    /// ψ at given coordinates.
    pub(crate) fn psi(&self, y: &DVector<f64>) -> Vec<f64> {
        let value = |(r, tie): (usize, &Tie)| match *tie {
            Tie::OwnSlope(_) | Tie::LinearSlope(_) | Tie::CommonSlope(_) | Tie::Sd(_) | Tie::Fixed(_) => {
                self.slope(y, r).a
            }
            Tie::OwnIntercept { at, slope, .. } => {
                let a = self.intercept_slope(y, slope).a;
                y[at] * (OGIVE + a * a).sqrt()
            }
            Tie::Given { value, pull } => value + pull * self.mean(y),
            Tie::Population { at, .. } => y[at],
        };
        self.ties.iter().enumerate().map(value).collect()
    }

    /// The items that own some coordinates.
    pub(crate) fn items_of(&self, coordinates: &[usize]) -> Vec<usize> {
        (0..self.design.len())
            .filter(|&j| self.coordinates_of(&[j]).iter().any(|c| coordinates.contains(c)))
            .collect()
    }

    /// Directions in which the likelihood with fixed effects is flat: the origin of each linked part, as unit
    /// vectors in the coordinates; parts whose origin anchors fix have none.
    pub(crate) fn flat_directions(&self, y: &DVector<f64>, parts: &[usize]) -> Vec<DVector<f64>> {
        let psi = self.psi(y);
        let shift = self.design.shift_direction(&psi);
        (0..=parts.iter().max().copied().unwrap_or(0))
            .filter(|&part| !self.anchors_part(parts, part))
            .filter_map(|part| {
                let mut direction = DVector::zeros(self.size);
                for j in (0..self.design.len()).filter(|&j| parts[j] == part) {
                    for r in self.design.span(j) {
                        if let Tie::OwnIntercept { at, slope, .. } = self.ties[r] {
                            let a = slope.map_or(0.0, |slope| psi[slope]);
                            direction[at] = shift[r] / (OGIVE + a * a).sqrt();
                        }
                    }
                }
                let norm = direction.norm();
                (norm > 0.0).then(|| direction / norm)
            })
            .collect()
    }

    /// σ and μ that make a start for standardised ability agree with the anchors, as well as they can: the
    /// ratio of slopes, and then the mean shift of the intercepts.
    pub(crate) fn population_start(&self, psi: &[f64]) -> (f64, f64) {
        let (mut ratios, mut shifts) = (Vec::new(), Vec::new());
        for (r, tie) in self.ties.iter().enumerate() {
            match *tie {
                Tie::Sd(factor) if factor != 0.0 => ratios.push((psi[r] / factor).abs().max(1e-3).ln()),
                Tie::Given { value, pull } if pull.abs() > 1e-3 => shifts.push((psi[r] - value) / pull),
                Tie::OwnSlope(_)
                | Tie::LinearSlope(_)
                | Tie::CommonSlope(_)
                | Tie::Sd(_)
                | Tie::Fixed(_)
                | Tie::OwnIntercept { .. }
                | Tie::Given { .. }
                | Tie::Population { .. } => {}
            }
        }
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len().max(1) as f64;
        (mean(&ratios).exp(), mean(&shifts))
    }

    /// Whether a parameter is a slope that all items share.
    pub(crate) fn is_common(&self, r: usize) -> bool {
        matches!(self.ties[r], Tie::CommonSlope(_))
    }

    /// Coordinates that no item owns.
    pub(crate) fn shared_coordinates(&self) -> Vec<usize> {
        let items: Vec<usize> = (0..self.design.len()).collect();
        let mut shared = vec![true; self.size];
        self.coordinates_of(&items).into_iter().for_each(|c| shared[c] = false);
        (0..self.size).filter(|c| shared[*c]).collect()
    }

    /// The point at which abilities are multiplied by `scale` and moved by `shift`, in units of their SD: the likelihood of
    /// the answers given abilities stays the same. None where fixed slopes hold the unit, or where the population's own parameters move
    /// with it: what the gradient says of unit and origin holds for a normal population only.
    pub(crate) fn rescaled(&self, y: &DVector<f64>, scale: f64, shift: f64) -> Option<DVector<f64>> {
        if self.ties.iter().any(|tie| matches!(tie, Tie::Fixed(_) | Tie::Population { .. })) {
            return None;
        }
        let psi = self.psi(y);
        let moved: Vec<f64> = (0..psi.len())
            .map(|r| match self.ties[r] {
                Tie::OwnSlope(_) | Tie::LinearSlope(_) | Tie::CommonSlope(_) | Tie::Sd(_) => psi[r] * scale,
                Tie::OwnIntercept { .. } | Tie::Given { .. } => {
                    let slope = self.design.slope_of(r);
                    psi[r] + slope.map_or(0.0, |(slope, score)| psi[slope] * score * shift)
                }
                Tie::Fixed(_) | Tie::Population { .. } => psi[r],
            })
            .collect();
        let sd = self.sd(y);
        Some(self.coordinates(&moved, sd * scale, self.mean(y) + sd * shift))
    }

    /// Coordinates that belong to some items.
    pub(crate) fn coordinates_of(&self, items: &[usize]) -> Vec<usize> {
        let own = |r: usize| match self.ties[r] {
            Tie::OwnSlope(at) | Tie::LinearSlope(at) | Tie::OwnIntercept { at, .. } => Some(at),
            Tie::CommonSlope(_) | Tie::Sd(_) | Tie::Fixed(_) | Tie::Given { .. } | Tie::Population { .. } => {
                None
            }
        };
        items.iter().flat_map(|&j| self.design.span(j)).filter_map(own).collect()
    }
}

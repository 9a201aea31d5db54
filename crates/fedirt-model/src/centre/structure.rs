//! Which parameters are free, and the coordinates in which the centre steps.
//!
//! Sites work with item parameters ψ = (a, d) for *standardised* ability. Some of them are tied together: a
//! Rasch item's slope is the SD σ of ability; an anchored item with given (a*, d*) has a = a*·σ and
//! d_c = d*_c + a*·score_c·μ. This file is the one place that knows. Coordinates are chosen so that the
//! likelihood is nearly quadratic: a = ½·sinh(u), which passes through zero without a switch;
//! d = v·√(1.702² + a²), nearly a normal-ogive threshold; σ = exp(u).

use crate::design::Design;
use crate::exchange::Effects;
use crate::items::SlopeRule;
use crate::quadrature::GridSpec;
use nalgebra::{DMatrix, DVector};

/// 1.702²: the logistic curve nearest to the normal ogive.
const OGIVE: f64 = 1.702 * 1.702;

/// Thresholds stay within this many ability SDs per step.
const STEP_BOUND: f64 = 20.0;

/// A slope at which an item steps from wrong to right almost between two nodes: beyond it the sums over nodes are no
/// longer smooth, and nothing could be estimated anyway. At least 8, whatever the grid.
pub(crate) fn steepest(grid: GridSpec) -> f64 {
    let spacing = 2.0 * grid.range / (grid.nodes.max(2) - 1) as f64;
    (1.6 / spacing).max(8.0)
}

/// Given parameters of an item, on the reported scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// Slope.
    pub a: f64,
    /// Intercepts.
    pub d: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Slope {
    /// Coordinate of the item's own.
    Own(usize),
    /// Factor on σ.
    Sd(f64),
    /// A constant.
    Fixed(f64),
}

/// The gradient in the free parameters themselves.
pub(crate) struct NaturalGradient {
    /// Largest absolute derivative of each item's own parameters.
    pub items: Vec<f64>,
    /// Derivatives in σ and μ, where free.
    pub population: Vec<f64>,
}

/// Free coordinates: items, then σ, then μ.
#[derive(Debug, Clone)]
pub(crate) struct Structure {
    design: Design,
    anchors: Vec<Option<Anchor>>,
    slopes: Vec<Slope>,
    /// First coordinate of each item's intercepts.
    steps: Vec<usize>,
    sd: Option<usize>,
    mean: Option<usize>,
    size: usize,
    /// Largest coordinate of a slope.
    slope_bound: f64,
    /// Largest threshold per step.
    step_bound: f64,
}

impl Structure {
    /// The free parameters of a design with some items anchored, on a grid that bounds the slopes.
    pub(crate) fn new(design: &Design, anchors: &[Option<Anchor>], effects: Effects, grid: GridSpec) -> Self {
        let anchored = anchors.iter().any(Option::is_some);
        let rule = |wanted: SlopeRule| (0..design.len()).any(|j| design.model(j).slope() == wanted);
        // The SD is free where slopes are fixed at 1 for that purpose, or where anchors set the unit.
        let sd_free = rule(SlopeRule::LatentSd) || (anchored && !rule(SlopeRule::One));
        let mut size = 0;
        let mut take = |n: usize| {
            size += n;
            size - n
        };
        let (mut slopes, mut steps) = (Vec::new(), Vec::new());
        for j in 0..design.len() {
            let given = anchors.get(j).and_then(Option::as_ref);
            slopes.push(match (given, design.model(j).slope()) {
                (Some(anchor), _) if sd_free => Slope::Sd(anchor.a),
                (Some(anchor), _) => Slope::Fixed(anchor.a),
                (None, SlopeRule::Free) => Slope::Own(take(1)),
                (None, SlopeRule::One) => Slope::Fixed(1.0),
                (None, SlopeRule::LatentSd) => Slope::Sd(1.0),
            });
            steps.push(if given.is_some() { usize::MAX } else { take(design.categories(j) - 1) });
        }
        let sd = sd_free.then(|| take(1));
        // With fixed effects the effects themselves carry the mean.
        let mean = (anchored && effects != Effects::Fixed).then(|| take(1));
        let anchors = (0..design.len()).map(|j| anchors.get(j).cloned().flatten()).collect();
        let slope_bound = (2.0 * steepest(grid)).asinh();
        Self {
            design: design.clone(),
            anchors,
            slopes,
            steps,
            sd,
            mean,
            size,
            slope_bound,
            step_bound: STEP_BOUND,
        }
    }

    /// The same with parameters that sites answer for whoever asks: slopes to 8, thresholds to 6 per step.
    pub(crate) fn within_policy(mut self) -> Self {
        self.slope_bound = self.slope_bound.min(16f64.asinh());
        self.step_bound = 6.0;
        self
    }

    /// Number of free item and population parameters.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Whether anchors fix the origin of ability.
    pub(crate) fn anchored(&self) -> bool {
        self.anchors.iter().any(Option::is_some)
    }

    /// Whether anchors fix the origin of a linked part.
    pub(crate) fn anchors_part(&self, parts: &[usize], part: usize) -> bool {
        self.anchors.iter().zip(parts).any(|(anchor, p)| anchor.is_some() && *p == part)
    }

    /// Whether the item's parameters are given.
    pub(crate) fn is_anchored(&self, item: usize) -> bool {
        self.anchors[item].is_some()
    }

    /// Whether the item's own slope is estimated.
    pub(crate) fn slope_is_free(&self, item: usize) -> bool {
        matches!(self.slopes[item], Slope::Own(_))
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

    /// a, ∂a/∂u, ∂²a/∂u² and the coordinate u of an item's slope.
    fn slope(&self, y: &DVector<f64>, item: usize) -> (f64, f64, f64, Option<usize>) {
        match self.slopes[item] {
            Slope::Own(u) => (0.5 * y[u].sinh(), 0.5 * y[u].cosh(), 0.5 * y[u].sinh(), Some(u)),
            Slope::Sd(factor) => {
                let a = factor * self.sd(y);
                (a, a, a, self.sd)
            }
            Slope::Fixed(a) => (a, 0.0, 0.0, None),
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
        for j in 0..self.design.len() {
            let at = self.design.offset(j);
            if let Slope::Own(u) = self.slopes[j] {
                y[u] = (2.0 * psi[at]).asinh();
            }
            if self.anchors[j].is_none() {
                let (a, ..) = self.slope(&y, j);
                let root = (OGIVE + a * a).sqrt();
                for c in 1..self.design.categories(j) {
                    y[self.steps[j] + c - 1] = psi[at + c] / root;
                }
            }
        }
        y
    }

    /// ψ at given coordinates.
    pub(crate) fn psi(&self, y: &DVector<f64>) -> Vec<f64> {
        let mut psi = vec![0.0; self.design.parameters()];
        for j in 0..self.design.len() {
            let at = self.design.offset(j);
            let (a, ..) = self.slope(y, j);
            psi[at] = a;
            for c in 1..self.design.categories(j) {
                psi[at + c] = match &self.anchors[j] {
                    None => y[self.steps[j] + c - 1] * (OGIVE + a * a).sqrt(),
                    Some(given) => {
                        given.d[c - 1] + given.a * self.design.model(j).shift_score(c) * self.mean(y)
                    }
                };
            }
        }
        psi
    }

    /// ∂ψ/∂y.
    pub(crate) fn jacobian(&self, y: &DVector<f64>) -> DMatrix<f64> {
        let mut t = DMatrix::zeros(self.design.parameters(), self.size);
        for j in 0..self.design.len() {
            let at = self.design.offset(j);
            let (a, a1, _, u) = self.slope(y, j);
            if let Some(u) = u {
                t[(at, u)] = a1;
            }
            let root = (OGIVE + a * a).sqrt();
            for c in 1..self.design.categories(j) {
                match &self.anchors[j] {
                    None => {
                        let v = self.steps[j] + c - 1;
                        t[(at + c, v)] = root;
                        if let Some(u) = u {
                            t[(at + c, u)] = y[v] * a * a1 / root;
                        }
                    }
                    Some(given) => {
                        if let Some(m) = self.mean {
                            t[(at + c, m)] = given.a * self.design.model(j).shift_score(c);
                        }
                    }
                }
            }
        }
        t
    }

    /// Σ_r g_r ∂²ψ_r/∂y∂y'.
    pub(crate) fn curvature(&self, y: &DVector<f64>, gradient: &[f64]) -> DMatrix<f64> {
        let mut s = DMatrix::zeros(self.size, self.size);
        for j in 0..self.design.len() {
            let at = self.design.offset(j);
            let (a, a1, a2, Some(u)) = self.slope(y, j) else { continue };
            s[(u, u)] += gradient[at] * a2;
            if self.anchors[j].is_some() {
                continue;
            }
            let root = (OGIVE + a * a).sqrt();
            let root1 = a * a1 / root;
            let root2 = (a1 * a1 + a * a2) / root - (a * a1).powi(2) / root.powi(3);
            for c in 1..self.design.categories(j) {
                let v = self.steps[j] + c - 1;
                s[(u, u)] += gradient[at + c] * y[v] * root2;
                s[(u, v)] += gradient[at + c] * root1;
                s[(v, u)] += gradient[at + c] * root1;
            }
        }
        s
    }

    /// The gradient in (a, d, σ, μ), leaving out coordinates that are held at a bound.
    pub(crate) fn natural_gradient(&self, gradient: &[f64], held: &[usize]) -> NaturalGradient {
        let (mut sd, mut mean) = (0.0, 0.0);
        let items = (0..self.design.len())
            .map(|j| {
                let at = self.design.offset(j);
                let mut largest = 0.0f64;
                match self.slopes[j] {
                    Slope::Own(u) if held.contains(&u) => {}
                    Slope::Own(_) => largest = gradient[at].abs(),
                    Slope::Sd(factor) => sd += factor * gradient[at],
                    Slope::Fixed(_) => {}
                }
                for c in 1..self.design.categories(j) {
                    match &self.anchors[j] {
                        None if held.contains(&(self.steps[j] + c - 1)) => {}
                        None => largest = largest.max(gradient[at + c].abs()),
                        Some(given) => {
                            mean += given.a * self.design.model(j).shift_score(c) * gradient[at + c];
                        }
                    }
                }
                largest
            })
            .collect();
        let population = self.sd.map(|_| sd).into_iter().chain(self.mean.map(|_| mean)).collect();
        NaturalGradient { items, population }
    }

    /// Each bounded coordinate with its bound.
    fn bounds(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.design.len()).flat_map(move |j| {
            let slope = match self.slopes[j] {
                Slope::Own(u) => Some((u, self.slope_bound)),
                _ => None,
            };
            let steps = if self.anchors[j].is_none() { self.design.categories(j) - 1 } else { 0 };
            slope
                .into_iter()
                .chain((0..steps).map(move |c| (self.steps[j] + c, self.step_bound * (c + 1) as f64)))
        })
    }

    /// Keeps coordinates within bounds that no sensible item reaches.
    pub(crate) fn clamp(&self, y: &mut DVector<f64>) {
        for (at, bound) in self.bounds() {
            y[at] = y[at].clamp(-bound, bound);
        }
        if let Some(at) = self.sd {
            y[at] = y[at].clamp(-5.0, 3.0);
        }
    }

    /// Scales down each item's part of a step so that no coordinate moves further than `radius`.
    pub(crate) fn shorten_items(&self, step: &mut DVector<f64>, radius: f64) {
        for j in 0..self.design.len() {
            let own = self.coordinates_of(&[j]);
            let size = own.iter().fold(0.0f64, |m, &c| m.max(step[c].abs()));
            if size > radius {
                own.iter().for_each(|&c| step[c] *= radius / size);
            }
        }
    }

    /// Slopes on their way to infinity go to the bound at once: steep already, and growing by about as much as in
    /// the step before. Where a slope belongs lower after all, the gradient at the bound brings it back.
    pub(crate) fn send_runaways(&self, y: &mut DVector<f64>, last: &DVector<f64>, step: &DVector<f64>) {
        const STEEP: f64 = 3.0;
        const LONG: f64 = 0.3;
        for slope in &self.slopes {
            if let Slope::Own(u) = *slope {
                let outward = y[u].signum();
                let running = last[u] * outward > LONG && step[u] * outward > LONG;
                if running && 0.5 * y[u].abs().sinh() > STEEP {
                    y[u] = outward * self.slope_bound;
                }
            }
        }
    }

    /// Coordinates at a bound that the gradient (of ψ) would push beyond it.
    pub(crate) fn held(&self, y: &DVector<f64>, gradient: &[f64]) -> Vec<usize> {
        let g = self.jacobian(y).transpose() * DVector::from_row_slice(gradient);
        self.bounds()
            .filter(|&(at, bound)| y[at].abs() >= bound * (1.0 - 1e-9) && g[at] * y[at] > 0.0)
            .map(|(at, _)| at)
            .collect()
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
                    let at = self.design.offset(j);
                    let root = (OGIVE + psi[at] * psi[at]).sqrt();
                    for c in 1..self.design.categories(j) {
                        direction[self.steps[j] + c - 1] = shift[at + c] / root;
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
        for j in 0..self.design.len() {
            let at = self.design.offset(j);
            if let Slope::Sd(factor) = self.slopes[j]
                && factor != 0.0
            {
                ratios.push((psi[at] / factor).abs().max(1e-3).ln());
            }
            if let Some(given) = &self.anchors[j] {
                for c in 1..self.design.categories(j) {
                    let pull = given.a * self.design.model(j).shift_score(c);
                    if pull.abs() > 1e-3 {
                        shifts.push((psi[at + c] - given.d[c - 1]) / pull);
                    }
                }
            }
        }
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len().max(1) as f64;
        (mean(&ratios).exp(), mean(&shifts))
    }

    /// Coordinates that belong to some items.
    pub(crate) fn coordinates_of(&self, items: &[usize]) -> Vec<usize> {
        let mut out = Vec::new();
        for &j in items {
            if let Slope::Own(u) = self.slopes[j] {
                out.push(u);
            }
            if self.anchors[j].is_none() {
                out.extend(self.steps[j]..self.steps[j] + self.design.categories(j) - 1);
            }
        }
        out
    }

    /// ∂σ/∂y as a row, where σ is free.
    pub(crate) fn sd_row(&self, y: &DVector<f64>) -> Option<DVector<f64>> {
        self.sd.map(|at| {
            let mut row = DVector::zeros(self.size);
            row[at] = y[at].exp();
            row
        })
    }

    /// ∂μ/∂y as a row, where μ is free.
    pub(crate) fn mean_row(&self) -> Option<DVector<f64>> {
        self.mean.map(|at| {
            let mut row = DVector::zeros(self.size);
            row[at] = 1.0;
            row
        })
    }

    /// A vector w with ∂σ = w·∂ψ, where σ is free: read off one slope that follows it.
    pub(crate) fn sd_from_psi(&self) -> Vec<f64> {
        let mut out = Vec::new();
        if self.sd.is_some() {
            out = vec![0.0; self.design.parameters()];
            let follower = self.slopes.iter().enumerate().find_map(|(j, s)| match s {
                Slope::Sd(factor) if *factor != 0.0 => Some((j, *factor)),
                _ => None,
            });
            if let Some((j, factor)) = follower {
                out[self.design.offset(j)] = 1.0 / factor;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::tests::design;

    fn cases() -> Vec<(Structure, DVector<f64>)> {
        let mixed = design(&[("gpcm", 3), ("2pl", 2), ("grm", 3), ("1pl", 2)]);
        let rasch = design(&[("rasch", 2), ("pcm", 3), ("2pl", 2)]);
        let anchor = |a: f64, d: &[f64]| Some(Anchor { a, d: d.to_vec() });
        let linked = design(&[("2pl", 2), ("gpcm", 3), ("2pl", 2)]);
        let structures = [
            Structure::new(&mixed, &[], Effects::None, GridSpec::default()),
            Structure::new(&rasch, &[], Effects::Fixed, GridSpec::default()),
            Structure::new(
                &linked,
                &[anchor(1.2, &[0.3]), anchor(-0.7, &[0.4, -0.2]), None],
                Effects::None,
                GridSpec::default(),
            ),
        ];
        structures
            .into_iter()
            .map(|s| {
                let y = DVector::from_fn(s.size(), |k, _| 0.4 * ((k * 7 % 5) as f64 - 1.7));
                (s, y)
            })
            .collect()
    }

    #[test]
    fn jacobian_and_curvature_agree_with_differences() {
        let h = 1e-6;
        for (s, y) in cases() {
            let t = s.jacobian(&y);
            let g: Vec<f64> = (0..s.design.parameters()).map(|r| 0.3 + 0.1 * r as f64).collect();
            let curvature = s.curvature(&y, &g);
            for k in 0..s.size() {
                let (mut up, mut down) = (y.clone(), y.clone());
                up[k] += h;
                down[k] -= h;
                for r in 0..g.len() {
                    let want = (s.psi(&up)[r] - s.psi(&down)[r]) / (2.0 * h);
                    assert!((t[(r, k)] - want).abs() < 1e-8);
                }
                let gradient = |y: &DVector<f64>| s.jacobian(y).transpose() * DVector::from_row_slice(&g);
                let want = (gradient(&up) - gradient(&down)) / (2.0 * h);
                for l in 0..s.size() {
                    assert!((curvature[(l, k)] - want[l]).abs() < 1e-7, "{l},{k}");
                }
            }
            let back = s.coordinates(&s.psi(&y), s.sd(&y), s.mean(&y));
            assert!((back - y).abs().max() < 1e-12);
        }
    }
}

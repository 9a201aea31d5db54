//! The parameters of the published protocol: (a, b, s_k), as the paper writes them.
//!
//! Slopes that follow the SD of ability share one entry; slopes fixed at 1 have none. Difficulties are on
//! the reported scale, so that d = intercepts(a, b) for every model.

use crate::design::Design;
use crate::items::{OneSlope, SlopeRule};

/// Where (a, b, s) stand in one vector.
pub(crate) struct Layout {
    models: Vec<&'static dyn OneSlope>,
    /// Own slope of each item.
    slopes: Vec<Option<usize>>,
    /// First difficulty of each item.
    steps: Vec<usize>,
    /// SD of ability, where slopes follow it, or the slope that all items share.
    sd: Option<usize>,
    /// First school effect.
    pub effects: usize,
    pub size: usize,
}

impl Layout {
    /// None where an item's model has no difficulties.
    pub(crate) fn new(design: &Design, sites: usize) -> Option<Self> {
        let models: Vec<_> = (0..design.len()).map(|j| design.model(j).one_slope()).collect::<Option<_>>()?;
        let mut size = 0;
        let mut take = |n: usize| {
            size += n;
            size - n
        };
        let (mut slopes, mut steps) = (Vec::new(), Vec::new());
        for j in 0..design.len() {
            slopes.push((design.model(j).slope() == SlopeRule::Free).then(|| take(1)));
            steps.push(take(design.categories(j) - 1));
        }
        let shared = (0..design.len())
            .any(|j| matches!(design.model(j).slope(), SlopeRule::LatentSd | SlopeRule::Common));
        let sd = shared.then(|| take(1));
        let effects = take(sites);
        Some(Self { models, slopes, steps, sd, effects, size })
    }

    /// The published start: a = 1, b = 0, s = 0. Graded items need ordered difficulties: 0.5 apart around 0.
    pub(crate) fn start(&self, design: &Design) -> Vec<f64> {
        let mut x = vec![0.0; self.size];
        for j in 0..design.len() {
            let m = design.categories(j) - 1;
            if let Some(at) = self.slopes[j] {
                x[at] = 1.0;
            }
            let flat = vec![0.0; m];
            if !self.models[j].admissible_intercepts(&flat) {
                for c in 0..m {
                    x[self.steps[j] + c] = 0.5 * (c as f64 - (m - 1) as f64 / 2.0);
                }
            }
        }
        if let Some(at) = self.sd {
            x[at] = 1.0;
        }
        x
    }

    /// Slope on the reported scale (1 where it follows the SD), and on that of standardised ability.
    fn slope(&self, x: &[f64], item: usize) -> (f64, f64) {
        match (self.slopes[item], self.sd) {
            (Some(at), _) => (x[at], x[at]),
            (None, Some(sd)) => (1.0, x[sd]),
            (None, None) => (1.0, 1.0),
        }
    }

    pub(crate) fn psi(&self, design: &Design, x: &[f64]) -> Vec<f64> {
        let mut psi = Vec::with_capacity(design.parameters());
        for j in 0..design.len() {
            let (a, standardised) = self.slope(x, j);
            psi.push(standardised);
            let b = &x[self.steps[j]..self.steps[j] + design.categories(j) - 1];
            psi.extend(self.models[j].intercepts(a, b));
        }
        psi
    }

    pub(crate) fn effects<'a>(&self, x: &'a [f64]) -> &'a [f64] {
        &x[self.effects..]
    }

    /// The gradient in (a, b, s) from those in ψ and in the effects.
    pub(crate) fn gradient(&self, design: &Design, x: &[f64], psi: &[f64], effects: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.size];
        for j in 0..design.len() {
            let (at, m) = (design.offset(j), design.categories(j) - 1);
            let (a, _) = self.slope(x, j);
            let model = self.models[j];
            let b = &x[self.steps[j]..self.steps[j] + m];
            let steps = &psi[at + 1..=at + m];
            let along = |d: &[f64]| d.iter().zip(steps).map(|(d, g)| d * g).sum::<f64>();
            match (self.slopes[j], self.sd) {
                // Intercepts are linear in a and in b.
                (Some(slope), _) => out[slope] += psi[at] + along(&model.intercepts(1.0, b)),
                (None, Some(sd)) => out[sd] += psi[at],
                (None, None) => {}
            }
            for h in 0..m {
                let mut unit = vec![0.0; m];
                unit[h] = 1.0;
                out[self.steps[j] + h] = along(&model.intercepts(a, &unit));
            }
        }
        out[self.effects..].copy_from_slice(effects);
        out
    }

    /// Slopes (for standardised ability) and difficulties, item after item.
    pub(crate) fn items(&self, design: &Design, x: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(design.parameters());
        for j in 0..design.len() {
            out.push(self.slope(x, j).1);
            out.extend_from_slice(&x[self.steps[j]..self.steps[j] + design.categories(j) - 1]);
        }
        out
    }

    /// Takes slopes and difficulties back.
    pub(crate) fn set_items(&self, design: &Design, items: &[f64], x: &mut [f64]) {
        for j in 0..design.len() {
            let span = design.span(j);
            match (self.slopes[j], self.sd) {
                (Some(at), _) => x[at] = items[span.start],
                (None, Some(sd)) => x[sd] = items[span.start],
                (None, None) => {}
            }
            x[self.steps[j]..][..span.len() - 1].copy_from_slice(&items[span.start + 1..span.end]);
        }
    }

    /// Σ s = 0 without moving the likelihood: difficulties move along.
    pub(crate) fn recentre(&self, design: &Design, x: &mut [f64]) {
        let k = self.size - self.effects;
        if k == 0 {
            return;
        }
        let mean = x[self.effects..].iter().sum::<f64>() / k as f64;
        x[self.effects..].iter_mut().for_each(|s| *s -= mean);
        for j in 0..design.len() {
            // Effects are in units of the SD where slopes follow it.
            let (a, standardised) = self.slope(x, j);
            for b in &mut x[self.steps[j]..self.steps[j] + design.categories(j) - 1] {
                *b -= mean * standardised / a;
            }
        }
    }
}

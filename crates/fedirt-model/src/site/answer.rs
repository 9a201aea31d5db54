//! From a request to a summary: a pure function of the request and the site's answers.

use super::effect::BOUND;
use super::evaluate::{Depth, Evaluation};
use super::panel::SiteData;
use crate::centre::LocalNewton;
use crate::design::Design;
use crate::exchange::{
    Aggregate, Ask, CURVE_POINTS, CURVE_STEP, Curvature, EffectErrors, Effects, Point, Request, Summary,
    triangle,
};
use crate::kernel::padded;
use crate::quadrature::{Grid, GridSpec};
use crate::responses::ResponseTable;
use nalgebra::{DMatrix, DVector};

/// A site's table, and the layout of the last design it was asked about.
#[derive(Debug)]
pub struct Site {
    table: ResponseTable,
    index: usize,
    prepared: Option<(Design, f64, SiteData)>,
}

impl Site {
    /// A site with its rows and its place in the cohort.
    pub fn new(table: ResponseTable, index: usize) -> Self {
        Self { table, index, prepared: None }
    }

    /// The rows, for the site itself.
    pub fn into_table(self) -> ResponseTable {
        self.table
    }

    /// The summary of a request.
    pub fn answer(&mut self, request: &Request) -> Summary {
        let data = match self.prepared.take() {
            Some((design, scale, data)) if design == request.design && scale == request.weight_scale => data,
            _ => SiteData::new(&self.table, &request.design, request.weight_scale),
        };
        let grid = Grid::new(request.grid);
        let answer =
            Answer { table: Some(&self.table), data: &data, grid: &grid, request, index: self.index };
        let summary = answer.summary();
        self.prepared = Some((request.design.clone(), request.weight_scale, data));
        summary
    }
}

struct Answer<'a> {
    /// The rows, where a question needs another layout of them.
    table: Option<&'a ResponseTable>,
    data: &'a SiteData,
    grid: &'a Grid,
    request: &'a Request,
    index: usize,
}

/// Lower triangle of a square matrix, row by row, times a factor.
fn lower(size: usize, factor: f64, at: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(triangle(size));
    for r in 0..size {
        for c in 0..=r {
            out.push(factor * at(r, c));
        }
    }
    out
}

impl Answer<'_> {
    fn summary(&self) -> Summary {
        let mut vectors = Vec::new();
        match &self.request.ask {
            Ask::Counts => {
                vectors.push(vec![self.data.students as f64]);
                vectors.push(vec![self.data.total_weight]);
                vectors.push(self.data.category_counts());
            }
            Ask::Start => self.start(&mut vectors),
            Ask::Evaluate { points, curvature } => {
                points.iter().for_each(|point| self.evaluate(point, *curvature, &mut vectors));
            }
            Ask::Published { psi, effects, chosen } => {
                let part = chosen.as_ref().is_none_or(|c| c.contains(&self.index));
                let s = if self.request.effects == Effects::Fixed { self.own(effects) } else { 0.0 };
                let mut e = self.data.evaluate(psi, s, self.grid, Depth::Gradient);
                if !part {
                    e.loglik = 0.0;
                    e.gradient.fill(0.0);
                }
                let own = e.gradient.pop().unwrap_or(0.0);
                vectors.extend([vec![e.loglik], e.gradient, vec![own]]);
            }
            Ask::Train { .. } => self.train(&mut vectors),
            Ask::LocalFit { tolerance, iterations } => {
                self.local_fit(*tolerance, *iterations, &mut vectors);
            }
            Ask::Close { .. } => self.close(&mut vectors),
        }
        Summary { vectors }
    }

    fn own(&self, effects: &[f64]) -> f64 {
        effects.get(self.index).copied().unwrap_or(0.0)
    }

    /// The linked part that this site's items belong to.
    fn part(&self) -> usize {
        let given = self.data.panels.iter().flat_map(|p| {
            p.items
                .iter()
                .enumerate()
                .filter(|(k, _)| p.column(*k).iter().any(|c| *c != crate::responses::MISSING))
        });
        given.map(|(_, &j)| self.request.parts[j]).next().unwrap_or(0)
    }

    fn start(&self, vectors: &mut Vec<Vec<f64>>) {
        let sums = self.data.start_sums(self.request.effects);
        vectors.push(vec![self.data.students as f64]);
        vectors.push(vec![self.data.total_weight]);
        vectors.push(lower(sums.pairs.nrows(), 1.0, |r, c| sums.pairs[(r, c)]));
        if self.request.effects != Effects::None {
            let items = self.data.design.len();
            vectors.push(lower(items, 1.0, |r, c| sums.school_products[(r, c)]));
            vectors.push(lower(items, 1.0, |r, c| sums.school_pairs[(r, c)]));
        }
    }

    fn evaluate(&self, point: &Point, curvature: Curvature, vectors: &mut Vec<Vec<f64>>) {
        let depth = match curvature {
            Curvature::None => Depth::Gradient,
            Curvature::Complete => Depth::Complete,
            Curvature::Observed => Depth::Observed,
        };
        let p = self.data.design.parameters();
        let parts = self.request.part_count();
        match self.request.effects {
            Effects::None => {
                let e = self.data.evaluate(&point.psi, 0.0, self.grid, depth);
                vectors.push(vec![e.loglik]);
                vectors.push(e.gradient[..p].to_vec());
                self.push_information(&e, curvature, p, None, vectors);
            }
            Effects::Random => {
                let i = self.data.integrate(&point.psi, point.site_sd, self.grid, depth);
                vectors.push(vec![i.evaluation.loglik]);
                vectors.push(i.evaluation.gradient.clone());
                self.push_information(&i.evaluation, curvature, p + 1, None, vectors);
                if curvature == Curvature::Complete {
                    vectors.push(vec![i.square]);
                }
            }
            Effects::Fixed if self.data.no_finite_effect(&point.psi) => {
                // The likelihood of such a school tends to one as its effect runs away: it says nothing of items.
                vectors
                    .extend(self.request.schema_of_point(curvature).iter().map(|slot| vec![0.0; slot.len]));
            }
            Effects::Fixed => {
                let profiled = self.data.profile(&point.psi, self.grid, depth);
                let e = &profiled.evaluation;
                vectors.push(vec![e.loglik]);
                vectors.push(e.gradient[..p].to_vec());
                let bounded = profiled.s.abs() >= BOUND;
                let information = if depth == Depth::Observed { -e.hessian[(p, p)] } else { 0.0 };
                let profile_out = (information > 0.0 && !bounded).then_some(information);
                self.push_information(e, curvature, p, profile_out, vectors);
                let by_part = |x: f64| {
                    let mut v = vec![0.0; parts];
                    v[self.part()] = x;
                    v
                };
                vectors.push(by_part(1.0));
                vectors.push(by_part(profiled.s));
                if curvature == Curvature::Observed {
                    let mut loadings = vec![0.0; parts * p];
                    if let Some(i) = profile_out {
                        for r in 0..p {
                            loadings[self.part() * p + r] = e.hessian[(r, p)] / i;
                        }
                    }
                    vectors.push(loadings);
                    vectors.push(by_part(profile_out.map_or(0.0, |i| 1.0 / i)));
                }
            }
        }
    }

    /// Minus the Hessian, with the school effect of information `profile_out` eliminated (Schur complement).
    fn push_information(
        &self,
        e: &Evaluation,
        curvature: Curvature,
        size: usize,
        profile_out: Option<f64>,
        vectors: &mut Vec<Vec<f64>>,
    ) {
        let h = &e.hessian;
        match curvature {
            Curvature::None => {}
            Curvature::Complete => {
                let mut out = Vec::new();
                for j in 0..self.data.design.len() {
                    let at = self.data.design.offset(j);
                    out.extend(lower(self.data.design.categories(j), -1.0, |r, c| h[(at + r, at + c)]));
                }
                vectors.push(out);
            }
            Curvature::Observed => vectors.push(lower(size, -1.0, |r, c| match profile_out {
                Some(i) => h[(r, c)] + h[(r, size)] * h[(c, size)] / i,
                None => h[(r, c)],
            })),
        }
    }

    /// Steps of gradient ascent on the site's mean log-likelihood, in slopes and difficulties.
    fn train(&self, vectors: &mut Vec<Vec<f64>>) {
        let Ask::Train { items, effects, chosen, epochs, learning_rate } = &self.request.ask else { return };
        let design = &self.data.design;
        if !chosen.contains(&self.index) || self.data.total_weight <= 0.0 {
            vectors.extend([vec![0.0], vec![0.0; design.parameters()], vec![0.0]]);
            return;
        }
        let layout = crate::centre::Layout::new(design, 1);
        let mut x = vec![0.0; layout.size];
        layout.set_items(design, items, &mut x);
        let fixed = self.request.effects == Effects::Fixed;
        x[layout.effects] = if fixed { self.own(effects) } else { 0.0 };
        for _ in 0..*epochs {
            let here = layout.psi(design, &x);
            let e = self.data.evaluate(&here, x[layout.effects], self.grid, Depth::Gradient);
            let own = if fixed { e.gradient[design.parameters()] } else { 0.0 };
            let g = layout.gradient(design, &x, &e.gradient[..design.parameters()], &[own]);
            let mut rate = learning_rate / self.data.total_weight;
            loop {
                let next: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x + rate * g).collect();
                if design.admissible(&layout.psi(design, &next)) || rate < 1e-12 {
                    x = next;
                    break;
                }
                rate /= 2.0;
            }
        }
        let weight = self.data.total_weight;
        vectors.push(vec![weight]);
        vectors.push(layout.items(design, &x).iter().map(|v| v * weight).collect());
        vectors.push(vec![x[layout.effects]]);
    }

    /// Slopes and difficulties of a fit at this site alone; items without a sensible estimate weigh nothing.
    fn local_fit(&self, tolerance: f64, iterations: usize, vectors: &mut Vec<Vec<f64>>) {
        let design = &self.data.design;
        let p = design.parameters();
        let mut out = [vec![0.0; p], vec![0.0; p], vec![0.0; p]];
        // Items of which this site saw every category; the others have no estimate here.
        let counts = self.data.category_counts();
        let kept: Vec<usize> =
            (0..design.len()).filter(|&j| counts[design.span(j)].iter().all(|n| *n > 0.0)).collect();
        let items: Vec<_> = kept.iter().map(|&j| design.items()[j].clone()).collect();
        if let (Some(table), Ok(small), true) = (self.table, Design::try_from(items), kept.len() > 1) {
            let data = SiteData::new(table, &small, self.request.weight_scale);
            let local = LocalNewton::fit(&data, self.grid, tolerance, iterations);
            for (k, &j) in kept.iter().enumerate() {
                let (from, to) = (small.span(k), design.span(j));
                let psi = &local.psi[from];
                let model = design.model(j);
                let b = model.difficulties(psi[0], &psi[1..]);
                // A local estimate that ran away would drown the others' in an average.
                if psi[0].abs() < 0.05 || psi[0].abs() > 20.0 || b.iter().any(|b| b.abs() > 20.0) {
                    continue;
                }
                let n = self.data.answers(j);
                for r in 0..to.len() {
                    let value = if r == 0 { psi[0] } else { b[r - 1] };
                    let variance = local.variance(&small, k, r);
                    out[0][to.start + r] = n;
                    out[1][to.start + r] = n * value;
                    out[2][to.start + r] = n * n * variance.min(1e4);
                }
            }
        }
        vectors.extend(out);
    }

    fn close(&self, vectors: &mut Vec<Vec<f64>>) {
        let Ask::Close { point, sd, errors, effects, publish_effects } = &self.request.ask else { return };
        let design = &self.data.design;
        let p = design.parameters();
        let mut own = (0.0, -1.0);
        let mut score_products = Vec::new();
        let (loglik, gradient, s) = match (self.request.effects, effects) {
            (Effects::Random, _) => {
                let i = self.data.integrate(&point.psi, point.site_sd, self.grid, Depth::Gradient);
                own = (i.mean * sd, (i.square - i.mean * i.mean).max(0.0).sqrt() * sd);
                let g = i.evaluation.gradient;
                score_products = lower(p + 1, 1.0, |r, c| g[r] * g[c]);
                (i.evaluation.loglik, g, i.mean)
            }
            (Effects::Fixed, None) if !self.data.no_finite_effect(&point.psi) => {
                let depth = if errors.is_some() { Depth::Observed } else { Depth::Gradient };
                let profiled = self.data.profile(&point.psi, self.grid, depth);
                let e = profiled.evaluation;
                let mut loading = vec![0.0; p];
                let mut variance = 0.0;
                if let Some(errors) = errors
                    && profiled.s.abs() < BOUND
                {
                    let i = -e.hessian[(p, p)];
                    loading.iter_mut().enumerate().for_each(|(r, l)| *l = e.hessian[(r, p)] / i);
                    variance = 1.0 / i;
                    own.1 = self.effect_error(errors, &loading, variance, profiled.s, *sd);
                }
                own.0 = profiled.s * sd;
                if self.request.weighted {
                    score_products = self.data.score_products(
                        &point.psi,
                        profiled.s,
                        self.grid,
                        Some((&loading, variance)),
                    );
                }
                (e.loglik, e.gradient[..p].to_vec(), profiled.s)
            }
            (Effects::Fixed, None) => {
                score_products = vec![0.0; triangle(p + 1)];
                (0.0, vec![0.0; p], 0.0)
            }
            (_, given) => {
                let s = given.as_ref().map_or(0.0, |e| self.own(e));
                let e = self.data.evaluate(&point.psi, s, self.grid, Depth::Gradient);
                if self.request.effects == Effects::Fixed {
                    own = (s * sd, -1.0);
                }
                if self.request.weighted {
                    score_products = self.data.score_products(&point.psi, s, self.grid, None);
                    if self.request.effects == Effects::Fixed {
                        score_products.resize(triangle(p + 1), 0.0);
                    }
                }
                (e.loglik, e.gradient[..p].to_vec(), s)
            }
        };
        vectors.push(vec![loglik]);
        vectors.push(gradient);
        vectors.push((0..design.len()).map(|j| self.data.answers_unweighted(j)).collect());
        let (curves, histogram) = self.curves(&point.psi, s);
        vectors.push(curves);
        vectors.push(histogram);
        if self.request.weighted {
            vectors.push(score_products);
        }
        if *publish_effects {
            vectors.push(vec![own.0, own.1]);
        }
    }

    /// Standard error of the site's own effect on the reported scale: s_k − s̄ depends on the items through
    /// B_k − B̄, and on the noise of all effects of its linked part.
    fn effect_error(&self, errors: &EffectErrors, loading: &[f64], variance: f64, s: f64, sd: f64) -> f64 {
        let p = loading.len();
        let part = self.part();
        let sites = errors.sites.get(part).copied().unwrap_or(0.0);
        let mut direction = DVector::from_row_slice(loading);
        let mut own = variance;
        if sites > 0.0 {
            for r in 0..p {
                direction[r] -= errors.mean_loadings[part * p + r];
            }
            own = variance * (1.0 - 2.0 / sites) + errors.variances[part] / (sites * sites);
        }
        direction *= sd;
        for (d, w) in direction.iter_mut().zip(&errors.sd_gradient) {
            *d += s * w;
        }
        let mut covariance = DMatrix::zeros(p, p);
        let mut at = 0;
        for r in 0..p {
            for c in 0..=r {
                covariance[(r, c)] = errors.covariance[at];
                covariance[(c, r)] = errors.covariance[at];
                at += 1;
            }
        }
        (direction.dot(&(covariance * &direction)) + own * sd * sd).max(0.0).sqrt()
    }

    /// Expected answers by ability and the posterior histogram, shared linearly between neighbouring points.
    fn curves(&self, psi: &[f64], s: f64) -> (Vec<f64>, Vec<f64>) {
        let e = self.data.evaluate(psi, s, self.grid, Depth::Gradient);
        let width = padded(self.grid.len());
        let spread = |row: &[f64], out: &mut [f64]| {
            for (n, mass) in row.iter().take(self.grid.len()).enumerate() {
                let half = (CURVE_POINTS - 1) as f64 / 2.0;
                let x =
                    ((self.grid.nodes()[n] + s) / CURVE_STEP + half).clamp(0.0, (CURVE_POINTS - 1) as f64);
                let low = (x.floor() as usize).min(CURVE_POINTS - 2);
                let share = x - low as f64;
                out[low] += mass * (1.0 - share);
                out[low + 1] += mass * share;
            }
        };
        let p = self.data.design.parameters();
        let mut curves = vec![0.0; p * CURVE_POINTS];
        for (row, out) in e.counts.chunks_exact(width).zip(curves.chunks_exact_mut(CURVE_POINTS)) {
            spread(row, out);
        }
        let mut histogram = vec![0.0; CURVE_POINTS];
        spread(&self.data.posterior_mass(psi, s, self.grid), &mut histogram);
        (curves, histogram)
    }
}

impl SiteData {
    /// An aggregate of this site alone, without school effect: for fits at one site.
    pub(crate) fn answer_alone(&self, ask: Ask, grid: &Grid) -> Aggregate {
        let request = Request {
            design: self.design.clone(),
            parts: vec![0; self.design.len()],
            grid: GridSpec::default(),
            weight_scale: 1.0,
            weighted: self.weighted,
            effects: Effects::None,
            ask,
        };
        let slots = request.schema();
        let summary = Answer { table: None, data: self, grid, request: &request, index: 0 }.summary();
        Aggregate::new(slots, summary.vectors, Vec::new())
    }

    /// Weighted answers to an item.
    fn answers(&self, item: usize) -> f64 {
        self.category_counts()[self.design.span(item)].iter().sum()
    }

    /// Students who answered an item.
    fn answers_unweighted(&self, item: usize) -> f64 {
        let mut n = 0usize;
        for panel in &self.panels {
            if let Some(k) = panel.items.iter().position(|&j| j == item) {
                n += panel.column(k).iter().filter(|c| **c != crate::responses::MISSING).count();
            }
        }
        n as f64
    }
}

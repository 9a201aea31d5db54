//! From a request to a summary: a pure function of the request and the site's answers.

use super::effect::BOUND;
use super::evaluate::{Depth, Evaluation};
use super::panel::SiteData;
use crate::design::Design;
use crate::exchange::{Aggregate, Ask, BetweenSites, Curvature, Effects, Point, Request, Summary, triangle};
use crate::quadrature::{Grid, GridSpec};
use crate::responses::ResponseTable;

/// Rounded to three significant digits.
fn three_digits(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let unit = 10f64.powi(2 - x.abs().log10().floor() as i32);
    (x * unit).round() / unit
}

/// A site's own effect on the reported scale, with its standard error, where there are such.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Effect.
    pub effect: Option<f64>,
    /// Standard error.
    pub se: Option<f64>,
}

impl Place {
    /// From what is sent: a negative error says that there is none; a zero effect then says that there is no effect
    /// either.
    pub(crate) fn read(sent: &[f64]) -> Self {
        match sent {
            [effect, se] if *se >= 0.0 => Self { effect: Some(*effect), se: Some(*se) },
            [effect, _] if *effect != 0.0 => Self { effect: Some(*effect), se: None },
            _ => Self { effect: None, se: None },
        }
    }
}

/// A site's table, and the layout of the last design it was asked about.
#[derive(Debug)]
pub struct Site {
    table: ResponseTable,
    index: usize,
    place: Option<Place>,
    prepared: Option<(Design, f64, SiteData)>,
}

impl Site {
    /// A site with its rows.
    pub fn new(table: ResponseTable) -> Self {
        Self { table, index: 0, place: None, prepared: None }
    }

    /// The rows, for the site itself.
    pub fn into_table(self) -> ResponseTable {
        self.table
    }

    /// Gives the site its place in the cohort.
    pub fn set_index(&mut self, index: usize) {
        self.index = index;
    }

    /// The rows.
    pub fn table(&self) -> &ResponseTable {
        &self.table
    }

    /// The site's own place, once the closing question has been answered. It stays here unless the plan publishes it.
    pub fn place(&self) -> Option<Place> {
        self.place
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
        let summary = match answer.closing() {
            Some((summary, place)) => {
                self.place = Some(place);
                summary
            }
            None => answer.summary(),
        };
        self.prepared = Some((request.design.clone(), request.weight_scale, data));
        summary
    }
}

pub(super) struct Answer<'a> {
    /// The rows, where a question needs another layout of them.
    pub table: Option<&'a ResponseTable>,
    pub data: &'a SiteData,
    pub grid: &'a Grid,
    pub request: &'a Request,
    pub index: usize,
}

/// Lower triangle of a square matrix, row by row, times a factor.
pub(super) fn lower(size: usize, factor: f64, at: impl Fn(usize, usize) -> f64) -> Vec<f64> {
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
            Ask::Start { between } => self.start(*between, &mut vectors),
            Ask::Evaluate { points, curvature, effect_totals } => {
                points.iter().for_each(|point| {
                    self.evaluate(point, *curvature, *effect_totals, &mut vectors);
                });
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
            Ask::Products { point, effect_unit, rounded } => {
                let mut products = self.score_products(point, *effect_unit);
                if *rounded {
                    products.iter_mut().for_each(|x| *x = three_digits(*x));
                }
                vectors.push(products);
            }
            Ask::Close { .. } => {
                if let Some((summary, _)) = self.closing() {
                    vectors = summary.vectors;
                }
            }
        }
        Summary { vectors }
    }

    pub(super) fn own(&self, effects: &[f64]) -> f64 {
        effects.get(self.index).copied().unwrap_or(0.0)
    }

    /// The linked part that this site's items belong to.
    pub(super) fn part(&self) -> usize {
        let given = self.data.panels.iter().flat_map(|p| {
            p.items
                .iter()
                .enumerate()
                .filter(|(k, _)| p.column(*k).iter().any(|c| *c != crate::responses::MISSING))
        });
        given.map(|(_, &j)| self.request.parts[j]).next().unwrap_or(0)
    }

    fn start(&self, between: BetweenSites, vectors: &mut Vec<Vec<f64>>) {
        let sums = self.data.start_sums(self.request.effects);
        vectors.push(vec![self.data.students as f64]);
        vectors.push(vec![self.data.total_weight]);
        vectors.push(lower(sums.pairs.nrows(), 1.0, |r, c| sums.pairs[(r, c)]));
        if self.request.effects != Effects::None && between != BetweenSites::Withheld {
            let items = self.data.design.len();
            let told = |x: f64| if between == BetweenSites::Rounded { three_digits(x) } else { x };
            vectors.push(lower(items, 1.0, |r, c| told(sums.school_products[(r, c)])));
            vectors.push(lower(items, 1.0, |r, c| told(sums.school_pairs[(r, c)])));
        }
    }

    fn evaluate(
        &self,
        point: &Point,
        curvature: Curvature,
        effect_totals: bool,
        vectors: &mut Vec<Vec<f64>>,
    ) {
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
            }
            Effects::Fixed if self.data.no_finite_effect(Some(&point.psi)) => {
                // The likelihood of such a school tends to one as its effect runs away: it says nothing of items.
                let slots = self.request.schema_of_point(curvature, effect_totals);
                vectors.extend(slots.iter().map(|slot| vec![0.0; slot.len]));
            }
            Effects::Fixed => {
                let profiled = self.data.profile(&point.psi, self.grid, depth);
                let e = &profiled.evaluation;
                vectors.push(vec![e.loglik]);
                vectors.push(e.gradient[..p].to_vec());
                let information = if depth == Depth::Observed { -e.hessian[(p, p)] } else { 0.0 };
                // At the bound the effect does not follow the items, and does not count among the effects.
                let finite = profiled.s.abs() < BOUND;
                let profile_out = (information > 0.0 && finite).then_some(information);
                self.push_information(e, curvature, p, profile_out, vectors);
                if !effect_totals {
                    return;
                }
                let by_part = |x: f64| {
                    let mut v = vec![0.0; parts];
                    v[self.part()] = x;
                    v
                };
                vectors.push(by_part(f64::from(u8::from(finite))));
                vectors.push(by_part(if finite { profiled.s } else { 0.0 }));
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
                    out.extend(lower(self.data.design.span(j).len(), -1.0, |r, c| h[(at + r, at + c)]));
                }
                vectors.push(out);
            }
            Curvature::Observed => vectors.push(lower(size, -1.0, |r, c| match profile_out {
                Some(i) => h[(r, c)] + h[(r, size)] * h[(c, size)] / i,
                None => h[(r, c)],
            })),
        }
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
        let statistics = request.schema().into_iter().map(|slot| slot.statistic);
        let summary = Answer { table: None, data: self, grid, request: &request, index: 0 }.summary();
        Aggregate::new(statistics.zip(summary.vectors).collect(), Vec::new())
    }
}

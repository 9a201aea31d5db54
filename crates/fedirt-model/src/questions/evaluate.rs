//! The question of the general algorithms in every round: log-likelihood and derivatives at some points.

use super::reply::{Fields, reply};
use super::shared::{GRADIENT, LOGLIK, check_point, gradient, loglik};
use super::tensor::top_score;
use super::{Axis, Bound, Conditions, Malformed, Named, Reply, ReplyError, Shape, SumQuestion, Tensor, Times, Unplanned};
use crate::centre::{Plan, Secrecy};
use crate::exchange::{Effects, Point, Request, triangle};
use crate::site::{Depth, EFFECT_BOUND, Evaluation, SiteView, lower};
use crate::statistics::Statistic;
use serde::{Deserialize, Serialize};

const INFORMATION: Statistic =
    Statistic::sum("information", "how sharply the answers determine the item parameters");
const COMPLETE_INFORMATION: Statistic =
    Statistic::sum("complete_information", "the same if abilities were known, item by item");
const INFORMATION_BY_ITEM: Statistic = Statistic::sum(
    "information_by_item",
    "how sharply the answers determine the parameters of each item, item by item",
);
const EFFECT_SITES: Statistic = Statistic::sum("effect_sites", "1 if the site has a finite school effect");
const EFFECT_SUM: Statistic = Statistic::sum("effect_sum", "the school effect, added to the others'");
const EFFECT_LOADINGS: Statistic =
    Statistic::sum("effect_loadings", "how the school effect depends on the item parameters");
const EFFECT_VARIANCES: Statistic =
    Statistic::sum("effect_variances", "the variance of the school effect");

/// Most points of one evaluation.
const MAX_POINTS: usize = 8;

/// How many derivatives are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Curvature {
    /// Gradient only.
    None,
    /// Information as if abilities were observed.
    Complete,
    /// Observed information.
    Observed,
    /// Observed information of each item's own parameters, and of those that all items share.
    ObservedByItem,
}

impl Curvature {
    /// Whether it is the observed information, whole or in part.
    fn observed(self) -> bool {
        match self {
            Self::None | Self::Complete => false,
            Self::Observed | Self::ObservedByItem => true,
        }
    }

    fn depth(self) -> Depth {
        match self {
            Self::None => Depth::Gradient,
            Self::Complete => Depth::Complete,
            Self::Observed => Depth::Observed,
            Self::ObservedByItem => Depth::ObservedByItem,
        }
    }
}

/// Log-likelihood and derivatives at some points. Fixed effects are profiled at the sites, random effects are
/// integrated out there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluate {
    /// Where.
    pub points: Vec<Point>,
    /// How many derivatives.
    pub curvature: Curvature,
    /// Whether sums over the sites' effects are wanted: in `secure` at the end only, once.
    pub effect_totals: bool,
}

impl Evaluate {
    fn totals(&self, request: &Request) -> bool {
        self.effect_totals && request.effects == Effects::Fixed
    }

    /// A tensor with one number per linked part, where sums over effects are asked for.
    fn by_part(&self, request: &Request, largest: f64) -> Option<(Shape, Bound)> {
        let shape = || Shape::Vector(Axis::parts(request.part_count()));
        self.totals(request).then(|| (shape(), Bound::per_site(largest)))
    }
}

/// A bound on a student's second derivatives.
pub(super) fn curvature_bound(request: &Request) -> Bound {
    let top = top_score(&request.design);
    Bound::per_student(65_536.0 * top * top * request.design.len() as f64)
}

reply! {
    /// What sites say about one point.
    struct PointReply to |question: Evaluate, request| {
        /// Marginal log-likelihood.
        loglik: f64 = LOGLIK => loglik(request),
        /// Its gradient in the item parameters and, with random effects, in the log of their SD.
        gradient: Vec<f64> = GRADIENT => gradient(request, request.coordinate_axis()),
        /// Minus the second derivatives as if ability were observed: the lower triangle of each item's block, and of the
        /// population's.
        complete_information: Option<Vec<f64>> = COMPLETE_INFORMATION =>
            (question.curvature == Curvature::Complete).then(|| {
                let design = &request.design;
                let items = (0..design.len()).map(|j| Axis::item_parameters(design, j));
                let blocks = items.chain([request.population_axis()]);
                (Shape::Blocks(blocks.collect()), curvature_bound(request))
            }),
        /// Minus the second derivatives, with fixed effects profiled out; lower triangle.
        information: Option<Vec<f64>> = INFORMATION =>
            (question.curvature == Curvature::Observed)
                .then(|| (Shape::Triangle(request.coordinate_axis()), curvature_bound(request))),
        /// The blocks of the same on its diagonal: of each item, and of the population and the log of the SD of random
        /// effects; lower triangles.
        information_by_item: Option<Vec<f64>> = INFORMATION_BY_ITEM =>
            (question.curvature == Curvature::ObservedByItem).then(|| {
                let design = &request.design;
                let items = (0..design.len()).map(|j| Axis::item_parameters(design, j));
                let shared = Axis::shared(request.coordinates() - design.parameters());
                (Shape::Blocks(items.chain([shared]).collect()), curvature_bound(request))
            }),
        /// Number of sites that have a finite effect, by linked part.
        effect_sites: Option<Vec<f64>> = EFFECT_SITES => question.by_part(request, 1.0),
        /// Sum of the effects, by linked part.
        effect_sum: Option<Vec<f64>> = EFFECT_SUM => question.by_part(request, 32.0),
        /// Sum of the effects' derivatives in the item parameters, one row per linked part.
        effect_loadings: Option<Vec<f64>> = EFFECT_LOADINGS =>
            (question.totals(request) && question.curvature.observed()).then(|| {
                let rows = Axis::parts(request.part_count());
                (Shape::Matrix(rows, request.parameter_axis()), Bound::per_site(1e6))
            }),
        /// Sum of the inverse information about the effects, by linked part.
        effect_variances: Option<Vec<f64>> = EFFECT_VARIANCES =>
            question.curvature.observed().then(|| question.by_part(request, 1e9)),
    }
}

/// One reply per point, in the order of the points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EvaluateReply {
    pub points: Vec<PointReply>,
}

impl EvaluateReply {
    /// The reply to a question about one point.
    pub(crate) fn into_single(self) -> Result<PointReply, ReplyError> {
        self.points.into_iter().next().ok_or(ReplyError::Missing(LOGLIK.name))
    }
}

impl Reply for EvaluateReply {
    type Question = Evaluate;

    /// The same tensors for each point.
    fn tensors(question: &Evaluate, request: &Request) -> Vec<Tensor> {
        let of_point = PointReply::tensors(question, request);
        question.points.iter().flat_map(|_| of_point.clone()).collect()
    }

    fn read(from: &mut Fields) -> Result<Self, ReplyError> {
        let mut points = Vec::new();
        while !from.sums.is_empty() {
            points.push(PointReply::read(from)?);
        }
        Ok(Self { points })
    }

    fn into_named(self) -> Named {
        self.points.into_iter().flat_map(PointReply::into_named).collect()
    }

    fn statistics() -> Vec<Statistic> {
        PointReply::statistics()
    }
}

impl SumQuestion for Evaluate {
    type Reply = EvaluateReply;

    fn points(&self, _request: &Request) -> Vec<Vec<f64>> {
        self.points.iter().map(|point| point.psi.clone()).collect()
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: false,
            differs_by_site: false,
            publishes_effects: false,
            tells_own_effect: false,
            by_student: true,
        }
    }

    /// Where nobody sees the sums of single sites, sums over their effects are given once.
    fn planned(&self, plan: &Plan) -> Result<Times, Unplanned> {
        let hidden = plan.secrecy != Secrecy::BySite;
        Ok(if self.effect_totals && hidden { Times::Once } else { Times::EachRound })
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        if self.points.is_empty() || self.points.len() > MAX_POINTS {
            return Err(Malformed::Points(self.points.len()));
        }
        self.points.iter().try_for_each(|point| check_point(request, point))
    }

    fn at(&self, _request: &Request, point: &Point, _sites: usize) -> Self {
        Self { points: vec![point.clone()], ..*self }
    }

    fn answer(&self, site: &SiteView<'_>) -> EvaluateReply {
        EvaluateReply { points: self.points.iter().map(|point| self.answer_at(site, point)).collect() }
    }
}

impl Evaluate {
    fn answer_at(&self, site: &SiteView<'_>, point: &Point) -> PointReply {
        let depth = self.curvature.depth();
        let p = site.request.parameters();
        match site.request.effects {
            Effects::None => {
                let e = site.data.evaluate(&point.psi, 0.0, site.population, depth);
                self.without_totals(site, &e, p, None)
            }
            Effects::Random => {
                let e = site.data.integrate(&point.psi, point.site_sd, site.population, depth).evaluation;
                self.without_totals(site, &e, p + 1, None)
            }
            Effects::Fixed if site.data.no_finite_effect(Some(&point.psi)) => self.silent(site.request),
            Effects::Fixed => self.answer_profiled(site, point, depth),
        }
    }

    /// The reply of a school whose answers all stand at one end: its likelihood tends to one as its effect runs away, so
    /// it says nothing about items.
    fn silent(&self, request: &Request) -> PointReply {
        let (p, parts) = (request.parameters(), request.part_count());
        let zeros = |asked: bool, len: usize| asked.then(|| vec![0.0; len]);
        let (totals, observed) = (self.totals(request), self.curvature.observed());
        let items = (0..request.design.len()).map(|j| request.design.span(j).len());
        let blocks = items.chain([request.population.size()]).map(triangle).sum();
        PointReply {
            loglik: 0.0,
            gradient: vec![0.0; p],
            complete_information: zeros(self.curvature == Curvature::Complete, blocks),
            information: zeros(self.curvature == Curvature::Observed, triangle(p)),
            information_by_item: zeros(self.curvature == Curvature::ObservedByItem, blocks),
            effect_sites: zeros(totals, parts),
            effect_sum: zeros(totals, parts),
            effect_loadings: zeros(totals && observed, parts * p),
            effect_variances: zeros(totals && observed, parts),
        }
    }

    fn answer_profiled(&self, site: &SiteView<'_>, point: &Point, depth: Depth) -> PointReply {
        let (p, parts) = (site.request.parameters(), site.request.part_count());
        let profiled = site.data.profile(&point.psi, site.population, depth);
        let e = &profiled.evaluation;
        let information = if self.curvature.observed() { -e.hessian[(p, p)] } else { 0.0 };
        // At the bound the effect does not follow the items, and does not count among the effects.
        let finite = profiled.s.abs() < EFFECT_BOUND;
        let profile_out = (information > 0.0 && finite).then_some(information);
        let reply = self.without_totals(site, e, p, profile_out);
        if !self.effect_totals {
            return reply;
        }
        let own_part = site.part();
        let by_part = |x: f64| {
            let mut v = vec![0.0; parts];
            v[own_part] = x;
            v
        };
        let observed = self.curvature.observed();
        PointReply {
            effect_sites: Some(by_part(f64::from(u8::from(finite)))),
            effect_sum: Some(by_part(if finite { profiled.s } else { 0.0 })),
            effect_loadings: observed.then(|| {
                let mut loadings = vec![0.0; parts * p];
                if let Some(i) = profile_out {
                    for r in 0..p {
                        loadings[own_part * p + r] = e.hessian[(r, p)] / i;
                    }
                }
                loadings
            }),
            effect_variances: observed.then(|| by_part(profile_out.map_or(0.0, |i| 1.0 / i))),
            ..reply
        }
    }

    /// The likelihood with its derivatives in the first `size` coordinates, a school effect of information `profile_out`
    /// eliminated (Schur complement).
    fn without_totals(
        &self,
        site: &SiteView<'_>,
        e: &Evaluation,
        size: usize,
        profile_out: Option<f64>,
    ) -> PointReply {
        let (h, design) = (&e.hessian, site.data.design());
        let spans = |end: usize| {
            let items = (0..design.len()).map(|j| design.span(j));
            items.chain(std::iter::once(design.parameters()..end))
        };
        let block = |span: std::ops::Range<usize>| {
            lower(span.len(), -1.0, move |r, c| h[(span.start + r, span.start + c)])
        };
        let observed = |r: usize, c: usize| match profile_out {
            Some(i) => h[(r, c)] + h[(r, size)] * h[(c, size)] / i,
            None => h[(r, c)],
        };
        let observed_block = |span: std::ops::Range<usize>| {
            lower(span.len(), -1.0, move |r, c| observed(span.start + r, span.start + c))
        };
        let wants = |curvature| self.curvature == curvature;
        PointReply {
            loglik: e.loglik,
            gradient: e.gradient[..size].to_vec(),
            complete_information: wants(Curvature::Complete)
                .then(|| spans(site.request.parameters()).flat_map(block).collect()),
            information: wants(Curvature::Observed).then(|| lower(size, -1.0, observed)),
            information_by_item: wants(Curvature::ObservedByItem)
                .then(|| spans(size).flat_map(observed_block).collect()),
            effect_sites: None,
            effect_sum: None,
            effect_loadings: None,
            effect_variances: None,
        }
    }
}

//! The last question: the estimates are told, and what is wanted once at them comes back.

use super::reply::reply;
use super::shared::{GRADIENT, LOGLIK, STUDENTS, check_finite, check_point, count, gradient, loglik};
use super::{Axis, Bound, BySite, Conditions, Malformed, Shape, SumQuestion, Times, Unplanned};
use crate::centre::Plan;
use crate::exchange::{CURVE_POINTS, Effects, Point, Request, triangle};
use crate::site::{Depth, EFFECT_BOUND, OwnEffect, EffectEstimate, SiteView, posterior_error};
use crate::statistics::{Mode, Statistic};
use serde::{Deserialize, Serialize};

const ANSWERS: Statistic = Statistic::sum("answers", "how many students answered each item");
const CURVES: Statistic = Statistic::sum("curves", "expected answers in each category by ability");
const ABILITY_HISTOGRAM: Statistic =
    Statistic::sum("ability_histogram", "expected number of students by ability");
const OWN_EFFECT: Statistic = Statistic::by_site(
    "own_effect",
    "the school effect and its standard error, by name",
    &[Mode::Plain, Mode::Secure],
);

/// What sites need to compute the standard error of their own effect at home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectErrors {
    /// Covariance of the item parameters before centring (with random effects, of them and log τ), lower triangle
    /// row by row; in large banks the triangles of each item's block, and of what stands behind the items.
    pub covariance: Vec<f64>,
    /// Mean derivative of the effects in the item parameters, one row per linked part.
    pub mean_loadings: Vec<f64>,
    /// Number of sites with an effect, by linked part.
    pub sites: Vec<f64>,
    /// Σ 1/information about the effects, by linked part.
    pub variances: Vec<f64>,
    /// Derivative of the ability SD in the item parameters (empty where it is fixed).
    pub sd_gradient: Vec<f64>,
    /// Products of scores over all sites, lower triangle (empty without weights).
    pub products: Vec<f64>,
    /// The factor on the effects' parts of the products.
    pub effect_unit: f64,
}

impl EffectErrors {
    /// The sizes of the blocks in which the covariance comes; none if they are not those of the request.
    fn blocks(&self, request: &Request) -> Option<Vec<usize>> {
        let size = request.coordinates();
        let items = (0..request.design.len()).map(|j| request.design.span(j).len());
        let by_item: Vec<usize> = items.chain([size - request.design.parameters()]).collect();
        [vec![size], by_item]
            .into_iter()
            .find(|blocks| blocks.iter().map(|size| triangle(*size)).sum::<usize>() == self.covariance.len())
    }

    /// Whether the covariance is known by item only.
    fn is_by_item(&self, request: &Request) -> bool {
        self.blocks(request).is_some_and(|blocks| blocks.len() > 1)
    }

    /// The covariance times a vector.
    pub(crate) fn times(&self, request: &Request, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        let (mut at, mut first) = (0, 0);
        for size in self.blocks(request).unwrap_or_default() {
            for r in first..first + size {
                for c in first..=r {
                    out[r] += self.covariance[at] * x[c];
                    if c < r {
                        out[c] += self.covariance[at] * x[r];
                    }
                    at += 1;
                }
            }
            first += size;
        }
        out
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        let (p, parts) = (request.parameters(), request.part_count());
        let size = request.coordinates();
        let none_or = |numbers: &[f64], len: usize| numbers.is_empty() || numbers.len() == len;
        let random = request.effects == Effects::Random;
        let fine = self.blocks(request).is_some()
            && self.sd_gradient.len() <= size
            && (random || (self.sites.len() == parts && self.variances.len() == parts))
            && (random || self.mean_loadings.len() == parts * p)
            && none_or(&self.products, triangle(p + parts))
            && self.effect_unit.is_finite();
        if fine { Ok(()) } else { Err(Malformed::ErrorShapes) }
    }
}

/// Final parameters, and the last sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Close {
    /// The estimates.
    pub point: Point,
    /// SD of ability on the reported scale.
    pub sd: f64,
    /// What a site needs for its own standard error.
    pub errors: Option<EffectErrors>,
    /// Fixed school effects of algorithms that broadcast them; sites profile their own otherwise.
    pub effects: Option<Vec<f64>>,
    /// Whether sites send their effect by name.
    pub publish_effects: bool,
}

reply! {
    /// The likelihood at the estimates, and the data of curves and histogram.
    struct CloseReply to |question: Close, request| {
        /// Number of students.
        students: f64 = STUDENTS => count(),
        /// Marginal log-likelihood.
        loglik: f64 = LOGLIK => loglik(request),
        /// Its gradient in the item parameters and, with random effects, in the log of their SD.
        gradient: Vec<f64> = GRADIENT => gradient(request, request.coordinate_axis()),
        /// Students who answered each item.
        answers: Vec<f64> = ANSWERS =>
            (Shape::Vector(Axis::items(&request.design)), Bound::per_student(1.0)),
        /// Expected answers in each category, by ability.
        curves: Vec<f64> = CURVES => {
            let shape = Shape::Matrix(Axis::cells(&request.design), Axis::shared(CURVE_POINTS));
            (shape, Bound::per_student(1.0))
        },
        /// Expected number of students, by ability.
        ability_histogram: Vec<f64> = ABILITY_HISTOGRAM =>
            (Shape::Vector(Axis::shared(CURVE_POINTS)), Bound::per_student(1.0)),
        /// Each site's effect and its standard error on the reported scale; see [`EffectEstimate::read`].
        own_effect: Option<BySite<2>> = OWN_EFFECT => question
            .publish_effects
            .then(|| (Shape::Vector(Axis::shared(2)), Bound::per_site(32.0))),
    }
}

impl SumQuestion for Close {
    type Reply = CloseReply;

    fn points(&self, _request: &Request) -> Vec<Vec<f64>> {
        vec![self.point.psi.clone()]
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: false,
            differs_by_site: self.effects.is_some(),
            publishes_effects: self.publish_effects,
            tells_own_effect: true,
            by_student: !self.publish_effects,
        }
    }

    fn planned(&self, _plan: &Plan) -> Result<Times, Unplanned> {
        Ok(Times::Once)
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        check_point(request, &self.point)?;
        if !(self.sd.is_finite() && self.sd > 0.0) {
            return Err(Malformed::NotPositive("the unit of site effects"));
        }
        check_finite("site effects", self.effects.as_deref().unwrap_or_default())?;
        self.errors.as_ref().map_or(Ok(()), |errors| errors.check(request))
    }

    fn at(&self, _request: &Request, point: &Point, _sites: usize) -> Self {
        let publish_effects = self.publish_effects;
        Self { point: point.clone(), sd: 1.0, errors: None, effects: None, publish_effects }
    }

    fn answer(&self, site: &SiteView<'_>) -> CloseReply {
        self.answer_and_keep(site).0
    }

    fn answer_and_keep(&self, site: &SiteView<'_>) -> (CloseReply, Option<EffectEstimate>) {
        let design = site.data.design();
        let p = site.request.parameters();
        let (psi, sd) = (&self.point.psi, self.sd);
        // A negative standard error says that there is none.
        let mut own = [0.0, -1.0];
        let (loglik, gradient, s) = match (site.request.effects, &self.effects) {
            (Effects::Random, _) => {
                let i = site.data.integrate(psi, self.point.site_sd, site.population, Depth::Gradient);
                let posterior = (i.square - i.mean * i.mean).max(0.0);
                own = [i.mean * sd, posterior.sqrt() * sd];
                if let Some(errors) = &self.errors {
                    // Item by item the covariance lacks what moves all sites together, which is most of this error: there is none.
                    own[1] = if errors.is_by_item(site.request) {
                        -1.0
                    } else {
                        posterior_error(site.request, errors, &i.loading, i.mean, posterior, sd)
                    };
                }
                (i.evaluation.loglik, i.evaluation.gradient, i.mean)
            }
            (Effects::Fixed, None) if site.data.no_finite_effect(Some(psi)) => (0.0, vec![0.0; p], 0.0),
            (Effects::Fixed, None) => {
                let depth = match &self.errors {
                    None => Depth::Gradient,
                    Some(errors) if errors.is_by_item(site.request) => Depth::ObservedByItem,
                    Some(_) => Depth::Observed,
                };
                let profiled = site.data.profile(psi, site.population, depth);
                let finite = profiled.s.abs() < EFFECT_BOUND;
                own[0] = if finite { profiled.s * sd } else { 0.0 };
                if let Some(errors) = &self.errors
                    && let Some(effect) = OwnEffect::of(&profiled, p)
                {
                    own[1] = effect.standard_error(site, errors, psi, sd);
                }
                (profiled.evaluation.loglik, profiled.evaluation.gradient[..p].to_vec(), profiled.s)
            }
            (Effects::None | Effects::Fixed, given) => {
                let s = given.as_ref().map_or(0.0, |effects| site.own(effects));
                let e = site.data.evaluate(psi, s, site.population, Depth::Gradient);
                if site.request.effects == Effects::Fixed {
                    own = [s * sd, -1.0];
                }
                (e.loglik, e.gradient[..p].to_vec(), s)
            }
        };
        let own_effect = match site.request.effects {
            Effects::None => EffectEstimate { effect: None, se: None },
            Effects::Fixed | Effects::Random => EffectEstimate::read(own),
        };
        let (curves, ability_histogram) = site.curves(psi, s);
        let reply = CloseReply {
            students: site.data.students as f64,
            loglik,
            gradient,
            answers: (0..design.len()).map(|j| site.data.answers_unweighted(j)).collect(),
            curves,
            ability_histogram,
            own_effect: self.publish_effects.then(|| BySite::own(own)),
        };
        (reply, Some(own_effect))
    }
}

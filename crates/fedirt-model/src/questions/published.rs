//! The question of the published protocol (BFGS, FedSGD): log-likelihood and gradient at given school effects.

use super::reply::reply;
use super::shared::{GRADIENT, LOGLIK, check_finite, check_parameters, gradient, loglik};
use super::tensor::top_score;
use super::{Axis, Bound, BySite, Conditions, Malformed, Shape, SumQuestion, Times, Unplanned};
use crate::centre::Plan;
use crate::exchange::{Effects, Point, Request};
use crate::site::{Depth, SiteView};
use crate::statistics::{Mode, Statistic};
use serde::{Deserialize, Serialize};

const EFFECT_GRADIENT: Statistic = Statistic::by_site(
    "effect_gradient",
    "in which direction the school effect would move",
    &[Mode::Plain],
);

/// Log-likelihood and gradient at given item parameters and school effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Item parameters.
    pub psi: Vec<f64>,
    /// Effect of each site, in the order of the cohort.
    pub effects: Vec<f64>,
    /// Sites that take part, where not all do. The others send zeros.
    pub chosen: Option<Vec<usize>>,
}

reply! {
    /// The likelihood at the point that was broadcast.
    struct PublishedReply to |_question: Published, request| {
        /// Marginal log-likelihood.
        loglik: f64 = LOGLIK => loglik(request),
        /// Its gradient in the item parameters.
        gradient: Vec<f64> = GRADIENT => gradient(request, Axis::parameters(&request.design)),
        /// Derivative of each site's log-likelihood in its own effect.
        effect_gradient: BySite<1> = EFFECT_GRADIENT => {
            let design = &request.design;
            (Shape::scalar(), Bound::per_student(64.0 * top_score(design) * design.len() as f64))
        },
    }
}

impl SumQuestion for Published {
    type Reply = PublishedReply;

    fn points(&self, _request: &Request) -> Vec<Vec<f64>> {
        vec![self.psi.clone()]
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: false,
            differs_by_site: true,
            publishes_effects: false,
            tells_own_effect: false,
            by_student: false,
        }
    }

    fn planned(&self, _plan: &Plan) -> Result<Times, Unplanned> {
        Ok(Times::EachRound)
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        check_parameters(request, &self.psi)?;
        check_finite("site effects", &self.effects)
    }

    fn at(&self, _request: &Request, point: &Point, sites: usize) -> Self {
        Self { psi: point.psi.clone(), effects: vec![0.0; sites], chosen: None }
    }

    fn answer(&self, site: &SiteView<'_>) -> PublishedReply {
        let s = if site.request.effects == Effects::Fixed { site.own(&self.effects) } else { 0.0 };
        let mut e = site.data.evaluate(&self.psi, s, site.population, Depth::Gradient);
        if self.chosen.as_ref().is_some_and(|chosen| !chosen.contains(&site.index)) {
            e.loglik = 0.0;
            e.gradient.fill(0.0);
        }
        let own = e.gradient.pop().unwrap_or(0.0);
        PublishedReply { loglik: e.loglik, gradient: e.gradient, effect_gradient: BySite::own([own]) }
    }
}

//! Asked once at the estimates of weighted fits: products of scores, for robust standard errors.

use super::reply::reply;
use super::shared::{check_finite, check_point, three_digits};
use super::tensor::top_score;
use super::{Axis, Bound, Conditions, Malformed, Per, Shape, SiteTerm, SumQuestion, Times, Unplanned};
use crate::centre::Plan;
use crate::exchange::{Effects, Point, Request, triangle};
use crate::site::{Depth, OwnEffect, SiteView, lower};
use crate::statistics::Statistic;
use serde::{Deserialize, Serialize};

const SCORE_PRODUCTS: Statistic =
    Statistic::sum("score_products", "products of score vectors, for robust standard errors");

/// Products of scores at the estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Products {
    /// The estimates.
    pub point: Point,
    /// Factor on the effects' parts, which brings them to the size of the items' (students per site).
    pub effect_unit: f64,
    /// Whether each site's products are rounded to three significant digits (random effects in `secure`).
    pub rounded: bool,
}

reply! {
    /// The meat of the sandwich covariance.
    struct ProductsReply to |question: Products, request| {
        /// Products of the scores of students in the item parameters and effects or, with random effects, of whole sites
        /// in the item parameters and the log of the SD; lower triangle.
        products: Vec<f64> = SCORE_PRODUCTS => {
            let top = top_score(&request.design);
            let largest = 65_536.0 * top * top;
            match request.effects {
                Effects::None | Effects::Fixed => {
                    let parts = if request.effects == Effects::Fixed { request.part_count() } else { 0 };
                    let axis = request.parameter_axis().then(Axis::parts(parts));
                    (Shape::Triangle(axis), Bound { largest, per: Per::SquaredWeight }, SiteTerm::Plain)
                }
                Effects::Random => (
                    Shape::Triangle(request.coordinate_axis()),
                    Bound { largest, per: Per::StudentPair },
                    SiteTerm::Product { rounded: question.rounded },
                ),
            }
        },
    }
}

impl SumQuestion for Products {
    type Reply = ProductsReply;

    fn points(&self, _request: &Request) -> Vec<Vec<f64>> {
        vec![self.point.psi.clone()]
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: false,
            differs_by_site: false,
            publishes_effects: false,
            tells_own_effect: false,
            // Sums of rounded numbers are not the rounded sum.
            by_student: !self.rounded,
        }
    }

    fn planned(&self, _plan: &Plan) -> Result<Times, Unplanned> {
        Ok(Times::Once)
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        check_point(request, &self.point)?;
        check_finite("the unit of site effects", &[self.effect_unit])
    }

    fn at(&self, _request: &Request, point: &Point, _sites: usize) -> Self {
        Self { point: point.clone(), effect_unit: 1.0, rounded: self.rounded }
    }

    fn answer(&self, site: &SiteView<'_>) -> ProductsReply {
        let mut products = self.exact(site);
        if self.rounded {
            products.iter_mut().for_each(|x| *x = three_digits(*x));
        }
        ProductsReply { products }
    }
}

impl Products {
    fn exact(&self, site: &SiteView<'_>) -> Vec<f64> {
        let psi = &self.point.psi;
        let p = site.request.parameters();
        let zeros = || vec![0.0; triangle(p + site.request.part_count())];
        match site.request.effects {
            Effects::None => site.data.score_products(psi, 0.0, site.population, None),
            Effects::Random => {
                let i = site.data.integrate(psi, self.point.site_sd, site.population, Depth::Gradient);
                let g = i.evaluation.gradient;
                lower(p + 1, 1.0, |r, c| g[r] * g[c])
            }
            Effects::Fixed if site.data.no_finite_effect(Some(psi)) => zeros(),
            Effects::Fixed => {
                let profiled = site.data.profile(psi, site.population, Depth::Observed);
                OwnEffect::of(&profiled, p)
                    .map_or_else(zeros, |own| own.products(site, psi, self.effect_unit))
            }
        }
    }
}

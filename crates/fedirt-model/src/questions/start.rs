//! The first question of the general algorithms: two-way tables, from which the centre computes starting values.

use super::reply::reply;
use super::shared::{STUDENTS, WEIGHT, count, three_digits};
use super::tensor::top_score;
use super::{Axis, Bound, Conditions, Malformed, Shape, SiteTerm, SumQuestion, Times, Unplanned};
use crate::centre::Plan;
use crate::exchange::{Effects, Point, Request};
use crate::site::{SiteView, lower};
use crate::statistics::Statistic;
use serde::{Deserialize, Serialize};

const PAIR_TABLE: Statistic =
    Statistic::sum("pair_table", "how many students gave each pair of answers to two items");
const SCHOOL_PRODUCTS: Statistic =
    Statistic::sum("school_products", "how alike students of one site answer, over the site's size");
const SCHOOL_PAIRS: Statistic =
    Statistic::sum("school_pairs", "how many pairs of students stand behind school_products");

/// How sites tell how alike their students answer, from which the centre guesses the SD between sites. With few
/// sites such sums of squares name the sites behind them (two or three unknown integers have one solution).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BetweenSites {
    /// As they are.
    Exact,
    /// Each site's terms rounded to three significant digits.
    Rounded,
    /// Not at all: the centre starts from a default.
    Withheld,
}

/// Two-way tables of all pairs of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// What is told about differences between sites.
    pub between: BetweenSites,
}

impl Start {
    /// The table of products of a site's totals, item by item, if it is asked for.
    fn school(&self, request: &Request) -> Option<(Shape, Bound, SiteTerm)> {
        let design = &request.design;
        let top = top_score(design);
        let asked = request.effects != Effects::None && self.between != BetweenSites::Withheld;
        asked.then(|| {
            let bound = Bound::per_student((1.0 + top * top) * 2.0);
            let rounded = self.between == BetweenSites::Rounded;
            (Shape::Triangle(Axis::items(design)), bound, SiteTerm::Product { rounded })
        })
    }
}

reply! {
    /// Two-way tables, and how alike students of a site answer.
    struct StartReply to |question: Start, request| {
        /// Number of students.
        students: f64 = STUDENTS => count(),
        /// Sum of their weights.
        weight: f64 = WEIGHT => count(),
        /// Weighted students with each pair of answers, over all categories of all items; lower triangle.
        pairs: Vec<f64> = PAIR_TABLE =>
            (Shape::Triangle(Axis::cells(&request.design)), Bound::per_student(1.0)),
        /// Products of item scores of different students of a site, over its size; lower triangle.
        school_products: Option<Vec<f64>> = SCHOOL_PRODUCTS => question.school(request),
        /// The same of answer counts.
        school_pairs: Option<Vec<f64>> = SCHOOL_PAIRS => question.school(request),
    }
}

impl SumQuestion for Start {
    type Reply = StartReply;

    fn points(&self, _request: &Request) -> Vec<Vec<f64>> {
        Vec::new()
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: true,
            differs_by_site: false,
            publishes_effects: false,
            tells_own_effect: false,
            by_student: true,
        }
    }

    fn planned(&self, _plan: &Plan) -> Result<Times, Unplanned> {
        Ok(Times::Once)
    }

    fn check(&self, _request: &Request) -> Result<(), Malformed> {
        Ok(())
    }

    fn at(&self, _request: &Request, _point: &Point, _sites: usize) -> Self {
        *self
    }

    fn answer(&self, site: &SiteView<'_>) -> StartReply {
        let sums = site.data.start_sums(site.request.effects);
        let items = site.data.design().len();
        let told = |x: f64| if self.between == BetweenSites::Rounded { three_digits(x) } else { x };
        let asked = self.school(site.request).is_some();
        StartReply {
            students: site.data.students as f64,
            weight: site.data.total_weight,
            pairs: lower(sums.pairs.nrows(), 1.0, |r, c| sums.pairs[(r, c)]),
            school_products: asked.then(|| lower(items, 1.0, |r, c| told(sums.school_products[(r, c)]))),
            school_pairs: asked.then(|| lower(items, 1.0, |r, c| told(sums.school_pairs[(r, c)]))),
        }
    }
}

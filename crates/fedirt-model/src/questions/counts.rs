//! The first question of algorithms that start from fixed parameters: which categories anybody chose.

use super::reply::reply;
use super::shared::{STUDENTS, WEIGHT, count};
use super::{Axis, Bound, Conditions, Malformed, Shape, SumQuestion, Times, Unplanned};
use crate::centre::Plan;
use crate::exchange::{Point, Request};
use crate::site::SiteView;
use crate::statistics::Statistic;
use serde::{Deserialize, Serialize};

const CATEGORY_COUNTS: Statistic =
    Statistic::sum("category_counts", "how many answers fell into each category");

/// Counts by category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts;

reply! {
    /// Students and their answers.
    struct CountsReply to |_question: Counts, request| {
        /// Number of students.
        students: f64 = STUDENTS => count(),
        /// Sum of their weights.
        weight: f64 = WEIGHT => count(),
        /// Weighted answers in each category of each item.
        category_counts: Vec<f64> = CATEGORY_COUNTS =>
            (Shape::Vector(Axis::cells(&request.design)), Bound::per_student(1.0)),
    }
}

impl SumQuestion for Counts {
    type Reply = CountsReply;

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

    fn answer(&self, site: &SiteView<'_>) -> CountsReply {
        CountsReply {
            students: site.data.students as f64,
            weight: site.data.total_weight,
            category_counts: site.data.category_counts(),
        }
    }
}

//! The question of the meta-analysis: a fit at the site alone.

use super::reply::reply;
use super::shared::{check_normal, check_steps};
use super::{Axis, Bound, Conditions, Malformed, Shape, SumQuestion, Times, Unplanned};
use crate::centre::{LocalNewton, Plan};
use crate::design::Design;
use crate::exchange::{Point, Request};
use crate::site::{SiteData, SiteView};
use crate::statistics::Statistic;
use serde::{Deserialize, Serialize};

const LOCAL_WEIGHTS: Statistic =
    Statistic::plain_sum("local_weights", "students behind each local estimate");
const LOCAL_ESTIMATES: Statistic = Statistic::plain_sum(
    "local_estimates",
    "slopes and difficulties fitted at the site alone, times students",
);
const LOCAL_VARIANCES: Statistic =
    Statistic::plain_sum("local_variances", "variances of the local estimates, times squared students");

/// Slopes and difficulties of a fit at the site alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LocalFit {
    /// Largest gradient per student at which the local fit stops.
    pub tolerance: f64,
    /// Most local iterations.
    pub iterations: usize,
}

fn by_parameter(request: &Request, largest: f64) -> (Shape, Bound) {
    (Shape::Vector(Axis::parameters(&request.design)), Bound::per_student(largest))
}

reply! {
    /// Estimates, weighted so that their sums give means over sites.
    struct LocalFitReply to |_question: LocalFit, request| {
        /// Students behind each estimate.
        weights: Vec<f64> = LOCAL_WEIGHTS => by_parameter(request, 1.0),
        /// Slopes and difficulties, times students.
        estimates: Vec<f64> = LOCAL_ESTIMATES => by_parameter(request, 1e4),
        /// Their variances, times squared students.
        variances: Vec<f64> = LOCAL_VARIANCES => by_parameter(request, 1e8),
    }
}

impl SumQuestion for LocalFit {
    type Reply = LocalFitReply;

    fn points(&self, _request: &Request) -> Vec<Vec<f64>> {
        Vec::new()
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: false,
            differs_by_site: false,
            publishes_effects: false,
            tells_own_effect: false,
            by_student: false,
        }
    }

    fn planned(&self, _plan: &Plan) -> Result<Times, Unplanned> {
        Ok(Times::Once)
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        check_normal(request)?;
        check_steps(self.iterations)?;
        if self.tolerance > 0.0 { Ok(()) } else { Err(Malformed::NotPositive("the tolerance")) }
    }

    fn at(&self, _request: &Request, _point: &Point, _sites: usize) -> Self {
        *self
    }

    /// Items of which the site did not see every category, or whose estimates ran away, weigh nothing.
    fn answer(&self, site: &SiteView<'_>) -> LocalFitReply {
        let design = site.data.design();
        let p = design.parameters();
        let mut out =
            LocalFitReply { weights: vec![0.0; p], estimates: vec![0.0; p], variances: vec![0.0; p] };
        let counts = site.data.category_counts();
        let kept: Vec<usize> =
            (0..design.len()).filter(|&j| counts[design.cell_span(j)].iter().all(|n| *n > 0.0)).collect();
        let items: Vec<_> = kept.iter().map(|&j| design.items()[j].clone()).collect();
        let (Ok(small), true) = (Design::try_from(items), kept.len() > 1) else { return out };
        let data = SiteData::new(site.table, &small, site.request.weight_scale);
        let fitted = LocalNewton::fit(site.table, &data, site.population, self.tolerance, self.iterations);
        let Ok(local) = fitted else { return out };
        for (k, &j) in kept.iter().enumerate() {
            let (from, to) = (small.span(k), design.span(j));
            let psi = &local.psi[from];
            let Some(model) = design.model(j).one_slope() else { continue };
            let b = model.difficulties(psi[0], &psi[1..]);
            // A local estimate that ran away would drown the others' in an average.
            if psi[0].abs() < 0.05 || psi[0].abs() > 20.0 || b.iter().any(|b| b.abs() > 20.0) {
                continue;
            }
            let n: f64 = counts[design.cell_span(j)].iter().sum();
            for r in 0..to.len() {
                let value = if r == 0 { psi[0] } else { b[r - 1] };
                let variance = local.variance(&small, k, r);
                out.weights[to.start + r] = n;
                out.estimates[to.start + r] = n * value;
                out.variances[to.start + r] = n * n * variance.min(1e4);
            }
        }
        out
    }
}

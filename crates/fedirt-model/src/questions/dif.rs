//! Asked at the estimates where students are compared by group: who gave which answer at equal sum scores, and how each group
//! would move the parameters of each item.

use super::evaluate::curvature_bound;
use super::reply::reply;
use super::shared::{check_point, gradient};
use super::start::BetweenSites;
use super::{Axis, Bound, Conditions, Malformed, Pass, Shape, SiteTerm, SumQuestion, Times, Unplanned};
use crate::centre::Plan;
use crate::diagnostics::highest_of;
use crate::diagnostics::site::{GroupSums, group_sums, group_tables, site_contrasts};
use crate::exchange::{Effects, Point, Request};
use crate::population::MAX_GROUPS;
use crate::site::SiteView;
use crate::statistics::Statistic;
use serde::{Deserialize, Serialize};

const GROUP_STUDENTS: Statistic =
    Statistic::sum("group_students", "how many students each group has");
const GROUP_SCORE_TABLE: Statistic = Statistic::sum(
    "group_score_table",
    "how many students of each group with an answer to every item gave each answer, by sum score; nothing for groups that are rare at the site",
);
const GROUP_GRADIENT: Statistic =
    Statistic::sum("group_gradient", "in which direction each item parameter would explain a group's answers better");
const GROUP_INFORMATION: Statistic =
    Statistic::sum("group_information", "how sharply a group's answers determine the item parameters");
const SITE_CONTRASTS: Statistic = Statistic::sum(
    "site_contrasts",
    "by item, how far the site's answers depart from the common parameters: a χ² without a direction",
);

/// Fewest items whose sum score students are matched by.
pub const FEWEST_ANCHORS: usize = 2;

/// Sums by group of students.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dif {
    /// The estimates.
    pub point: Point,
    /// Groups; the first is the reference.
    pub groups: usize,
    /// Items (of the design) whose sum score students are matched by; in the first pass all of them.
    pub anchors: Vec<usize>,
    /// Item parameters that are estimated for each item by itself: those about which sites are compared.
    pub free: Vec<usize>,
    /// Whether it is the first pass: later ones ask for the tables of other anchors alone.
    pub first: bool,
    /// How the differences between sites may be told.
    pub between: BetweenSites,
}

impl Dif {
    /// Whether answers are counted by sum score: with weights their statistics have no known distribution.
    fn counts(&self, request: &Request) -> bool {
        self.groups > 1 && !request.weighted
    }

    /// Whether groups are compared at the estimates: where the model knows their distributions, and no site effects
    /// depend on all of a site's students.
    fn scores(&self, request: &Request) -> bool {
        self.first && request.population.groups() == self.groups && self.groups > 1 && request.effects == Effects::None && !request.weighted
    }

    fn contrasts(&self, request: &Request) -> bool {
        self.first && self.between != BetweenSites::Withheld && request.effects != Effects::Random && !request.weighted
    }
}

reply! {
    /// What sites say about groups.
    struct DifReply to |question: Dif, request| {
        /// Students by group.
        students: Vec<f64> = GROUP_STUDENTS =>
            (Shape::Vector(Axis::groups(question.groups)), Bound::per_student(1.0)),
        /// Students who answered every item, by group, anchors' score, item and category.
        table: Option<Vec<f64>> = GROUP_SCORE_TABLE => question.counts(request).then(|| {
            let scores = highest_of(&request.design, &question.anchors) + 1;
            let rows = (0..question.groups)
                .fold(Axis::shared(0), |axis, g| axis.then(Axis::complete(scores).in_group(g)));
            (Shape::Matrix(rows, Axis::cells(&request.design)), Bound::per_student(1.0))
        }),
        /// ∂ log L_g/∂ψ, a row per group.
        gradient: Option<Vec<f64>> = GROUP_GRADIENT => question.scores(request).then(|| {
            let (_, bound) = gradient(request, Axis::shared(0));
            (Shape::Matrix(Axis::groups(question.groups), request.parameter_axis()), bound)
        }),
        /// −∂² log L_g/∂ψ∂ψ', the lower triangles of the groups.
        information: Option<Vec<f64>> = GROUP_INFORMATION => question.scores(request).then(|| {
            let blocks = (0..question.groups).map(|g| request.parameter_axis().in_group(g)).collect();
            (Shape::Blocks(blocks), curvature_bound(request))
        }),
        /// χ² contributions of the site by item.
        contrasts: Option<Vec<f64>> = SITE_CONTRASTS => question.contrasts(request).then(|| {
            let rounded = question.between == BetweenSites::Rounded;
            (Shape::Vector(Axis::items(&request.design)), Bound::per_site(1e9), SiteTerm::Product { rounded })
        }),
    }
}

impl SumQuestion for Dif {
    type Reply = DifReply;

    fn points(&self, _request: &Request) -> Vec<Vec<f64>> {
        vec![self.point.psi.clone()]
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: false,
            differs_by_site: false,
            publishes_effects: false,
            tells_own_effect: false,
            // The contrasts of sites are no sums over students.
            by_student: !self.first || self.between == BetweenSites::Withheld,
        }
    }

    fn planned(&self, plan: &Plan) -> Result<Times, Unplanned> {
        if !plan.compares() || self.groups != plan.groups.len().max(1) {
            return Err(Unplanned::Groups);
        }
        let pass = Pass { first: self.first, about: self.anchors.clone() };
        Ok(Times::Passes { most: plan.passes(), pass })
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        check_point(request, &self.point)?;
        if !(1..=usize::from(MAX_GROUPS)).contains(&self.groups) {
            return Err(Malformed::Groups(self.groups));
        }
        let (items, parameters) = (request.design.len(), request.design.parameters());
        let ascending = |x: &[usize], below: usize| {
            x.windows(2).all(|pair| pair[0] < pair[1]) && x.last().is_none_or(|last| *last < below)
        };
        let enough = self.anchors.len() >= FEWEST_ANCHORS.min(items);
        if enough && ascending(&self.anchors, items) && ascending(&self.free, parameters) {
            Ok(())
        } else {
            Err(Malformed::Anchors)
        }
    }

    fn at(&self, request: &Request, point: &Point, _sites: usize) -> Self {
        // Before there are estimates, all items are anchors, and all parameters are taken for free.
        let (anchors, free) = (0..request.design.len(), 0..request.design.parameters());
        Self { point: point.clone(), anchors: anchors.collect(), free: free.collect(), ..self.clone() }
    }

    fn answer(&self, site: &SiteView<'_>) -> DifReply {
        let request = site.request;
        let groups: Vec<_> = (0..self.groups).map(|g| site.data.of_group(g)).collect();
        let psi = self.point.psi.as_slice();
        let by_group = self.scores(request).then(|| group_sums(&groups, psi, site.population));
        let (gradient, information) = by_group.map(|GroupSums { gradient, information }| (gradient, information)).unzip();
        let rounded = self.between == BetweenSites::Rounded;
        DifReply {
            students: groups.iter().map(|data| data.total_weight()).collect(),
            table: self.counts(request).then(|| group_tables(&groups, &self.anchors, site.table.fewest_in_group())),
            gradient,
            information,
            contrasts: self.contrasts(request).then(|| {
                let effect = site.effect_at(&self.point);
                effect.map_or_else(
                    || vec![0.0; request.design.len()],
                    |s| site_contrasts(site.data, psi, s, site.population, &self.free, rounded),
                )
            }),
        }
    }
}

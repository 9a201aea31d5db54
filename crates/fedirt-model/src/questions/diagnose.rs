//! Asked once at the estimates: sums from which the centre sees whether the model is right.

use super::reply::reply;
use super::shared::{STUDENTS, WEIGHT, check_point, count};
use super::tensor::top_score;
use super::{Axis, Bound, Conditions, Malformed, Shape, SumQuestion};
use crate::diagnostics::site::{ExpectedTables, FLOOR, ITEM_MOMENTS, ResidualSums};
use crate::diagnostics::{expected_counts, highest};
use crate::exchange::{Effects, Point, Request, triangle};
use crate::site::{SiteView, lower};
use crate::statistics::Statistic;
use serde::{Deserialize, Serialize};

const ABILITY_SUMS: Statistic =
    Statistic::sum("ability_sums", "sums of ability estimates, of their squares and of their error variances");
const UNLIKELY_ROWS: Statistic =
    Statistic::sum("unlikely_rows", "how many students' answers fit the model badly (Zh below -2)");
const ITEM_RESIDUALS: Statistic =
    Statistic::sum("item_residuals", "by item, how far answers are from what the model expects");
const SCORE_COUNTS: Statistic =
    Statistic::sum("score_counts", "how many students with an answer to every item have each sum score");
const SCORE_TABLE: Statistic =
    Statistic::sum("score_table", "how many of them gave each answer, by sum score");
const EXPECTED_SCORE_TABLE: Statistic =
    Statistic::sum("expected_score_table", "the same as the model expects it at the site");
const EXPECTED_SCORES: Statistic =
    Statistic::sum("expected_scores", "how many students the model expects by sum score, and their ability");
const EXPECTED_PAIR_TABLE: Statistic =
    Statistic::sum("expected_pair_table", "how many students the model expects to give each pair of answers");
const RESIDUAL_PAIRS: Statistic =
    Statistic::sum("residual_pairs", "how many students answered both of two items");
const RESIDUAL_SUMS: Statistic =
    Statistic::sum("residual_sums", "sums of an item's residuals over students who answered another item too");
const RESIDUAL_SQUARES: Statistic =
    Statistic::sum("residual_squares", "sums of their squares over the same students");
const RESIDUAL_PRODUCTS: Statistic =
    Statistic::sum("residual_products", "sums of products of two items' residuals");

/// A kind of diagnostics that sites send sums for. A plan lists those that it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Diagnostic {
    /// Reliability, and the share of students whose answers fit badly.
    Reliability,
    /// Infit and outfit.
    ItemFit,
    /// Q3: correlations of residuals.
    Q3,
    /// S-X² and the abilities of sum scores, where nobody carries weights.
    Scores,
    /// LD-X² and global fit, from the two-way tables of the first round: with site effects, what the model expects of these.
    Pairs,
}

impl Diagnostic {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Reliability, Self::ItemFit, Self::Q3, Self::Scores, Self::Pairs];

    /// Whether its numbers grow with the square of the items: there are some for each pair of items, or for each category and sum
    /// score.
    pub fn grows_with_square(self) -> bool {
        match self {
            Self::Q3 | Self::Scores | Self::Pairs => true,
            Self::Reliability | Self::ItemFit => false,
        }
    }

    /// The name in plans, and in `fit.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reliability => "reliability",
            Self::ItemFit => "item_fit",
            Self::Q3 => "q3",
            Self::Scores => "scores",
            Self::Pairs => "pairs",
        }
    }
}

/// Sums about residuals and scores at the estimates. Each site takes its own effect, which it finds at home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnose {
    /// The estimates.
    pub point: Point,
    /// What is asked for.
    pub wanted: Vec<Diagnostic>,
}

impl Diagnose {
    fn wants(&self, diagnostic: Diagnostic) -> bool {
        self.wanted.contains(&diagnostic)
    }

    /// Whether sum scores are counted: with weights their statistics have no known distribution.
    fn counts_scores(&self, request: &Request) -> bool {
        self.wants(Diagnostic::Scores) && !request.weighted
    }

    /// Whether expected counts depend on the site.
    fn differs(request: &Request) -> bool {
        request.effects != Effects::None
    }

    /// A matrix with a row per sum score.
    fn by_score(request: &Request, columns: Axis) -> (Shape, Bound) {
        let rows = Axis::complete(highest(&request.design) + 1);
        (Shape::Matrix(rows, columns), Bound::per_student(LARGEST_SQUARED_ABILITY))
    }

    /// A tensor of residuals of one item over the students who answered another one.
    fn by_pair(&self, request: &Request, power: i32) -> Option<(Shape, Bound)> {
        let axis = || Axis::items(&request.design);
        let bound = Bound::per_student(top_score(&request.design).powi(power));
        self.wants(Diagnostic::Q3).then(|| (Shape::Matrix(axis(), axis()), bound))
    }

    fn by_unordered_pair(&self, request: &Request, power: i32) -> Option<(Shape, Bound)> {
        let bound = Bound::per_student(top_score(&request.design).powi(power));
        self.wants(Diagnostic::Q3).then(|| (Shape::Triangle(Axis::items(&request.design)), bound))
    }
}

/// Ability stays within ±26; the square of it is the largest of the sums.
const LARGEST_SQUARED_ABILITY: f64 = 1024.0;

reply! {
    /// What sites say about residuals at the estimates.
    struct DiagnoseReply to |question: Diagnose, request| {
        /// Number of students.
        students: f64 = STUDENTS => count(),
        /// Sum of their weights.
        weight: f64 = WEIGHT => count(),
        /// Σ θ̂, Σ θ̂², Σ Var(θ | answers) with the EAP θ̂ of standardised ability.
        ability: Option<Vec<f64>> = ABILITY_SUMS => question.wants(Diagnostic::Reliability).then(|| {
            (Shape::Vector(Axis::shared(3)), Bound::per_student(LARGEST_SQUARED_ABILITY))
        }),
        /// Students with Zh < −2 at the EAP.
        unlikely: Option<Vec<f64>> = UNLIKELY_ROWS => question.wants(Diagnostic::Reliability).then(count),
        /// The sums behind infit and outfit, a row per item; see `ItemMoments` in `diagnostics/site/residuals.rs`.
        moments: Option<Vec<f64>> = ITEM_RESIDUALS => question.wants(Diagnostic::ItemFit).then(|| {
            // r²/W and C/W² are at most top²/W, since |r| ≤ top and C ≤ top²·W.
            let top = top_score(&request.design);
            let bound = Bound::per_student(top.powi(4).max(top * top / FLOOR));
            (Shape::Matrix(Axis::items(&request.design), Axis::shared(ITEM_MOMENTS)), bound)
        }),
        /// Students who answered both items; lower triangle.
        pair_counts: Option<Vec<f64>> = RESIDUAL_PAIRS => question.by_unordered_pair(request, 0),
        /// Σ r_j over students who answered both j and l; row j, column l.
        pair_sums: Option<Vec<f64>> = RESIDUAL_SUMS => question.by_pair(request, 1),
        /// Σ r_j² over the same students.
        pair_squares: Option<Vec<f64>> = RESIDUAL_SQUARES => question.by_pair(request, 2),
        /// Σ r_j r_l; lower triangle.
        pair_products: Option<Vec<f64>> = RESIDUAL_PRODUCTS => question.by_unordered_pair(request, 2),
        /// Students who answered every item, by sum score.
        score_counts: Option<Vec<f64>> = SCORE_COUNTS => question.counts_scores(request).then(|| {
            (Shape::Vector(Axis::complete(highest(&request.design) + 1)), Bound::per_student(1.0))
        }),
        /// Their answers, a row per sum score.
        score_table: Option<Vec<f64>> = SCORE_TABLE => question
            .counts_scores(request)
            .then(|| Diagnose::by_score(request, Axis::cells(&request.design))),
        /// What the model expects of these at the site's effect; without effects the centre computes it.
        expected_score_table: Option<Vec<f64>> = EXPECTED_SCORE_TABLE =>
            (question.counts_scores(request) && Diagnose::differs(request))
                .then(|| Diagnose::by_score(request, Axis::cells(&request.design))),
        /// N P(s), N P(s) E(t | s) and N P(s) E(t² | s), by sum score s.
        expected_scores: Option<Vec<f64>> = EXPECTED_SCORES =>
            (question.counts_scores(request) && Diagnose::differs(request))
                .then(|| Diagnose::by_score(request, Axis::shared(3))),
        /// What the model expects of the two-way tables at the site's effect; lower triangle.
        expected_pairs: Option<Vec<f64>> = EXPECTED_PAIR_TABLE =>
            (question.wants(Diagnostic::Pairs) && Diagnose::differs(request) && !request.weighted).then(|| {
                (Shape::Triangle(Axis::cells(&request.design)), Bound::per_student(1.0))
            }),
    }
}

impl SumQuestion for Diagnose {
    type Reply = DiagnoseReply;

    fn points(&self, _request: &Request) -> Vec<Vec<f64>> {
        vec![self.point.psi.clone()]
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: false,
            differs_by_site: false,
            publishes_effects: false,
            once: false,
            tells_own_effect: false,
            by_student: true,
        }
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        check_point(request, &self.point)
    }

    fn at(&self, _request: &Request, point: &Point, _sites: usize) -> Self {
        Self { point: point.clone(), wanted: self.wanted.clone() }
    }

    fn answer(&self, site: &SiteView<'_>) -> DiagnoseReply {
        let items = site.data.design().len();
        // A site without a finite effect adds nothing to the likelihood, and so nothing here.
        let effect = site.effect_at(&self.point);
        let pairs = self.wants(Diagnostic::Q3);
        let sums = effect.map_or_else(
            || ResidualSums::none(items, pairs),
            |s| site.data.residuals(&self.point.psi, s, site.population, pairs),
        );
        let (design, psi) = (site.data.design(), self.point.psi.as_slice());
        let grid = site.population.at(&psi[design.parameters()..]);
        let scores = self.counts_scores(site.request).then(|| {
            let tables = site.data.score_tables();
            // What a site without a finite effect has is left out here too.
            if effect.is_some() { tables } else { tables.emptied() }
        });
        let differs = Self::differs(site.request);
        let expected = scores.as_ref().filter(|_| differs).map(|tables| {
            ExpectedTables::new((design, psi), effect.unwrap_or(0.0), &grid, &tables.scores)
        });
        let expected_pairs = (self.wants(Diagnostic::Pairs) && differs && !site.request.weighted).then(|| {
            let cells = design.cells();
            let Some(s) = effect else { return vec![0.0; triangle(cells)] };
            let observed = site.data.start_sums(Effects::None).pairs;
            let expected = expected_counts((design, psi), &grid, &observed, s);
            lower(cells, 1.0, |r, c| expected[(r, c)])
        });
        let all = |matrix: &nalgebra::DMatrix<f64>| matrix.transpose().as_slice().to_vec();
        DiagnoseReply {
            students: if effect.is_some() { site.data.students as f64 } else { 0.0 },
            weight: if effect.is_some() { site.data.total_weight } else { 0.0 },
            ability: self.wants(Diagnostic::Reliability).then(|| sums.ability.to_vec()),
            unlikely: self.wants(Diagnostic::Reliability).then(|| vec![sums.unlikely]),
            moments: self
                .wants(Diagnostic::ItemFit)
                .then(|| sums.moments.iter().flat_map(|m| m.0).collect()),
            pair_counts: pairs.then(|| lower(items, 1.0, |r, c| sums.counts[(r, c)])),
            pair_sums: pairs.then(|| all(&sums.sums)),
            pair_squares: pairs.then(|| all(&sums.squares)),
            pair_products: pairs.then(|| lower(items, 1.0, |r, c| sums.products[(r, c)])),
            score_counts: scores.as_ref().map(|tables| tables.scores.clone()),
            score_table: scores.map(|tables| tables.answers),
            expected_score_table: expected.as_ref().map(|tables| tables.answers.clone()),
            expected_scores: expected.map(|tables| tables.scores),
            expected_pairs,
        }
    }
}

//! Asked once at the estimates: sums from which the centre sees whether the model is right.

use super::reply::{BySite, reply};
use super::shared::{STUDENTS, WEIGHT, check_finite, check_point, count};
use super::tensor::top_score;
use super::{Axis, Bound, Conditions, Malformed, Shape, SumQuestion, Times, Unplanned};
use crate::centre::Plan;
use crate::diagnostics::site::{AbilityMass, ExpectedTables, FLOOR, ITEM_MOMENTS, ResidualSums, SHAPES, influence, shapes};
use crate::diagnostics::{expected_counts, highest};
use crate::exchange::{Effects, Point, Request, triangle};
use crate::site::{SiteData, SiteView, lower};
use crate::statistics::{Mode, Statistic};
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

const ABILITY_MASS: Statistic = Statistic::sum("ability_mass", "expected number of students at each node of ability");
const ABILITY_SQUARES: Statistic =
    Statistic::sum("ability_squares", "sums of squares of each student's chances to be at these nodes");
const SHAPE_SCORE: Statistic =
    Statistic::sum("shape_score", "in which direction the answers would make the distribution of ability skewed or peaked");
const INFLUENTIAL: Statistic =
    Statistic::sum("influential", "1 if some item parameter would change by more than its error without the site");
const INFLUENCE: Statistic = Statistic::by_site(
    "influence",
    "by name, which item parameter would change most without the site, and by how much",
    &[Mode::Plain],
);

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
    /// Whether ability is distributed as the model has it, where nobody carries weights.
    Latent,
    /// What would change without single sites.
    Influence,
}

impl Diagnostic {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Reliability,
        Self::ItemFit,
        Self::Q3,
        Self::Scores,
        Self::Pairs,
        Self::Latent,
        Self::Influence,
    ];

    /// Those that are made unless others are asked for. Influence costs sites as much as a round, each for itself.
    pub const USUAL: [Self; 6] =
        [Self::Reliability, Self::ItemFit, Self::Q3, Self::Scores, Self::Pairs, Self::Latent];

    /// Whether its numbers grow with the square of the items: there are some for each pair of items, or for each category and sum
    /// score.
    pub fn grows_with_square(self) -> bool {
        match self {
            Self::Q3 | Self::Scores | Self::Pairs => true,
            Self::Reliability | Self::ItemFit | Self::Latent | Self::Influence => false,
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
            Self::Latent => "latent",
            Self::Influence => "influence",
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
    /// Covariance of the parameters, lower triangle, from which sites tell what would change without them; empty where that is not asked
    /// for or not known.
    pub covariance: Vec<f64>,
    /// Whether sites tell it by name.
    pub by_name: bool,
}

impl Diagnose {
    fn wants(&self, diagnostic: Diagnostic) -> bool {
        self.wanted.contains(&diagnostic)
    }

    /// Whether sum scores are counted: with weights their statistics have no known distribution.
    fn counts_scores(&self, request: &Request) -> bool {
        self.wants(Diagnostic::Scores) && !request.weighted
    }

    /// Whether expected counts depend on the site: on its effect, or on how many of its students are in each group.
    fn differs(request: &Request) -> bool {
        request.effects != Effects::None || request.population.groups() > 1
    }

    /// Whether posterior weights are summed: with weights the test has no known distribution.
    fn looks_at_ability(&self, request: &Request) -> bool {
        self.wants(Diagnostic::Latent) && !request.weighted
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

/// Changes beyond this are told as this; places of parameters are below it.
const LARGEST_INFLUENCE: f64 = 1e5;

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
        /// Sites without which some parameter would change by more than its standard error.
        influential: Option<Vec<f64>> = INFLUENTIAL => question
            .wants(Diagnostic::Influence)
            .then(|| (Shape::scalar(), Bound::per_site(1.0))),
        /// Σ_i P_i(n) by node of standardised ability.
        ability_mass: Option<Vec<f64>> = ABILITY_MASS => question
            .looks_at_ability(request)
            .then(|| (Shape::Vector(Axis::shared(request.population.nodes)), Bound::per_student(1.0))),
        /// Σ_i P_i(n)².
        ability_squares: Option<Vec<f64>> = ABILITY_SQUARES => question
            .looks_at_ability(request)
            .then(|| (Shape::Vector(Axis::shared(request.population.nodes)), Bound::per_student(1.0))),
        /// Σ_i (E_i h − E h) of He₃/6 and He₄/24.
        shape_score: Option<Vec<f64>> = SHAPE_SCORE => question.looks_at_ability(request).then(|| {
            let largest = shapes(request.population.range).into_iter().map(f64::abs).fold(1.0, f64::max);
            (Shape::Vector(Axis::shared(SHAPES)), Bound::per_student(2.0 * largest))
        }),
        /// The place of the parameter that would change most, the change, and the change in standard errors.
        influence: Option<BySite<3>> = INFLUENCE => (question.by_name && question.wants(Diagnostic::Influence))
            .then(|| (Shape::Vector(Axis::shared(3)), Bound::per_site(LARGEST_INFLUENCE))),
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
            tells_own_effect: false,
            by_student: !self.wants(Diagnostic::Influence),
        }
    }

    fn planned(&self, plan: &Plan) -> Result<Times, Unplanned> {
        let listed = self.wanted.iter().all(|diagnostic| plan.diagnostics.contains(diagnostic));
        if listed { Ok(Times::Once) } else { Err(Unplanned::Diagnostics) }
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        check_point(request, &self.point)?;
        check_finite("the covariance of parameters", &self.covariance)?;
        let (given, wanted) = (self.covariance.len(), triangle(request.parameters()));
        if given == 0 || given == wanted { Ok(()) } else { Err(Malformed::Parameters { wanted }) }
    }

    fn at(&self, _request: &Request, point: &Point, _sites: usize) -> Self {
        Self { point: point.clone(), covariance: Vec::new(), ..self.clone() }
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
        // What is expected of each group's students is expected at that group's distribution.
        let groups = || {
            let grids = site.population.grids(&psi[design.parameters()..]).into_iter().enumerate();
            grids.map(|(g, grid)| (grid, if site.population.groups() > 1 { site.data.of_group(g) } else { site.data.clone() }))
        };
        let scores = self.counts_scores(site.request).then(|| {
            let tables = site.data.score_tables();
            // What a site without a finite effect has is left out here too, and so are a few complete rows, whose answers would be
            // told one by one.
            let told = |(_, data): (_, SiteData)| data.score_tables().may_be_told(site.table.fewest_in_group());
            if effect.is_some() && groups().all(told) { tables } else { tables.emptied() }
        });
        let differs = Self::differs(site.request);
        let expected = scores.as_ref().filter(|_| differs).map(|all| {
            let mut sum = ExpectedTables::none(all);
            for (grid, data) in groups().filter(|_| effect.is_some()) {
                let own = data.score_tables();
                sum.add(&ExpectedTables::new((design, psi), effect.unwrap_or(0.0), &grid, &own.scores));
            }
            sum
        });
        let expected_pairs = (self.wants(Diagnostic::Pairs) && differs && !site.request.weighted).then(|| {
            let cells = design.cells();
            let Some(s) = effect else { return vec![0.0; triangle(cells)] };
            let mut expected = nalgebra::DMatrix::zeros(cells, cells);
            for (grid, data) in groups() {
                let observed = data.start_sums(Effects::None).pairs;
                expected += expected_counts((design, psi), &grid, &observed, s);
            }
            lower(cells, 1.0, |r, c| expected[(r, c)])
        });
        let ability = self.looks_at_ability(site.request).then(|| match effect {
            Some(s) => site.data.ability_mass(psi, s, site.population),
            None => AbilityMass::none(site.population.nodes),
        });
        let asked = self.wants(Diagnostic::Influence) && !self.covariance.is_empty();
        let told = asked && site.request.effects != Effects::Random && effect.is_some();
        let influence = told.then(|| influence(site, &self.point, &self.covariance)).flatten();
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
            influential: self.wants(Diagnostic::Influence).then(|| {
                let beyond = influence.is_some_and(|found| found.in_errors.abs() > 1.0);
                vec![f64::from(u8::from(beyond))]
            }),
            influence: (self.by_name && self.wants(Diagnostic::Influence)).then(|| {
                // What determines nothing changes nothing.
                BySite::own(influence.map_or([0.0; 3], |found| {
                    let held = |x: f64| x.clamp(-LARGEST_INFLUENCE, LARGEST_INFLUENCE);
                    [found.place as f64, held(found.change), held(found.in_errors)]
                }))
            }),
            ability_mass: ability.as_ref().map(|ability| ability.mass.clone()),
            ability_squares: ability.as_ref().map(|ability| ability.squares.clone()),
            shape_score: ability.map(|ability| ability.score.to_vec()),
        }
    }
}

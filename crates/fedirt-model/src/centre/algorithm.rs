//! What all algorithms share: settings, the problem they solve, and how they report.

use super::arrow::{Arrow, ItemBlocks};
use super::plan::Plan;
use super::structure::Structure;
use crate::design::Design;
use crate::exchange::{Effects, Point};
use crate::fit::TraceEntry;
use crate::questions::evaluate::PointReply;
use crate::questions::{Aggregate, Ask, OfAsk, ReplyError, SumQuestion};
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// Ways to maximise the likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlgorithmKind {
    /// Newton on sums, school effects at home: the default.
    Newton,
    /// EM, accelerated by SQUAREM.
    Em,
    /// BFGS round by round, as the paper publishes it.
    Bfgs,
    /// Federated stochastic gradient descent.
    Fedsgd,
    /// Federated averaging.
    Fedavg,
    /// Averages of fits made at each site alone.
    Meta,
}

impl AlgorithmKind {
    /// Every algorithm, the default first.
    pub const ALL: [Self; 6] = [Self::Newton, Self::Em, Self::Bfgs, Self::Fedsgd, Self::Fedavg, Self::Meta];

    /// The name used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newton => "newton",
            Self::Em => "em",
            Self::Bfgs => "bfgs",
            Self::Fedsgd => "fedsgd",
            Self::Fedavg => "fedavg",
            Self::Meta => "meta",
        }
    }
}

/// Settings of the maximisation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Which algorithm.
    pub algorithm: AlgorithmKind,
    /// Converged when the largest absolute gradient per student is below this.
    pub tolerance: f64,
    /// Most rounds of estimation, the opening one included. Closing exchanges come on top
    /// ([`super::closing_exchanges`]); a fit that reaches the limit is closed too, and is marked as not converged.
    pub max_rounds: usize,
    /// Starting points that may be compared in the first evaluation: 1, or 2, which a test that measures two things needs.
    pub starts: usize,
    /// Local steps of federated averaging.
    pub local_epochs: usize,
    /// Share of sites that take part in a round of fedsgd and fedavg.
    pub client_fraction: f64,
    /// Step size of fedsgd and fedavg.
    pub learning_rate: f64,
    /// Seed of the choice of sites, and of what is simulated for diagnostics.
    pub seed: u64,
    /// Most items for which sums over pairs of items are asked for to find the estimates; see
    /// [`Plan::by_item`](super::Plan::by_item).
    pub pairwise_items: usize,
}

/// The usual [`Settings::pairwise_items`].
pub const PAIRWISE_ITEMS: usize = 500;

impl Default for Settings {
    fn default() -> Self {
        Self {
            algorithm: AlgorithmKind::Newton,
            tolerance: 1e-6,
            max_rounds: 300,
            starts: 2,
            local_epochs: 5,
            client_fraction: 1.0,
            learning_rate: 1.0,
            seed: 1,
            pairwise_items: PAIRWISE_ITEMS,
        }
    }
}

/// What is to be maximised.
pub(crate) struct Problem {
    pub design: Design,
    /// Names of the calibrated items.
    pub names: Vec<String>,
    pub parts: Vec<usize>,
    pub structure: Structure,
    pub effects: Effects,
    pub settings: Settings,
    /// Sum of scaled weights, which is the number of students.
    pub students: f64,
    /// Students of each site.
    pub site_students: Vec<f64>,
    /// Whether the coordinator sees each site's sums: then sums over effects may be asked for in every round.
    pub by_site: bool,
}

/// Sums about fixed effects, by linked part.
#[derive(Debug, Clone, Default)]
pub(crate) struct EffectTotals {
    pub sites: Vec<f64>,
    pub sum: Vec<f64>,
    pub loadings: Vec<f64>,
    pub variances: Vec<f64>,
}

impl EffectTotals {
    /// The sums of a reply; empty where they were not asked for.
    pub(crate) fn of(reply: PointReply) -> Self {
        Self {
            sites: reply.effect_sites.unwrap_or_default(),
            sum: reply.effect_sum.unwrap_or_default(),
            loadings: reply.effect_loadings.unwrap_or_default(),
            variances: reply.effect_variances.unwrap_or_default(),
        }
    }

    /// Moves the sum of effects along with the item parameters: δΣs = (ΣB)ᵀδψ.
    pub(crate) fn follow(&mut self, from: &[f64], to: &[f64]) {
        for (sum, row) in self.sum.iter_mut().zip(self.loadings.chunks_exact(from.len())) {
            *sum += row.iter().zip(from.iter().zip(to)).map(|(b, (x, y))| b * (y - x)).sum::<f64>();
        }
    }
}

/// Minus the second derivatives of the log-likelihood over (ψ, log τ).
pub(crate) enum Information {
    /// All of them.
    Full(DMatrix<f64>),
    /// Those of each item's own parameters, and of what all items share.
    ByItem(ItemBlocks),
}

/// Where an algorithm ended.
pub(crate) struct Solution {
    pub point: Point,
    pub y: DVector<f64>,
    pub converged: bool,
    /// Minus the second derivatives of the log-likelihood over (ψ, log τ), where they are known.
    pub information: Option<Information>,
    pub totals: EffectTotals,
    /// Effects by site, where the algorithm broadcasts them.
    pub effects: Option<Vec<f64>>,
    /// Variances of ψ in (a, b), where the algorithm has its own (meta-analysis).
    pub own_variances: Option<Vec<f64>>,
    /// Items without a finite estimate.
    pub at_bound: Vec<usize>,
    /// Coordinates that ended at their bounds.
    pub held: Vec<usize>,
    /// Log-likelihoods of the starting points, where there were several: best first.
    pub starts: Vec<f64>,
}

/// What an algorithm wants next.
pub(crate) enum Next<Q> {
    Ask(Q),
    Done(Box<Solution>),
}

/// An algorithm: it asks the same question in each of its rounds, at other parameters, until it has a solution.
pub(crate) trait Algorithm: Send {
    /// What it asks.
    type Question: SumQuestion;

    /// The first question of a calibration by this algorithm, before its own rounds begin.
    fn opening(plan: &Plan) -> Ask;

    /// What each of its rounds asks; the parameters are filled in round by round. `by_site` says that the coordinator
    /// sees each site's sums.
    fn question(settings: &Settings, by_site: bool) -> Self::Question;

    /// Whether there is exactly one such round.
    const ONE_ROUND: bool = false;

    /// Where its standard errors come from.
    const ERRORS: ErrorSource;

    /// `reply` answers the last question; there is none at first. `trace` has an entry for its round.
    fn next(
        &mut self,
        problem: &Problem,
        reply: Option<<Self::Question as SumQuestion>::Reply>,
        trace: &mut TraceEntry,
    ) -> Result<Next<Self::Question>, ReplyError>;

    /// Takes over the question that sites were really asked, which differs in the last bits from the one proposed here: a
    /// coordinator that replays its store on another machine computes a little differently. Algorithms that keep their
    /// own copy of the point move there.
    fn adopt(&mut self, _problem: &Problem, _asked: &Self::Question) {}
}

/// Where the standard errors of an algorithm come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorSource {
    /// Its last round brings the observed information.
    LastRound,
    /// One more round asks for the observed information at the solution.
    ExtraRound,
    /// It estimates variances by itself.
    Itself,
}

/// An algorithm whatever it asks, for the calibration.
pub(crate) trait AnyAlgorithm: Send {
    /// Like [`Algorithm::next`], from untyped numbers to an untyped question.
    fn advance(
        &mut self,
        problem: &Problem,
        aggregate: Option<Aggregate>,
        trace: &mut TraceEntry,
    ) -> Result<Next<Ask>, ReplyError>;

    /// Like [`Algorithm::adopt`]; nothing happens if the question is not of this algorithm's type.
    fn adopt_any(&mut self, problem: &Problem, asked: &Ask);
}

impl<A: Algorithm> AnyAlgorithm for A {
    fn advance(
        &mut self,
        problem: &Problem,
        aggregate: Option<Aggregate>,
        trace: &mut TraceEntry,
    ) -> Result<Next<Ask>, ReplyError> {
        let reply = aggregate.map(Aggregate::read).transpose()?;
        Ok(match self.next(problem, reply, trace)? {
            Next::Ask(question) => Next::Ask(question.into()),
            Next::Done(solution) => Next::Done(solution),
        })
    }

    fn adopt_any(&mut self, problem: &Problem, asked: &Ask) {
        if let Some(question) = A::Question::of(asked) {
            self.adopt(problem, question);
        }
    }
}

impl Problem {
    /// Coordinates at which the item parameters are `psi`, close to `y`: one Gauss-Newton step, whose error is the
    /// square of the distance.
    pub(crate) fn coordinates_near(&self, y: &DVector<f64>, psi: &[f64]) -> DVector<f64> {
        let here = self.structure.psi(y);
        let difference =
            DVector::from_iterator(here.len(), psi.iter().zip(&here).map(|(there, x)| there - x));
        let unit = ItemBlocks::identity(&self.design, psi.len());
        let back = self.structure.pulled_back(y, difference.as_slice());
        let step = Arrow::new(&self.structure, &self.design, y, &unit, 1e-10).solve(&back);
        step.map_or_else(|| y.clone(), |step| y + step)
    }

    /// Largest absolute gradient per student over the free parameters in their natural form, and the items
    /// with the largest, largest first.
    pub(crate) fn gradient_norm(&self, gradient: &[f64], held: &[usize]) -> (f64, Vec<String>) {
        let p = self.structure.parameters();
        let natural = self.structure.natural_gradient(&gradient[..p], held);
        let mut largest = natural.population.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        let mut items: Vec<(f64, usize)> = natural.items.iter().enumerate().map(|(j, g)| (*g, j)).collect();
        items.sort_by(|a, b| b.0.total_cmp(&a.0));
        largest = largest.max(items.first().map_or(0.0, |i| i.0));
        for g in &gradient[p..] {
            largest = largest.max(g.abs());
        }
        let slowest = items.iter().take(3).filter(|i| i.0 > 0.0).map(|i| self.names[i.1].clone()).collect();
        (largest / self.students, slowest)
    }
}

/// A symmetric matrix from its lower triangle, row by row.
pub(crate) fn symmetric(size: usize, triangle: &[f64]) -> DMatrix<f64> {
    let mut m = DMatrix::zeros(size, size);
    let mut at = 0;
    for r in 0..size {
        for c in 0..=r {
            m[(r, c)] = triangle[at];
            m[(c, r)] = triangle[at];
            at += 1;
        }
    }
    m
}

//! The calibration as a machine: opening sums, rounds of the algorithm, standard errors, closing exchange.

use super::CentreError;
use super::algorithm::{
    AlgorithmKind, AnyAlgorithm, EffectTotals, Next, Problem, Settings, Solution, symmetric,
};
use super::averaging::{FedAvg, FedSgd};
use super::bfgs::Bfgs;
use super::em::Em;
use super::errors::{Errors, InverseInformation};
use super::graph::linked_parts;
use super::meta::Meta;
use super::newton::Newton;
use super::opening::{
    at_one_end, check_algorithm, check_anchors, provisional_design, used_categories, warn_of_parts,
    warn_of_shifted_codes, warn_of_small_sites, warn_of_tiny_sites, warning,
};
use super::outcome::Outcome;
use super::schedule::Schedule;
use super::start::{self, StartSums};
use super::structure::{Anchor, Structure};
use crate::design::Design;
use crate::diagnostics::{Fitted, diagnose};
use crate::exchange::{Effects, Request};
use crate::fit::{TraceEntry, Warning};
use crate::population::Population;
use crate::questions::close::{CloseReply, EffectErrors};
use crate::questions::counts::CountsReply;
use crate::questions::diagnose::{DiagnoseReply, Diagnostic};
use crate::questions::evaluate::EvaluateReply;
use crate::questions::products::ProductsReply;
use crate::questions::start::{BetweenSites, StartReply};
use crate::questions::{Aggregate, Ask, Close, Diagnose, Evaluate, OfAsk, Products, ReplyError};
use nalgebra::{DMatrix, DVector};

/// An item of the codebook.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemPlan {
    /// Name.
    pub name: String,
    /// Model; `2pl` or `gpcm` by the number of categories where none is given.
    pub model: Option<String>,
    /// Category codes of the codebook; those seen at any site where none are given.
    pub codes: Option<Vec<u8>>,
    /// Given parameters.
    pub anchor: Option<Anchor>,
}

/// What is to be calibrated, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The codebook.
    pub items: Vec<ItemPlan>,
    /// Assumption about sites.
    pub effects: Effects,
    /// Distribution of ability.
    pub population: Population,
    /// Maximisation.
    pub settings: Settings,
    /// Whether sites send their effects by name.
    pub publish_effects: bool,
    /// What the coordinator may see.
    pub secrecy: Secrecy,
    /// What is asked for at the estimates to see whether the model is right.
    pub diagnostics: Vec<Diagnostic>,
}

impl Plan {
    /// Most points of one evaluation: the starting points that are compared, each with every start of the population.
    pub fn most_points(&self) -> usize {
        self.settings.starts * self.population.starts().len()
    }
}

/// What the coordinator may see, which decides what can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Secrecy {
    /// Each site's sums.
    #[default]
    BySite,
    /// Sums over all sites only.
    Sums {
        /// Fewest sites that must give an item, or a pair of items.
        n_min: usize,
        /// Sites that do not work with the coordinator: sums of squares over fewer than six name them.
        honest: usize,
    },
}

/// Share of the variance of ability between sites from which a fit starts if nothing may be asked about it.
const ASSUMED_BETWEEN: f64 = 0.1;

/// Most exchanges that follow the estimation, whether or not it converged: the information at the solution, products of
/// scores (weighted fits), the closing sums, and sums for diagnostics where some are listed. [`Settings::max_rounds`] does not
/// count them.
pub fn closing_exchanges(diagnostics: &[Diagnostic]) -> u32 {
    3 + u32::from(!diagnostics.is_empty())
}

/// Fewest rounds in which anything can be estimated: the opening sums and one evaluation.
pub const FEWEST_ROUNDS: u32 = 2;

/// Fewest honest sites for sums of squares over sites.
const POWER_SUMS: usize = 6;

impl Secrecy {
    pub(super) fn by_site(self) -> bool {
        self == Self::BySite
    }

    /// How sums of squares over sites may be asked for.
    pub(super) fn between(self) -> BetweenSites {
        match self {
            Self::BySite => BetweenSites::Exact,
            Self::Sums { honest, .. } if honest >= POWER_SUMS => BetweenSites::Rounded,
            Self::Sums { .. } => BetweenSites::Withheld,
        }
    }
}

/// What a site said when it enrolled.
#[derive(Debug, Clone, PartialEq)]
pub struct Enrolled {
    /// Name.
    pub name: String,
    /// Rows.
    pub students: u64,
    /// For each item of the codebook, the codes it uses as a bit mask; 0 where it does not give the item.
    pub codes: Vec<u64>,
    /// Whether its students carry weights.
    pub weighted: bool,
    /// Sum of the weights.
    pub total_weight: f64,
}

/// What the machine wants.
#[derive(Debug)]
pub enum CalibrationStep {
    /// Ask all sites.
    Ask(Box<Request>),
    /// Finished.
    Done(Box<Outcome>),
}

enum Phase {
    Opening,
    Rounds,
    Information(Box<Solution>),
    Products(Box<Solution>, Box<InverseInformation>),
    /// With the products of scores, for the closing question.
    Diagnostics(Box<Solution>, Option<Box<Errors>>, Vec<f64>),
    Closing(Box<Solution>, Option<Box<Errors>>),
}

/// The machine.
pub struct Calibration {
    plan: Plan,
    sites: Vec<Enrolled>,
    phase: Phase,
    /// Items of the provisional design, as positions in the codebook.
    provisional: Design,
    problem: Option<Problem>,
    algorithm: Option<Box<dyn AnyAlgorithm>>,
    schedule: Schedule,
    weight_scale: f64,
    students: f64,
    trace: Vec<TraceEntry>,
    exchanges: usize,
    numbers_sent: u64,
    warnings: Vec<Warning>,
    effects: Effects,
    diagnosed: Option<DiagnoseReply>,
    /// Two-way tables of the calibrated categories, where diagnostics need them.
    tables: Option<DMatrix<f64>>,
}

impl std::fmt::Debug for Calibration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Calibration({} items, {} sites, {} exchanges)",
            self.plan.items.len(),
            self.sites.len(),
            self.exchanges
        )
    }
}

impl Calibration {
    /// A calibration of these sites, with its first question.
    pub fn new(plan: Plan, sites: Vec<Enrolled>) -> Result<(Self, Box<Request>), CentreError> {
        let mut warnings = Vec::new();
        let mut effects = plan.effects;
        if sites.len() < 2 && effects != Effects::None {
            effects = Effects::None;
            warnings
                .push(warning("one_site", "there is only one site: no site effects are estimated".into()));
        }
        check_algorithm(&plan, effects)?;
        let provisional = provisional_design(&plan, &sites, &mut warnings)?;
        let schedule = Schedule::new(&plan, effects, sites.iter().any(|site| site.weighted));
        let opening = schedule.opening.clone();
        // On average a student weighs one, whatever the unit of the file.
        let total = total_weight(sites.iter().map(|s| s.total_weight));
        let enrolled: f64 = sites.iter().map(|s| s.students as f64).sum();
        let weight_scale = if total > 0.0 { enrolled / total } else { 1.0 };
        let calibration = Self {
            plan,
            sites,
            phase: Phase::Opening,
            provisional,
            problem: None,
            algorithm: None,
            schedule,
            weight_scale,
            students: 0.0,
            trace: Vec::new(),
            exchanges: 0,
            numbers_sent: 0,
            warnings,
            effects,
            diagnosed: None,
            tables: None,
        };
        let request = calibration.request(opening);
        Ok((calibration, request))
    }

    /// Rounds so far.
    pub fn trace(&self) -> &[TraceEntry] {
        &self.trace
    }

    /// The questions of this calibration, in their order.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Students per site: what brings the effects' parts of score products to the size of the items'.
    fn effect_unit(&self) -> f64 {
        self.students / self.sites.len().max(1) as f64
    }

    fn weighted(&self) -> bool {
        self.sites.iter().any(|s| s.weighted)
    }

    fn request(&self, ask: impl Into<Ask>) -> Box<Request> {
        let design = self.problem.as_ref().map_or(&self.provisional, |p| &p.design);
        let parts = self.problem.as_ref().map_or_else(|| vec![0; design.len()], |p| p.parts.clone());
        Box::new(Request {
            design: design.clone(),
            parts,
            population: self.plan.population,
            weight_scale: self.weight_scale,
            weighted: self.weighted(),
            effects: self.effects,
            ask: ask.into(),
        })
    }

    /// Goes on from the question that sites were really asked, where it differs in the last bits from the one proposed
    /// here (see `Algorithm::adopt`).
    pub fn adopt(&mut self, asked: &Request) {
        self.weight_scale = asked.weight_scale;
        let ask = &asked.ask;
        let (solution, point) = match &mut self.phase {
            Phase::Opening => return,
            Phase::Rounds => {
                if let (Some(problem), Some(algorithm)) = (&self.problem, &mut self.algorithm) {
                    algorithm.adopt_any(problem, ask);
                }
                return;
            }
            Phase::Information(solution) => {
                (solution, Evaluate::of(ask).and_then(|asked| asked.points.first()))
            }
            Phase::Products(solution, _) => (solution, Products::of(ask).map(|asked| &asked.point)),
            Phase::Diagnostics(solution, ..) => (solution, Diagnose::of(ask).map(|asked| &asked.point)),
            Phase::Closing(solution, _) => (solution, Close::of(ask).map(|asked| &asked.point)),
        };
        if let Some(point) = point {
            solution.point = point.clone();
        }
    }

    /// Takes the answers to the last question.
    pub fn advance(
        &mut self,
        request: &Request,
        aggregate: Aggregate,
    ) -> Result<CalibrationStep, CentreError> {
        self.exchanges += 1;
        self.numbers_sent += request.tensors().iter().map(|tensor| tensor.len() as u64).sum::<u64>();
        let round = self.trace.len() + 1;
        if let Some(statistic) = aggregate.not_finite() {
            return Err(CentreError::NotFinite { round, statistic: statistic.name });
        }
        let mut entry = TraceEntry {
            round,
            loglik: None,
            max_gradient: None,
            max_change: None,
            slowest_items: Vec::new(),
        };
        let phase = std::mem::replace(&mut self.phase, Phase::Rounds);
        let next = match phase {
            Phase::Opening => {
                self.open(Opening::read(request, aggregate)?)?;
                self.trace.push(entry);
                let mut unused = self.trace[0].clone();
                self.next_round(None, &mut unused)?
            }
            Phase::Rounds => {
                let next = self.next_round(Some(aggregate), &mut entry)?;
                self.trace.push(entry);
                next
            }
            Phase::Information(mut solution) => {
                let problem = self.problem()?;
                let mut reply = aggregate.read::<EvaluateReply>()?.into_single()?;
                entry.loglik = Some(reply.loglik);
                let (norm, slowest) = problem.gradient_norm(&reply.gradient, &[]);
                entry.max_gradient = Some(norm);
                entry.slowest_items = slowest;
                // Standing still is not enough; ten times the tolerance allows for effects found anew at the sites.
                solution.converged &= norm < 10.0 * problem.settings.tolerance;
                let information = reply.information.take();
                solution.information = information.map(|packed| symmetric(reply.gradient.len(), &packed));
                solution.totals = EffectTotals::of(reply);
                self.trace.push(entry);
                Next::Done(solution)
            }
            Phase::Products(solution, inverse) => {
                let packed = aggregate.read::<ProductsReply>()?.products;
                let size = ((8.0 * packed.len() as f64 + 1.0).sqrt() as usize - 1) / 2;
                let errors = inverse.sandwich(&symmetric(size, &packed), self.effect_unit());
                return Ok(CalibrationStep::Ask(self.diagnose(solution, Some(errors), packed)?));
            }
            Phase::Diagnostics(solution, errors, products) => {
                self.diagnosed = Some(aggregate.read()?);
                return Ok(CalibrationStep::Ask(self.close(solution, errors, &products)?));
            }
            Phase::Closing(solution, errors) => {
                let reply = aggregate.read::<CloseReply>()?;
                return Ok(CalibrationStep::Done(Box::new(self.finish(
                    *solution,
                    errors.as_deref(),
                    &reply,
                )?)));
            }
        };
        Ok(CalibrationStep::Ask(match next {
            Next::Ask(ask) => self.request(ask),
            Next::Done(solution) => self.settle(solution)?,
        }))
    }

    fn problem(&self) -> Result<&Problem, CentreError> {
        self.problem.as_ref().ok_or(CentreError::NoStudents)
    }

    fn next_round(
        &mut self,
        aggregate: Option<Aggregate>,
        entry: &mut TraceEntry,
    ) -> Result<Next<Ask>, CentreError> {
        let problem = self.problem.as_ref().ok_or(CentreError::NoStudents)?;
        let algorithm = self.algorithm.as_mut().ok_or(CentreError::NoStudents)?;
        match (algorithm.advance(problem, aggregate, entry)?, &self.schedule.information) {
            (Next::Ask(ask), _) if self.schedule.is_iteration(&self.request(ask.clone())) => {
                Ok(Next::Ask(ask))
            }
            (Next::Ask(_), _) => Err(CentreError::Unscheduled),
            (Next::Done(solution), None) => Ok(Next::Done(solution)),
            (Next::Done(solution), Some(question)) => {
                let question = Evaluate { points: vec![solution.point.clone()], ..*question };
                self.phase = Phase::Information(solution);
                Ok(Next::Ask(question.into()))
            }
        }
    }

    /// The published algorithms work with difficulties; not every model has them.
    fn no_difficulties(&self) -> CentreError {
        let name = self.plan.settings.algorithm.name();
        CentreError::Unsupported(format!("{name} knows no items without difficulties; use newton or em"))
    }

    /// Reads the opening sums: what can be calibrated, and from where to start.
    fn open(&mut self, opening: Opening) -> Result<(), CentreError> {
        self.students = opening.students();
        if self.students < 1.0 {
            return Err(CentreError::NoStudents);
        }
        // Rows without an answer have left: the weights of the others add up to their number.
        let rescale = self.students / opening.weight().max(f64::MIN_POSITIVE);
        self.weight_scale *= rescale;
        let table = match &opening {
            Opening::Counts(reply) => {
                DMatrix::from_diagonal(&DVector::from_row_slice(&reply.category_counts))
            }
            Opening::Start(reply) => symmetric(self.provisional.cells(), &reply.pairs) * rescale,
        };
        let (design, kept_items, kept) =
            used_categories(&self.plan, &self.provisional, &table, &mut self.warnings)?;
        let names: Vec<String> =
            design.items().iter().map(|i| self.plan.items[i.column].name.clone()).collect();
        let fixed = self.effects == Effects::Fixed;
        let given =
            self.sites.iter().filter(|site| !fixed || !at_one_end(&self.sites, &design, site)).map(|site| {
                (0..design.len()).filter(|&j| site.codes[design.items()[j].column] != 0).collect()
            });
        let parts = linked_parts(design.len(), given);
        self.warnings.extend(warn_of_parts(&self.plan, self.effects, &design, &parts));
        let anchors: Vec<Option<Anchor>> =
            design.items().iter().map(|i| self.plan.items[i.column].anchor.clone()).collect();
        check_anchors(&self.plan, &design, &anchors)?;
        let mut structure = Structure::new(&design, &anchors, self.effects, &self.plan.population);
        if !self.plan.secrecy.by_site() {
            structure = structure.within_policy();
        }
        let problem = Problem {
            design,
            names,
            parts,
            structure,
            effects: self.effects,
            settings: self.plan.settings.clone(),
            students: self.students,
            site_students: self.sites.iter().map(|s| s.students as f64).collect(),
            by_site: self.plan.secrecy.by_site(),
        };
        let tables = DMatrix::from_fn(kept.len(), kept.len(), |r, c| table[(kept[r], kept[c])]);
        let start = || {
            let Opening::Start(reply) = &opening else {
                return Err(CentreError::Reply(ReplyError::Missing("pair_table")));
            };
            let cut = |packed: &Option<Vec<f64>>| match packed {
                None => DMatrix::zeros(0, 0),
                Some(packed) => {
                    let m = symmetric(self.provisional.len(), packed);
                    let size = kept_items.len();
                    DMatrix::from_fn(size, size, |r, c| m[(kept_items[r], kept_items[c])])
                }
            };
            Ok(StartSums {
                pairs: tables.clone(),
                school_products: cut(&reply.school_products) * rescale,
                school_pairs: cut(&reply.school_pairs) * rescale,
                assumed_between: if self.effects == Effects::None { 0.0 } else { ASSUMED_BETWEEN },
            })
        };
        self.algorithm = Some(match self.plan.settings.algorithm {
            AlgorithmKind::Newton => {
                let (points, tau) = starting_points(&problem, &self.plan.population, &start()?);
                Box::new(Newton::new(points, tau))
            }
            AlgorithmKind::Em => {
                let (mut points, tau) = starting_points(&problem, &self.plan.population, &start()?);
                Box::new(Em::new(points.swap_remove(0), tau, problem.effects))
            }
            AlgorithmKind::Bfgs => Box::new(Bfgs::new(&problem).ok_or_else(|| self.no_difficulties())?),
            AlgorithmKind::Fedsgd => Box::new(FedSgd::new(&problem).ok_or_else(|| self.no_difficulties())?),
            AlgorithmKind::Fedavg => Box::new(FedAvg::new(&problem).ok_or_else(|| self.no_difficulties())?),
            AlgorithmKind::Meta => Box::new(Meta),
        });
        self.problem = Some(problem);
        let two_way = matches!(opening, Opening::Start(_));
        self.tables = (two_way && self.plan.diagnostics.contains(&Diagnostic::Pairs)).then_some(tables);
        self.warnings.extend(warn_of_small_sites(self.effects, &self.sites));
        self.warnings.extend(warn_of_tiny_sites(self.effects, &self.sites));
        self.warnings.extend(warn_of_shifted_codes(&self.sites));
        Ok(())
    }

    /// Centres the solution and turns its information into errors; weighted fits need products of scores for that.
    fn settle(&mut self, mut solution: Box<Solution>) -> Result<Box<Request>, CentreError> {
        let problem = self.problem()?;
        if self.effects == Effects::Fixed && solution.information.is_some() {
            // With the information at hand sites profile their effect at home, whoever found the items.
            solution.effects = None;
            super::errors::centre_origin(problem, &mut solution);
        }
        let inverse = solution.information.as_ref().and_then(|information| {
            InverseInformation::new(problem, &solution.y, information, &solution.totals, &solution.at_bound)
        });
        if inverse.is_none() && solution.own_variances.is_none() {
            self.warnings.push(warning(
                "information_not_positive",
                "the information matrix is not positive definite at the end: no standard errors (too few items or students for this model, as a rule)".into(),
            ));
        }
        match (inverse, &self.schedule.products) {
            (Some(_), None) if self.weighted() => {
                self.warnings.push(warning(
                    "errors_withheld",
                    format!("no standard errors: with weights and random effects they need sums of squares over sites, which {POWER_SUMS} or more sites must share"),
                ));
                self.diagnose(solution, None, Vec::new())
            }
            (Some(inverse), Some(question)) => {
                let request = self.request(Products {
                    point: solution.point.clone(),
                    effect_unit: self.effect_unit(),
                    ..*question
                });
                self.phase = Phase::Products(solution, Box::new(inverse));
                Ok(request)
            }
            (inverse, _) => self.diagnose(solution, inverse.map(|b| b.observed()), Vec::new()),
        }
    }

    /// The question for diagnostics, or the closing one where none were asked for.
    fn diagnose(
        &mut self,
        solution: Box<Solution>,
        errors: Option<Errors>,
        products: Vec<f64>,
    ) -> Result<Box<Request>, CentreError> {
        let errors = errors.map(Box::new);
        let Some(question) = &self.schedule.diagnostics else {
            return self.close(solution, errors, &products);
        };
        let request = self.request(Diagnose { point: solution.point.clone(), ..question.clone() });
        self.phase = Phase::Diagnostics(solution, errors, products);
        Ok(request)
    }

    /// The closing question.
    fn close(
        &mut self,
        solution: Box<Solution>,
        errors: Option<Box<Errors>>,
        products: &[f64],
    ) -> Result<Box<Request>, CentreError> {
        let problem = self.problem()?;
        let at_sites = errors
            .as_ref()
            .filter(|_| self.effects != Effects::None)
            .map(|errors| effect_errors(problem, errors, &solution.totals, products, self.effect_unit()));
        let question = Close {
            point: solution.point.clone(),
            sd: problem.structure.sd(&solution.y),
            errors: at_sites,
            effects: solution.effects.clone(),
            ..self.schedule.closing
        };
        self.phase = Phase::Closing(solution, errors);
        Ok(self.request(question))
    }

    fn finish(
        &mut self,
        solution: Solution,
        errors: Option<&Errors>,
        reply: &CloseReply,
    ) -> Result<Outcome, CentreError> {
        let (diagnosed, tables) = (self.diagnosed.take(), self.tables.take());
        let problem = self.problem()?;
        if solution.at_bound.len() == problem.design.len() {
            return Err(CentreError::NoEstimates(self.students as u64));
        }
        let diagnostics = diagnosed.map(|reply| {
            let fitted = Fitted {
                design: &problem.design,
                names: &problem.names,
                psi: &solution.point.psi,
                jacobian: &problem.structure.jacobian(&solution.y),
                free: (0..problem.design.len())
                    .map(|j| problem.design.span(j).filter(|&r| problem.structure.is_free(r)).count())
                    .collect(),
                population: &self.plan.population,
                shared: self.plan.population.size()
                    + usize::from(problem.structure.sd_is_free())
                    + usize::from(problem.structure.mean_is_free()),
                latent_mean: problem.structure.mean(&solution.y),
                latent_sd: problem.structure.sd(&solution.y),
                grid: &self.plan.population.at(&solution.point.psi[problem.design.parameters()..]),
                effects: self.effects,
                weighted: self.weighted(),
                wanted: &self.plan.diagnostics,
                seed: self.plan.settings.seed,
            };
            diagnose(&fitted, &reply, tables.as_ref())
        });
        let mut outcome = Outcome::new(problem, &self.plan, &self.sites, solution, errors, reply);
        outcome.diagnostics = diagnostics;
        outcome.weighted = self.weighted();
        outcome.warnings.splice(0..0, std::mem::take(&mut self.warnings));
        outcome.rounds = self.trace.len();
        outcome.trace = std::mem::take(&mut self.trace);
        outcome.exchanges = self.exchanges;
        outcome.numbers_sent = self.numbers_sent;
        Ok(outcome)
    }
}

/// The sum of the sites' weights, whatever their order: added from the smallest up.
pub fn total_weight(weights: impl Iterator<Item = f64>) -> f64 {
    let mut weights: Vec<f64> = weights.collect();
    weights.sort_by(f64::total_cmp);
    weights.iter().sum()
}

/// The reply to the first question.
enum Opening {
    Counts(CountsReply),
    Start(StartReply),
}

impl Opening {
    fn read(request: &Request, aggregate: Aggregate) -> Result<Self, CentreError> {
        Ok(if let Ask::Start(_) = request.ask {
            Self::Start(aggregate.read()?)
        } else {
            Self::Counts(aggregate.read()?)
        })
    }

    fn students(&self) -> f64 {
        match self {
            Self::Counts(reply) => reply.students,
            Self::Start(reply) => reply.students,
        }
    }

    fn weight(&self) -> f64 {
        match self {
            Self::Counts(reply) => reply.weight,
            Self::Start(reply) => reply.weight,
        }
    }
}

/// Starting points from the pair tables with each start of the population, and an SD between sites. Items with given parameters set the unit and the
/// origin of the start.
fn starting_points(problem: &Problem, population: &Population, sums: &StartSums) -> (Vec<DVector<f64>>, f64) {
    let start = start::start(&problem.design, sums);
    let tau = (start.between / (1.0 - start.between)).sqrt().max(0.1);
    let coordinates = |psi: &Vec<f64>| {
        let (sd, mean) = problem.structure.population_start(psi);
        let mut psi = psi.clone();
        if problem.structure.anchored() && problem.effects == Effects::Fixed {
            // The effects carry the mean: free items move to the anchors' origin.
            let shift = problem.design.shift_direction(&psi);
            psi.iter_mut().zip(&shift).for_each(|(x, n)| *x -= n * mean / sd);
        }
        population.starts().into_iter().map(move |shape| {
            let mut psi = psi.clone();
            psi.extend(shape);
            problem.structure.coordinates(&psi, sd, mean)
        })
    };
    let candidates = start.candidates.iter().take(problem.settings.starts.max(1));
    (candidates.flat_map(coordinates).collect(), tau)
}

fn effect_errors(
    problem: &Problem,
    errors: &Errors,
    totals: &EffectTotals,
    products: &[f64],
    effect_unit: f64,
) -> EffectErrors {
    let p = problem.structure.parameters();
    let lower = |size: usize, at: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..size).flat_map(|r| (0..=r).map(move |c| (r, c))).map(|(r, c)| at(r, c)).collect()
    };
    if problem.effects == Effects::Random {
        // Over (ψ, log τ): the latter stands behind σ and μ.
        let place = |r: usize| if r == p { p + 2 } else { r };
        return EffectErrors {
            covariance: lower(p + 1, &|r, c| errors.covariance[(place(r), place(c))]),
            mean_loadings: Vec::new(),
            sites: Vec::new(),
            variances: Vec::new(),
            sd_gradient: problem.structure.sd_from_psi(),
            products: Vec::new(),
            effect_unit,
        };
    }
    let covariance = lower(p, &|r, c| errors.before_centring[(r, c)]);
    let mean_loadings = totals
        .loadings
        .iter()
        .enumerate()
        .map(|(at, b)| if totals.sites[at / p] > 0.0 { b / totals.sites[at / p] } else { 0.0 })
        .collect();
    EffectErrors {
        covariance,
        mean_loadings,
        // Nothing is centred where anchors fix the origin.
        sites: (totals.sites.iter().enumerate())
            .map(|(part, n)| if problem.structure.anchors_part(&problem.parts, part) { 0.0 } else { *n })
            .collect(),
        variances: totals.variances.clone(),
        sd_gradient: problem.structure.sd_from_psi(),
        products: products.to_vec(),
        effect_unit,
    }
}

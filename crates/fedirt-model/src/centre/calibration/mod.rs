//! The calibration as a machine: opening sums, rounds of the algorithm, standard errors, closing exchange.

mod close;
mod groups;
mod open;

use super::CentreError;
use super::algorithm::{AnyAlgorithm, EffectTotals, Information, Next, Problem, Solution, symmetric};
use super::arrow::ItemBlocks;
use super::errors::{Errors, InverseInformation};
use super::opening::{check_algorithm, provisional_design, warn_of_large_bank, warning};
use super::outcome::Outcome;
use super::plan::{Enrolled, Plan, total_weight};
use super::schedule::Schedule;
use crate::design::Design;
use crate::exchange::{Effects, Request};
use crate::fit::{TraceEntry, Warning};
use crate::questions::close::CloseReply;
use crate::questions::diagnose::DiagnoseReply;
use crate::questions::evaluate::EvaluateReply;
use crate::questions::products::ProductsReply;
use crate::questions::{Aggregate, Ask, Close, Diagnose, Dif, Evaluate, OfAsk, Products};
use groups::Compared;
use nalgebra::DMatrix;
use open::Opening;

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
    /// The same, while groups and sites are compared.
    Groups(Box<Solution>, Option<Box<Errors>>, Vec<f64>),
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
    compared: Option<Compared>,
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
    pub fn new(mut plan: Plan, sites: Vec<Enrolled>) -> Result<(Self, Box<Request>), CentreError> {
        let mut warnings = Vec::new();
        plan.settings.algorithm = plan.algorithm();
        warnings.extend(warn_of_large_bank(&plan));
        let mut effects = plan.effects;
        if sites.len() < 2 && effects != Effects::None {
            effects = Effects::None;
            warnings
                .push(warning("one_site", "there is only one site: no site effects are estimated".into()));
        }
        check_algorithm(&plan, effects)?;
        groups::check(&plan, effects, &sites)?;
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
            compared: None,
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
            Phase::Groups(solution, ..) => (solution, Dif::of(ask).map(|asked| &asked.point)),
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
                let size = reply.gradient.len();
                let by_item = reply.information_by_item.take();
                solution.information = match reply.information.take() {
                    Some(packed) => Some(Information::Full(symmetric(size, &packed))),
                    None => by_item
                        .map(|packed| Information::ByItem(ItemBlocks::read(&problem.design, size, &packed))),
                };
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
                return Ok(CalibrationStep::Ask(self.compare(solution, errors, products)?));
            }
            Phase::Groups(solution, errors, products) => {
                let Some(asked) = Dif::of(&request.ask) else { return Err(CentreError::Unscheduled) };
                let reply = aggregate.read()?;
                let next = self.compared(solution, errors, products, asked, reply)?;
                return Ok(CalibrationStep::Ask(next));
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
}

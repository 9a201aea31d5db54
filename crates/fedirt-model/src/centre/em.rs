//! EM with one Newton step on the expected complete data per round (Lange 1995), accelerated by SQUAREM
//! (Varadhan & Roland 2008, scheme S3).
//!
//! In a long test all items can move together with everybody's ability, and only the population's fixed mean and SD say that they
//! should not: plain EM needs rounds in proportion to the number of items for that. So each step also estimates mean and SD of
//! ability and rescales (PX-EM; Liu, Rubin & Wu 1998). Work and memory at the centre grow with the number of items alone.

use super::algorithm::{Algorithm, EffectTotals, ErrorSource, Next, Problem, Settings, Solution};
use super::arrow::{Arrow, ItemBlocks};
use super::newton::SITE_SD_FLOOR;
use super::plan::Plan;
use crate::exchange::{Effects, Point};
use crate::fit::TraceEntry;
use crate::questions::evaluate::{Curvature, EvaluateReply, PointReply};
use crate::questions::{Ask, Evaluate, ReplyError, Start};
use nalgebra::DVector;

/// Longest extrapolation in any coordinate.
const LONGEST_STEP: f64 = 1.5;

/// Coordinates, and log τ with random effects.
type State = DVector<f64>;

pub(crate) struct Em {
    /// The state of this cycle's start and after one EM step.
    cycle: Vec<(State, f64)>,
    asked: State,
    /// An extrapolated state is being tried; this one is safe.
    fallback: Option<(State, f64)>,
    rounds: usize,
}

impl Em {
    pub(crate) fn new(start: DVector<f64>, tau: f64, effects: Effects) -> Self {
        let asked = if effects == Effects::Random { start.push(tau.max(SITE_SD_FLOOR).ln()) } else { start };
        Self { cycle: Vec::new(), asked, fallback: None, rounds: 1 }
    }

    fn ask(&self, problem: &Problem) -> Next<Evaluate> {
        let points = vec![point(problem, &self.asked)];
        Next::Ask(Evaluate { points, ..Self::question(&problem.settings, problem.by_site) })
    }
}

fn point(problem: &Problem, state: &State) -> Point {
    let n = problem.structure.size();
    let site_sd = if state.len() > n { state[n].exp() } else { 0.0 };
    Point { psi: problem.structure.psi(&state.rows(0, n).into_owned()), site_sd }
}

/// Longest step of an item in any of its coordinates.
const LONGEST_ITEM_STEP: f64 = 1.0;

/// Derivatives of the log-likelihood in the log of the unit of ability and in its origin, per student: what all items gain by
/// moving together.
///
/// They are E[V²] − 1 and E[V] over students, by partial integration. Site effects carry the origin, and random ones scale with the
/// unit. Items at the bound of their parameters do not move.
fn common_gradient(problem: &Problem, psi: &[f64], gradient: &[f64], still: &[usize]) -> (f64, f64) {
    let (design, p) = (&problem.design, problem.structure.parameters());
    let (mut unit, mut origin) = (0.0, 0.0);
    let moving = (0..design.len()).filter(|j| !still.contains(j));
    for r in moving.flat_map(|j| design.span(j)) {
        match design.slope_of(r) {
            None => unit += psi[r] * gradient[r],
            Some((slope, score)) => origin += psi[slope] * score * gradient[r],
        }
    }
    match problem.effects {
        Effects::None => {}
        Effects::Fixed => origin = 0.0,
        Effects::Random => (unit, origin) = (unit - gradient[p], 0.0),
    }
    (unit / problem.students, origin / problem.students)
}

/// The EM map: one Newton step on the complete data, mean and SD of ability, and τ² = mean E[s²], which the gradient
/// tells: ∂ log-likelihood/∂ log τ = Σ_k (E[s_k²]/τ² − 1).
fn em_step(
    problem: &Problem,
    state: &State,
    reply: &PointReply,
    still: &[usize],
) -> Result<State, ReplyError> {
    let (structure, design) = (&problem.structure, &problem.design);
    let (p, n) = (structure.parameters(), structure.size());
    let y = state.rows(0, n).into_owned();
    let gradient = &reply.gradient;
    let packed = reply.complete_information.as_ref().ok_or(ReplyError::Missing("complete_information"))?;
    let information = ItemBlocks::read(design, p, packed);
    let g = structure.pulled_back(&y, &gradient[..p]);
    let ridge = 1e-8 * problem.students;
    let mut step =
        Arrow::new(structure, design, &y, &information, ridge).solve(&g).unwrap_or(g / problem.students);
    // One item that runs away must not hold back the others.
    structure.shorten_items(&mut step, LONGEST_ITEM_STEP);
    for c in structure.shared_coordinates() {
        step[c] = step[c].clamp(-LONGEST_ITEM_STEP, LONGEST_ITEM_STEP);
    }
    for _ in 0..20 {
        let psi = structure.psi(&(&y + &step));
        let refused: Vec<usize> =
            (0..design.len()).filter(|&j| !design.model(j).admissible(&psi[design.span(j)])).collect();
        if refused.is_empty() {
            break;
        }
        structure.coordinates_of(&refused).into_iter().for_each(|c| step[c] /= 2.0);
    }
    let mut next = y.clone() + step;
    let (unit, origin) = common_gradient(problem, &structure.psi(&y), gradient, still);
    let scale = (1.0 + unit).clamp(0.25, 4.0).sqrt();
    next = structure.rescaled(&next, scale, origin.clamp(-1.0, 1.0)).unwrap_or(next);
    structure.clamp(&mut next);
    if state.len() > n {
        let sites = problem.site_students.len().max(1) as f64;
        let growth = (1.0 + gradient[p] / sites).max(0.1);
        next = next.push((state[n] + 0.5 * growth.ln()).max(SITE_SD_FLOOR.ln()));
    }
    Ok(next)
}

impl Algorithm for Em {
    type Question = Evaluate;
    const ERRORS: ErrorSource = ErrorSource::ExtraRound;

    fn opening(plan: &Plan) -> Ask {
        Start { between: plan.secrecy.between() }.into()
    }

    fn question(_settings: &Settings, by_site: bool) -> Evaluate {
        Evaluate { points: Vec::new(), curvature: Curvature::Complete, effect_totals: by_site }
    }

    fn next(
        &mut self,
        problem: &Problem,
        reply: Option<EvaluateReply>,
        trace: &mut TraceEntry,
    ) -> Result<Next<Evaluate>, ReplyError> {
        let Some(reply) = reply else { return Ok(self.ask(problem)) };
        let reply = reply.into_single()?;
        self.rounds += 1;
        let loglik = reply.loglik;
        let mut gradient = reply.gradient.clone();
        let n = problem.structure.size();
        if self.asked.len() > n
            && self.asked[n] <= SITE_SD_FLOOR.ln() + 1e-9
            && gradient.last().is_some_and(|g| *g <= 0.0)
        {
            gradient.pop();
        }
        let items = &self.asked.rows(0, n).into_owned();
        let held = problem.structure.held(items, &gradient[..problem.structure.parameters()]);
        let still = problem.structure.items_of(&held);
        let (norm, slowest) = problem.gradient_norm(&gradient, &held);
        let norm = if problem.structure.rescaled(items, 1.0, 0.0).is_some() {
            let psi = problem.structure.psi(items);
            let (unit, origin) = common_gradient(problem, &psi, &reply.gradient, &still);
            norm.max(unit.abs()).max(origin.abs())
        } else {
            norm
        };
        trace.loglik = Some(loglik);
        trace.max_gradient = Some(norm);
        trace.slowest_items = slowest;
        let converged = norm < problem.settings.tolerance;
        if converged || self.rounds >= problem.settings.max_rounds {
            return Ok(Next::Done(Box::new(Solution {
                point: point(problem, &self.asked),
                y: self.asked.rows(0, n).into_owned(),
                converged,
                information: None,
                totals: EffectTotals::of(reply),
                effects: None,
                own_variances: None,
                at_bound: still,
                held,
                starts: Vec::new(),
            })));
        }
        // An extrapolation that lost likelihood is undone.
        if let Some((safe, safe_loglik)) = self.fallback.take()
            && loglik < safe_loglik - 1e-6
        {
            self.cycle.clear();
            trace.max_change = Some((&safe - &self.asked).amax());
            self.asked = safe;
            return Ok(self.ask(problem));
        }
        let next = em_step(problem, &self.asked, &reply, &still)?;
        self.cycle.push((self.asked.clone(), loglik));
        let proposal = match self.cycle.as_slice() {
            [(x0, _), (x1, loglik1)] => {
                let (r, v) = (x1 - x0, (&next - x1) - (x1 - x0));
                let alpha = (-r.norm() / v.norm().max(1e-12)).min(-1.0);
                let mut jump = x0 - 2.0 * alpha * &r + alpha * alpha * &v;
                // No further from what was asked last than a site's policy allows.
                let far = (&jump - x1).amax();
                if far > LONGEST_STEP {
                    jump = x1 + (&jump - x1) * (LONGEST_STEP / far);
                }
                let mut items = jump.rows(0, n).into_owned();
                problem.structure.clamp(&mut items);
                jump.rows_mut(0, n).copy_from(&items);
                let fine = problem.design.admissible(&problem.structure.psi(&items))
                    && (jump.len() == n || (jump[n] < 3.0 && jump[n] >= SITE_SD_FLOOR.ln()));
                let chosen = if fine {
                    self.fallback = Some((next.clone(), *loglik1));
                    jump
                } else {
                    next
                };
                self.cycle.clear();
                chosen
            }
            _ => next,
        };
        trace.max_change = Some((&proposal - &self.asked).amax());
        self.asked = proposal;
        Ok(self.ask(problem))
    }

    fn adopt(&mut self, problem: &Problem, asked: &Evaluate) {
        let Some(point) = asked.points.first() else { return };
        let n = problem.structure.size();
        let items = problem.coordinates_near(&self.asked.rows(0, n).into_owned(), &point.psi);
        self.asked.rows_mut(0, n).copy_from(&items);
        if self.asked.len() > n {
            self.asked[n] = point.site_sd.ln();
        }
    }
}

//! EM with one Newton step on the expected complete data per round (Lange 1995), accelerated by SQUAREM
//! (Varadhan & Roland 2008, scheme S3).

use super::algorithm::{Algorithm, EffectTotals, ErrorSource, Next, Problem, Settings, Solution};
use super::newton::SITE_SD_FLOOR;
use super::plan::Plan;
use crate::exchange::{Effects, Point};
use crate::fit::TraceEntry;
use crate::questions::evaluate::{Curvature, EvaluateReply, PointReply};
use crate::questions::{Ask, Evaluate, ReplyError, Start};
use nalgebra::{DMatrix, DVector};

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

/// The EM map: one Newton step on the complete data, and τ² = mean E[s²], which the gradient tells:
/// ∂ log-likelihood/∂ log τ = Σ_k (E[s_k²]/τ² − 1).
fn em_step(problem: &Problem, state: &State, reply: &PointReply) -> Result<State, ReplyError> {
    let (p, n) = (problem.structure.parameters(), problem.structure.size());
    let y = state.rows(0, n).into_owned();
    let gradient = &reply.gradient;
    let packed = reply.complete_information.as_ref().ok_or(ReplyError::Missing("complete_information"))?;
    let mut information = DMatrix::zeros(p, p);
    let mut at = 0;
    let items = (0..problem.design.len()).map(|j| problem.design.span(j));
    for span in items.chain(std::iter::once(problem.design.parameters()..p)) {
        for r in span.clone() {
            for c in span.start..=r {
                information[(r, c)] = packed[at];
                information[(c, r)] = packed[at];
                at += 1;
            }
        }
    }
    let t = problem.structure.jacobian(&y);
    let g = t.transpose() * DVector::from_row_slice(&gradient[..p]);
    let mut a = t.transpose() * information * &t;
    for r in 0..n {
        a[(r, r)] += 1e-8 * problem.students;
    }
    let mut step = a.lu().solve(&g).unwrap_or_else(|| g / problem.students);
    let size = step.amax();
    if size > 1.0 {
        step /= size;
    }
    let mut scale = 1.0;
    while scale > 1e-6 && !problem.design.admissible(&problem.structure.psi(&(&y + scale * &step))) {
        scale /= 2.0;
    }
    let mut next = y + scale * step;
    problem.structure.clamp(&mut next);
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
        let (norm, slowest) = problem.gradient_norm(&gradient, &held);
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
                at_bound: problem.structure.items_of(&held),
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
        let next = em_step(problem, &self.asked, &reply)?;
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

//! BFGS as published: every evaluation of likelihood and gradient is a round.
//!
//! Backtracking from a unit step, by fifths, as R's `optim` does, on the log-likelihood per student.

use super::algorithm::{Algorithm, EffectTotals, ErrorSource, Next, Problem, Settings, Solution};
use super::plan::Plan;
use super::published::Layout;
use crate::exchange::{Effects, Point};
use crate::fit::TraceEntry;
use crate::questions::published::PublishedReply;
use crate::questions::{Ask, Counts, Published, ReplyError};
use nalgebra::{DMatrix, DVector};

pub(crate) struct Bfgs {
    layout: Layout,
    /// Best point so far: x, log-likelihood and gradient per student.
    here: Option<(Vec<f64>, f64, DVector<f64>)>,
    inverse: DMatrix<f64>,
    fresh: bool,
    direction: DVector<f64>,
    step: f64,
    asked: Vec<f64>,
    rounds: usize,
}

impl Bfgs {
    /// None where an item's model has no difficulties.
    pub(crate) fn new(problem: &Problem) -> Option<Self> {
        let layout = Layout::new(&problem.design, problem.site_students.len())?;
        let n = layout.size;
        let asked = layout.start(&problem.design);
        Some(Self {
            layout,
            here: None,
            inverse: DMatrix::identity(n, n),
            fresh: true,
            direction: DVector::zeros(n),
            step: 1.0,
            asked,
            rounds: 1,
        })
    }

    fn ask(&self, problem: &Problem) -> Next<Published> {
        Next::Ask(Published {
            psi: self.layout.psi(&problem.design, &self.asked),
            effects: self.layout.effects(&self.asked).to_vec(),
            ..Self::question(&problem.settings, problem.by_site)
        })
    }

    fn propose(&mut self, problem: &Problem) -> Next<Published> {
        let Some((x, ..)) = &self.here else { return self.ask(problem) };
        loop {
            let trial: Vec<f64> = x.iter().zip(&self.direction).map(|(x, d)| x + self.step * d).collect();
            if problem.design.admissible(&self.layout.psi(&problem.design, &trial)) || self.step < 1e-12 {
                self.asked = trial;
                return self.ask(problem);
            }
            self.step /= 5.0;
        }
    }
}

pub(super) fn solution(problem: &Problem, layout: &Layout, x: &[f64], converged: bool) -> Box<Solution> {
    let psi = layout.psi(&problem.design, x);
    let sd = psi[0];
    Box::new(Solution {
        y: problem.structure.coordinates(&psi, sd_of(problem, &psi).unwrap_or(sd), 0.0),
        point: Point { psi, site_sd: 0.0 },
        converged,
        information: None,
        totals: EffectTotals::default(),
        effects: (problem.effects == Effects::Fixed).then(|| layout.effects(x).to_vec()),
        own_variances: None,
        at_bound: Vec::new(),
        held: Vec::new(),
        starts: Vec::new(),
    })
}

/// The SD of ability, read off a slope that follows it.
fn sd_of(problem: &Problem, psi: &[f64]) -> Option<f64> {
    let row = problem.structure.sd_from_psi();
    row.iter().position(|w| *w != 0.0).map(|at| row[at] * psi[at])
}

/// Log-likelihood and gradient per student in the published parameters.
pub(super) fn read(
    problem: &Problem,
    layout: &Layout,
    x: &[f64],
    reply: &PublishedReply,
    students: f64,
) -> (f64, DVector<f64>) {
    let effects: Vec<f64> = match problem.effects {
        Effects::Fixed => reply.effect_gradient.0.iter().map(|[g]| *g).collect(),
        Effects::None | Effects::Random => vec![0.0; problem.site_students.len()],
    };
    let gradient = layout.gradient(&problem.design, x, &reply.gradient, &effects);
    (reply.loglik / students, DVector::from_vec(gradient) / students)
}

impl Algorithm for Bfgs {
    type Question = Published;
    const ERRORS: ErrorSource = ErrorSource::ExtraRound;

    fn opening(_plan: &Plan) -> Ask {
        Counts.into()
    }

    fn question(_settings: &Settings, _by_site: bool) -> Published {
        Published { psi: Vec::new(), effects: Vec::new(), chosen: None }
    }

    fn next(
        &mut self,
        problem: &Problem,
        reply: Option<PublishedReply>,
        trace: &mut TraceEntry,
    ) -> Result<Next<Published>, ReplyError> {
        let Some(reply) = reply else { return Ok(self.ask(problem)) };
        self.rounds += 1;
        let (loglik, gradient) = read(problem, &self.layout, &self.asked, &reply, problem.students);
        let (items, slowest) = problem.gradient_norm(&reply.gradient, &[]);
        let effects = gradient.rows(self.layout.effects, self.layout.size - self.layout.effects);
        let norm = items.max(if effects.is_empty() { 0.0 } else { effects.amax() });
        trace.loglik = Some(loglik * problem.students);
        trace.max_gradient = Some(norm);
        trace.max_change = Some(self.step * self.direction.amax());
        trace.slowest_items = slowest;
        if norm < problem.settings.tolerance {
            let mut x = self.asked.clone();
            self.layout.recentre(&problem.design, &mut x);
            return Ok(Next::Done(solution(problem, &self.layout, &x, true)));
        }
        let accepted = match &self.here {
            None => true,
            Some((_, best, g)) => loglik >= best + 1e-4 * self.step * g.dot(&self.direction),
        };
        if accepted {
            let mut x = self.asked.clone();
            if let Some((old, _, old_gradient)) = &self.here {
                let s = DVector::from_iterator(x.len(), x.iter().zip(old).map(|(a, b)| a - b));
                let y = old_gradient - &gradient;
                let sy = s.dot(&y);
                if sy > 1e-14 {
                    let by = &self.inverse * &y;
                    let scale = 1.0 + y.dot(&by) / sy;
                    self.inverse +=
                        (scale * &s * s.transpose() - &by * s.transpose() - &s * by.transpose()) / sy;
                    self.fresh = false;
                }
            }
            self.layout.recentre(&problem.design, &mut x);
            self.direction = &self.inverse * &gradient;
            if self.direction.dot(&gradient) <= 0.0 {
                self.inverse.fill_with_identity();
                self.direction = gradient.clone();
                self.fresh = true;
            }
            self.here = Some((x, loglik, gradient));
            self.step = 1.0;
        } else {
            self.step /= 5.0;
        }
        if self.step * self.direction.amax() < 1e-11 {
            if self.fresh || self.rounds >= problem.settings.max_rounds {
                let Some((x, ..)) = &self.here else { return Ok(self.ask(problem)) };
                return Ok(Next::Done(solution(problem, &self.layout, x, false)));
            }
            // The curvature has gone stale: start again from the gradient.
            self.inverse.fill_with_identity();
            self.fresh = true;
            if let Some((_, _, g)) = &self.here {
                self.direction = g.clone();
            }
            self.step = 1.0;
        }
        if self.rounds >= problem.settings.max_rounds {
            let Some((x, ..)) = &self.here else { return Ok(self.ask(problem)) };
            return Ok(Next::Done(solution(problem, &self.layout, x, false)));
        }
        Ok(self.propose(problem))
    }
}

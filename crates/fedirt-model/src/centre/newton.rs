//! Newton on sums with a trust radius: the default.
//!
//! Round 1 gives starting values; from round 2 on each round brings log-likelihood, gradient and observed
//! information at the parameters that were broadcast. The step is taken in the coordinates of
//! [`Structure`](super::structure::Structure), with eigenvalues in absolute value, so that it climbs even
//! where the information is not positive.

use super::algorithm::{
    Algorithm, EffectTotals, ErrorSource, Information, Next, Problem, Settings, Solution, symmetric,
};
use super::plan::Plan;
use super::structure::Structure;
use crate::design::Design;
use crate::exchange::{Effects, Point, Request};
use crate::fit::TraceEntry;
use crate::population::Population;
use crate::questions::evaluate::{Curvature, EvaluateReply};
use crate::questions::{Ask, Evaluate, ReplyError, Start, SumQuestion};
use crate::responses::ResponseTable;
use crate::site::{SiteData, SiteView};
use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};

/// Smallest SD of random effects: below it sites do not differ.
pub(crate) const SITE_SD_FLOOR: f64 = 0.02;

/// Eigenvalues are at least this share of the largest.
const EIGEN_FLOOR: f64 = 1e-5;

/// A point with what the sites said about it.
#[derive(Clone)]
struct Evaluated {
    y: DVector<f64>,
    tau: f64,
    loglik: f64,
    gradient: Vec<f64>,
    information: DMatrix<f64>,
    totals: EffectTotals,
    norm: f64,
    held: Vec<usize>,
}

pub(crate) struct Newton {
    /// Points that are being asked about.
    asked: Vec<(DVector<f64>, f64)>,
    best: Option<Evaluated>,
    radius: f64,
    step: f64,
    rounds: usize,
    /// Log-likelihoods of the starting points, where there were several: best first.
    starts: Vec<f64>,
    /// The last step that was taken.
    last: DVector<f64>,
    /// Coordinates that have run into their bounds; they stay there.
    stuck: Vec<usize>,
}

impl Newton {
    /// From one or more starting points.
    pub(crate) fn new(starts: Vec<DVector<f64>>, tau: f64) -> Self {
        let last = DVector::zeros(starts.first().map_or(0, DVector::len));
        let asked = starts.into_iter().map(|y| (y, tau.max(SITE_SD_FLOOR))).collect();
        // The start round has been spent.
        Self {
            asked,
            best: None,
            radius: 1.0,
            step: 0.0,
            rounds: 1,
            starts: Vec::new(),
            last,
            stuck: Vec::new(),
        }
    }

    fn ask(&self, problem: &Problem) -> Next<Evaluate> {
        let point = |(y, tau): &(DVector<f64>, f64)| Point { psi: problem.structure.psi(y), site_sd: *tau };
        let points = self.asked.iter().map(point).collect();
        Next::Ask(Evaluate { points, ..Self::question(&problem.settings, problem.by_site) })
    }

    /// The best of the points that were asked about.
    fn read(&self, problem: &Problem, reply: EvaluateReply) -> Result<Option<Evaluated>, ReplyError> {
        let size = problem.structure.parameters() + usize::from(problem.effects == Effects::Random);
        let evaluated = self
            .asked
            .iter()
            .zip(reply.points)
            .map(|((y, tau), mut reply)| {
                let gradient = std::mem::take(&mut reply.gradient);
                let packed = reply.information.take().ok_or(ReplyError::Missing("information"))?;
                let mut held = problem.structure.held(y, &gradient[..problem.structure.parameters()]);
                held.extend(&self.stuck);
                held.sort_unstable();
                held.dedup();
                let mut judged = gradient.clone();
                if at_floor(problem, *tau, &gradient) {
                    judged.pop();
                }
                Ok(Evaluated {
                    y: y.clone(),
                    tau: *tau,
                    loglik: reply.loglik,
                    norm: problem.gradient_norm(&judged, &held).0,
                    information: symmetric(size, &packed),
                    totals: EffectTotals::of(reply),
                    held,
                    gradient,
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(evaluated.into_iter().max_by(|a, b| a.loglik.total_cmp(&b.loglik)))
    }

    fn finish(&self, problem: &Problem, reply: &Evaluated, converged: bool) -> Next<Evaluate> {
        let (mut y, mut tau) = (reply.y.clone(), reply.tau);
        let mut totals = reply.totals.clone();
        if converged {
            // One more step costs no round: it takes the error from about 1e-5 to its square.
            let (step, tau_step) = newton_step(problem, reply, 0.0);
            if step.amax() < 0.05 && tau_step.abs() < 0.05 {
                let next = &y + step;
                if problem.design.admissible(&problem.structure.psi(&next)) {
                    totals.follow(&problem.structure.psi(&y), &problem.structure.psi(&next));
                    y = next;
                    tau = (tau + tau_step).max(SITE_SD_FLOOR);
                }
            }
        }
        Next::Done(Box::new(Solution {
            point: Point { psi: problem.structure.psi(&y), site_sd: tau },
            y,
            converged,
            information: Some(Information::Full(reply.information.clone())),
            totals,
            effects: None,
            own_variances: None,
            at_bound: problem.structure.items_of(&reply.held),
            held: reply.held.clone(),
            starts: self.starts.clone(),
        }))
    }
}

/// Whether the SD of random effects rests on its floor and wants to stay there.
fn at_floor(problem: &Problem, tau: f64, gradient: &[f64]) -> bool {
    problem.effects == Effects::Random
        && tau <= SITE_SD_FLOOR * (1.0 + 1e-9)
        && gradient.last().is_some_and(|g| *g <= 0.0)
}

/// The step in (coordinates, τ), before the trust radius.
///
/// `damping` is added to the diagonal of the information (Levenberg 1944): it shortens the step where the likelihood is
/// flat, and hardly elsewhere.
fn newton_step(problem: &Problem, reply: &Evaluated, damping: f64) -> (DVector<f64>, f64) {
    let (p, structure) = (problem.structure.parameters(), &problem.structure);
    let t = structure.jacobian(&reply.y);
    let mut g = t.transpose() * DVector::from_row_slice(&reply.gradient[..p]);
    let items = reply.information.view((0, 0), (p, p));
    let mut a = t.transpose() * items * &t - structure.curvature(&reply.y, &reply.gradient[..p]);
    for c in 0..a.nrows() {
        a[(c, c)] += damping;
    }
    for &c in &reply.held {
        a.row_mut(c).fill(0.0);
        a.column_mut(c).fill(0.0);
        a[(c, c)] = problem.students;
        g[c] = 0.0;
    }
    if problem.effects == Effects::Fixed {
        for direction in structure.flat_directions(&reply.y, &problem.parts) {
            // Sites at the bound of their effect hold the origin: then it is not flat, and needs no gauge.
            if direction.dot(&g).abs() < 1e-7 * problem.students {
                a += problem.students * &direction * direction.transpose();
            }
        }
    }
    if problem.effects != Effects::Random {
        return (solve(a, &g), 0.0);
    }
    // Sites differentiate in log τ; the step is in τ.
    let n = structure.size();
    let (tau, log_gradient) = (reply.tau, reply.gradient[p]);
    let mut wide = DMatrix::zeros(n + 1, n + 1);
    wide.view_mut((0, 0), (n, n)).copy_from(&a);
    let mut rhs = DVector::zeros(n + 1);
    rhs.rows_mut(0, n).copy_from(&g);
    if at_floor(problem, tau, &reply.gradient) {
        wide[(n, n)] = 1.0;
    } else {
        let cross = t.transpose() * reply.information.view((0, p), (p, 1)) / tau;
        for r in 0..n {
            wide[(r, n)] = cross[(r, 0)];
            wide[(n, r)] = cross[(r, 0)];
        }
        wide[(n, n)] = (reply.information[(p, p)] + log_gradient) / (tau * tau);
        rhs[n] = log_gradient / tau;
    }
    let step = solve(wide, &rhs);
    (step.rows(0, n).into_owned(), step[n])
}

/// The step within a trust radius. Slopes of single categories can be so ill determined that a step as a whole would have to
/// be cut to nothing: with such items it is damped instead.
fn damped_step(problem: &Problem, reply: &Evaluated, radius: f64) -> (DVector<f64>, f64) {
    let mut found = newton_step(problem, reply, 0.0);
    if (0..problem.design.len()).any(|j| problem.design.model(j).one_slope().is_none()) {
        let mut damping = 1e-4 * problem.students;
        while found.0.amax() > radius && damping < problem.students {
            found = newton_step(problem, reply, damping);
            damping *= 2.0;
        }
    }
    found
}

/// A⁻¹g, with eigenvalues in absolute value and none too small.
fn solve(a: DMatrix<f64>, g: &DVector<f64>) -> DVector<f64> {
    let a = (&a + a.transpose()) * 0.5;
    let largest = (0..a.nrows()).map(|r| a[(r, r)]).fold(0.0f64, f64::max);
    if let Some(cholesky) = Cholesky::new(a.clone()) {
        // The squared pivots bound the eigenvalues well enough to tell the easy case.
        let smallest = cholesky.l_dirty().diagonal().iter().fold(f64::INFINITY, |m, x| m.min(x * x));
        if smallest > 10.0 * EIGEN_FLOOR * largest {
            return cholesky.solve(g);
        }
    }
    let eigen = SymmetricEigen::new(a);
    let top = eigen.eigenvalues.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let mut x = eigen.eigenvectors.transpose() * g;
    for (x, value) in x.iter_mut().zip(eigen.eigenvalues.iter()) {
        *x /= value.abs().max(EIGEN_FLOOR * top);
    }
    eigen.eigenvectors * x
}

impl Algorithm for Newton {
    type Question = Evaluate;
    const ERRORS: ErrorSource = ErrorSource::LastRound;

    fn opening(plan: &Plan) -> Ask {
        Start { between: plan.secrecy.between() }.into()
    }

    fn question(_settings: &Settings, by_site: bool) -> Evaluate {
        Evaluate { points: Vec::new(), curvature: Curvature::Observed, effect_totals: by_site }
    }

    fn next(
        &mut self,
        problem: &Problem,
        reply: Option<EvaluateReply>,
        trace: &mut TraceEntry,
    ) -> Result<Next<Evaluate>, ReplyError> {
        let Some(reply) = reply else { return Ok(self.ask(problem)) };
        self.rounds += 1;
        if self.asked.len() > 1 {
            self.starts = reply.points.iter().map(|point| point.loglik).collect();
            self.starts.sort_by(|a, b| b.total_cmp(a));
        }
        let Some(reply) = self.read(problem, reply)? else { return Ok(self.ask(problem)) };
        trace.loglik = Some(reply.loglik);
        trace.max_gradient = Some(reply.norm);
        trace.max_change = Some(self.step);

        trace.slowest_items = problem.gradient_norm(&reply.gradient, &reply.held).1;
        let accepted = match &self.best {
            None => true,
            Some(best) => {
                reply.loglik >= best.loglik - 1e-10 * best.loglik.abs() || reply.norm < 0.3 * best.norm
            }
        };
        if accepted {
            if self.best.is_some() {
                self.radius = (2.0 * self.radius).min(1.5);
            }
            self.stuck.clone_from(&reply.held);
            self.best = Some(reply);
        } else {
            self.radius = self.step / 3.0;
        }
        let Some(best) = self.best.clone() else { return Ok(self.ask(problem)) };
        if best.norm < problem.settings.tolerance {
            return Ok(self.finish(problem, &best, true));
        }
        if self.rounds >= problem.settings.max_rounds || self.radius < 1e-9 {
            return Ok(self.finish(problem, &best, false));
        }
        let (mut step, mut tau_step) = damped_step(problem, &best, self.radius);
        if accepted {
            // One item that runs away must not hold back the others: each item has the radius to itself.
            problem.structure.shorten_items(&mut step, self.radius);
        }
        let size = step.amax().max(tau_step.abs());
        let mut scale = if size > self.radius { self.radius / size } else { 1.0 };
        // Inadmissible intercepts are avoided before anyone is asked.
        while scale > 1e-6 && !problem.design.admissible(&problem.structure.psi(&(&best.y + scale * &step))) {
            scale /= 2.0;
        }
        step *= scale;
        tau_step *= scale;
        let mut y = &best.y + &step;
        if accepted {
            // A site's policy refuses long jumps, where it cannot see who asks for them.
            if problem.by_site {
                problem.structure.send_runaways(&mut y, &self.last, &step);
            }
            self.last = step.clone();
        }
        problem.structure.clamp(&mut y);
        let tau = (best.tau + tau_step).max(SITE_SD_FLOOR);
        self.step = step.amax().max(tau_step.abs());
        self.asked = vec![(y, tau)];
        Ok(self.ask(problem))
    }

    fn adopt(&mut self, problem: &Problem, asked: &Evaluate) {
        for ((y, tau), point) in self.asked.iter_mut().zip(&asked.points) {
            *y = problem.coordinates_near(y, &point.psi);
            *tau = point.site_sd;
        }
    }
}

/// A fit at one site alone, without school effect: what the meta-analysis averages.
pub(crate) struct LocalNewton {
    pub psi: Vec<f64>,
    /// Covariance of ψ.
    pub covariance: Option<DMatrix<f64>>,
}

impl LocalNewton {
    /// Variance of an item's slope (r = 0) or r-th difficulty, by the delta method.
    pub(crate) fn variance(&self, design: &Design, item: usize, r: usize) -> f64 {
        let Some(covariance) = &self.covariance else { return 0.0 };
        let span = design.span(item);
        if r == 0 {
            return covariance[(span.start, span.start)];
        }
        let a = self.psi[span.start];
        let mut direction = DVector::zeros(span.len());
        let Some(model) = design.model(item).one_slope() else { return 0.0 };
        for (step, w) in model.difficulty_weights(r) {
            direction[step] = -w / a;
            direction[0] += w * self.psi[span.start + step] / (a * a);
        }
        let block = covariance.view((span.start, span.start), (span.len(), span.len()));
        direction.dot(&(block * &direction))
    }

    /// Maximises a site's own likelihood, starting from its own two-way tables.
    pub(crate) fn fit(
        table: &ResponseTable,
        data: &SiteData,
        population: &Population,
        tolerance: f64,
        iterations: usize,
    ) -> Result<Self, ReplyError> {
        let design: &Design = data.design();
        let structure = Structure::new(design, &[], Effects::None, population);
        let sums = data.start_sums(Effects::None);
        let start = super::start::start(design, &sums);
        let problem = Problem {
            design: design.clone(),
            names: vec![String::new(); design.len()],
            parts: vec![0; design.len()],
            structure,
            effects: Effects::None,
            settings: Settings { tolerance, max_rounds: iterations, ..Settings::default() },
            students: data.total_weight(),
            site_students: Vec::new(),
            by_site: true,
        };
        let psi = &start.candidates[0];
        let sd = psi[design.offset(0)].abs();
        let mut newton = Newton::new(vec![problem.structure.coordinates(psi, sd, 0.0)], 0.0);
        let mut trace = TraceEntry {
            round: 0,
            loglik: None,
            max_gradient: None,
            max_change: None,
            slowest_items: Vec::new(),
        };
        let mut request = Request {
            design: design.clone(),
            parts: problem.parts.clone(),
            population: *population,
            weight_scale: 1.0,
            weighted: data.weighted,
            effects: Effects::None,
            ask: Newton::question(&problem.settings, true).into(),
        };
        let mut reply = None;
        loop {
            match newton.next(&problem, reply.take(), &mut trace)? {
                Next::Done(solution) => {
                    let covariance = match solution.information {
                        Some(Information::Full(information)) => {
                            super::errors::item_covariance(&problem, &solution.y, &information)
                        }
                        Some(Information::ByItem(_)) | None => None,
                    };
                    return Ok(Self { psi: solution.point.psi, covariance });
                }
                Next::Ask(question) => {
                    request.ask = question.clone().into();
                    let site = SiteView { table, data, population, request: &request, index: 0 };
                    reply = Some(question.answer(&site));
                }
            }
        }
    }
}

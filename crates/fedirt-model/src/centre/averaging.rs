//! FedSGD and FedAvg (McMahan et al. 2017), as the paper's section 2 writes them.

use super::algorithm::{Algorithm, ErrorSource, Next, Problem, Settings, Solution};
use super::bfgs::{read, solution};
use super::plan::Plan;
use super::published::Layout;
use crate::exchange::Effects;
use crate::fit::TraceEntry;
use crate::questions::published::PublishedReply;
use crate::questions::train::TrainReply;
use crate::questions::{Ask, Counts, Published, ReplyError, Train};
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What both algorithms share: the parameters, and the draw of the sites that take part in a round.
struct Averaging {
    layout: Layout,
    x: Vec<f64>,
    chosen: Vec<usize>,
    rng: ChaCha8Rng,
    rounds: usize,
}

impl Averaging {
    /// None where an item's model has no difficulties.
    fn new(problem: &Problem) -> Option<Self> {
        let layout = Layout::new(&problem.design, problem.site_students.len())?;
        let x = layout.start(&problem.design);
        let rng = ChaCha8Rng::seed_from_u64(problem.settings.seed);
        Some(Self { layout, x, chosen: Vec::new(), rng, rounds: 1 })
    }

    /// Draws the sites of the next round.
    fn draw(&mut self, problem: &Problem) -> Vec<usize> {
        let sites = problem.site_students.len();
        let number =
            ((problem.settings.client_fraction * sites as f64).round() as usize).clamp(1, sites.max(1));
        self.chosen = index::sample(&mut self.rng, sites, number.min(sites)).into_vec();
        self.chosen.sort_unstable();
        self.chosen.clone()
    }

    /// Centres the effects after a step; the largest change of any parameter.
    fn recentre(&mut self, problem: &Problem, before: &[f64], trace: &mut TraceEntry) -> f64 {
        self.layout.recentre(&problem.design, &mut self.x);
        let change = self.x.iter().zip(before).map(|(a, b)| (a - b).abs()).fold(0.0f64, f64::max);
        trace.max_change = Some(change);
        change
    }

    fn solution(&self, problem: &Problem, x: &[f64], converged: bool) -> Box<Solution> {
        solution(problem, &self.layout, x, converged)
    }
}

/// Federated stochastic gradient descent: the centre takes a step along the gradient of the chosen sites.
pub(crate) struct FedSgd(Averaging);

impl FedSgd {
    /// None where an item's model has no difficulties.
    pub(crate) fn new(problem: &Problem) -> Option<Self> {
        Averaging::new(problem).map(Self)
    }

    fn ask(&mut self, problem: &Problem) -> Next<Published> {
        let chosen = self.0.draw(problem);
        Next::Ask(Published {
            psi: self.0.layout.psi(&problem.design, &self.0.x),
            effects: self.0.layout.effects(&self.0.x).to_vec(),
            chosen: Some(chosen),
        })
    }

    /// w ← w + η Σ_k (N_k/N_S) g_k, gradients per student. The largest gradient, where all sites took part.
    fn step(&mut self, problem: &Problem, reply: &PublishedReply, trace: &mut TraceEntry) -> f64 {
        let Averaging { layout, x, chosen, .. } = &mut self.0;
        let students: f64 = chosen.iter().map(|&k| problem.site_students[k]).sum();
        let (loglik, gradient) = read(problem, layout, x, reply, students);
        let whole = chosen.len() == problem.site_students.len();
        trace.loglik = whole.then_some(loglik * students);
        trace.max_gradient = Some(gradient.amax());
        let mut scale = problem.settings.learning_rate;
        loop {
            let next: Vec<f64> = x.iter().zip(gradient.iter()).map(|(x, g)| x + scale * g).collect();
            if problem.design.admissible(&layout.psi(&problem.design, &next)) || scale < 1e-9 {
                *x = next;
                break;
            }
            scale /= 2.0;
        }
        if whole { gradient.amax() } else { f64::INFINITY }
    }
}

impl Algorithm for FedSgd {
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
        self.0.rounds += 1;
        let before = self.0.x.clone();
        let norm = self.step(problem, &reply, trace);
        if norm < problem.settings.tolerance {
            return Ok(Next::Done(self.0.solution(problem, &before, true)));
        }
        self.0.recentre(problem, &before, trace);
        if self.0.rounds >= problem.settings.max_rounds {
            return Ok(Next::Done(self.0.solution(problem, &self.0.x, false)));
        }
        Ok(self.ask(problem))
    }
}

/// Federated averaging: the centre takes the mean of the parameters after training at the chosen sites.
pub(crate) struct FedAvg(Averaging);

impl FedAvg {
    /// None where an item's model has no difficulties.
    pub(crate) fn new(problem: &Problem) -> Option<Self> {
        Averaging::new(problem).map(Self)
    }

    fn ask(&mut self, problem: &Problem) -> Next<Train> {
        let chosen = self.0.draw(problem);
        Next::Ask(Train {
            items: self.0.layout.items(&problem.design, &self.0.x),
            effects: self.0.layout.effects(&self.0.x).to_vec(),
            chosen,
            ..Self::question(&problem.settings, problem.by_site)
        })
    }

    /// w ← Σ_k (N_k/N_S) w_k. The mean of admissible item parameters is admissible.
    fn average(&mut self, problem: &Problem, reply: &TrainReply) {
        let Averaging { layout, x, chosen, .. } = &mut self.0;
        let weight = reply.weight.max(1e-9);
        let mean: Vec<f64> = reply.parameters.iter().map(|w| w / weight).collect();
        layout.set_items(&problem.design, &mean, x);
        if problem.effects == Effects::Fixed {
            for &k in &*chosen {
                x[layout.effects + k] = reply.effect.0.get(k).map_or(0.0, |[effect]| *effect);
            }
        }
    }
}

impl Algorithm for FedAvg {
    type Question = Train;
    const ERRORS: ErrorSource = ErrorSource::ExtraRound;

    fn opening(_plan: &Plan) -> Ask {
        Counts.into()
    }

    fn question(settings: &Settings, _by_site: bool) -> Train {
        Train {
            items: Vec::new(),
            effects: Vec::new(),
            chosen: Vec::new(),
            epochs: settings.local_epochs,
            learning_rate: settings.learning_rate,
        }
    }

    fn next(
        &mut self,
        problem: &Problem,
        reply: Option<TrainReply>,
        trace: &mut TraceEntry,
    ) -> Result<Next<Train>, ReplyError> {
        let Some(reply) = reply else { return Ok(self.ask(problem)) };
        self.0.rounds += 1;
        let before = self.0.x.clone();
        self.average(problem, &reply);
        let change = self.0.recentre(problem, &before, trace);
        // Averaging has no gradient to judge by: it ends where it stands still.
        let still = problem.settings.client_fraction >= 1.0 && change < problem.settings.tolerance;
        if still || self.0.rounds >= problem.settings.max_rounds {
            return Ok(Next::Done(self.0.solution(problem, &self.0.x, still)));
        }
        Ok(self.ask(problem))
    }
}

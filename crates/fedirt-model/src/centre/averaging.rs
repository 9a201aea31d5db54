//! FedSGD and FedAvg (McMahan et al. 2017), as the paper's section 2 writes them.

use super::algorithm::{Algorithm, AlgorithmKind, Next, Problem};
use super::bfgs::{read, solution};
use super::published::Layout;
use crate::exchange::{Aggregate, Ask, Effects};
use crate::fit::TraceEntry;
use crate::statistics::Statistic;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// One of the two: FedSGD asks for gradients, FedAvg for parameters after local training.
pub(crate) struct Averaging {
    layout: Layout,
    x: Vec<f64>,
    chosen: Vec<usize>,
    rng: ChaCha8Rng,
    rounds: usize,
}

impl Averaging {
    /// None where an item's model has no difficulties.
    pub(crate) fn new(problem: &Problem) -> Option<Self> {
        let layout = Layout::new(&problem.design, problem.site_students.len())?;
        let x = layout.start(&problem.design);
        let rng = ChaCha8Rng::seed_from_u64(problem.settings.seed);
        Some(Self { layout, x, chosen: Vec::new(), rng, rounds: 1 })
    }

    /// Draws the sites of the next round and asks them.
    fn ask(&mut self, problem: &Problem) -> Next {
        let sites = problem.site_students.len();
        let number =
            ((problem.settings.client_fraction * sites as f64).round() as usize).clamp(1, sites.max(1));
        self.chosen = index::sample(&mut self.rng, sites, number.min(sites)).into_vec();
        self.chosen.sort_unstable();
        let effects = self.layout.effects(&self.x).to_vec();
        let chosen = self.chosen.clone();
        Next::ask(match problem.settings.algorithm {
            AlgorithmKind::Fedavg => Ask::Train {
                items: self.layout.items(&problem.design, &self.x),
                effects,
                chosen,
                epochs: problem.settings.local_epochs,
                learning_rate: problem.settings.learning_rate,
            },
            _ => Ask::Published {
                psi: self.layout.psi(&problem.design, &self.x),
                effects,
                chosen: Some(chosen),
            },
        })
    }

    /// w ← w + η Σ_k (N_k/N_S) g_k, gradients per student.
    fn gradient_step(&mut self, problem: &Problem, aggregate: &Aggregate, trace: &mut TraceEntry) -> f64 {
        let students: f64 = self.chosen.iter().map(|&k| problem.site_students[k]).sum();
        let (loglik, gradient) = read(problem, &self.layout, &self.x, aggregate, students);
        let whole = self.chosen.len() == problem.site_students.len();
        trace.loglik = whole.then_some(loglik * students);
        trace.max_gradient = Some(gradient.amax());
        let mut scale = problem.settings.learning_rate;
        loop {
            let next: Vec<f64> = self.x.iter().zip(gradient.iter()).map(|(x, g)| x + scale * g).collect();
            if problem.design.admissible(&self.layout.psi(&problem.design, &next)) || scale < 1e-9 {
                self.x = next;
                break;
            }
            scale /= 2.0;
        }
        if whole { gradient.amax() } else { f64::INFINITY }
    }

    /// w ← Σ_k (N_k/N_S) w_k. The mean of admissible item parameters is admissible.
    fn average(&mut self, problem: &Problem, aggregate: &Aggregate) {
        let weight = aggregate.scalar(Statistic::Weight).max(1e-9);
        let mean: Vec<f64> =
            aggregate.sum(Statistic::TrainedParameters, 0).iter().map(|w| w / weight).collect();
        self.layout.set_items(&problem.design, &mean, &mut self.x);
        if problem.effects == Effects::Fixed {
            let trained = aggregate.by_site(Statistic::TrainedEffect);
            for &k in &self.chosen {
                self.x[self.layout.effects + k] = trained[k].first().copied().unwrap_or(0.0);
            }
        }
    }
}

impl Algorithm for Averaging {
    fn next(&mut self, problem: &Problem, aggregate: Option<&Aggregate>, trace: &mut TraceEntry) -> Next {
        let Some(aggregate) = aggregate else { return self.ask(problem) };
        self.rounds += 1;
        let before = self.x.clone();
        let norm = if problem.settings.algorithm == AlgorithmKind::Fedavg {
            self.average(problem, aggregate);
            f64::INFINITY
        } else {
            self.gradient_step(problem, aggregate, trace)
        };
        if norm < problem.settings.tolerance {
            return solution(problem, &self.layout, &before, true);
        }
        self.layout.recentre(&problem.design, &mut self.x);
        let change = self.x.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0f64, f64::max);
        trace.max_change = Some(change);
        // Averaging has no gradient to judge by: it ends where it stands still.
        let still = problem.settings.algorithm == AlgorithmKind::Fedavg
            && problem.settings.client_fraction >= 1.0
            && change < problem.settings.tolerance;
        if still || self.rounds >= problem.settings.max_rounds {
            return solution(problem, &self.layout, &self.x, still);
        }
        self.ask(problem)
    }
}

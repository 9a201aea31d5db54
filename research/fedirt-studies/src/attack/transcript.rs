//! What a coordinator sees of a run: each question, and each site's numbers.

use crate::StudyError;
use fedirt_model::centre::{AlgorithmKind, Plan, Secrecy, Settings};
use fedirt_model::exchange::{Effects, Request};
use fedirt_model::fit::TraceEntry;
use fedirt_model::quadrature::GridSpec;
use fedirt_model::questions::{Ask, Close, Named, Published};
use fedirt_model::statistics::Combination;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{self, Observer, Sent};
use fedirt_protocol::message::{Question, Turn};

use super::patterns::Point;
use fedirt_model::simulate::Simulated;

/// One exchange.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    /// The question.
    pub request: Request,
    /// Each site's answer, in the order of the sites.
    pub answers: Vec<Named>,
}

impl Exchange {
    /// What one site sent, number after number.
    pub(super) fn of_site(&self, site: usize) -> Vec<f64> {
        self.answers[site].iter().flat_map(|(_, numbers)| numbers).copied().collect()
    }

    /// The opened sum over all sites, of numbers that were rounded to these steps: what `secure` shows.
    pub(super) fn sum(&self, steps: &[f64]) -> Vec<f64> {
        let mut total: Vec<f64> = Vec::new();
        for answer in &self.answers {
            let summed = answer.iter().filter(|(s, _)| s.combination == Combination::Sum);
            let numbers: Vec<f64> = summed.flat_map(|(_, numbers)| numbers).copied().collect();
            total.resize(numbers.len(), 0.0);
            let rounded = numbers.iter().zip(steps).map(|(x, step)| (x / step).round() * step);
            total.iter_mut().zip(rounded).for_each(|(t, x)| *t += x);
        }
        total
    }
}

/// All exchanges of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Transcript {
    exchanges: Vec<(Turn, Exchange)>,
}

impl Observer for Transcript {
    fn round(&mut self, _entry: &TraceEntry) {}

    fn declared(&mut self, _site: &str, _declaration: &Declaration) {}

    fn sent(&mut self, _site: &str, turn: Turn, question: &Question, sent: Sent<'_>) {
        let (Question::Sums(request), Sent::Numbers(numbers)) = (question, sent) else { return };
        // Sites answer in their order.
        match self.exchanges.last_mut() {
            Some((last, exchange)) if *last == turn => exchange.answers.push(numbers.to_vec()),
            _ => {
                let exchange = Exchange { request: request.clone(), answers: vec![numbers.to_vec()] };
                self.exchanges.push((turn, exchange));
            }
        }
    }

    fn wants_numbers(&self) -> bool {
        true
    }
}

impl Transcript {
    /// Watches an honest run over the sites of a study.
    pub(super) fn of(
        data: &Simulated,
        algorithm: AlgorithmKind,
        effects: Effects,
        tolerance: f64,
    ) -> Result<Self, StudyError> {
        let plan = Plan {
            items: data.items(),
            effects,
            population: GridSpec::default().into(),
            settings: Settings { algorithm, tolerance, ..Settings::default() },
            publish_effects: effects != Effects::None,
            secrecy: Secrecy::BySite,
            diagnostics: Vec::new(),
            groups: Vec::new(),
            purify: true,
            compare_sites: false,
        };
        let mut transcript = Self::default();
        in_process::run(plan, data.sites(), &mut transcript)?;
        Ok(transcript)
    }

    /// The exchanges in order.
    pub(super) fn exchanges(&self) -> impl Iterator<Item = &Exchange> {
        self.exchanges.iter().map(|(_, exchange)| exchange)
    }

    /// The rounds of the published protocol.
    pub(super) fn published(&self) -> Vec<&Exchange> {
        self.exchanges().filter(|e| matches!(e.request.ask, Ask::Published(_))).collect()
    }

    /// The fitted model for the students of a site: what everybody learns at the end.
    pub(super) fn fitted(&self, site: usize) -> Result<Point, StudyError> {
        let closing = self.exchanges().find_map(|e| match &e.request.ask {
            Ask::Close(Close { point, effects, .. }) => Some((e, point, effects)),
            _ => None,
        });
        let (exchange, point, effects) = closing.ok_or(StudyError::NoClosing)?;
        let effect = effects.as_ref().and_then(|s| s.get(site)).copied().unwrap_or(0.0);
        Ok(Point { psi: point.psi.clone(), effect, grid: exchange.request.population.grid() })
    }
}

/// The point at which a round of the published protocol was asked.
pub(super) fn asked(request: &Request, site: usize) -> Option<Point> {
    let Ask::Published(Published { psi, effects, .. }) = &request.ask else { return None };
    let effect = match request.effects {
        Effects::Fixed => effects.get(site).copied().unwrap_or(0.0),
        _ => 0.0,
    };
    Some(Point { psi: psi.clone(), effect, grid: request.population.grid() })
}

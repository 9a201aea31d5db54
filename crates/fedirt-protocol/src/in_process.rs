//! Coordinator and all sites in one process: the same machines that run over a network, without one.

use crate::coordinator::{Coordinator, CoordinatorError, CoordinatorOutput, Finished};
use crate::message::{Bounds, SiteId, ToCoordinator, ToSite, Turn};
use crate::site::{SiteMachine, SiteOutput};
use crate::{Timestamp, encoding};
use fedirt_model::centre::Plan;
use fedirt_model::exchange::Request;
use fedirt_model::fit::TraceEntry;
use fedirt_model::responses::ResponseTable;
use fedirt_model::statistics::Mode;
use rayon::prelude::*;

/// What a run may be watched by.
pub trait Observer {
    /// A round is complete.
    fn round(&mut self, entry: &TraceEntry);
    /// A site sends numbers.
    fn sent(&mut self, site: &str, turn: Turn, request: &Request, vectors: &[Vec<f64>]);
    /// Whether [`Observer::sent`] wants to be called.
    fn wants_numbers(&self) -> bool;
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn round(&mut self, _entry: &TraceEntry) {}
    fn sent(&mut self, _site: &str, _turn: Turn, _request: &Request, _vectors: &[Vec<f64>]) {}
    fn wants_numbers(&self) -> bool {
        false
    }
}

/// Nothing in one process depends on the time.
const NOW: Timestamp = Timestamp(0);

/// Runs a calibration of named sites to its end, and hands their tables back. Each table has one column per item of
/// the plan.
pub fn run(
    plan: Plan,
    sites: Vec<(String, ResponseTable)>,
    observer: &mut dyn Observer,
) -> Result<(Finished, Vec<ResponseTable>), CoordinatorError> {
    let names: Vec<String> = sites.iter().map(|(name, _)| name.clone()).collect();
    let mut coordinator = Coordinator::new(plan, Mode::Plain, sites.len());
    let mut machines: Vec<SiteMachine> =
        sites.into_iter().enumerate().map(|(k, (name, table))| SiteMachine::new(name, k, table)).collect();
    let mut inbox: Vec<Option<ToSite>> = vec![None; machines.len()];
    let mut open: Option<(Turn, Bounds, Box<Request>)> = None;
    loop {
        let answers: Vec<Vec<SiteOutput>> = machines
            .par_iter_mut()
            .zip(&mut inbox)
            .map(|(machine, message)| {
                if let Some(message) = message.take() {
                    machine.handle(NOW, &message);
                }
                std::iter::from_fn(|| machine.poll()).collect()
            })
            .collect();
        for (k, outputs) in answers.into_iter().enumerate() {
            for output in outputs {
                let SiteOutput::Send(message) = output else { continue };
                if observer.wants_numbers()
                    && let (ToCoordinator::Upload { words, .. }, Some((turn, bounds, request))) =
                        (&message, &open)
                    && let Ok(vectors) = encoding::decode(request, *bounds, words)
                {
                    observer.sent(&names[k], *turn, request, &vectors);
                }
                coordinator.handle(NOW, SiteId(k), message);
            }
        }
        while let Some(output) = coordinator.poll() {
            match output {
                CoordinatorOutput::Persist { .. } => {}
                CoordinatorOutput::Progress(entry) => observer.round(&entry),
                CoordinatorOutput::Send { to, message } => {
                    if let ToSite::Open { turn, bounds, request, .. } = &message {
                        open = Some((*turn, *bounds, request.clone()));
                    }
                    inbox[to.0] = Some(message);
                }
                CoordinatorOutput::Finished(result) => {
                    let finished = (*result)?;
                    return Ok((finished, machines.into_iter().map(SiteMachine::into_table).collect()));
                }
            }
        }
    }
}

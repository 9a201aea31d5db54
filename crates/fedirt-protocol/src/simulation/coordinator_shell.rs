//! The coordinator with a disk, as a real shell would run it.

use crate::coordinator::{Coordinator, CoordinatorError, Finished, Input, Output};
use crate::message::{Announcement, ToCoordinator, ToSite};
use crate::terms::Terms;
use crate::{SiteId, Timestamp, codec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What became of a site's message.
pub(super) enum Verdict {
    /// On disk: the site need not send it again.
    Acknowledged,
    /// Refused: it need not send it again either.
    Rejected,
    /// The coordinator went down first.
    Lost,
}

/// The shell.
pub(super) struct CoordinatorShell {
    terms: Terms,
    machine: Option<Coordinator>,
    /// Inputs on disk, with what was announced when they were taken.
    disk: Vec<(Timestamp, Input, Option<Announcement>)>,
    /// What each site may fetch.
    latest: BTreeMap<SiteId, Arc<ToSite>>,
    pub(super) result: Option<Result<Box<Finished>, CoordinatorError>>,
    pub(super) restarts: u64,
}

impl CoordinatorShell {
    pub(super) fn new(terms: Terms) -> Self {
        let machine = Some(Coordinator::new(terms.clone(), Timestamp(0)));
        Self { terms, machine, disk: Vec::new(), latest: BTreeMap::new(), result: None, restarts: 0 }
    }

    pub(super) fn is_up(&self) -> bool {
        self.machine.is_some()
    }

    pub(super) fn machine(&self) -> Option<&Coordinator> {
        self.machine.as_ref()
    }

    /// Goes down: everything that is not on disk is gone.
    pub(super) fn crash(&mut self) {
        self.machine = None;
        self.latest.clear();
        self.result = None;
    }

    /// Comes up and replays its disk.
    pub(super) fn restart(&mut self) {
        self.restarts += 1;
        let mut machine = Coordinator::new(self.terms.clone(), Timestamp(0));
        for (at, input, announced) in self.disk.clone() {
            // What was accepted once is accepted again.
            assert!(machine.replay(at, input, announced).is_ok(), "a stored input was rejected");
            while let Some(output) = machine.poll() {
                self.keep(output);
            }
        }
        self.machine = Some(machine);
    }

    fn keep(&mut self, output: Output) {
        match output {
            Output::Send { to, message } => {
                self.latest.insert(to, message);
            }
            Output::Finished(result) => self.result = Some((*result).map(Box::new)),
            Output::Persist { .. } | Output::Progress(_) => {}
        }
    }

    /// Takes an input; `crash_now` is asked before each thing that it does.
    pub(super) fn take(
        &mut self,
        now: Timestamp,
        input: Input,
        crash_now: &mut dyn FnMut() -> bool,
    ) -> Verdict {
        let Some(machine) = &mut self.machine else { return Verdict::Lost };
        if machine.handle(now, input).is_err() {
            return Verdict::Rejected;
        }
        let mut outputs = Vec::new();
        while let Some(output) = machine.poll() {
            outputs.push(output);
        }
        for output in outputs {
            if crash_now() {
                self.crash();
                return Verdict::Lost;
            }
            match output {
                Output::Persist { at, input, announced } => self.disk.push((at, input, announced)),
                other => self.keep(other),
            }
        }
        if crash_now() {
            self.crash();
            return Verdict::Lost;
        }
        Verdict::Acknowledged
    }

    /// Whether a message that was acknowledged is on disk, or a later one of the same kind made it moot.
    pub(super) fn remembers(&self, site: &SiteId, message: &ToCoordinator) -> bool {
        self.disk.iter().any(|(_, input, _)| {
            matches!(input, Input::Message { from, message: known } if from == site && known == message)
        })
    }

    /// What a site gets when it asks.
    pub(super) fn poll(&self, site: &SiteId, seen: u64) -> Option<Vec<u8>> {
        let message = self.latest.get(site)?;
        (message.step > seen).then(|| codec::encode(&**message).ok()).flatten()
    }
}

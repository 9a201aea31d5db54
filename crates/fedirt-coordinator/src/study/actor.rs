//! The thread of a study. It owns the machine; nothing it says leaves before the store has written it.

use super::enrol::{self, EnrolRefusal, Good};
use super::load::Loaded;
use super::machine::{Consequences, Machine};
use super::results::Results;
use super::{CommandRefusal, Order, Study};
use crate::metrics::Metrics;
use crate::status::{SiteStatus, StudyStatus};
use crate::store::{Effect, Job, OperatorInput, StoreClient};
use crate::{Folder, clock};
use data_encoding::HEXLOWER;
use fedirt_privacy::secure::{Enrolment, NameError};
use fedirt_protocol::coordinator::{Input, Rejection};
use fedirt_protocol::message::ToCoordinator;
use fedirt_protocol::{SiteId, Timestamp};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Orders that may wait.
const WAITING: usize = 1024;
/// How often the thread looks at the clock.
const TICK: Duration = Duration::from_millis(500);
/// How often it is written down when sites were last heard of, if nothing else happens.
const LAST_SEEN: Duration = Duration::from_secs(10);

/// What an operator is told when a command was carried out.
pub(crate) const DONE: &str = "done";

struct Actor {
    study: Arc<Study>,
    machine: Machine,
    store: StoreClient,
    metrics: Arc<Metrics>,
    results: Results,
    /// What the status table says, and since when.
    told: Option<(StudyStatus, Instant)>,
    changed: bool,
}

/// Starts the thread of a study.
pub fn spawn(
    loaded: Loaded,
    folder: &Folder,
    store: StoreClient,
    metrics: Arc<Metrics>,
) -> std::io::Result<(Arc<Study>, JoinHandle<()>)> {
    let Loaded { machine, consequences, plan } = loaded;
    let (orders, inbox) = sync_channel(WAITING);
    let terms = machine.coordinator().terms();
    let study = Arc::new(Study::new(terms, &plan, orders));
    for site in terms.sites.keys() {
        if let Some(key) = machine.coordinator().key(site) {
            study.set_key(site.clone(), *key);
        }
    }
    consequences.mail.into_iter().for_each(|(site, mail)| study.deliver(&site, mail));
    study.note_rounds(consequences.rounds);
    study.note_sent(consequences.sent);
    for site in terms.sites.keys() {
        study.note_declared(site, machine.coordinator().declared(site));
    }
    let results = Results::new(folder, study.name.as_str());
    let mut actor =
        Actor { study: study.clone(), machine, store, metrics, results, told: None, changed: true };
    let name = study.name.to_string();
    let thread = std::thread::Builder::new().name(format!("study {name}")).spawn(move || {
        let outcome = consequences.outcome;
        let work = AssertUnwindSafe(|| {
            if let Some(outcome) = outcome {
                actor.results.ended(outcome);
            }
            actor.tell_status();
            actor.run(&inbox);
        });
        if std::panic::catch_unwind(work).is_err() {
            tracing::error!(study = name, "the study stopped by a fault of the program; nothing acknowledged is lost. Restart the coordinator");
        }
    })?;
    Ok((study, thread))
}

impl Actor {
    fn run(&mut self, inbox: &Receiver<Order>) {
        loop {
            match inbox.recv_timeout(self.patience()) {
                Ok(Order::Message { from, message, reply }) => {
                    let (kind, joins) = (message.kind(), matches!(message, ToCoordinator::Join(_)));
                    let taken = self.take(Input::Message { from: from.clone(), message }, Vec::new(), {
                        move |result| {
                            let _ = reply.send(result);
                        }
                    });
                    if taken {
                        self.metrics.message(kind);
                    }
                    if taken && joins {
                        self.study.note_declared(&from, self.machine.coordinator().declared(&from));
                    }
                    tracing::debug!(study = %self.study.name, site = %from, kind, taken, "message");
                }
                Ok(Order::Enrol { invitation, enrolment, reply }) => {
                    self.enrol(invitation, &enrolment, move |result| {
                        let _ = reply.send(result);
                    });
                }
                Ok(Order::Act { input, reply }) => {
                    let done = self.act(input);
                    // In the queue of the store, after what was written for it.
                    self.answer_after_writing(move || drop(reply.send(done)));
                }
                Ok(Order::Operator { command, input }) => self.operate(command, input),
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.look_at_the_clock();
        }
    }

    fn patience(&self) -> Duration {
        let next = self.machine.coordinator().next_deadline();
        next.map_or(TICK, |at| TICK.min(Duration::from_millis(at.0.saturating_sub(clock::now().0))))
    }

    fn look_at_the_clock(&mut self) {
        let now = clock::now();
        if self.machine.coordinator().next_deadline().is_some_and(|deadline| deadline <= now) {
            self.take(Input::Deadline, Vec::new(), |_| {});
            tracing::warn!(study = %self.study.name, turn = ?self.machine.coordinator().status().turn, "deadline");
        }
        self.changed |= self.results.work();
        self.tell_status();
    }

    /// Takes an input; `then` is told once everything is on the disk. Returns whether it was accepted.
    fn take(
        &mut self,
        input: Input,
        effects: Vec<Effect>,
        then: impl FnOnce(Result<(), Rejection>) + Send + 'static,
    ) -> bool {
        match self.machine.take(clock::now(), input) {
            Ok(consequences) => {
                self.publish(consequences, effects, move || then(Ok(())));
                true
            }
            Err(rejection) => {
                // In the queue of the store, as what it follows from may not be on the disk yet.
                self.store.write(Job { effects: Vec::new(), then: Box::new(move || then(Err(rejection))) });
                false
            }
        }
    }

    /// Writes what follows from an input that was taken, and lets sites see it afterwards.
    fn publish(
        &mut self,
        consequences: Consequences,
        mut effects: Vec<Effect>,
        then: impl FnOnce() + Send + 'static,
    ) {
        self.changed = true;
        let Consequences { event, mail, rounds, sent, outcome } = consequences;
        let (study, name) = (self.study.clone(), self.study.name.to_string());
        effects.extend(event.map(|event| Effect::Event { study: name, event }));
        self.store.write(Job {
            effects,
            then: Box::new(move || {
                mail.into_iter().for_each(|(site, mail)| study.deliver(&site, mail));
                then();
            }),
        });
        for _ in &rounds {
            self.metrics.round();
            tracing::info!(study = %self.study.name, "round complete");
        }
        self.study.note_rounds(rounds);
        self.study.note_sent(sent);
        if let Some(outcome) = outcome {
            tracing::info!(study = %self.study.name, finished = outcome.is_ok(), "the study is over");
            // Results are written after the end is on the disk.
            if self.store.ask_and_wait(|_| ()).is_some() {
                self.results.ended(outcome);
            }
        }
    }

    fn enrol(
        &mut self,
        hash: [u8; 32],
        enrolment: &Enrolment,
        reply: impl FnOnce(Result<(), EnrolRefusal>) + Send + 'static,
    ) {
        // Asked in this thread, after everything it has handed over: no two keys can use one invitation.
        let found = self.store.ask_and_wait(move |log| log.find_invitation(&hash));
        let invitation = match found {
            Some(Ok(invitation)) => invitation,
            Some(Err(error)) => {
                tracing::error!(%error, "invitations cannot be read");
                return;
            }
            None => return,
        };
        let (site, now) = (&enrolment.site, clock::now());
        let current = self.machine.coordinator().key(site).map(|key| key.to_bytes());
        match enrol::check(invitation.as_ref(), enrolment, current, now) {
            Ok(Good::Again) => reply(Ok(())),
            Ok(Good::Now) => {
                let (site, key, study) = (site.clone(), enrolment.key, self.study.clone());
                let used = Effect::UseInvitation { hash, key: key.to_bytes(), at: now };
                let message = ToCoordinator::Enrol(enrolment.encode());
                let input = Input::Message { from: site.clone(), message };
                tracing::info!(study = %study.name, %site, kind = "enrol", "message");
                let taken = self.take(input, vec![used], move |result| {
                    if result.is_ok() {
                        study.set_key(site, key);
                    }
                    reply(result.map_err(EnrolRefusal::from));
                });
                if taken {
                    self.metrics.message("enrol");
                }
            }
            Err(refusal) => {
                tracing::warn!(study = %self.study.name, %site, reason = %refusal, "enrolment refused");
                reply(Err(refusal));
            }
        }
    }

    /// Does what an operator wants, and shows it at once.
    fn act(&mut self, input: OperatorInput) -> Result<(), CommandRefusal> {
        let input = as_input(input)?;
        tracing::info!(study = %self.study.name, "operator's action");
        let consequences = self.machine.take(clock::now(), input)?;
        self.publish(consequences, Vec::new(), || {});
        self.told = None;
        self.tell_status();
        Ok(())
    }

    /// Says something once everything that was handed to the store is on the disk.
    fn answer_after_writing(&self, then: impl FnOnce() + Send + 'static) {
        self.store.write(Job { effects: Vec::new(), then: Box::new(then) });
    }

    fn operate(&mut self, command: i64, input: Option<OperatorInput>) {
        let input = input.ok_or(CommandRefusal::Unreadable).and_then(|input| Ok(as_input(input)?));
        tracing::info!(study = %self.study.name, "operator's command");
        match input.and_then(|input| Ok(self.machine.take(clock::now(), input)?)) {
            // The event and its answer go together: no command is carried out twice.
            Ok(consequences) => {
                let done = Effect::Answer { command, answer: DONE.into() };
                self.publish(consequences, vec![done], || {});
            }
            Err(refusal) => self.answer(command, refusal.to_string()),
        }
    }

    fn answer(&self, command: i64, answer: String) {
        self.store.write(Job { effects: vec![Effect::Answer { command, answer }], then: Box::new(|| {}) });
    }

    /// Writes down what the study is doing, if that has changed.
    fn tell_status(&mut self) {
        let due = self.told.as_ref().is_none_or(|(_, since)| since.elapsed() >= LAST_SEEN);
        if !self.changed && !due {
            return;
        }
        let status = self.status(clock::now());
        let same = |old: &StudyStatus| StudyStatus { updated_ms: status.updated_ms, ..old.clone() } == status;
        if self.told.as_ref().is_some_and(|(old, _)| same(old)) {
            self.changed = false;
            return;
        }
        // A burst of messages is one line.
        if !due && self.told.as_ref().is_some_and(|(_, since)| since.elapsed() < TICK) {
            return;
        }
        self.changed = false;
        if let Ok(text) = serde_json::to_string(&status) {
            let effect = Effect::Status { study: status.study.clone(), text };
            self.store.write(Job { effects: vec![effect], then: Box::new(|| {}) });
        }
        self.study.set_status(status.clone());
        self.told = Some((status, Instant::now()));
    }

    fn status(&self, now: Timestamp) -> StudyStatus {
        let coordinator = self.machine.coordinator();
        let (terms, status) = (coordinator.terms(), coordinator.status());
        let sites = terms.sites.keys().map(|site| SiteStatus {
            name: site.to_string(),
            key: coordinator.key(site).map(|key| key.fingerprint().to_string()),
            lost: status.lost.iter().any(|lost| lost == site.as_str()),
            last_seen_ms: Some(self.study.last_seen(site)).filter(|at| *at > 0),
        });
        StudyStatus {
            study: terms.study.to_string(),
            mode: terms.mode.name().to_owned(),
            plan: HEXLOWER.encode(&terms.plan_hash),
            phase: status.phase,
            turn: status.turn,
            waiting_for: status.waiting_for,
            roster: coordinator.roster().map(|roster| roster.fingerprint().to_string()),
            released: status.released,
            outcome: self.results.outcome(),
            results: self.results.place(),
            sites: sites.collect(),
            updated_ms: now.0,
        }
    }
}

fn as_input(input: OperatorInput) -> Result<Input, NameError> {
    Ok(match input {
        OperatorInput::Begin => Input::Begin,
        OperatorInput::Drop { sites } => Input::Drop {
            sites: sites.iter().map(|s| SiteId::try_from(s.as_str())).collect::<Result<_, _>>()?,
        },
        OperatorInput::End { reason } => Input::End { reason },
    })
}

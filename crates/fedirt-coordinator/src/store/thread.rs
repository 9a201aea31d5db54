//! The thread that owns the log.

use super::{Effect, EventLog, Job, LogError};
use crate::metrics::Metrics;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

/// Jobs of one transaction, at most.
const MOST_JOBS: usize = 4096;
/// Bytes of one transaction, about.
const MOST_BYTES: usize = 64 << 20;

type Question = Box<dyn FnOnce(&mut dyn EventLog) + Send>;

enum Order {
    Write(Job),
    Ask(Question),
    Stop,
}

/// The thread.
#[derive(Debug)]
pub struct Store {
    client: StoreClient,
    thread: Option<JoinHandle<()>>,
}

/// A way to talk to it.
#[derive(Clone)]
pub struct StoreClient {
    orders: Sender<Order>,
    dead: Arc<AtomicBool>,
}

impl std::fmt::Debug for StoreClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoreClient(dead: {})", self.is_dead())
    }
}

impl Store {
    /// Starts the thread. If the disk refuses a transaction, `failed` is called once and nothing is written any more.
    pub fn start(
        log: Box<dyn EventLog>,
        metrics: Arc<Metrics>,
        failed: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (orders, inbox) = channel();
        let dead = Arc::new(AtomicBool::new(false));
        let client = StoreClient { orders, dead: dead.clone() };
        let thread = std::thread::Builder::new().name("store".into()).spawn(move || {
            if let Err(error) = serve(log, &inbox, &metrics, &dead) {
                tracing::error!(%error, "the store cannot be written: the coordinator stops");
                dead.store(true, Ordering::SeqCst);
                failed();
            }
        })?;
        Ok(Self { client, thread: Some(thread) })
    }

    /// A way to talk to the thread.
    pub fn client(&self) -> StoreClient {
        self.client.clone()
    }

    /// Writes everything that waits, and ends.
    pub fn stop(mut self) {
        let _ = self.client.orders.send(Order::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Ends as if the power had failed: what waits is not written.
    pub fn kill(self) {
        self.client.dead.store(true, Ordering::SeqCst);
        self.stop();
    }
}

impl StoreClient {
    /// Hands a job over. If the store has stopped, the job is dropped undone.
    pub fn write(&self, job: Job) {
        let _ = self.orders.send(Order::Write(job));
    }

    /// Asks something, after everything that was handed over before.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn EventLog) -> T + Send + 'static,
        answer: impl FnOnce(T) + Send + 'static,
    ) {
        let _ = self.orders.send(Order::Ask(Box::new(move |log| answer(question(log)))));
    }

    /// Asks something and waits for the answer; none if the store has stopped.
    pub fn ask_and_wait<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn EventLog) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = channel();
        self.ask(question, move |value| {
            let _ = answer.send(value);
        });
        answered.recv().ok()
    }

    /// Whether nothing is written any more.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }
}

fn serve(
    mut log: Box<dyn EventLog>,
    inbox: &Receiver<Order>,
    metrics: &Metrics,
    dead: &AtomicBool,
) -> Result<(), LogError> {
    let mut batch: Vec<Job> = Vec::new();
    loop {
        let Ok(mut order) = inbox.recv() else { return Ok(()) };
        let mut bytes = 0;
        let last = loop {
            if dead.load(Ordering::SeqCst) {
                return Ok(());
            }
            let Order::Write(job) = order else { break Some(order) };
            bytes += job.effects.iter().map(size).sum::<usize>();
            batch.push(job);
            if batch.len() >= MOST_JOBS || bytes >= MOST_BYTES {
                break None;
            }
            match inbox.try_recv() {
                Ok(next) => order = next,
                Err(_) => break None,
            }
        };
        commit(&mut *log, &mut batch, metrics)?;
        match last {
            Some(Order::Ask(question)) => question(&mut *log),
            Some(Order::Stop) => return Ok(()),
            _ => {}
        }
    }
}

fn commit(log: &mut dyn EventLog, batch: &mut Vec<Job>, metrics: &Metrics) -> Result<(), LogError> {
    let effects: Vec<&Effect> = batch.iter().flat_map(|job| &job.effects).collect();
    if !effects.is_empty() {
        let start = Instant::now();
        log.commit(&effects)?;
        let events = effects.iter().filter(|effect| matches!(effect, Effect::Event { .. })).count();
        metrics.committed(effects.len(), events as u64, start.elapsed());
    }
    for job in batch.drain(..) {
        (job.then)();
    }
    Ok(())
}

fn size(effect: &Effect) -> usize {
    let Effect::Event { event, .. } = effect else { return 0 };
    event.input.len() + event.announced.as_ref().map_or(0, Vec::len)
}

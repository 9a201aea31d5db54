//! The thread that owns the disk.

use super::{Effect, Job, tables};
use crate::metrics::Metrics;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;

/// Jobs of one transaction, at most.
const MOST_JOBS: usize = 4096;
/// Bytes of one transaction, about.
const MOST_BYTES: usize = 64 << 20;

type Question = Box<dyn FnOnce(&mut Connection) + Send>;

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
        connection: Connection,
        metrics: Arc<Metrics>,
        failed: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (orders, inbox) = channel();
        let dead = Arc::new(AtomicBool::new(false));
        let client = StoreClient { orders, dead: dead.clone() };
        let thread = std::thread::Builder::new().name("store".into()).spawn(move || {
            if let Err(error) = serve(connection, &inbox, &metrics, &dead) {
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
        question: impl FnOnce(&mut Connection) -> T + Send + 'static,
        answer: impl FnOnce(T) + Send + 'static,
    ) {
        let _ = self.orders.send(Order::Ask(Box::new(move |connection| answer(question(connection)))));
    }

    /// Asks something and waits for the answer; none if the store has stopped.
    pub fn ask_and_wait<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Connection) -> T + Send + 'static,
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
    mut connection: Connection,
    inbox: &Receiver<Order>,
    metrics: &Metrics,
    dead: &AtomicBool,
) -> rusqlite::Result<()> {
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
        commit(&connection, &mut batch, metrics)?;
        match last {
            Some(Order::Ask(question)) => question(&mut connection),
            Some(Order::Stop) => return Ok(()),
            _ => {}
        }
    }
}

fn commit(connection: &Connection, batch: &mut Vec<Job>, metrics: &Metrics) -> rusqlite::Result<()> {
    let effects: usize = batch.iter().map(|job| job.effects.len()).sum();
    if effects > 0 {
        let start = Instant::now();
        begin(connection)?;
        let mut events = 0;
        for effect in batch.iter().flat_map(|job| &job.effects) {
            tables::apply(connection, effect)?;
            events += u64::from(matches!(effect, Effect::Event { .. }));
        }
        connection.execute_batch("COMMIT")?;
        metrics.committed(effects, events, start.elapsed());
    }
    for job in batch.drain(..) {
        (job.then)();
    }
    Ok(())
}

/// Begins a transaction, however long another program (a back-up, a command) holds the store.
fn begin(connection: &Connection) -> rusqlite::Result<()> {
    loop {
        match connection.execute_batch("BEGIN IMMEDIATE") {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                tracing::warn!("another program holds the store; waiting for it");
            }
            begun => return begun,
        }
    }
}

fn size(effect: &Effect) -> usize {
    let Effect::Event { event, .. } = effect else { return 0 };
    event.input.len() + event.announced.as_ref().map_or(0, Vec::len)
}

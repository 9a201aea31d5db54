//! Work in other threads, watched by the thread that called it: an interpreter may only be asked from its own thread, whether to
//! stop or to show progress.

use crate::failure::{Failure, panicked};
use fedirt_model::fit::TraceEntry;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{Observer, Sent};
use fedirt_protocol::message::{Question, Turn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Whoever watches a calibration, in the thread that called it.
pub trait Watcher {
    /// A round is complete.
    fn round(&mut self, entry: &TraceEntry);
    /// Whether the calibration should end without a result. Asked several times a second.
    fn wants_to_stop(&mut self) -> bool;
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn round(&mut self, _entry: &TraceEntry) {}
    fn wants_to_stop(&mut self) -> bool {
        false
    }
}

/// How long nobody is asked whether to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Tells the watching thread of rounds, and hears from it.
pub struct Reporter<'a> {
    rounds: Sender<TraceEntry>,
    stop: &'a AtomicBool,
}

impl Observer for Reporter<'_> {
    fn round(&mut self, entry: &TraceEntry) {
        // Nobody listens any more only when the work is to stop anyway.
        let _ = self.rounds.send(entry.clone());
    }
    fn declared(&mut self, _site: &str, _declaration: &Declaration) {}
    fn sent(&mut self, _site: &str, _turn: Turn, _question: &Question, _sent: Sent<'_>) {}
    fn wants_numbers(&self) -> bool {
        false
    }
    fn wants_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Does the work with some threads of its own (all that there are, unless `threads` says how many), while this thread watches.
/// A panic becomes a failure.
pub fn watched<T: Send>(
    threads: Option<usize>,
    watcher: &mut dyn Watcher,
    work: impl FnOnce(&mut Reporter<'_>) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::new(crate::Kind::Calibration, error.to_string()))?;
    let stop = AtomicBool::new(false);
    let (rounds, heard) = mpsc::channel();
    thread::scope(|scope| {
        let mut reporter = Reporter { rounds, stop: &stop };
        let worker = scope.spawn(move || pool.install(|| work(&mut reporter)));
        loop {
            match heard.recv_timeout(PATIENCE) {
                Ok(entry) => watcher.round(&entry),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if watcher.wants_to_stop() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        worker.join().unwrap_or_else(|panic| Err(panicked(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn a_panic_in_the_work_is_a_failure() {
        let failure = watched::<()>(Some(1), &mut Unwatched, |_| panic!("at work")).unwrap_err();
        assert_eq!(failure.kind, Kind::Internal);
        assert!(failure.message.ends_with("at work"));
    }

    #[test]
    fn whoever_watches_can_stop_the_work() {
        struct Impatient;
        impl Watcher for Impatient {
            fn round(&mut self, _entry: &TraceEntry) {}
            fn wants_to_stop(&mut self) -> bool {
                true
            }
        }
        let stopped = watched(Some(1), &mut Impatient, |reporter| {
            while !reporter.wants_to_stop() {
                thread::sleep(Duration::from_millis(1));
            }
            Ok("stopped")
        });
        assert_eq!(stopped, Ok("stopped"));
    }
}

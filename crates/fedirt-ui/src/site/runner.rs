//! Agents at work: a thread for each study, started and stopped.

use super::desk::Desk;
use super::shared::{Phase, Shared};
use super::work::work;
use fedirt_agent::{AgentError, Home};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a stop waits for the exchange that is under way.
const PATIENCE: Duration = Duration::from_secs(20);

/// Says that an agent's thread is done, also when a fault of the program ends it.
struct SayEnd(Arc<Shared>);

impl Drop for SayEnd {
    fn drop(&mut self) {
        self.0.change(|state| {
            // A thread that ends says how; one that could not has met a fault of ours.
            if matches!(state.phase, Phase::Starting | Phase::Working) {
                state.phase = Phase::Failed;
                state.problem =
                    Some("a fault of the program; the terminal says more. Nothing is lost: go on".into());
            }
        });
        self.0.end();
    }
}

struct Running {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// All agents of a home.
pub(crate) struct Runners {
    home: Home,
    /// Approves everything after this pause: for demonstrations.
    automatic: Option<Duration>,
    running: Mutex<BTreeMap<String, Running>>,
}

impl Runners {
    pub(crate) fn new(home: Home, automatic: Option<Duration>) -> Self {
        Self { home, automatic, running: Mutex::new(BTreeMap::new()) }
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the agent of a study says of itself, if it was started.
    pub(crate) fn shared(&self, study: &str) -> Option<Arc<Shared>> {
        self.running().get(study).map(|running| running.shared.clone())
    }

    /// Starts the agent of a study, unless it works already.
    pub(crate) fn start(&self, study: &str) {
        let mut all = self.running();
        if all.get(study).is_some_and(|r| r.thread.as_ref().is_some_and(|thread| !thread.is_finished())) {
            return;
        }
        let shared = Arc::new(Shared::default());
        let (home, automatic) = (self.home.clone(), self.automatic);
        let (name, told) = (study.to_owned(), shared.clone());
        let work = move || {
            let _say_end = SayEnd(told.clone());
            let end = work(&home, &name, &told, automatic);
            told.change(|state| {
                (state.roster, state.round, state.trouble) = (None, None, None);
                state.phase = match end {
                    Ok(phase) => phase,
                    Err(error) => {
                        state.problem = Some(error);
                        Phase::Failed
                    }
                };
            });
        };
        let spawned = std::thread::Builder::new().name(format!("agent {study}")).spawn(work);
        if let Err(error) = &spawned {
            shared.change(|state| {
                state.phase = Phase::Failed;
                state.problem = Some(format!("no thread can be started: {error}"));
            });
            shared.end();
        }
        all.insert(study.to_owned(), Running { shared, thread: spawned.ok() });
    }

    /// Whether the agent of a study is at work, or about to stop.
    pub(crate) fn is_working(&self, study: &str) -> bool {
        let all = self.running();
        all.get(study).is_some_and(|r| r.thread.as_ref().is_some_and(|thread| !thread.is_finished()))
    }

    /// Stops the agent of a study, and waits until it has let go; false if an exchange keeps it.
    pub(crate) fn stop(&self, study: &str) -> bool {
        let Some(shared) = self.shared(study) else { return true };
        shared.stop();
        if !shared.wait_until_ended(PATIENCE) {
            return false;
        }
        // The last thing that the thread does is to say that it is done.
        let thread = self.running().get_mut(study).and_then(|running| running.thread.take());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        true
    }

    /// Starts every agent that was at work when the program ended, and erases copies of answers that are needed no more.
    /// Gives what is wrong with single studies; the others do not suffer from it.
    pub(crate) fn start_all(&self) -> Result<Vec<String>, AgentError> {
        let mut broken = Vec::new();
        for name in self.home.studies()? {
            let start = || -> Result<(), AgentError> {
                let folder = self.home.study(&name)?;
                let mut desk = Desk::read(&folder)?;
                // A study whose results could not be written when it ended is not over: the agent tries again.
                if folder.state_after(&folder.entries()?, desk.choices()).is_over() {
                    desk.erase_copy(&folder)?;
                } else if desk.works() {
                    self.start(&name);
                }
                Ok(())
            };
            broken.extend(start().err().map(|error| error.to_string()));
        }
        Ok(broken)
    }

    /// Stops all of them.
    pub(crate) fn stop_all(&self) {
        let names: Vec<String> = self.running().keys().cloned().collect();
        self.running().values().for_each(|running| running.shared.stop());
        for name in names {
            self.stop(&name);
        }
    }
}

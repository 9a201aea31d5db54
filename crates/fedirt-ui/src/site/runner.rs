//! The agents of a site: a thread for each study, started and stopped from the pages.

use super::officer_settings::OfficerSettings;
use super::shared::{Phase, Shared};
use super::work::work;
use fedirt_agent::{AgentError, Home};
use fedirt_data::Audience;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long `stop` waits for the current exchange to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// Reports the end of an agent's thread, also when a panic ends it.
struct ReportEnd(Arc<Shared>);

impl Drop for ReportEnd {
    fn drop(&mut self) {
        self.0.change(|state| {
            // A thread that ends normally reports how. One that has not was ended by a panic.
            if matches!(state.phase, Phase::Starting | Phase::Working) {
                state.phase = Phase::Failed;
                state.problem = Some("an error in the program. Nothing is lost, and you can resume".into());
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
    /// Approves everything after this pause, for demonstrations.
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

    /// The shared state of a study's agent, if it was started.
    pub(crate) fn shared(&self, study: &str) -> Option<Arc<Shared>> {
        self.running().get(study).map(|running| running.shared.clone())
    }

    /// Starts the agent of a study, unless it is running.
    pub(crate) fn start(&self, study: &str) {
        let mut all = self.running();
        if all.get(study).is_some_and(|r| r.thread.as_ref().is_some_and(|thread| !thread.is_finished())) {
            return;
        }
        let shared = Arc::new(Shared::default());
        let (home, automatic) = (self.home.clone(), self.automatic);
        let (name, told) = (study.to_owned(), shared.clone());
        let work = move || {
            let _report_end = ReportEnd(told.clone());
            let end = work(&home, &name, &told, automatic);
            told.change(|state| {
                (state.roster, state.round, state.trouble) = (None, None, None);
                state.phase = match end {
                    Ok(phase) => phase,
                    Err(error) => {
                        state.problem = Some(error.told(Audience::Page));
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

    /// Whether the agent of a study is running.
    pub(crate) fn is_working(&self, study: &str) -> bool {
        let all = self.running();
        all.get(study).is_some_and(|r| r.thread.as_ref().is_some_and(|thread| !thread.is_finished()))
    }

    /// Stops the agent of a study and waits for its end. Returns false if the current exchange takes too long.
    pub(crate) fn stop(&self, study: &str) -> bool {
        let Some(shared) = self.shared(study) else { return true };
        shared.stop();
        if !shared.wait_until_ended(STOP_TIMEOUT) {
            return false;
        }
        // The thread reports its end as its last action, so this does not block.
        let thread = self.running().get_mut(study).and_then(|running| running.thread.take());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        true
    }

    /// Starts every agent that was running when the program ended, and deletes copies of answers that are no longer needed.
    /// Returns the problems of single studies, which do not affect the others.
    pub(crate) fn start_all(&self) -> Result<Vec<String>, AgentError> {
        let mut broken = Vec::new();
        for name in self.home.studies()? {
            let start = || -> Result<(), AgentError> {
                let folder = self.home.study(&name)?;
                let mut settings = OfficerSettings::read(&folder)?;
                // A study whose results could not be written is not over yet, and the agent tries again.
                if folder.state_after(&folder.entries()?, settings.choices())?.is_over() {
                    settings.erase_copy(&folder)?;
                } else if settings.works() {
                    self.start(&name);
                }
                Ok(())
            };
            broken.extend(start().err().map(|error| error.told(Audience::Page)));
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

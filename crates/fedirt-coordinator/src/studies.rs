//! The studies that are served: those that were there at the start, and those that were opened since.

use crate::metrics::Metrics;
use crate::store::StoreClient;
use crate::study::{self, Loaded, Study};
use crate::{Error, Folder};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;

/// The studies.
pub struct Studies {
    folder: Folder,
    store: StoreClient,
    metrics: Arc<Metrics>,
    open: RwLock<BTreeMap<String, Arc<Study>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for Studies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.all().iter().map(|study| study.name.clone())).finish()
    }
}

impl Studies {
    /// None yet.
    pub fn new(folder: Folder, store: StoreClient, metrics: Arc<Metrics>) -> Self {
        Self { folder, store, metrics, open: RwLock::default(), threads: Mutex::default() }
    }

    /// Starts a study that was read.
    pub fn start(&self, loaded: Loaded) -> Result<Arc<Study>, Error> {
        let spawned = study::spawn(loaded, &self.folder, self.store.clone(), self.metrics.clone());
        let (study, thread) =
            spawned.map_err(|error| Error::Told(format!("no thread for a study: {error}")))?;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(study.name.to_string(), study.clone());
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(study)
    }

    /// Reads a plan that has just been written, and starts its study.
    pub fn open(&self, plan: &Path) -> Result<Arc<Study>, Error> {
        let plan = plan.to_owned();
        let loaded = self.store.ask_and_wait(move |log| study::load(log, &plan));
        let loaded = loaded.ok_or(Error::StoreStopped)??;
        if self.get(loaded.machine.coordinator().terms().study.as_str()).is_some() {
            return Err(Error::Told("the study is open already".into()));
        }
        self.start(loaded)
    }

    /// A study by name.
    pub fn get(&self, name: &str) -> Option<Arc<Study>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All of them, by name.
    pub fn all(&self) -> Vec<Arc<Study>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Ends their threads, after what waits.
    pub fn stop(&self) {
        self.all().iter().for_each(|study| study.stop());
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
    }
}

//! A coordinator without a door: folder, store, studies in their threads, and the operator's commands. [`crate::server`] opens a
//! port to it, [`crate::mailbox`] a mailbox.

use crate::metrics::Metrics;
use crate::store::{Effect, EventLog, Job, SqliteLog, Store, StoreClient};
use crate::studies::Studies;
use crate::study::{self, Order, Study};
use crate::{Error, Folder};
use fedirt_data::files::FileLock;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};

/// How often commands are looked for that other processes have left in the store.
const COMMANDS: Duration = Duration::from_millis(500);

/// The parts.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) folder: Folder,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) store: Store,
    /// The studies that are served.
    pub(crate) open: Arc<Studies>,
    /// Those that were there at the start.
    pub(crate) studies: BTreeMap<String, Arc<Study>>,
    /// Plans that are not served, and why.
    pub(crate) refused: Vec<Error>,
    pub(crate) runtime: Runtime,
    pub(crate) stop: Arc<watch::Sender<bool>>,
    _lock: FileLock,
}

/// An error of the operating system at the start.
pub(crate) fn told(error: std::io::Error) -> Error {
    Error::Told(format!("the coordinator cannot start: {error}"))
}

impl Core {
    /// Starts a folder's studies, or one of them, where they left off; `prepare` opens the door before anything is set going.
    pub(crate) fn start<T>(
        folder: Folder,
        only: Option<&str>,
        prepare: impl FnOnce(&Folder) -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        let lock = folder.lock()?;
        let mut log = SqliteLog::open(&folder.store())?;
        let (mut loaded, mut refused) = (Vec::new(), Vec::new());
        let wanted = |file: &Path| only.is_none_or(|name| file.file_stem().is_some_and(|stem| stem == name));
        for file in study::plan_files(&folder)?.into_iter().filter(|file| wanted(file)) {
            match study::load(&mut log, &file) {
                Ok(study) => loaded.push(study),
                Err(error) => refused.push(error),
            }
        }
        if loaded.is_empty() && !refused.is_empty() {
            return Err(Error::Several(refused));
        }
        let metrics = Arc::new(Metrics::new().map_err(|e| Error::Told(e.to_string()))?);
        metrics.events_found(log.event_count()?);
        let prepared = prepare(&folder)?;
        let (stop, stopping) = watch::channel(false);
        let stop = Arc::new(stop);
        let failed = stop.clone();
        let store = Store::start(Box::new(log), metrics.clone(), move || {
            failed.send_replace(true);
        });
        let store = store.map_err(told)?;
        let open = Arc::new(Studies::new(folder.clone(), store.client(), metrics.clone()));
        let mut studies = BTreeMap::new();
        for study in loaded {
            let study = open.start(study)?;
            studies.insert(study.name.to_string(), study);
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("http").build();
        let runtime = runtime.map_err(told)?;
        runtime.spawn(commands(store.client(), open.clone(), stopping));
        Ok((Self { folder, metrics, store, open, studies, refused, runtime, stop, _lock: lock }, prepared))
    }

    /// Ends the studies after what waits, and writes everything.
    pub(crate) fn stop(self) -> Result<(), Error> {
        self.stop.send_replace(true);
        self.open.stop();
        let failed = self.store.client().is_dead();
        self.store.stop();
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        if failed { Err(Error::StoreStopped) } else { Ok(()) }
    }

    /// Ends as a power failure would: connections break, and what waits for the disk is lost.
    pub(crate) fn kill(self) {
        self.store.kill();
        self.runtime.shutdown_timeout(Duration::from_secs(5));
        self.open.stop();
    }

    /// Waits until the process is asked to end (SIGTERM, SIGINT) or the disk refuses.
    pub(crate) fn until_signal(&self) -> Result<(), Error> {
        let mut stopping = self.stop.subscribe();
        let asked = self.runtime.block_on(async {
            tokio::select! {
                signal = signal() => signal,
                _ = stopping.wait_for(|stopping| *stopping) => Ok(()),
            }
        });
        asked.map_err(|error| Error::Told(format!("signals cannot be waited for: {error}")))?;
        tracing::info!("stopping");
        Ok(())
    }
}

#[cfg(unix)]
async fn signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => Ok(()),
        interrupted = tokio::signal::ctrl_c() => interrupted,
    }
}

#[cfg(not(unix))]
async fn signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Hands operators' commands to their studies.
async fn commands(store: StoreClient, studies: Arc<Studies>, mut stopping: watch::Receiver<bool>) {
    let mut latest = 0;
    loop {
        tokio::select! {
            () = tokio::time::sleep(COMMANDS) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        let (reply, answer) = oneshot::channel();
        store.ask(
            |log| log.commands(),
            move |found| {
                let _ = reply.send(found);
            },
        );
        let Ok(found) = answer.await else { return };
        let known = latest;
        for command in found.unwrap_or_default().into_iter().filter(|c| c.id > known) {
            let Some(study) = studies.get(&command.study) else {
                let answer = "refused: the coordinator does not serve this study".to_owned();
                let effects = vec![Effect::Answer { command: command.id, answer }];
                store.write(Job { effects, then: Box::new(|| {}) });
                continue;
            };
            if study.order(Order::Operator { command: command.id, input: command.input }).is_err() {
                break;
            }
            latest = command.id;
        }
    }
}

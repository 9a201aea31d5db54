//! The whole server: from a folder to a running coordinator, and to its end.

use crate::http::{self, App};
use crate::metrics::Metrics;
use crate::settings::Limits;
use crate::store::{Effect, EventLog, Job, SqliteLog, Store, StoreClient};
use crate::studies::Studies;
use crate::study::{self, Order, Study};
use crate::{Error, Folder, Settings, authority};
use axum::Router;
use fedirt_data::files::FileLock;
use rustls::ServerConfig;
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot, watch};

/// Memory for small bodies, in KiB: a thousand of them.
const SMALL_BODIES: usize = 64 << 10;

/// How often commands are looked for that other processes have left in the store.
const COMMANDS: Duration = Duration::from_millis(500);

/// Connections of pages at a time: each reader keeps a few open.
const PAGES_CONNECTIONS: usize = 256;

/// How to start.
#[derive(Debug)]
pub struct Server {
    /// Where to listen, instead of what the settings say.
    pub listen: Option<SocketAddr>,
    /// Prepares the pages that are served beside the interface for sites, where the settings want them.
    pub pages: Option<PreparePages>,
}

/// Prepares the pages of a coordinator that starts.
pub type PreparePages = fn(PagesContext<'_>) -> Result<PreparedPages, Error>;

/// What pages are made of.
#[derive(Debug)]
pub struct PagesContext<'a> {
    /// The coordinator's folder.
    pub folder: &'a Folder,
    /// The coordinator's settings.
    pub settings: &'a Settings,
    /// The studies that the coordinator serves.
    pub studies: Arc<Studies>,
    /// The certificate and key with which the coordinator answers sites.
    pub tls: &'a Arc<ServerConfig>,
    /// Becomes true when the coordinator stops.
    pub stopping: watch::Receiver<bool>,
}

/// Pages that are ready to be served.
#[derive(Debug)]
pub struct PreparedPages {
    /// Their port.
    pub listener: TcpListener,
    /// For handshakes; none where they are served without TLS.
    pub tls: Option<Arc<ServerConfig>>,
    /// Their routes.
    pub router: Router,
    /// Where they are.
    pub address: PagesAddress,
}

/// Where pages are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagesAddress {
    /// Their address in a browser.
    pub address: String,
    /// The link with which the first administrator logs in; only when nobody could log in before.
    pub first_login: Option<String>,
}

/// A coordinator that runs.
#[derive(Debug)]
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// What sites call it.
    pub public_address: String,
    /// Fingerprint of the authority that sites are told of.
    pub authority: Option<String>,
    /// The studies that were there at the start.
    pub studies: BTreeMap<String, Arc<Study>>,
    /// Where the pages are, if they are served.
    pub pages: Option<PagesAddress>,
    /// Plans that are not served, and why.
    pub refused: Vec<Error>,
    runtime: Runtime,
    serving: tokio::task::JoinHandle<()>,
    showing: Option<tokio::task::JoinHandle<()>>,
    open: Arc<Studies>,
    store: Store,
    stop: Arc<watch::Sender<bool>>,
    _lock: FileLock,
}

impl Server {
    /// Starts a coordinator: every study goes on where it left off.
    pub fn start(self, path: &Path) -> Result<Running, Error> {
        let folder = Folder::open(path)?;
        let mut settings = Settings::read(&folder.settings())?;
        settings.listen = self.listen.unwrap_or(settings.listen);
        let lock = folder.lock()?;
        let tls = authority::server_config(&folder, &settings)?;
        let authority = authority::certificate(&folder, &settings)?.map(|c| authority::fingerprint(&c));
        let mut log = SqliteLog::open(&folder.store())?;
        let (mut loaded, mut refused) = (Vec::new(), Vec::new());
        for file in study::plan_files(&folder)? {
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

        let listen = |error| Error::Listen { address: settings.listen.to_string(), error };
        let listener = TcpListener::bind(settings.listen).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;

        let told = |error: std::io::Error| Error::Told(format!("the coordinator cannot start: {error}"));
        let (stop, stopping) = watch::channel(false);
        let stop = Arc::new(stop);
        let failed = stop.clone();
        let store = Store::start(Box::new(log), metrics.clone(), move || {
            failed.send_replace(true);
        });
        let store = store.map_err(told)?;
        let open = Studies::new(folder.clone(), store.client(), metrics.clone());
        let open = Arc::new(open);
        let mut studies = BTreeMap::new();
        for study in loaded {
            let study = open.start(study)?;
            studies.insert(study.name.to_string(), study);
        }
        let app = Arc::new(App {
            studies: open.clone(),
            store: store.client(),
            metrics: metrics.clone(),
            metrics_key: http::MetricsKey::read_or_make(&folder)?,
            limits: settings.limits.clone(),
            body_budget: Arc::new(Semaphore::new(settings.limits.body_megabytes << 10)),
            small_bodies: Arc::new(Semaphore::new(SMALL_BODIES)),
            stopping: stopping.clone(),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("http").build();
        let runtime = runtime.map_err(told)?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(listen)?
        };
        let serving = http::Listening {
            listener,
            tls: Some(tls.clone()),
            router: http::router(app.clone()),
            limits: settings.limits.clone(),
            metrics: metrics.clone(),
        };
        let serving = runtime.spawn(serving.serve(stopping.clone()));
        // A coordinator whose pages cannot be reached still serves its sites.
        let prepared = self.pages.filter(|_| settings.pages.enabled).map(|prepare| {
            let (folder, settings, tls) = (&folder, &settings, &tls);
            prepare(PagesContext { folder, settings, studies: open.clone(), tls, stopping: stopping.clone() })
        });
        let (mut at, mut showing) = (None, None);
        match prepared {
            Some(Ok(prepared)) => {
                let _inside = runtime.enter();
                let listener = tokio::net::TcpListener::from_std(prepared.listener).map_err(told)?;
                let listening = http::Listening {
                    listener,
                    tls: prepared.tls,
                    router: prepared.router,
                    limits: Limits {
                        connections: PAGES_CONNECTIONS.min(settings.limits.connections),
                        ..settings.limits.clone()
                    },
                    metrics,
                };
                showing = Some(runtime.spawn(listening.serve(stopping.clone())));
                at = Some(prepared.address);
            }
            Some(Err(error)) => refused.push(error),
            None => {}
        }
        runtime.spawn(commands(store.client(), open.clone(), stopping));
        Ok(Running {
            address,
            public_address: settings.public_address(address.port()),
            authority,
            studies,
            pages: at,
            refused,
            runtime,
            serving,
            showing,
            open,
            store,
            stop,
            _lock: lock,
        })
    }
}

impl Running {
    /// Serves until the process is asked to end (SIGTERM, SIGINT) or the disk refuses, then stops.
    pub fn until_signal(self) -> Result<(), Error> {
        let mut stopping = self.stop.subscribe();
        let asked = self.runtime.block_on(async {
            tokio::select! {
                signal = signal() => signal,
                _ = stopping.wait_for(|stopping| *stopping) => Ok(()),
            }
        });
        asked.map_err(|error| Error::Told(format!("signals cannot be waited for: {error}")))?;
        tracing::info!("stopping");
        self.stop()
    }

    /// Stops: no new connections, open requests are answered, everything is written.
    pub fn stop(self) -> Result<(), Error> {
        self.stop.send_replace(true);
        let _ = self.runtime.block_on(self.serving);
        if let Some(showing) = self.showing {
            let _ = self.runtime.block_on(showing);
        }
        self.open.stop();
        let failed = self.store.client().is_dead();
        self.store.stop();
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        if failed { Err(Error::StoreStopped) } else { Ok(()) }
    }

    /// Ends as a power failure would: connections break, and what waits for the disk is lost.
    pub fn kill(self) {
        self.store.kill();
        self.runtime.shutdown_timeout(Duration::from_secs(5));
        self.open.stop();
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

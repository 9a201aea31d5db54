//! The whole server: from a folder to a running coordinator, and to its end.

use crate::core::{Core, told};
use crate::http::{self, App};
use crate::settings::Limits;
use crate::studies::Studies;
use crate::study::Study;
use crate::{Error, Folder, Settings, authority};
use axum::Router;
use rustls::ServerConfig;
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// Memory for small bodies, in KiB: a thousand of them.
const SMALL_BODIES: usize = 64 << 10;

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
    core: Core,
    serving: tokio::task::JoinHandle<()>,
    showing: Option<tokio::task::JoinHandle<()>>,
}

impl Server {
    /// Starts a coordinator: every study goes on where it left off.
    pub fn start(self, path: &Path) -> Result<Running, Error> {
        let folder = Folder::open(path)?;
        let mut settings = Settings::read(&folder.settings())?;
        settings.listen = self.listen.unwrap_or(settings.listen);
        let listen = |error| Error::Listen { address: settings.listen.to_string(), error };
        let door = |folder: &Folder| {
            let tls = authority::server_config(folder, &settings)?;
            let authority = authority::certificate(folder, &settings)?.map(|c| authority::fingerprint(&c));
            let listener = TcpListener::bind(settings.listen).map_err(listen)?;
            listener.set_nonblocking(true).map_err(listen)?;
            Ok((tls, authority, listener))
        };
        let (mut core, (tls, authority, listener)) = Core::start(folder, None, door)?;
        let address = listener.local_addr().map_err(listen)?;
        let stopping = core.stop.subscribe();
        let app = Arc::new(App {
            studies: core.open.clone(),
            store: core.store.client(),
            metrics: core.metrics.clone(),
            metrics_key: http::MetricsKey::read_or_make(&core.folder)?,
            limits: settings.limits.clone(),
            body_budget: Arc::new(Semaphore::new(settings.limits.body_megabytes << 10)),
            small_bodies: Arc::new(Semaphore::new(SMALL_BODIES)),
            stopping: stopping.clone(),
        });
        let listener = {
            let _inside = core.runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(listen)?
        };
        let serving = http::Listening {
            listener,
            tls: Some(tls.clone()),
            router: http::router(app),
            limits: settings.limits.clone(),
            metrics: core.metrics.clone(),
        };
        let serving = core.runtime.spawn(serving.serve(stopping.clone()));
        // A coordinator whose pages cannot be reached still serves its sites.
        let prepared = self.pages.filter(|_| settings.pages.enabled).map(|prepare| {
            // Invitations name the port that was bound, where the settings leave the choice to the system.
            let mut bound = settings.clone();
            bound.listen.set_port(address.port());
            let (folder, settings, studies) = (&core.folder, &bound, core.open.clone());
            prepare(PagesContext { folder, settings, studies, tls: &tls, stopping: stopping.clone() })
        });
        let (mut at, mut showing) = (None, None);
        match prepared {
            Some(Ok(prepared)) => {
                let _inside = core.runtime.enter();
                let listener = tokio::net::TcpListener::from_std(prepared.listener).map_err(told)?;
                let listening = http::Listening {
                    listener,
                    tls: prepared.tls,
                    router: prepared.router,
                    limits: Limits {
                        connections: PAGES_CONNECTIONS.min(settings.limits.connections),
                        ..settings.limits.clone()
                    },
                    metrics: core.metrics.clone(),
                };
                showing = Some(core.runtime.spawn(listening.serve(stopping)));
                at = Some(prepared.address);
            }
            Some(Err(error)) => core.refused.push(error),
            None => {}
        }
        Ok(Running {
            address,
            public_address: settings.public_address(address.port()),
            authority,
            studies: core.studies.clone(),
            pages: at,
            refused: std::mem::take(&mut core.refused),
            core,
            serving,
            showing,
        })
    }
}

impl Running {
    /// Serves until the process is asked to end (SIGTERM, SIGINT) or the disk refuses, then stops.
    pub fn until_signal(self) -> Result<(), Error> {
        self.core.until_signal()?;
        self.stop()
    }

    /// Stops: no new connections, open requests are answered, everything is written.
    pub fn stop(self) -> Result<(), Error> {
        self.core.stop.send_replace(true);
        let _ = self.core.runtime.block_on(self.serving);
        if let Some(showing) = self.showing {
            let _ = self.core.runtime.block_on(showing);
        }
        self.core.stop()
    }

    /// Ends as a power failure would: connections break, and what waits for the disk is lost.
    pub fn kill(self) {
        self.core.kill();
    }
}

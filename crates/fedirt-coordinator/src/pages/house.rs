//! Where pages are served: a port of their own, on loopback without TLS, elsewhere with it.

use super::{Hall, fits::Fits, routes};
use crate::settings::Limits;
use crate::studies::Studies;
use crate::{Error, Folder, Settings, clock};
use axum::Router;
use fedirt_ui::session::Lifetimes;
use fedirt_ui::{Access, Gate, GateSettings, Outside, Role, Secret, router};
use rand::TryRng;
use rand::rngs::SysRng;
use rustls::ServerConfig;
use std::net::TcpListener;
use std::sync::Arc;
use tokio::sync::watch;

/// Connections of pages at a time: each reader keeps a few open.
const CONNECTIONS: usize = 256;

/// Where pages are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    /// Their address in a browser.
    pub address: String,
    /// The link with which the first administrator logs in; only when nobody could before.
    pub first: Option<String>,
}

/// What pages are made of.
pub struct House<'a> {
    /// The folder.
    pub folder: &'a Folder,
    /// The settings.
    pub settings: &'a Settings,
    /// The studies.
    pub studies: Arc<Studies>,
}

impl std::fmt::Debug for House<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "House({:?})", self.folder)
    }
}

/// Pages that are ready to be served.
#[derive(Debug)]
pub struct Prepared {
    /// Their port.
    pub listener: TcpListener,
    /// For handshakes.
    pub tls: Option<Arc<ServerConfig>>,
    /// Routes.
    pub router: Router,
    /// Where they are.
    pub at: At,
}

/// The system's clock and randomness.
struct System;

impl Outside for System {
    fn now(&self) -> u64 {
        clock::now().0
    }

    fn fill(&self, bytes: &mut [u8]) -> bool {
        SysRng.try_fill_bytes(bytes).is_ok()
    }
}

/// A new log-in key.
pub(crate) fn new_key() -> Result<Secret, Error> {
    let mut bytes = [0; 32];
    SysRng.try_fill_bytes(&mut bytes).map_err(|e| Error::Told(format!("no randomness: {e}")))?;
    Ok(Secret::from_bytes(bytes))
}

/// Limits of the pages' port.
pub fn limits(limits: &Limits) -> Limits {
    Limits { connections: CONNECTIONS.min(limits.connections), ..limits.clone() }
}

impl House<'_> {
    /// Binds the port, and makes the first log-in if there is none.
    pub fn prepare(
        self,
        tls: &Arc<ServerConfig>,
        stopping: watch::Receiver<bool>,
    ) -> Result<Prepared, Error> {
        let settings = &self.settings.pages;
        let failed = |error| {
            Error::Told(format!(
                "pages: cannot listen at {}: {error}. Choose another `listen` under [pages] in coordinator.toml; sites are served \
             all the same",
                settings.listen
            ))
        };
        let listener = TcpListener::bind(settings.listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let secure = settings.uses_tls();
        let host = self.host();
        let scheme = if secure { "https" } else { "http" };
        let shown = if host.contains(':') { format!("[{host}]") } else { host };
        let address = format!("{scheme}://{shown}:{port}/");
        let access = Access::at(&self.folder.access());
        let told = |error: fedirt_ui::AccessError| Error::Told(error.to_string());
        let mut first = None;
        if access.read().map_err(told)?.is_empty() {
            let key = new_key()?;
            access.add("admin", Role::Administrator, &key, &clock::text(clock::now())).map_err(told)?;
            first = Some(format!("{address}login#{}", key.reveal()));
        }
        let gate = GateSettings {
            product: "coordinator",
            port,
            tls: secure,
            hosts: self.hosts(),
            lifetimes: Lifetimes::default(),
        };
        let gate = Arc::new(Gate::new(gate, Arc::new(access), Arc::new(System)));
        let hall = Arc::new(Hall {
            folder: self.folder.clone(),
            settings: self.settings.clone(),
            studies: self.studies,
            fits: Fits::default(),
            stopping,
        });
        Ok(Prepared {
            listener,
            tls: secure.then(|| tls.clone()),
            router: router(&gate, routes(), hall),
            at: At { address, first },
        })
    }

    /// What people call this machine.
    fn host(&self) -> String {
        let ip = self.settings.pages.listen.ip();
        if ip.is_loopback() {
            // By its number: `localhost` may mean ::1 to a browser, where somebody else could listen.
            return ip.to_string();
        }
        let own = self.settings.hosts.first().cloned();
        own.unwrap_or_else(|| if ip.is_unspecified() { "localhost".to_owned() } else { ip.to_string() })
    }

    /// All names that the pages answer to: those that the certificate is good for.
    fn hosts(&self) -> Vec<String> {
        let listen = self.settings.pages.listen.ip();
        if listen.is_loopback() {
            return vec![listen.to_string()];
        }
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
        hosts.extend(self.settings.hosts.iter().cloned());
        hosts.extend(self.settings.address.as_deref().and_then(crate::authority::host_of));
        let ip = self.settings.pages.listen.ip();
        if !ip.is_unspecified() {
            hosts.push(ip.to_string());
        }
        hosts
    }
}

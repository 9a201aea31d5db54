//! The server of the officer's pages, on loopback only, with a new log-in key for every start.

use super::door::{self, Door};
use super::invitation::Offers;
use super::looked::{column_names, file_hash};
use super::officer_settings::OfficerSettings;
use super::runner::Runners;
use super::{OfficerState, routes};
use crate::session::Lifetimes;
use crate::{Gate, GateSettings, Login, Outside, Role, Secret, router};
use axum::extract::ConnectInfo;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use fedirt_agent::{self as agent, AgentError, DiskStore, Home, Https, Lock, system_clock};
use fedirt_protocol::invitation::Invitation;
use rand::TryRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, watch};

/// The host of the pages.
const HOST: &str = "127.0.0.1";
/// The officer's name for logging in.
const OFFICER: &str = "officer";

/// Sessions last a working day: only programs of this computer reach the pages.
const WORKING_DAY: Lifetimes = Lifetimes { idle: 12 * 60 * 60_000, longest: 12 * 60 * 60_000 };

/// How the pages are served.
pub struct PagesSettings {
    /// Port on loopback; 0 for any free one.
    pub port: u16,
    /// Name of an auditor, who sees everything and changes nothing.
    pub auditor: Option<String>,
    /// Approves rosters and rounds automatically after this pause, for demonstrations only.
    pub automatic: Option<Duration>,
}

impl std::fmt::Debug for PagesSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PagesSettings({})", self.port)
    }
}

/// Pages that are served.
#[derive(Debug)]
pub struct Pages {
    /// Their address in a browser.
    pub address: String,
    /// The link with which the officer logs in. It contains a key, so only the officer may see it.
    pub link: String,
    /// The same for the auditor.
    pub auditor: Option<String>,
    /// Studies that cannot continue, and why.
    pub broken: Vec<String>,
    runtime: Option<Runtime>,
    stop: watch::Sender<bool>,
    app: Arc<OfficerState>,
    home: PathBuf,
    _lock: Lock,
}

struct System;

impl Outside for System {
    fn now(&self) -> u64 {
        system_clock().0
    }

    fn fill(&self, bytes: &mut [u8]) -> bool {
        SysRng.try_fill_bytes(bytes).is_ok()
    }
}

impl std::fmt::Debug for OfficerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OfficerState({:?})", self.home)
    }
}

/// Adds a log-in with a new key. Keys are kept in memory only, so that keys of an earlier start are not valid.
fn admit(logins: &mut Vec<Login>, name: &str, role: Role) -> Result<Secret, AgentError> {
    let mut bytes = [0; 32];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|e| AgentError::Mismatch(format!("the operating system provides no random numbers: {e}")))?;
    let key = Secret::from_bytes(bytes);
    let created = system_clock().to_string();
    logins.push(Login { name: name.to_owned(), role, hash: key.hash(), created });
    Ok(key)
}

async fn peer(mut request: Request, next: Next) -> axum::response::Response {
    // All clients are on this machine.
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))));
    next.run(request).await
}

impl Pages {
    /// Serves the pages of a home, and starts the agents that were running when the pages were last served.
    pub fn start(path: &Path, settings: PagesSettings) -> Result<Self, AgentError> {
        let home = &Home::open(path)?;
        let lock = home.lock_pages()?;
        let told = |error: std::io::Error| {
            AgentError::Mismatch(format!(
                "pages cannot be served at 127.0.0.1:{}: {error}. Choose another --port",
                settings.port
            ))
        };
        let mut logins = Vec::new();
        let officer = admit(&mut logins, OFFICER, Role::Administrator)?;
        let auditor = match &settings.auditor {
            Some(name) => Some(admit(&mut logins, name, Role::Auditor)?),
            None => None,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .thread_name("pages")
            .build()
            .map_err(told)?;
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)))
            .map_err(told)?;
        let port = listener.local_addr().map_err(told)?.port();
        // As a number, because a browser may resolve `localhost` to ::1, where another program could listen.
        let address = format!("http://{HOST}:{port}/");
        let (stop, stopping) = watch::channel(false);
        let gate = GateSettings {
            product: "site",
            port,
            tls: false,
            hosts: vec![HOST.to_owned()],
            lifetimes: WORKING_DAY,
        };
        let door = Door::new(logins, officer.hash(), path);
        let gate = Arc::new(Gate::new(gate, Arc::new(door), Arc::new(System)));
        // A file that was arriving when the program was killed.
        for study in home.studies()? {
            home.study(&study)?.erase(super::file::DRAFT)?;
        }
        let runners = Runners::new(home.clone(), settings.automatic);
        let broken = runners.start_all()?;
        let app = Arc::new(OfficerState {
            home: home.clone(),
            disk: DiskStore::at(path),
            runners,
            offers: Offers::default(),
            changing: Mutex::default(),
            stopping: stopping.clone(),
        });
        let pages = router(&gate, routes(), app.clone()).layer(from_fn(peer));
        let mut ending = stopping;
        runtime.spawn(async move {
            let end = async move {
                let _ = ending.wait_for(|stopping| *stopping).await;
            };
            // Nothing is lost when the server fails: the agents continue, and the pages can be started again.
            let _ = axum::serve(listener, pages).with_graceful_shutdown(end).await;
        });
        door::announce(path, &address)?;
        let link = |key: &Secret| format!("{address}login#{}", key.reveal());
        Ok(Self {
            link: link(&officer),
            auditor: auditor.as_ref().map(link),
            broken,
            address,
            runtime: Some(runtime),
            stop,
            app,
            home: path.to_owned(),
            _lock: lock,
        })
    }

    /// Everything that an officer does from the invitation to the approval in one step, for demonstrations. `budget` is ε and δ
    /// of the students' account, where one is needed.
    pub fn take_part(
        &self,
        invitation: Invitation,
        file: &Path,
        by: &str,
        budget: Option<(f64, f64)>,
    ) -> Result<(), AgentError> {
        let home = &self.app.home;
        let mut https = Https::new(&invitation.address, invitation.authority.as_deref())?;
        let offer = agent::look(invitation, &home.policy()?, &mut https, home.now())?;
        agent::accept(home, &offer, &mut https, &mut UnwrapErr(SysRng))?;
        let folder = home.known_study(&offer.plan.study)?;
        let population = format!("students of {}", offer.invitation.site);
        if let Some((epsilon, delta)) = budget {
            agent::open_account(home, &population, epsilon, delta)?;
        }
        let mut settings = OfficerSettings::default();
        settings.take_file(file.to_path_buf(), false);
        (settings.mapped, settings.population, settings.approved_by) =
            (true, Some(population), Some(by.to_owned()));
        settings.id = column_names(file)?.into_iter().find(|name| name == "id");
        folder.consent(by, settings.asked.words(), file_hash(file)?)?;
        settings.write(&folder)?;
        self.app.runners.start(&offer.plan.study);
        Ok(())
    }

    /// Serves until the process receives a signal to end, and then stops.
    pub fn until_signal(self) -> Result<(), AgentError> {
        let Some(runtime) = &self.runtime else { return Ok(()) };
        let asked = runtime.block_on(async {
            #[cfg(unix)]
            {
                let mut end = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
                tokio::select! {
                    asked = tokio::signal::ctrl_c() => asked,
                    _ = end.recv() => Ok(()),
                }
            }
            #[cfg(not(unix))]
            tokio::signal::ctrl_c().await
        });
        asked.map_err(|e| AgentError::Mismatch(format!("signals cannot be waited for: {e}")))
    }
}

impl Drop for Pages {
    /// Agents stop between two messages and continue at the next start.
    fn drop(&mut self) {
        self.stop.send_replace(true);
        // Nobody who finds the file is misled: the lock says whether pages are served.
        let _ = door::withdraw(&self.home);
        self.app.runners.stop_all();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(2));
        }
    }
}

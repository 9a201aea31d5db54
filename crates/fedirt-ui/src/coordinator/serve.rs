//! The server of the coordinator's pages, on a port of its own: without TLS on loopback, and with TLS elsewhere.

use super::{CoordinatorState, fits::Fits, routes};
use crate::session::Lifetimes;
use crate::{Access, AccessError, Gate, GateSettings, Outside, Role, Secret, router};
use fedirt_coordinator::server::{PagesAddress, PagesContext, PreparedPages};
use fedirt_coordinator::{Error, Settings, authority, clock};
use rand::TryRng;
use rand::rngs::SysRng;
use std::net::TcpListener;
use std::sync::Arc;

/// The clock and the random generator of the operating system.
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
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|e| Error::Told(format!("the operating system provides no random numbers: {e}")))?;
    Ok(Secret::from_bytes(bytes))
}

/// Prepares the pages of a coordinator: binds their port, and makes the first log-in if there is none. The server calls it
/// when it starts.
pub fn prepare(context: PagesContext<'_>) -> Result<PreparedPages, Error> {
    let PagesContext { folder, settings, studies, tls, stopping } = context;
    let listen = settings.pages.listen;
    let failed = |error| {
        Error::Told(format!(
            "pages: cannot listen at {listen}: {error}. Choose another `listen` under [pages] in coordinator.toml. Sites are \
             served nevertheless"
        ))
    };
    let listener = TcpListener::bind(listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let secure = settings.pages.uses_tls();
    let host = host(settings);
    let scheme = if secure { "https" } else { "http" };
    let shown = if host.contains(':') { format!("[{host}]") } else { host };
    let address = format!("{scheme}://{shown}:{port}/");
    let access = Access::at(&folder.access());
    let told = |error: AccessError| Error::Told(error.to_string());
    let mut first_login = None;
    if access.read().map_err(told)?.is_empty() {
        let key = new_key()?;
        access.add("admin", Role::Administrator, &key, &clock::now().to_string()).map_err(told)?;
        first_login = Some(format!("{address}login#{}", key.reveal()));
    }
    let gate = GateSettings {
        product: "coordinator",
        port,
        tls: secure,
        hosts: hosts(settings),
        lifetimes: Lifetimes::default(),
    };
    let gate = Arc::new(Gate::new(gate, Arc::new(access), Arc::new(System)));
    let app = Arc::new(CoordinatorState {
        folder: folder.clone(),
        settings: settings.clone(),
        studies,
        fits: Fits::default(),
        stopping,
    });
    Ok(PreparedPages {
        listener,
        tls: secure.then(|| tls.clone()),
        router: router(&gate, routes(), app),
        address: PagesAddress { address, first_login },
    })
}

/// The host name in the address of the pages.
fn host(settings: &Settings) -> String {
    let ip = settings.pages.listen.ip();
    if ip.is_loopback() {
        // As a number, because a browser may resolve `localhost` to ::1, where another program could listen.
        return ip.to_string();
    }
    let own = settings.hosts.first().cloned();
    own.unwrap_or_else(|| if ip.is_unspecified() { "localhost".to_owned() } else { ip.to_string() })
}

/// All host names of the pages: those for which the certificate is valid.
fn hosts(settings: &Settings) -> Vec<String> {
    let ip = settings.pages.listen.ip();
    if ip.is_loopback() {
        return vec![ip.to_string()];
    }
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
    hosts.extend(settings.hosts.iter().cloned());
    hosts.extend(settings.address.as_deref().and_then(authority::host_of));
    if !ip.is_unspecified() {
        hosts.push(ip.to_string());
    }
    hosts
}

//! What stands before every page.

use crate::access::{Login, Logins};
use crate::cookie::Cookie;
use crate::limit::Attempts;
use crate::secret::{BYTES, Secret};
use crate::session::{Lifetimes, Open, Sessions};
use axum::http::{HeaderMap, header};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What comes from outside: the time, and randomness that nobody can guess.
pub trait Outside: Send + Sync {
    /// Milliseconds since 1970.
    fn now(&self) -> u64;
    /// Fills bytes from the operating system; false if it cannot.
    fn fill(&self, bytes: &mut [u8]) -> bool;
}

/// How pages are reached and guarded.
#[derive(Debug, Clone)]
pub struct GateSettings {
    /// Whose pages, such as `coordinator`; the cookie is called after it.
    pub product: &'static str,
    /// Their port, which the cookie is called after too: browsers keep one jar for all ports of a host.
    pub port: u16,
    /// Whether they are served over TLS.
    pub tls: bool,
    /// Hosts that they may be called by, without ports. Another name is refused, so that a foreign page cannot make its
    /// own name point here.
    pub hosts: Vec<String>,
    /// How long sessions last.
    pub lifetimes: Lifetimes,
}

/// The gate.
pub struct Gate {
    settings: GateSettings,
    cookie: Cookie,
    logins: Arc<dyn Logins>,
    outside: Arc<dyn Outside>,
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    sessions: Sessions,
    attempts: Attempts,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gate({:?})", self.settings)
    }
}

/// Why nobody was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The key is none.
    Unknown,
    /// Too many tries: seconds to wait.
    TooMany(u64),
    /// The system gives no randomness.
    NoRandomness,
}

impl Gate {
    /// A gate.
    pub fn new(settings: GateSettings, logins: Arc<dyn Logins>, outside: Arc<dyn Outside>) -> Self {
        let cookie = Cookie::new(&format!("fedirt-{}-{}", settings.product, settings.port), settings.tls);
        let inside = Inside { sessions: Sessions::new(settings.lifetimes), attempts: Attempts::default() };
        Self { settings, cookie, logins, outside, inside: Mutex::new(inside) }
    }

    /// How pages are reached.
    pub fn settings(&self) -> &GateSettings {
        &self.settings
    }

    /// The cookie of sessions.
    pub(crate) fn cookie(&self) -> &Cookie {
        &self.cookie
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self) -> Option<Secret> {
        let mut bytes = [0; BYTES];
        self.outside.fill(&mut bytes).then(|| Secret::from_bytes(bytes))
    }

    /// Lets somebody in with a log-in key; returns the cookie's secret.
    pub(crate) fn enter(&self, address: IpAddr, key: &str) -> Result<Secret, Refused> {
        let now = self.outside.now();
        let hash = Secret::from_text(key).map(|key| key.hash());
        let known = self.logins.current();
        // All are compared, so that the time does not tell which is near.
        let found = known.iter().fold(None, |found, login| {
            if hash.is_some_and(|hash| hash.same(&login.hash)) { Some(login.hash) } else { found }
        });
        let Some(login) = found else {
            // A right key is let in whoever has guessed before: 32 random bytes are not found by trying, and nobody is to be
            // kept out by others' mistakes.
            let wait = self.inside().attempts.wait(now, address);
            if wait > 0 {
                return Err(Refused::TooMany(wait));
            }
            self.inside().attempts.failed(now, address);
            return Err(Refused::Unknown);
        };
        let (Some(cookie), Some(forms)) = (self.fresh(), self.fresh()) else {
            return Err(Refused::NoRandomness);
        };
        self.inside().sessions.begin(now, &cookie, forms, login);
        Ok(cookie)
    }

    /// Who sends these headers.
    pub(crate) fn who(&self, headers: &HeaderMap, passive: bool) -> Option<(Login, Open)> {
        let cookie = Secret::from_text(self.cookie.find(headers)?)?;
        let open = self.inside().sessions.find(self.outside.now(), &cookie, passive)?;
        let login = self.logins.current().into_iter().find(|login| login.hash.same(&open.login));
        if login.is_none() {
            self.inside().sessions.end(&cookie);
        }
        login.map(|login| (login, open))
    }

    /// Ends the session of these headers.
    pub(crate) fn leave(&self, headers: &HeaderMap) {
        if let Some(cookie) = self.cookie.find(headers).and_then(Secret::from_text) {
            self.inside().sessions.end(&cookie);
        }
    }

    /// Whether a request calls the pages by a name of theirs.
    pub(crate) fn knows_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = match host.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        self.settings.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Whether a request that changes something was sent by one of these pages.
    pub(crate) fn is_ours(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST.as_str()).unwrap_or_default();
        let own = format!("{}://{host}", if self.settings.tls { "https" } else { "http" });
        // A browser says at least one of the two with every form.
        match (text("origin"), text("sec-fetch-site")) {
            (None, None) => false,
            (origin, site) => {
                origin.is_none_or(|origin| origin.eq_ignore_ascii_case(&own))
                    && site.is_none_or(|site| site == "same-origin")
            }
        }
    }
}

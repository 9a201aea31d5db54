//! Access control for all pages: host, session, log-in attempts and the origin of requests.

use crate::access::{Login, Logins};
use crate::cookie::Cookie;
use crate::limit::Attempts;
use crate::secret::{BYTES, Secret};
use crate::session::{Lifetimes, Open, Sessions};
use axum::http::{HeaderMap, header};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The clock and the random generator of the operating system, which the caller provides.
pub trait Outside: Send + Sync {
    /// The time in milliseconds since 1970.
    fn now(&self) -> u64;
    /// Fills the bytes with randomness of the operating system. Returns false if there is none.
    fn fill(&self, bytes: &mut [u8]) -> bool;
}

/// How the pages are reached and protected.
#[derive(Debug, Clone)]
pub struct GateSettings {
    /// The program whose pages these are, such as `coordinator`. It is part of the cookie's name.
    pub product: &'static str,
    /// The port, which is part of the cookie's name too, because browsers share cookies among all ports of a host.
    pub port: u16,
    /// Whether the pages are served over TLS.
    pub tls: bool,
    /// Host names under which the pages may be called, without ports. Requests with another name are refused, which prevents
    /// DNS rebinding.
    pub hosts: Vec<String>,
    /// When sessions expire.
    pub lifetimes: Lifetimes,
}

/// The access control of all pages.
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

/// Why a log-in was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Nobody has this key.
    Unknown,
    /// There were too many failed attempts. The number of seconds to wait is given.
    TooMany(u64),
    /// The operating system provides no randomness.
    NoRandomness,
}

impl Gate {
    /// Access control with these settings and log-ins.
    pub fn new(settings: GateSettings, logins: Arc<dyn Logins>, outside: Arc<dyn Outside>) -> Self {
        let cookie = Cookie::new(&format!("fedirt-{}-{}", settings.product, settings.port), settings.tls);
        let inside = Inside { sessions: Sessions::new(settings.lifetimes), attempts: Attempts::default() };
        Self { settings, cookie, logins, outside, inside: Mutex::new(inside) }
    }

    /// The settings.
    pub fn settings(&self) -> &GateSettings {
        &self.settings
    }

    /// The session cookie.
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

    /// Logs somebody in with a log-in key, and returns the secret for the session cookie.
    pub(crate) fn enter(&self, address: IpAddr, key: &str) -> Result<Secret, Refused> {
        let now = self.outside.now();
        let hash = Secret::from_text(key).map(|key| key.hash());
        let known = self.logins.current();
        // The key is compared with all hashes, so that the time taken does not reveal a near match.
        let found = known.iter().fold(None, |found, login| {
            if hash.is_some_and(|hash| hash.same(&login.hash)) { Some(login.hash) } else { found }
        });
        let found = found.or_else(|| self.logins.once(now, &hash?));
        let Some(login) = found else {
            // A correct key is accepted whatever others have tried before: 32 random bytes cannot be guessed, and nobody should be
            // locked out by the mistakes of others.
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

    /// The visitor whose session cookie is in these headers.
    pub(crate) fn who(&self, headers: &HeaderMap, passive: bool) -> Option<(Login, Open)> {
        let cookie = Secret::from_text(self.cookie.find(headers)?)?;
        let open = self.inside().sessions.find(self.outside.now(), &cookie, passive)?;
        let login = self.logins.current().into_iter().find(|login| login.hash.same(&open.login));
        if login.is_none() {
            self.inside().sessions.end(&cookie);
        }
        login.map(|login| (login, open))
    }

    /// Ends the session whose cookie is in these headers.
    pub(crate) fn leave(&self, headers: &HeaderMap) {
        if let Some(cookie) = self.cookie.find(headers).and_then(Secret::from_text) {
            self.inside().sessions.end(&cookie);
        }
    }

    /// Whether the `Host` of a request is one of the allowed names.
    pub(crate) fn knows_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = match host.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        self.settings.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Whether a request that changes something was sent by one of these pages, judged by `Origin` or `Referer`.
    pub(crate) fn is_ours(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST.as_str()).unwrap_or_default();
        let own = format!("{}://{host}", if self.settings.tls { "https" } else { "http" });
        // Browsers send at least one of these two headers with every form.
        match (text("origin"), text("sec-fetch-site")) {
            (None, None) => false,
            (origin, site) => {
                origin.is_none_or(|origin| origin.eq_ignore_ascii_case(&own))
                    && site.is_none_or(|site| site == "same-origin")
            }
        }
    }
}

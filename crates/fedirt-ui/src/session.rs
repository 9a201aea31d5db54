//! Sessions of people who are logged in. They are kept in memory only, so a restart of the program ends them.

use crate::secret::{Hash, Secret};
use std::collections::BTreeMap;

/// When sessions expire, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// After the last request.
    pub idle: u64,
    /// After the log-in, whatever happens.
    pub longest: u64,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self { idle: 60 * 60_000, longest: 12 * 60 * 60_000 }
    }
}

/// Maximum number of sessions. When there are more, the oldest one ends.
const MOST: usize = 1000;

#[derive(Debug)]
struct Session {
    login: Hash,
    forms: Secret,
    began: u64,
    seen: u64,
}

/// All sessions, by the hash of their cookie.
#[derive(Debug, Default)]
pub struct Sessions {
    lifetimes: Lifetimes,
    open: BTreeMap<Hash, Session>,
}

/// What a session that has not expired is known by.
#[derive(Debug, Clone)]
pub struct Open {
    /// Hash of the log-in key with which it was opened.
    pub login: Hash,
    /// The token that every form must send back (CSRF).
    pub forms: Secret,
}

impl Sessions {
    /// No sessions yet.
    pub fn new(lifetimes: Lifetimes) -> Self {
        Self { lifetimes, open: BTreeMap::new() }
    }

    fn over(&self, session: &Session, now: u64) -> bool {
        now.saturating_sub(session.seen) >= self.lifetimes.idle
            || now.saturating_sub(session.began) >= self.lifetimes.longest
    }

    /// Opens a session for a log-in. `cookie` and `forms` must be newly drawn.
    pub fn begin(&mut self, now: u64, cookie: &Secret, forms: Secret, login: Hash) {
        let ended: Vec<Hash> =
            self.open.iter().filter(|(_, s)| self.over(s, now)).map(|(id, _)| *id).collect();
        ended.iter().for_each(|id| drop(self.open.remove(id)));
        if self.open.len() >= MOST
            && let Some(oldest) = self.open.iter().min_by_key(|(_, s)| s.seen).map(|(id, _)| *id)
        {
            self.open.remove(&oldest);
        }
        self.open.insert(cookie.hash(), Session { login, forms, began: now, seen: now });
    }

    /// The session of a cookie. The request prolongs it, unless it is `passive` (sent by a page that updates itself).
    pub fn find(&mut self, now: u64, cookie: &Secret, passive: bool) -> Option<Open> {
        let id = cookie.hash();
        if self.open.get(&id).is_none_or(|session| self.over(session, now)) {
            self.open.remove(&id);
            return None;
        }
        let session = self.open.get_mut(&id)?;
        if !passive {
            session.seen = now;
        }
        Some(Open { login: session.login, forms: session.forms.clone() })
    }

    /// Ends a session.
    pub fn end(&mut self, cookie: &Secret) {
        self.open.remove(&cookie.hash());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_end_when_idle_and_when_old() {
        let mut sessions = Sessions::new(Lifetimes { idle: 10, longest: 25 });
        let (cookie, forms) = (Secret::from_bytes([1; 32]), Secret::from_bytes([2; 32]));
        let login = Secret::from_bytes([3; 32]).hash();
        sessions.begin(0, &cookie, forms, login);
        assert!(sessions.find(9, &cookie, false).is_some());
        assert!(sessions.find(18, &cookie, true).is_some());
        assert!(sessions.find(19, &cookie, false).is_none(), "watching does not prolong");
        sessions.begin(20, &cookie, Secret::from_bytes([2; 32]), login);
        assert!(sessions.find(29, &cookie, false).is_some());
        assert!(sessions.find(38, &cookie, false).is_some());
        assert!(sessions.find(46, &cookie, false).is_none());
        assert!(sessions.find(46, &Secret::from_bytes([9; 32]), false).is_none());
    }

    #[test]
    fn there_is_an_end_to_their_number() {
        let mut sessions = Sessions::default();
        for n in 0..1100u64 {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&n.to_le_bytes());
            let cookie = Secret::from_bytes(bytes);
            sessions.begin(n, &cookie, Secret::from_bytes([0; 32]), cookie.hash());
        }
        assert_eq!(sessions.open.len(), MOST);
    }
}

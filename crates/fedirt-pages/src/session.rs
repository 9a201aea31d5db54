//! Who is logged in. Sessions are kept in memory: a restart ends them all.

use crate::secret::{Hash, Secret};
use std::collections::BTreeMap;

/// How long sessions last, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Without a request.
    pub idle: u64,
    /// In all.
    pub longest: u64,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self { idle: 60 * 60_000, longest: 12 * 60 * 60_000 }
    }
}

/// Most sessions at a time: beyond them the oldest ends.
const MOST: usize = 1000;

#[derive(Debug)]
struct Session {
    login: Hash,
    forms: Secret,
    began: u64,
    seen: u64,
}

/// The sessions, by the hash of their cookie.
#[derive(Debug, Default)]
pub struct Sessions {
    lifetimes: Lifetimes,
    open: BTreeMap<Hash, Session>,
}

/// A session that is open.
#[derive(Debug, Clone)]
pub struct Open {
    /// Hash of the log-in key that opened it.
    pub login: Hash,
    /// What every form must send back.
    pub forms: Secret,
}

impl Sessions {
    /// None yet.
    pub fn new(lifetimes: Lifetimes) -> Self {
        Self { lifetimes, open: BTreeMap::new() }
    }

    fn over(&self, session: &Session, now: u64) -> bool {
        now.saturating_sub(session.seen) >= self.lifetimes.idle
            || now.saturating_sub(session.began) >= self.lifetimes.longest
    }

    /// Opens a session for a log-in. `cookie` and `forms` are fresh.
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

    /// The session of a cookie, which is now used. `passive` requests (a page that updates itself) do not prolong it.
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

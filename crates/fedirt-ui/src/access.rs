//! The list of people who may log in: a file with their names, roles and the hashes of their log-in keys. The keys
//! themselves are stored nowhere.

use crate::role::Role;
use crate::secret::{Hash, Secret};
use fedirt_data::Readers;
use fedirt_data::files::write_whole;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Maximum length of a person's name, in characters.
const LONGEST_NAME: usize = 60;

/// A person who may log in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The person's name.
    pub name: String,
    /// The role that decides what the person may do.
    pub role: Role,
    /// Hash of the log-in key.
    pub hash: Hash,
    /// When the log-in was made, as text for display.
    pub created: String,
}

/// A source of log-ins, which the gate asks at every request.
pub trait Logins: Send + Sync {
    /// Everybody who may log in now. People who are no longer in the list are logged out at their next request.
    fn current(&self) -> Vec<Login>;

    /// The hash of the log-in key for which a code stands that logs in once; it is used up by this. Usually there are no such codes.
    fn once(&self, _now: u64, _code: &Hash) -> Option<Hash> {
        None
    }
}

impl Logins for Vec<Login> {
    fn current(&self) -> Vec<Login> {
        self.clone()
    }
}

/// Why the access file cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The content of the file is not valid.
    #[error("{}: {reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong and what would help.
        reason: String,
    },
    /// Somebody with this name may log in already.
    #[error("{0} may log in already: revoke that first, or choose another name")]
    Taken(String),
    /// The name is empty, too long, or has characters that are not allowed.
    #[error("{0:?} is no name: 1 to {LONGEST_NAME} letters, digits, blanks and . _ - @ are")]
    Name(String),
    /// Nobody with this name may log in.
    #[error("nobody called {name} may log in; there are: {known}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The names of those who may log in.
        known: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoginEntry {
    name: String,
    role: Role,
    sha256: String,
    created: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default)]
    login: Vec<LoginEntry>,
}

/// Cache of the file: when it was last changed, and its content then.
type Remembered = Option<(SystemTime, u64, Vec<Login>)>;

/// The access file, with a cache of its content.
#[derive(Debug)]
pub struct Access {
    path: PathBuf,
    remembered: Mutex<Remembered>,
}

const HEADING: &str = "# Who may log in to the pages, and as what: administrator, analyst or auditor.\n\
                       # Keys are not here, only their SHA-256. Lines may be deleted; whoever they name is logged out.\n\n";

impl Access {
    /// Uses the file at a path. It need not exist yet.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), remembered: Mutex::new(None) }
    }

    /// Reads everybody who may log in.
    pub fn read(&self) -> Result<Vec<Login>, AccessError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(AccessError::File { path: self.path.clone(), error }),
        };
        let wrong = |reason: String| AccessError::Content { path: self.path.clone(), reason };
        let content: Content = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        let login = |entry: LoginEntry| match Hash::from_hex(&entry.sha256) {
            Some(hash) => Ok(Login { name: entry.name, role: entry.role, hash, created: entry.created }),
            None => {
                Err(wrong(format!("sha256 of {}: 64 hexadecimal digits are needed; revoke it", entry.name)))
            }
        };
        content.login.into_iter().map(login).collect()
    }

    /// Adds a person with a new log-in key.
    pub fn add(&self, name: &str, role: Role, key: &Secret, created: &str) -> Result<(), AccessError> {
        let fine = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-' | '@');
        let name = name.trim();
        if name.is_empty() || name.chars().count() > LONGEST_NAME || !name.chars().all(fine) {
            return Err(AccessError::Name(name.to_owned()));
        }
        let mut logins = self.read()?;
        if logins.iter().any(|login| login.name == name) {
            return Err(AccessError::Taken(name.to_owned()));
        }
        logins.push(Login { name: name.to_owned(), role, hash: key.hash(), created: created.to_owned() });
        self.write(&logins)
    }

    /// Removes a person, who can then no longer log in.
    pub fn revoke(&self, name: &str) -> Result<(), AccessError> {
        let mut logins = self.read()?;
        let known: Vec<String> = logins.iter().map(|login| login.name.clone()).collect();
        logins.retain(|login| login.name != name);
        if logins.len() == known.len() {
            let known = if known.is_empty() { "nobody".to_owned() } else { known.join(", ") };
            return Err(AccessError::Unknown { name: name.to_owned(), known });
        }
        self.write(&logins)
    }

    /// Replaces the file atomically, readable and writable by its owner only.
    fn write(&self, logins: &[Login]) -> Result<(), AccessError> {
        let entry = |login: &Login| LoginEntry {
            name: login.name.clone(),
            role: login.role,
            sha256: login.hash.hex(),
            created: login.created.clone(),
        };
        let content = Content { login: logins.iter().map(entry).collect() };
        let wrong =
            |e: toml::ser::Error| AccessError::Content { path: self.path.clone(), reason: e.to_string() };
        let text = format!("{HEADING}{}", toml::to_string(&content).map_err(wrong)?);
        write_whole(&self.path, Readers::Owner, |out| out.write_all(text.as_bytes()))
            .map_err(|error| AccessError::File { path: self.path.clone(), error })
    }
}

impl Logins for Access {
    /// Reads the file again only when it has changed. A file that cannot be read lets nobody in.
    fn current(&self) -> Vec<Login> {
        let Ok(about) = std::fs::metadata(&self.path) else { return Vec::new() };
        let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, length, logins)) = remembered.as_ref()
            && (*at, *length) == (changed, about.len())
        {
            return logins.clone();
        }
        let logins = self.read().unwrap_or_default();
        *remembered = Some((changed, about.len(), logins.clone()));
        logins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_come_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("access.toml");
        let access = Access::at(&path);
        assert!(access.current().is_empty());
        let key = Secret::from_bytes([1; 32]);
        access.add("Ada", Role::Administrator, &key, "today").unwrap();
        assert_eq!(access.current()[0].hash, key.hash());
        assert!(!std::fs::read_to_string(&path).unwrap().contains(&key.reveal()));
        assert!(matches!(access.add("Ada", Role::Auditor, &key, ""), Err(AccessError::Taken(_))));
        assert!(matches!(access.add("<b>", Role::Auditor, &key, ""), Err(AccessError::Name(_))));
        let told = access.revoke("Bob").unwrap_err().to_string();
        assert!(told.contains("Ada"), "{told}");
        access.revoke("Ada").unwrap();
        assert!(access.current().is_empty());
        std::fs::write(&path, "[[login]]\nname = 1").unwrap();
        assert!(access.current().is_empty() && access.read().is_err());
    }
}

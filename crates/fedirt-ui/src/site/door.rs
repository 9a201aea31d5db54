//! The way in without a terminal: the running program says where its pages are, and somebody who can write to the site's folder leaves a
//! code there that logs in once.
//!
//! The code is in files that only their owner can read, counts for [`LIFETIME`], and is gone once it was used. It reaches the browser
//! in a local page, not in an address on a command line, which every user of the computer could read.

use crate::secret::{BYTES, Hash, Secret};
use crate::{Login, Logins};
use fedirt_agent::{AgentError, DiskStore, Home, Readers, Store, StoreError};
use rand::TryRng;
use rand::rngs::SysRng;
use std::path::{Path, PathBuf};

/// Where the pages are served, in the home.
const ADDRESS: &str = "pages.address";
/// The hash of the code and when it was made.
const CODE: &str = "open.code";
/// The page that leads the browser in.
const PAGE: &str = "open.html";
/// How long a code counts, in milliseconds.
const LIFETIME: u64 = 60_000;
/// How the fragment of an address begins that logs in by itself.
const FRAGMENT: &str = "once.";

/// The log-ins of a site's pages: fixed ones, and a code that somebody leaves at the door, which counts as the officer's.
pub(super) struct Door {
    logins: Vec<Login>,
    officer: Hash,
    disk: DiskStore,
}

impl Door {
    pub(super) fn new(logins: Vec<Login>, officer: Hash, home: &Path) -> Self {
        Self { logins, officer, disk: DiskStore::at(home) }
    }
}

impl Logins for Door {
    fn current(&self) -> Vec<Login> {
        self.logins.clone()
    }

    fn once(&self, now: u64, code: &Hash) -> Option<Hash> {
        let bytes = self.disk.read(CODE).ok().flatten()?;
        let text = String::from_utf8(bytes).ok()?;
        let (hash, made) = text.trim().split_once(' ')?;
        let (hash, made) = (Hash::from_hex(hash)?, made.parse::<u64>().ok()?);
        let fresh = made <= now && now - made <= LIFETIME;
        if !fresh || hash.same(code) {
            // A code that was used, or is too old, is good for nothing more.
            erase(&self.disk).ok()?;
        }
        (fresh && hash.same(code)).then_some(self.officer)
    }
}

fn erase(disk: &DiskStore) -> Result<(), StoreError> {
    disk.erase(CODE)?;
    disk.erase(PAGE)
}

/// Writes down where the pages are served.
pub(super) fn announce(home: &Path, address: &str) -> Result<(), AgentError> {
    let disk = DiskStore::at(home);
    erase(&disk)?;
    Ok(disk.replace(ADDRESS, address.as_bytes(), Readers::Owner)?)
}

/// Takes back what [`announce`] said.
pub(super) fn withdraw(home: &Path) -> Result<(), AgentError> {
    let disk = DiskStore::at(home);
    erase(&disk)?;
    Ok(disk.erase(ADDRESS)?)
}

/// Where the pages of a home are served, if a program serves them now.
pub fn served_at(home: &Path) -> Result<Option<String>, AgentError> {
    // Whoever serves them holds the lock: an address that a killed program left behind may be another program's by now.
    if Home::open(home)?.lock_pages().is_ok() {
        return Ok(None);
    }
    let address = DiskStore::at(home).read(ADDRESS)?;
    Ok(address.and_then(|bytes| String::from_utf8(bytes).ok()))
}

/// Leaves a code at the door of the pages at this address, and gives the page with which a browser goes in.
pub fn leave_code(home: &Path, address: &str) -> Result<PathBuf, AgentError> {
    let mut bytes = [0; BYTES];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|e| AgentError::Mismatch(format!("the operating system provides no random numbers: {e}")))?;
    let code = Secret::from_bytes(bytes);
    let disk = DiskStore::at(home);
    let made = fedirt_agent::system_clock().0;
    disk.replace(CODE, format!("{} {made}\n", code.hash().hex()).as_bytes(), Readers::Owner)?;
    let target = format!("{address}login#{FRAGMENT}{}", code.reveal());
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>fedirt</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url={target}\"></head>\n\
         <body><p>The pages of this site open. If they do not: <a href=\"{target}\">go there</a>.</p></body></html>\n"
    );
    disk.replace(PAGE, page.as_bytes(), Readers::Owner)?;
    Ok(disk.path(PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    #[test]
    fn a_code_opens_the_door_once_and_not_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let key = Secret::from_bytes([1; BYTES]);
        let login =
            Login { name: "o".into(), role: Role::Administrator, hash: key.hash(), created: String::new() };
        let door = Door::new(vec![login], key.hash(), dir.path());
        let code = |page: &Path| {
            let text = std::fs::read_to_string(page).unwrap();
            let code = text.split(FRAGMENT).nth(1).unwrap().split('"').next().unwrap().to_owned();
            Secret::from_text(&code).unwrap().hash()
        };
        let now = fedirt_agent::system_clock().0;
        let page = leave_code(dir.path(), "http://127.0.0.1:1/").unwrap();
        let left = code(&page);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            for file in [&page, &dir.path().join(CODE)] {
                assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
            }
        }
        assert_eq!(door.once(now + 1000, &Secret::from_bytes([2; BYTES]).hash()), None, "another code");
        assert_eq!(door.once(now + 1000, &left), Some(key.hash()), "a wrong code does not use it up");
        assert_eq!(door.once(now + 1000, &left), None, "it was used");
        assert!(!page.exists());
        let page = leave_code(dir.path(), "http://127.0.0.1:1/").unwrap();
        assert_eq!(door.once(now + 2 * LIFETIME, &code(&page)), None, "it is too old");
        assert!(!page.exists());
    }
}

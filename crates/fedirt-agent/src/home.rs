//! A site's home: its policy, its ledger, and a folder for each study.

use super::store::{Lock, Readers, Store};
use super::study::StudyFolder;
use super::{AgentError, policy_file};
use fedirt_privacy::secure::Identity;
use fedirt_protocol::Timestamp;
use fedirt_protocol::policy::Policy;
use rand::CryptoRng;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The site's rules.
const POLICY: &str = "policy.toml";
/// The salt of row fingerprints.
const SALT: &str = "salt.key";
/// What was given away, of whom: shared by all studies.
pub(super) const LEDGER: &str = "ledger.txt";
/// The head that the ledger had when it was last written to.
pub(super) const LEDGER_HEAD: &str = "ledger.head";
/// The key by which this site is known in every study.
const KEY: &str = "site.key";

/// What tells the time.
pub type Clock = fn() -> Timestamp;

/// The clock of this computer.
#[cfg(feature = "files")]
pub fn system_clock() -> Timestamp {
    Timestamp::from(std::time::SystemTime::now())
}

/// A site's home, in a store.
#[derive(Debug, Clone)]
pub struct Home {
    store: Arc<dyn Store>,
    clock: Clock,
}

impl Home {
    /// Makes a home: a policy with every rule explained, a salt for the fingerprints of students, and the key by which this site
    /// is known in every study. What is there stays.
    /// Gives the names of the files that were made.
    pub fn init_in(
        store: Arc<dyn Store>,
        clock: Clock,
        random: &mut impl CryptoRng,
    ) -> Result<(Self, Vec<&'static str>), AgentError> {
        let home = Self { store, clock };
        let mut made = Vec::new();
        if home.store.read(POLICY)?.is_none() {
            home.store.replace(POLICY, policy_file::TEMPLATE.as_bytes(), Readers::Usual)?;
            made.push(POLICY);
        }
        if home.store.read(SALT)?.is_none() {
            let mut salt = [0; 32];
            random.fill_bytes(&mut salt);
            home.store.replace(SALT, &salt, Readers::Owner)?;
            made.push(SALT);
        }
        if home.store.read(KEY)?.is_none() {
            home.store.replace(KEY, Identity::generate(random).secret().as_ref(), Readers::Owner)?;
            made.push(KEY);
        }
        Ok((home, made))
    }

    /// A home that is there.
    pub fn open_in(store: Arc<dyn Store>, clock: Clock) -> Result<Self, AgentError> {
        let home = Self { store, clock };
        if home.store.read(POLICY)?.is_some() && home.store.read(SALT)?.is_some() {
            Ok(home)
        } else {
            Err(AgentError::NotAHome(home.location("")))
        }
    }

    /// Makes a home in a folder of this computer, for its owner alone.
    #[cfg(feature = "files")]
    pub fn init(
        path: &std::path::Path,
        random: &mut impl CryptoRng,
    ) -> Result<(Self, Vec<&'static str>), AgentError> {
        Self::init_in(Arc::new(super::DiskStore::at(path)), system_clock, random)
    }

    /// A home that is in a folder of this computer.
    #[cfg(feature = "files")]
    pub fn open(path: &std::path::Path) -> Result<Self, AgentError> {
        Self::open_in(Arc::new(super::DiskStore::at(path)), system_clock)
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The key by which this site is known in every study. A home of an earlier version has none; it is made here.
    pub fn identity(&self, random: &mut impl CryptoRng) -> Result<Identity, AgentError> {
        match self.store.read(KEY)?.map(Zeroizing::new) {
            None => {
                let identity = Identity::generate(random);
                self.store.replace(KEY, identity.secret().as_ref(), Readers::Owner)?;
                Ok(identity)
            }
            Some(bytes) => match <&[u8; 32]>::try_from(bytes.as_slice()) {
                Ok(secret) => Ok(Identity::from_secret(secret)),
                Err(_) => Err(AgentError::tampered(self.location(KEY), None, "a key has 32 bytes")),
            },
        }
    }

    /// The time by the home's clock.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Where a file of the home is, for people; the home itself for an empty name.
    pub fn location(&self, file: &str) -> String {
        self.store.location(file)
    }

    /// Where `policy.toml` is, for people.
    pub fn policy_location(&self) -> String {
        self.location(POLICY)
    }

    /// One server of pages at a time.
    pub fn lock_pages(&self) -> Result<Lock, AgentError> {
        self.store.try_lock("pages.lock")?.ok_or_else(|| {
            AgentError::Mismatch(format!(
                "the pages of {} are served already: open them in the browser, or stop that program first",
                self.location("")
            ))
        })
    }

    /// The site's rules.
    pub fn policy(&self) -> Result<Policy, AgentError> {
        policy_file::read(self.store.read(POLICY)?, self.policy_location())
    }

    /// The text of the site's rules, whether or not they can be read.
    pub fn policy_text(&self) -> Result<String, AgentError> {
        Ok(String::from_utf8_lossy(&self.store.read(POLICY)?.unwrap_or_default()).into_owned())
    }

    /// The salt of row fingerprints, which never leaves.
    pub(super) fn salt(&self) -> Result<[u8; 32], AgentError> {
        let bytes = self.store.read(SALT)?.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes.ok_or_else(|| AgentError::tampered(self.location(SALT), None, "the salt has 32 bytes"))
    }

    /// The folder of a study, whether or not it is there.
    pub fn study(&self, name: &str) -> Result<StudyFolder, AgentError> {
        // The name is part of a path.
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(fine) {
            return Err(AgentError::Mismatch(format!(
                "{name:?} is no name of a study: letters, digits, '-', '_' and '.', not beginning with '.'"
            )));
        }
        Ok(StudyFolder::new(self.clone(), name))
    }

    /// A study that this site has enrolled in.
    pub fn known_study(&self, name: &str) -> Result<StudyFolder, AgentError> {
        let folder = self.study(name)?;
        if folder.exists()? {
            return Ok(folder);
        }
        Err(AgentError::UnknownStudy { study: name.to_owned(), known: self.studies()? })
    }

    /// Names of the studies that are here, in order.
    pub fn studies(&self) -> Result<Vec<String>, AgentError> {
        let mut names = self.store.list("studies")?;
        let mut there = Vec::new();
        names.retain(|name| self.study(name).is_ok());
        for name in names {
            if self.study(&name)?.exists()? {
                there.push(name);
            }
        }
        Ok(there)
    }
}

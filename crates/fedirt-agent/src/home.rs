//! A site's home folder: its policy, its ledger, and a folder for each study.

use super::durable::{self, Readers};
use super::lock::Lock;
use super::study::StudyFolder;
use super::{AgentError, policy_file};
use fedirt_privacy::secure::Identity;
use fedirt_protocol::policy::Policy;
use rand::CryptoRng;
use std::fs;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A home folder.
#[derive(Debug, Clone)]
pub struct Home {
    path: PathBuf,
}

impl Home {
    /// Makes a home: a policy with every rule explained, a salt for the fingerprints of students, and the key by which this site
    /// is known in every study. What is there stays.
    /// Gives the names of the files that were made.
    pub fn init(path: &Path, random: &mut impl CryptoRng) -> Result<(Self, Vec<&'static str>), AgentError> {
        durable::folder(path, Readers::Owner)?;
        durable::folder(&path.join("studies"), Readers::Owner)?;
        let home = Self { path: path.to_path_buf() };
        let mut made = Vec::new();
        if !home.policy_path().exists() {
            durable::write(&home.policy_path(), policy_file::TEMPLATE.as_bytes(), Readers::Usual)?;
            made.push("policy.toml");
        }
        if !home.salt_path().exists() {
            let mut salt = [0; 32];
            random.fill_bytes(&mut salt);
            durable::write(&home.salt_path(), &salt, Readers::Owner)?;
            made.push("salt.key");
        }
        if !home.key_path().exists() {
            durable::write(&home.key_path(), Identity::generate(random).secret().as_ref(), Readers::Owner)?;
            made.push("site.key");
        }
        Ok((home, made))
    }

    /// A home that is there.
    pub fn open(path: &Path) -> Result<Self, AgentError> {
        let home = Self { path: path.to_path_buf() };
        if home.policy_path().is_file() && home.salt_path().is_file() {
            Ok(home)
        } else {
            Err(AgentError::NotAHome(path.to_path_buf()))
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `policy.toml`.
    pub fn policy_path(&self) -> PathBuf {
        self.path.join("policy.toml")
    }

    /// `ledger.txt`, shared by all studies.
    pub fn ledger_path(&self) -> PathBuf {
        self.path.join("ledger.txt")
    }

    fn key_path(&self) -> PathBuf {
        self.path.join("site.key")
    }

    /// `verified.toml`.
    pub(super) fn verified_path(&self) -> PathBuf {
        self.path.join("verified.toml")
    }

    /// The head that the ledger had when it was last written to.
    pub(super) fn ledger_head_path(&self) -> PathBuf {
        self.path.join("ledger.head")
    }

    /// The key by which this site is known in every study. A home of an earlier version has none; it is made here.
    pub fn identity(&self, random: &mut impl CryptoRng) -> Result<Identity, AgentError> {
        let path = self.key_path();
        match durable::read(&path)?.map(Zeroizing::new) {
            None => {
                let identity = Identity::generate(random);
                durable::write(&path, identity.secret().as_ref(), Readers::Owner)?;
                Ok(identity)
            }
            Some(bytes) => match <&[u8; 32]>::try_from(bytes.as_slice()) {
                Ok(secret) => Ok(Identity::from_secret(secret)),
                Err(_) => Err(AgentError::tampered(&path, None, "a key has 32 bytes")),
            },
        }
    }

    fn salt_path(&self) -> PathBuf {
        self.path.join("salt.key")
    }

    /// One server of pages at a time.
    pub fn lock_pages(&self) -> Result<Lock, AgentError> {
        Lock::take(&self.path.join("pages.lock")).map_err(|error| match error {
            AgentError::Running(path) => AgentError::Mismatch(format!(
                "the pages of {} are served already: open them in the browser, or stop that program first",
                path.display()
            )),
            other => other,
        })
    }

    /// The site's rules.
    pub fn policy(&self) -> Result<Policy, AgentError> {
        policy_file::read(&self.policy_path())
    }

    /// The salt of row fingerprints, which never leaves.
    pub(super) fn salt(&self) -> Result<[u8; 32], AgentError> {
        let path = self.salt_path();
        let bytes = durable::read(&path)?.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes.ok_or_else(|| AgentError::tampered(&path, None, "the salt has 32 bytes"))
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
        Ok(StudyFolder::new(self.path.join("studies").join(name), name))
    }

    /// A study that this site has enrolled in.
    pub fn known_study(&self, name: &str) -> Result<StudyFolder, AgentError> {
        let folder = self.study(name)?;
        if folder.exists() {
            return Ok(folder);
        }
        Err(AgentError::UnknownStudy { study: name.to_owned(), known: self.studies()? })
    }

    /// Names of the studies that are here, in order.
    pub fn studies(&self) -> Result<Vec<String>, AgentError> {
        let path = self.path.join("studies");
        let mut names: Vec<String> = fs::read_dir(&path)
            .map_err(AgentError::at(&path))?
            .flatten()
            .filter(|entry| entry.path().join("plan.toml").is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        Ok(names)
    }
}

//! The folder of a coordinator.
//!
//! ```text
//! coordinator.toml    settings
//! plans/STUDY.toml    the studies
//! tls/                the authority and its key
//! store.sqlite3       everything that happened
//! results/STUDY/      what came out
//! access.toml         who may log in to the pages
//! metrics.key         opens the metrics
//! mailbox.key         signs mail that a courier carries
//! lock                held by the coordinator that runs
//! ```

use crate::{Error, authority, http, settings};
use fedirt_data::Readers;
use fedirt_data::files::{self, FileLock};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes what is missing, and leaves alone what is there. Returns what was made.
    pub fn init(
        path: &Path,
        listen: Option<SocketAddr>,
        hosts: &[String],
    ) -> Result<(Self, Vec<PathBuf>), Error> {
        let folder = Self(path.to_owned());
        let mut made = Vec::new();
        for part in [path.to_owned(), folder.plans(), path.join("tls"), folder.results()] {
            if !part.is_dir() {
                files::make_folder(&part, Readers::Owner).map_err(Error::file(&part))?;
            }
        }
        let mut write = |path: PathBuf, text: &str| -> Result<(), Error> {
            match create(&path, text) {
                Ok(()) => made.push(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::File { path, error }),
            }
            Ok(())
        };
        write(folder.settings(), &settings::template(listen, hosts))?;
        write(folder.metrics_key(), &http::new_key()?)?;
        if !folder.authority().exists() && !folder.authority_key().exists() {
            let (certificate, key) = authority::make()?;
            write(folder.authority_key(), &key)?;
            write(folder.authority(), &certificate)?;
        }
        Ok((folder, made))
    }

    /// A folder that `init` made.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let folder = Self(path.to_owned());
        if folder.settings().is_file() {
            return Ok(folder);
        }
        let help =
            format!("no coordinator.toml here; `fedirt coordinator init {}` makes one", path.display());
        Err(Error::content(path, help))
    }

    /// Takes the folder for a server, until the lock is dropped.
    pub fn lock(&self) -> Result<FileLock, Error> {
        let path = self.0.join("lock");
        FileLock::take(&path).map_err(Error::file(&path))?.ok_or_else(|| Error::Running(self.0.clone()))
    }

    /// Whether a server holds it.
    pub fn is_running(&self) -> bool {
        matches!(self.lock(), Err(Error::Running(_)))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A path of the settings, from this folder.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.0.join(path)
    }

    /// `coordinator.toml`.
    pub fn settings(&self) -> PathBuf {
        self.0.join("coordinator.toml")
    }

    /// The plans.
    pub fn plans(&self) -> PathBuf {
        self.0.join("plans")
    }

    /// Where a study's results go.
    pub fn results_of(&self, study: &str) -> PathBuf {
        self.results().join(study)
    }

    fn results(&self) -> PathBuf {
        self.0.join("results")
    }

    /// The authority's certificate.
    pub fn authority(&self) -> PathBuf {
        self.0.join("tls").join("authority.pem")
    }

    /// The authority's key.
    pub fn authority_key(&self) -> PathBuf {
        self.0.join("tls").join("authority.key")
    }

    /// Who may log in to the pages.
    pub fn access(&self) -> PathBuf {
        self.0.join("access.toml")
    }

    /// The key that opens the metrics.
    pub fn metrics_key(&self) -> PathBuf {
        self.0.join("metrics.key")
    }

    /// The key that signs mail which a courier carries.
    pub fn mailbox_key(&self) -> PathBuf {
        self.0.join("mailbox.key")
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.0.join("store.sqlite3")
    }
}

/// Writes a file that was not there, for its owner alone: all of it, or none.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    if path.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    files::write_whole(path, Readers::Owner, |out| out.write_all(text.as_bytes()))
}

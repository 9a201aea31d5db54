//! What can go wrong for an operator, with file and remedy.

use crate::store::LogError;
use crate::study::ReplayError;
use std::path::{Path, PathBuf};

/// An error for the operator.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file's content does not hold.
    #[error("{}: {reason}", .path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong, and what would help.
        reason: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] LogError),
    /// A study's events cannot be replayed.
    #[error("{study}: {error}")]
    Replay {
        /// Which study.
        study: String,
        /// Why.
        error: ReplayError,
    },
    /// The store stopped while the coordinator ran.
    #[error(
        "the store cannot be written any more; nothing acknowledged is lost. See the log, then start again"
    )]
    StoreStopped,
    /// Another coordinator holds the folder.
    #[error("{}: a coordinator runs here already; stop it first", .0.display())]
    Running(PathBuf),
    /// No coordinator holds the folder.
    #[error("{}: no coordinator runs here; start it with `fedirt coordinator start`", .0.display())]
    NotRunning(PathBuf),
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {error}. Choose another `listen` in coordinator.toml")]
    Listen {
        /// Address.
        address: String,
        /// Why.
        error: std::io::Error,
    },
    /// Certificates.
    #[error("certificates: {0}")]
    Tls(String),
    /// Something else that a sentence explains.
    #[error("{0}")]
    Told(String),
    /// Several of these.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<Error>),
}

impl Error {
    /// An input or output error at a path.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path, error }
    }

    /// Content that does not hold.
    pub(crate) fn content(path: &Path, reason: impl Into<String>) -> Self {
        Self::Content { path: path.to_owned(), reason: reason.into() }
    }
}

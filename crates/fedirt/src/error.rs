//! What can go wrong on the command line, and the exit status that says so.

use std::path::PathBuf;

/// An error for people. Every one of them ends the program with status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Files with problems, all of them.
    #[error("{0}")]
    Files(#[from] fedirt_site::Problems),
    /// Flags that do not go together, or name what is not there.
    #[error("{0}")]
    Usage(String),
    /// The calibration cannot be carried out.
    #[error("{0}")]
    Calibration(#[from] fedirt_protocol::coordinator::CoordinatorError),
    /// A table that contradicts itself.
    #[error("{0}")]
    Table(#[from] fedirt_model::responses::TableError),
    /// Scores cannot be computed.
    #[error("{0}")]
    Scoring(#[from] fedirt_model::scoring::ScoringError),
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A fit file that is not one.
    #[error("{path}: this is not a fit written by fedirt ({error}); give the fit.json of an output folder")]
    NotAFit {
        /// Which.
        path: PathBuf,
        /// Why.
        error: String,
    },
}

impl CliError {
    /// An input or output error at a path.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }
}

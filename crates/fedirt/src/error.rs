//! What can go wrong on the command line, and how it is told.

use crate::output::stderr;
use std::path::PathBuf;

/// An error for people. Every one of them ends the program with status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Files with problems, all of them.
    #[error("{}", .0.told(fedirt_data::Audience::CommandLine))]
    Files(#[from] fedirt_data::Problems),
    /// Flags that do not go together, or name what is not there.
    #[error("{0}")]
    Usage(String),
    /// The calibration cannot be carried out.
    #[error("{0}")]
    Calibration(#[from] fedirt_protocol::in_process::RunError),
    /// A table that contradicts itself.
    #[error("{0}")]
    Table(#[from] fedirt_model::responses::TableError),
    /// Scores cannot be computed.
    #[error("{0}")]
    Scoring(#[from] fedirt_model::scoring::ScoringError),
    /// A file cannot be read or written.
    #[error("{}: {}", .path.display(), reason(.error))]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Standard output does not take what is printed.
    #[error("standard output: {}", reason(.0))]
    Output(std::io::Error),
    /// A fit file that is not one.
    #[error("{}: this is not a fit written by fedirt ({error}); give the fit.json of an output folder", .path.display())]
    NotAFit {
        /// Which.
        path: PathBuf,
        /// Why.
        error: String,
    },
    /// Several of these.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<CliError>),
}

/// What the system says, and what would help.
fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "the disk is full; nothing was changed there. Make room, or name another place".to_owned()
        }
        ErrorKind::PermissionDenied => "no permission to write or read here; name another place".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only; name another place".to_owned(),
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::IsADirectory => "this is a folder, and a file is needed".to_owned(),
        // "No space left on device (os error 28)": the number helps nobody.
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}

impl CliError {
    /// An input or output error at a path.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| Self::File { path, error }
    }

    /// Problems with the command line, if there are any.
    pub(crate) fn usage(problems: Vec<String>) -> Result<(), Self> {
        Self::unless_empty(problems.into_iter().map(Self::Usage).collect())
    }

    /// One error, or all of them.
    pub(crate) fn unless_empty(mut errors: Vec<Self>) -> Result<(), Self> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(Self::Several(errors)),
        }
    }

    /// Tells the error on standard error.
    pub(crate) fn tell(&self) {
        match self {
            Self::Several(errors) => errors.iter().for_each(Self::tell),
            error => stderr::error(&error.to_string()),
        }
    }
}

//! What can go wrong on the command line, and how it is told.

use crate::output::stderr;
use fedirt_data::files::{FileError, reason};
use fedirt_data::results::NotAFit;
use fedirt_data::{Audience, Errors, Problems, ScoreError};
use std::path::PathBuf;

/// An error for people. Every one of them ends the program with status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Files with problems, all of them.
    #[error("{}", .0.told(Audience::CommandLine))]
    Files(#[from] Problems),
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
    #[error("{}", .0.told(Audience::CommandLine))]
    Score(#[from] ScoreError),
    /// A file cannot be read or written.
    #[error("{0}")]
    File(#[from] FileError),
    /// The folder of `--out` cannot be used.
    #[error("{flag}{0}", flag = out_flag(.0))]
    Out(FileError),
    /// Standard output does not take what is printed.
    #[error("standard output: {}", reason(.0))]
    Output(std::io::Error),
    /// A fit file that is not one.
    #[error("{}: this is not a fit written by fedirt ({error}); give the fit.json of an output folder", .path.display())]
    NotAFit {
        /// Which.
        path: PathBuf,
        /// Why.
        error: NotAFit,
    },
    /// Several of these.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<CliError>),
}

/// The flag, where the argument is at fault and not the disk.
fn out_flag(error: &FileError) -> &'static str {
    match error {
        FileError::System { .. } | FileError::Folder(_) => "",
        FileError::NotAFolder(_) | FileError::PartIsAFile(_) | FileError::FolderInTheWay { .. } => "--out ",
    }
}

impl From<Errors<ScoreError>> for CliError {
    fn from(errors: Errors<ScoreError>) -> Self {
        Self::Several(errors.0.into_iter().map(Self::Score).collect())
    }
}

impl CliError {
    /// An input or output error at a path.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| FileError::System { path, error }.into()
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

//! The errors of the command line.

use crate::args::FitArgs;
use crate::output::stderr;
use crate::usage::UsageError;
use fedirt::privacy::PrivateRefusal;
use fedirt::results::NotAFit;
use fedirt::{
    Audience, BookletProblem, Errors, FitError, Input, ItemProblem, OptionProblem, Problems, ReadOptions,
    ScoreError,
};
use fedirt_coordinator::codebook::CodebookError;
use fedirt_coordinator::edit::EditError;
use fedirt_data::files::{FileError, reason};
use std::error::Error;
use std::path::{Path, PathBuf};

/// An error of the command line. It ends the program with status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// All problems with files.
    #[error("{}", .0.told(Audience::CommandLine))]
    Files(#[from] Problems),
    /// A command line that cannot be carried out.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// An error of a library.
    #[error("{0}")]
    Because(Box<dyn Error + Send + Sync>),
    /// An invalid value of a flag.
    #[error("{}", .0.told(Audience::CommandLine))]
    Flag(OptionProblem),
    /// An item that cannot be calibrated with these flags.
    #[error("{}", .0.told(Audience::CommandLine))]
    Item(ItemProblem),
    /// A problem with a booklet.
    #[error("{}: {problem}", .path.display())]
    Booklet {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: BookletProblem,
    },
    /// The calibration cannot be carried out.
    #[error("{0}")]
    Fit(FitError),
    #[cfg(feature = "studies")]
    /// The published private algorithm was called without ε.
    #[error("fedirt-dp needs --epsilon")]
    NoPrivateTerms,
    /// The calibration of a study cannot be carried out.
    #[error("{0}")]
    Calibration(#[from] fedirt_protocol::in_process::RunError),
    /// An inconsistent table of responses.
    #[error("{0}")]
    Table(#[from] fedirt_model::responses::TableError),
    /// A TOML file that cannot be changed.
    #[error("{0}")]
    Toml(#[from] EditError),
    /// A problem with a codebook.
    #[error("{0}")]
    Codebook(CodebookError),
    /// The forecast of a private study cannot be computed.
    #[error("{0}")]
    Forecast(#[from] PrivateRefusal),
    /// Scores cannot be computed.
    #[error("{}", .0.told(Audience::CommandLine))]
    Score(#[from] ScoreError),
    /// A file cannot be read or written.
    #[error("{0}")]
    File(#[from] FileError),
    /// The folder of `--out` cannot be used.
    #[error("{flag}{0}", flag = out_flag(.0))]
    Out(FileError),
    /// Standard output cannot be written.
    #[error("standard output: {}", reason(.0))]
    Output(std::io::Error),
    /// A file that is not a fit.
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

/// The flag `--out`, if the error is due to its value.
fn out_flag(error: &FileError) -> &'static str {
    match error {
        FileError::System { .. } | FileError::Folder(_) => "",
        FileError::NotAFolder(_) | FileError::PartIsAFile(_) | FileError::FolderInTheWay { .. } => "--out ",
    }
}

impl From<Errors<CodebookError>> for CliError {
    fn from(errors: Errors<CodebookError>) -> Self {
        Self::several(errors, |error| match error {
            CodebookError::Table(problems) => Self::Files(problems),
            other => Self::Codebook(other),
        })
    }
}

impl From<Errors<ScoreError>> for CliError {
    fn from(errors: Errors<ScoreError>) -> Self {
        Self::several(errors, Self::Score)
    }
}

impl CliError {
    /// An error of a calibration in terms of the flags.
    pub(crate) fn fit(error: FitError, args: &FitArgs, options: &ReadOptions) -> Self {
        let path = || args.booklets.clone().unwrap_or_default();
        match error {
            FitError::Questions(problems) => Self::Files(problems),
            FitError::Options(problems) => Self::several(problems, Self::Flag),
            FitError::Items(problems) => Self::several(problems, |mut problem| {
                if let ItemProblem::UndeclaredCode(found) = &mut problem {
                    found.locate(options, |file| Some(Input::file(Path::new(file))));
                }
                Self::Item(problem)
            }),
            FitError::Booklets(problems) => {
                Self::several(problems, |problem| Self::Booklet { path: path(), problem })
            }
            other => Self::Fit(other),
        }
    }

    /// Wraps an error of a library.
    pub(crate) fn because(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Because(Box::new(error))
    }

    fn several<E>(errors: Errors<E>, each: impl Fn(E) -> Self) -> Self {
        Self::Several(errors.0.into_iter().map(each).collect())
    }

    /// An input or output error at a path.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |error| FileError::System { path, error }.into()
    }

    /// Problems with the command line, if there are any.
    pub(crate) fn usage(problems: Vec<UsageError>) -> Result<(), Self> {
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

    /// Prints the error on standard error.
    pub(crate) fn print(&self) {
        match self {
            Self::Several(errors) => errors.iter().for_each(Self::print),
            error => stderr::error(&error.to_string()),
        }
    }
}

//! Why a study on the command line stops.

use crate::error::CliError;
use fedirt_studies::StudyError;
use std::path::PathBuf;

/// Why a study on the command line stops.
#[derive(Debug, thiserror::Error)]
pub(super) enum StudyFailure {
    /// The journal of unfinished work cannot be used.
    #[error("{}: {error}{}", .path.display(), if .error.is_unusable_journal() { REPLACE } else { "" })]
    Journal {
        /// The journal's file.
        path: PathBuf,
        /// What is wrong with it.
        error: StudyError,
    },
    /// The folder holds something that would be replaced.
    #[error("{} holds {found}{REPLACE}", .folder.display())]
    FolderInUse {
        /// The folder.
        folder: PathBuf,
        /// What it holds.
        found: FolderContent,
    },
    /// A command that a study runs failed.
    #[error("`fedirt {}` failed: {stderr}", .arguments.join(" "))]
    Command {
        /// Its arguments.
        arguments: Vec<String>,
        /// What it printed on standard error.
        stderr: String,
    },
    /// Masks did not cancel, or a message was another than it should be.
    #[error("the masked {what} is not what it should be")]
    AnotherSum {
        /// What was compared.
        what: &'static str,
    },
    /// The coordinator did not listen in time.
    #[error("the coordinator does not listen on port {port}")]
    NotListening {
        /// The port.
        port: u16,
    },
    /// A path cannot be an argument.
    #[error("{} is not valid UTF-8", .0.display())]
    PathEncoding(PathBuf),
    /// `coordinator invite` printed something else.
    #[error("no invitation was printed")]
    NoInvitation,
    /// The study did not end in time.
    #[error("the study did not end within {seconds} s")]
    Timeout {
        /// How long it was given.
        seconds: u64,
    },
    /// The study failed, and its files are kept.
    #[error("{error}; everything is kept in {}", .folder.display())]
    Kept {
        /// What went wrong.
        error: Box<CliError>,
        /// Where its files are.
        folder: PathBuf,
    },
    /// A site's thread panicked.
    #[error("a site's thread failed")]
    SiteThread,
    /// The study ended before its first round.
    #[error("no round began")]
    NoRound,
    /// The study ended without a result.
    #[error("{reason}")]
    Ended {
        /// The coordinator's reason.
        reason: String,
    },
    /// The study waits for an approval that nobody gives.
    #[error("the study waits for an officer")]
    WaitsForOfficer,
}

/// What helps where files of an earlier study are in the way.
const REPLACE: &str = ": --restart replaces it, --out names another folder";

/// What a folder holds that a study would replace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FolderContent {
    /// Results with other settings.
    #[error("the results of a study with other settings")]
    OtherSettings,
    /// Results with more replications.
    #[error("the results of this study with {runs} runs, and these would be {wanted}")]
    MoreRuns {
        /// Runs of the results in the folder.
        runs: usize,
        /// Runs of the new results.
        wanted: usize,
    },
    /// A record of a study that is damaged.
    #[error("a {0} that cannot be read")]
    Damaged(&'static str),
    /// A file of the same name whose origin is unknown.
    #[error("{0}, which would be replaced")]
    File(&'static str),
}

impl From<StudyFailure> for CliError {
    fn from(failure: StudyFailure) -> Self {
        Self::because(failure)
    }
}

impl From<StudyError> for CliError {
    fn from(error: StudyError) -> Self {
        Self::because(error)
    }
}

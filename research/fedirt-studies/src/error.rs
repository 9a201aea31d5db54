//! Why a study cannot be run or written up.

use fedirt_figures::PictureError;
use fedirt_model::design::DesignError;
use fedirt_model::private::PrivateError;
use fedirt_model::questions::ReplyError;
use fedirt_model::responses::TableError;
use fedirt_model::scoring::ScoringError;
use fedirt_model::simulate::SpecError;
use fedirt_privacy::accountant::AccountantError;
use fedirt_privacy::clip::ClipError;
use fedirt_privacy::noise::NoiseError;
use fedirt_protocol::encoding::EncodingError;
use fedirt_protocol::in_process::RunError;
use fedirt_protocol::private::PrivateRefusal;

/// Why a study cannot be run or written up.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A calibration failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A private calibration failed.
    #[error(transparent)]
    Private(#[from] PrivateError),
    /// The privacy terms cannot be kept.
    #[error(transparent)]
    Terms(#[from] PrivateRefusal),
    /// ε, δ or the noise multiplier is out of range.
    #[error(transparent)]
    Accountant(#[from] AccountantError),
    /// The noise cannot be drawn.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The rows cannot be clipped.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// The items do not make a design.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// A table of responses is inconsistent.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The answer of a site is not what its question declares.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// Numbers cannot be written in fixed point.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// Students cannot be scored.
    #[error(transparent)]
    Scoring(#[from] ScoringError),
    /// Data cannot be simulated.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A picture cannot be drawn.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// Settings or records cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Too few items or sites are left for a comparison.
    #[error(
        "{items} items and {sites} sites with complete rows are left, and at least two of each are needed"
    )]
    TooFewData {
        /// Items with at least two different answers.
        items: usize,
        /// Sites with complete rows.
        sites: usize,
    },
    /// The run ended without a closing exchange.
    #[error("the run has no closing exchange")]
    NoClosing,
    /// A round that is not one of the published protocol.
    #[error("a round of the published protocol names no parameters")]
    NoPoint,
    /// An estimate is infinite or was not found.
    #[error("item {item} has no finite estimate")]
    NoFiniteEstimate {
        /// The item's name.
        item: String,
    },
    /// No item model has this name.
    #[error("there is no model {model}")]
    UnknownModel {
        /// The name.
        model: String,
    },
    /// The model has no difficulties, so that estimates cannot be converted to intercepts.
    #[error("items of the model {model} have no difficulties")]
    NoDifficulties {
        /// The model's name.
        model: String,
    },
    /// The accountant counts rounds in 32 bits.
    #[error("{0} rounds are more than the accountant can count")]
    TooManyRounds(usize),
    /// R does not have the package.
    #[error("R has no package {package}")]
    NoPackage {
        /// The package's name.
        package: String,
    },
    /// The package reported an error of its own.
    #[error("{reason}")]
    Package {
        /// What it said.
        reason: String,
    },
    /// R cannot be started, or ended without an answer.
    #[error("R: {0}")]
    Rscript(std::io::Error),
    /// R's reply is not `ok` with a slope and a difficulty for each item.
    #[error("R's reply cannot be read: {reply}")]
    UnreadableReply {
        /// The reply.
        reply: String,
    },
    /// A task of a study failed.
    #[error("{key}: {error}")]
    Task {
        /// The task's name in the journal.
        key: String,
        /// What went wrong.
        error: Box<StudyError>,
    },
    /// The study belongs to a journal with other settings.
    #[error("it was begun with other settings")]
    JournalSettings,
    /// A line of the journal that is not the last cannot be read.
    #[error("line {line} cannot be read: {error}")]
    JournalLine {
        /// The line's number, counted from 1.
        line: usize,
        /// Why.
        error: serde_json::Error,
    },
    /// A record of the journal has the wrong form.
    #[error("the record of {key} cannot be read: {error}")]
    JournalRecord {
        /// The record's task.
        key: String,
        /// Why.
        error: serde_json::Error,
    },
    /// The journal cannot be written.
    #[error("it cannot be written: {0}")]
    JournalWrite(std::io::Error),
}

impl StudyError {
    /// Whether the journal is at fault because of what it holds, so that beginning anew would help.
    pub fn is_unusable_journal(&self) -> bool {
        matches!(self, Self::JournalSettings | Self::JournalLine { .. } | Self::JournalRecord { .. })
    }

    /// Whether the error is about the journal and not about a task.
    pub fn is_about_journal(&self) -> bool {
        self.is_unusable_journal() || matches!(self, Self::JournalWrite(_))
    }
}

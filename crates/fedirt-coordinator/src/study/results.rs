//! Results of a study that finished: written once, also after a crash between the end and the writing.

use super::machine::Outcome;
use crate::status::Ending;
use crate::{Folder, results};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long to wait after the disk refused.
const AGAIN: Duration = Duration::from_secs(60);

/// What is left to write.
pub(super) struct Results {
    path: PathBuf,
    outcome: Option<Box<Outcome>>,
    next: Option<Instant>,
}

impl Results {
    pub(super) fn new(folder: &Folder, study: &str) -> Self {
        Self { path: folder.results_of(study), outcome: None, next: None }
    }

    /// The study has ended, and that is on the disk.
    pub(super) fn ended(&mut self, outcome: Box<Outcome>) {
        self.outcome = Some(outcome);
        self.next = Some(Instant::now());
        self.work();
    }

    /// Writes what is due. Returns whether anything changed.
    pub(super) fn work(&mut self) -> bool {
        let Some(Ok(finished)) = self.outcome.as_deref() else { return false };
        if self.next.is_none_or(|next| next > Instant::now()) {
            return false;
        }
        self.next = None;
        if self.are_there() {
            return true;
        }
        let path = self.path.display();
        match results::write(&self.path, finished) {
            Ok(()) => tracing::info!(%path, "results written"),
            Err(error) => {
                tracing::error!(%path, %error, "results cannot be written; another try follows in a minute");
                self.next = Some(Instant::now() + AGAIN);
            }
        }
        true
    }

    fn are_there(&self) -> bool {
        self.path.join("fit.json").is_file()
    }

    /// Where the results are, once they are complete.
    pub(super) fn place(&self) -> Option<String> {
        (matches!(self.outcome.as_deref(), Some(Ok(_))) && self.are_there())
            .then(|| self.path.display().to_string())
    }

    /// How the study ended, for people.
    pub(super) fn outcome(&self) -> Option<Ending> {
        Some(match self.outcome.as_deref()? {
            Ok(finished) => Ending::Finished { converged: finished.fit.converged != Some(false) },
            Err(error) => Ending::Ended { reason: error.to_string() },
        })
    }
}

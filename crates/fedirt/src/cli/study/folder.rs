//! What all studies share: a folder, a journal to resume from, threads, and a progress bar.

use super::error::StudyFailure;
use super::finished::FinishedStudy;
use crate::args::StudyFolderArgs;
use crate::error::CliError;
use crate::output::{stderr, stdout};
use fedirt_data::{Readers, files};
use fedirt_studies::StudyError;
use fedirt_studies::harness::{self, Journal, Watch};
use fedirt_studies::publish::StudyOutput;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The journal of unfinished work, which is removed when the study is complete.
const JOURNAL: &str = "unfinished.jsonl";

/// The folder of a study: its journal while it runs, its files when it has finished.
#[derive(Debug)]
pub(crate) struct StudyFolder {
    path: PathBuf,
    restart: bool,
    /// The study that is being run.
    study: Option<FinishedStudy>,
}

impl StudyFolder {
    /// Makes the folder, before the work begins.
    pub(crate) fn new(args: &StudyFolderArgs, name: &str) -> Result<Self, CliError> {
        crate::use_threads(args.threads.map(usize::from))?;
        let path = args.out.clone().unwrap_or_else(|| name.into());
        fs::create_dir_all(&path).map_err(CliError::file(&path))?;
        Ok(Self { path, restart: args.restart, study: None })
    }

    /// Computes all records; those in the journal of an unfinished run are not computed again.
    pub(crate) fn run<T, R>(
        &mut self,
        identity: &str,
        tasks: &[T],
        key: impl Fn(&T) -> String + Sync,
        work: impl Fn(&T) -> Result<R, StudyError> + Sync,
    ) -> Result<Vec<R>, CliError>
    where
        T: Sync,
        R: Serialize + DeserializeOwned + Send,
    {
        let path = self.path.join(JOURNAL);
        let study = FinishedStudy::new(identity, tasks.len());
        // A journal contains the settings of its study.
        if !self.restart && !path.exists() {
            study.may_replace(&self.path)?;
        }
        self.study = Some(study);
        let journal = self.journal(identity, &path)?;
        let bar = Bar::new();
        let records = harness::run(tasks, key, work, journal, &bar);
        bar.0.finish_and_clear();
        records.map_err(|error| match error.is_about_journal() {
            true => StudyFailure::Journal { path, error }.into(),
            false => error.into(),
        })
    }

    fn journal(&self, identity: &str, path: &Path) -> Result<Journal<File>, CliError> {
        let old = match fs::read_to_string(path) {
            Ok(text) if !self.restart => Some(text),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(CliError::file(path)(error));
            }
            _ => None,
        };
        let journal = match &old {
            Some(text) => Journal::resume(identity, text, Vec::new()),
            None => Journal::begin(identity, Vec::new()),
        };
        let journal = journal.map_err(|error| StudyFailure::Journal { path: path.to_owned(), error })?;
        // What was read replaces the old one, and new records follow: a stop in between loses nothing.
        let kept = journal.continue_in(|kept| {
            files::write_whole(path, Readers::Usual, |out| out.write_all(&kept))?;
            File::options().append(true).open(path)
        });
        kept.map_err(CliError::file(path))
    }

    /// Writes all files and prints the results.
    pub(crate) fn finish(self, output: &StudyOutput) -> Result<(), CliError> {
        self.write(&output.files)?;
        let names: Vec<&str> = output.files.iter().map(|(name, _)| name.as_str()).collect();
        let wrote = format!("\nWrote {} to {}\n", names.join(", "), self.path.display());
        stdout::print_raw(&format!("{}{wrote}", output.text))
    }

    /// Writes all files, and removes the journal when they are complete.
    pub(crate) fn write(&self, files: &[(String, Vec<u8>)]) -> Result<(), CliError> {
        for (name, bytes) in files {
            files::replace(&self.path.join(name), |out| out.write_all(bytes))?;
        }
        if let Some(study) = &self.study {
            study.write(&self.path)?;
        }
        let journal = self.path.join(JOURNAL);
        match fs::remove_file(&journal) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(CliError::file(journal)(error)),
            _ => Ok(()),
        }
    }
}

/// A bar on standard error, hidden when that is not a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} replications, {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        Self(bar)
    }
}

impl Watch for Bar {
    fn begin(&self, tasks: usize, done: usize) {
        if done > 0 {
            self.0.suspend(|| stderr::note(&format!("resuming: {done} of {tasks} tasks are done")));
        }
        self.0.set_length(tasks as u64);
        // Tasks of an earlier run must not influence the estimated time.
        self.0.set_position(done as u64);
        self.0.reset_eta();
    }

    fn done(&self) {
        self.0.inc(1);
    }
}

//! Progress of a command: a line on the terminal, or now and then a line in a log.

use crate::output::stderr;
use fedirt::Transcript;
use fedirt_model::fit::TraceEntry;
use fedirt_model::questions::Ask;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{Observer, Sent};
use fedirt_protocol::message::{Question, Turn};
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::fs::File;
use std::io::BufWriter;
use std::time::{Duration, Instant};

/// Where standard error is no terminal, a command that takes longer than this says where it is, and again each time that as much
/// has passed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Progress on standard error, whatever becomes of standard output: on a terminal a line that is removed when this is dropped, in a
/// file lines of commands that take long.
#[derive(Debug)]
pub(crate) struct Progress {
    line: ProgressBar,
    quiet: bool,
    last_said: Cell<Instant>,
}

impl Progress {
    /// Progress from now on.
    pub(crate) fn new() -> Self {
        let line = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed:>5}") {
            line.set_style(style);
        }
        if !line.is_hidden() {
            line.enable_steady_tick(Duration::from_millis(100));
        }
        Self { line, quiet: false, last_said: Cell::new(Instant::now()) }
    }

    /// Progress that is told to nobody where `quiet`.
    pub(crate) fn unless(quiet: bool) -> Self {
        if !quiet {
            return Self::new();
        }
        Self { line: ProgressBar::hidden(), quiet, last_said: Cell::new(Instant::now()) }
    }

    /// Says where the command is.
    pub(crate) fn say(&self, text: impl Into<String>) {
        if !self.line.is_hidden() {
            self.line.set_message(text.into());
        } else if !self.quiet && self.last_said.get().elapsed() >= PATIENCE {
            self.last_said.set(Instant::now());
            stderr::progress(&text.into());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

/// The observer of a calibration: shows rounds on the terminal and writes the transcript.
#[derive(Debug)]
pub(crate) struct Watcher<'a> {
    pub(crate) progress: &'a Progress,
    pub(crate) transcript: Option<Transcript<BufWriter<File>>>,
}

impl Observer for Watcher<'_> {
    fn round(&mut self, entry: &TraceEntry) {
        let mut text = format!("round {}", entry.round);
        if let Some(loglik) = entry.loglik {
            text.push_str(&format!(": log-likelihood {loglik:.3}"));
        }
        if let Some(gradient) = entry.max_gradient {
            text.push_str(&format!(", max. gradient {gradient:.1e}"));
        }
        self.progress.say(text);
    }

    fn asks(&mut self, turn: Turn, question: &Question) {
        let Question::Sums(request) = question else { return };
        match &request.ask {
            Ask::Diagnose(_) => self.progress.say("sums for the check of the model"),
            Ask::Dif(_) => self.progress.say("sums by group of students"),
            Ask::Products(_) => self.progress.say("sums for standard errors"),
            Ask::Close(_) => self.progress.say("last sums, and the check of the model"),
            Ask::Counts(_)
            | Ask::Start(_)
            | Ask::Evaluate(_)
            | Ask::Published(_)
            | Ask::Train(_)
            | Ask::LocalFit(_) => {
                if turn.round == 1 {
                    self.progress.say("round 1");
                }
            }
        }
    }

    fn declared(&mut self, site: &str, declaration: &Declaration) {
        if let Some(transcript) = &mut self.transcript {
            transcript.declared(site, declaration);
        }
    }

    fn sent(&mut self, site: &str, turn: Turn, question: &Question, sent: Sent<'_>) {
        if let Some(transcript) = &mut self.transcript {
            transcript.sent(site, turn, question, sent);
        }
    }

    fn wants_numbers(&self) -> bool {
        self.transcript.is_some()
    }
}

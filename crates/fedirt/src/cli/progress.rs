//! Progress of a command, shown only on a terminal.

use fedirt::Transcript;
use fedirt_model::fit::TraceEntry;
use fedirt_protocol::declaration::Declaration;
use fedirt_protocol::in_process::{Observer, Sent};
use fedirt_protocol::message::{Question, Turn};
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::BufWriter;
use std::time::Duration;

/// A progress line on standard error, which is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A progress line, which is hidden if standard error is not a terminal.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed:>5}") {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self(bar)
    }

    /// Sets the text of the line.
    pub(crate) fn say(&self, text: impl Into<String>) {
        if !self.0.is_hidden() {
            self.0.set_message(text.into());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
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

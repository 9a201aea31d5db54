//! Ctrl-C: a command that writes results leaves all of its files or none.

use crate::error::CliError;
use crate::output::stderr;
use fedirt_data::files::ResultFolder;
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The exit status of a program that Ctrl-C ended: 128 and the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;

fn wait_for_ctrl_c() -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.is_ok_and(|runtime| runtime.block_on(tokio::signal::ctrl_c()).is_ok())
}

/// Whether Ctrl-C was pressed, for commands that write what they compute: their writing fails from then on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stopped(Arc<AtomicBool>);

impl Stopped {
    /// From now on Ctrl-C no longer ends the program.
    pub(crate) fn watch() -> Self {
        let stopped = Self::default();
        let set = stopped.clone();
        std::thread::spawn(move || set.0.store(wait_for_ctrl_c(), Ordering::Relaxed));
        stopped
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// A writer that fails once Ctrl-C was pressed.
    pub(crate) fn guard<'a>(&'a self, out: &'a mut dyn Write) -> impl Write + 'a {
        Guarded { stopped: self, out }
    }
}

struct Guarded<'a> {
    stopped: &'a Stopped,
    out: &'a mut dyn Write,
}

impl Write for Guarded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stopped.is_set() { Err(io::Error::other("interrupted")) } else { self.out.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A folder of results that Ctrl-C finds either untouched or complete.
#[derive(Debug)]
pub(crate) struct Kept(Arc<Mutex<Option<ResultFolder>>>);

impl Kept {
    /// From now on Ctrl-C ends the program at once, without a trace of the folder; while files are written, after them.
    pub(crate) fn new(folder: ResultFolder) -> Self {
        let kept = Arc::new(Mutex::new(Some(folder)));
        let waiting = Arc::clone(&kept);
        std::thread::spawn(move || {
            // Where signals cannot be waited for, the system ends the program, and what is half written has another name.
            if wait_for_ctrl_c() {
                let untouched = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
                let nothing = untouched.is_some();
                // A folder that was made for the results goes again.
                drop(untouched);
                stderr::note(if nothing {
                    "interrupted; nothing was written"
                } else {
                    "interrupted; all files were written"
                });
                std::process::exit(i32::from(INTERRUPTED));
            }
        });
        Self(kept)
    }

    /// A nameless file in the folder.
    pub(crate) fn scratch(&self) -> Result<Option<File>, CliError> {
        let folder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(folder.as_ref().map(ResultFolder::scratch).transpose()?)
    }

    /// Writes; Ctrl-C has to wait.
    pub(crate) fn write<T>(
        self,
        write: impl FnOnce(ResultFolder) -> Result<T, CliError>,
    ) -> Result<Option<T>, CliError> {
        let mut folder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        folder.take().map(write).transpose()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // The waiting thread has a share in it, and a folder that was made for nothing goes now.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

//! Standard output and standard error.

pub(crate) mod stderr;
pub(crate) mod stdout;

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process prints tables and notes.
static QUIET: AtomicBool = AtomicBool::new(false);

/// `--quiet`: from now on no tables and notes. Errors and warnings are still told, and so is what is asked for with `--json` or can
/// be read only once, such as a key.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.fetch_or(quiet, Ordering::Relaxed);
}

fn quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

//! Progress shown by a function of R, which answers whether to go on, and Ctrl-C.

use extendr_api::prelude::*;
use fedirt_bindings::{TraceEntry, Watcher};
use std::ffi::{c_int, c_void};

unsafe extern "C" {
    fn R_CheckUserInterrupt();
    fn R_ToplevelExec(work: extern "C" fn(*mut c_void), data: *mut c_void) -> c_int;
}

extern "C" fn check(_: *mut c_void) {
    // SAFETY: called from R's own thread. If somebody has pressed Ctrl-C, R leaves this function by a jump to `R_ToplevelExec`; no
    // value with a destructor is in between.
    unsafe { R_CheckUserInterrupt() }
}

/// Whether somebody has pressed Ctrl-C.
fn interrupted() -> bool {
    // SAFETY: called from R's own thread; `R_ToplevelExec` returns 0 where `check` was left by a jump, and never jumps itself.
    unsafe { R_ToplevelExec(check, std::ptr::null_mut()) == 0 }
}

/// Whoever watches from R.
pub(crate) struct Watching {
    progress: Option<Function>,
    failed: bool,
}

impl Watching {
    pub(crate) fn new(progress: Robj) -> Self {
        Self { progress: progress.as_function(), failed: false }
    }
}

impl Watcher for Watching {
    fn round(&mut self, entry: &TraceEntry) {
        let Some(progress) = self.progress.as_ref().filter(|_| !self.failed) else { return };
        let number = |x: Option<f64>| Robj::from(x.map_or_else(Rfloat::na, Rfloat::from));
        let arguments = Pairlist::from_pairs([
            ("round", Robj::from(entry.round as f64)),
            ("loglik", number(entry.loglik)),
            ("max_gradient", number(entry.max_gradient)),
            ("max_change", number(entry.max_change)),
        ]);
        let goes_on = progress.call(arguments).ok().and_then(|answer| answer.as_bool());
        self.failed = goes_on != Some(true);
    }

    fn wants_to_stop(&mut self) -> bool {
        self.failed = self.failed || interrupted();
        self.failed
    }
}

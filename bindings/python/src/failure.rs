//! Failures as exceptions. `fedirt._errors` makes them, so that they are ordinary Python classes.

use fedirt_bindings::{Failure, guarded};
use pyo3::prelude::*;

/// The exception of a failure.
pub(crate) fn exception(py: Python<'_>, failure: &Failure) -> PyErr {
    let made =
        py.import("fedirt._errors").and_then(|module| module.call_method1("exception", (failure.json(),)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Works without the interpreter's lock. A failure or a panic becomes an exception.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    py.detach(|| guarded(work)).map_err(|failure| exception(py, &failure))
}

/// Works with the interpreter's lock, as whatever makes objects of Python must. A panic becomes an exception here too.
pub(crate) fn attached<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    guarded(|| Ok(work())).map_err(|failure| exception(py, &failure))?
}

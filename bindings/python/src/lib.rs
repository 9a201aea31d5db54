//! The extension module `fedirt._native`: tables of Python become columns, results become lists and JSON. Everything else is the
//! library's (`fedirt_bindings`) or Python's (`python/fedirt`).
#![cfg(feature = "python")]

mod arrow;
mod calls;
mod failure;
mod fitted;
mod frame;
#[cfg(feature = "machines")]
mod machines;
mod table;

use pyo3::prelude::*;

/// The compiled part of the package `fedirt`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::calls::{
        calibrate, check, compare, compare_picture, panic_on_purpose, plan, sensitivity, simulate,
    };
    #[pymodule_export]
    use crate::fitted::{Calibration, Fit};
    #[cfg(feature = "machines")]
    #[pymodule_export]
    use crate::machines::{Coordinator, Site};
    #[pymodule_export]
    use crate::table::Table;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        fedirt_bindings::quiet_panics();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("TABLES", fedirt_bindings::TABLES.to_vec())?;
        module.add("PICTURES", fedirt_bindings::PICTURES.to_vec())
    }
}

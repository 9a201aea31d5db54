//! Columns of the library as lists, with the kind of each.

use fedirt_bindings::{Cells, Frame};
use pyo3::prelude::*;
use pyo3::types::PyList;

/// (name, kind, cells) of each column; the kinds are `text`, `count`, `number` and `flag`.
pub(crate) type Lists<'py> = Vec<(String, &'static str, Bound<'py, PyList>)>;

/// The columns of a frame.
pub(crate) fn lists<'py>(py: Python<'py>, frame: Frame) -> PyResult<Lists<'py>> {
    let list = |(name, cells): (String, Cells)| {
        let (kind, list) = match cells {
            Cells::Text(cells) => ("text", PyList::new(py, cells)?),
            Cells::Count(cells) => ("count", PyList::new(py, cells)?),
            Cells::Number(cells) => ("number", PyList::new(py, cells)?),
            Cells::Flag(cells) => ("flag", PyList::new(py, cells)?),
        };
        Ok((name, kind, list))
    };
    frame.columns.into_iter().map(list).collect()
}

//! A table on its way from Python: column by column, or a stream of Arrow batches.

use crate::arrow;
use crate::failure::attached;
use fedirt::{Column, Columns, Input};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyCapsule, PyList, PyString};
use std::path::PathBuf;

/// A table that is filled column by column and handed over once.
#[pyclass(module = "fedirt._native")]
#[derive(Default)]
pub(crate) struct Table {
    name: String,
    columns: Columns,
}

#[pymethods]
impl Table {
    #[new]
    fn new(name: String) -> Self {
        Self { name, columns: Columns::default() }
    }

    /// Adds all columns of an Arrow stream (a capsule of `__arrow_c_stream__`).
    fn push_stream(&mut self, stream: &Bound<'_, PyCapsule>) -> PyResult<()> {
        for (name, column) in attached(stream.py(), || arrow::columns(stream))? {
            self.columns.push(name, column);
        }
        Ok(())
    }

    /// Adds a column of 64-bit integers, as bytes in the machine's order.
    fn push_integers(&mut self, name: String, bytes: &Bound<'_, PyBytes>) -> PyResult<()> {
        let push = |column: &mut Column, cell| column.push_integer(i64::from_ne_bytes(cell));
        let column = attached(bytes.py(), || of_bytes(bytes.as_bytes(), push))?;
        self.columns.push(name, column);
        Ok(())
    }

    /// Adds a column of 64-bit floating-point numbers, as bytes in the machine's order; NaN is missing.
    fn push_floats(&mut self, name: String, bytes: &Bound<'_, PyBytes>) -> PyResult<()> {
        let push = |column: &mut Column, cell| column.push_number(f64::from_ne_bytes(cell));
        let column = attached(bytes.py(), || of_bytes(bytes.as_bytes(), push))?;
        self.columns.push(name, column);
        Ok(())
    }

    /// Adds a column of any objects: `None`, NaN and the missing values of pandas are missing.
    fn push_objects(&mut self, name: String, cells: &Bound<'_, PyList>) -> PyResult<()> {
        let column = attached(cells.py(), || {
            let mut column = Column::with_capacity(cells.len());
            cells.iter().try_for_each(|cell| push_object(&mut column, &cell))?;
            Ok(column)
        })?;
        self.columns.push(name, column);
        Ok(())
    }
}

fn of_bytes(bytes: &[u8], push: impl Fn(&mut Column, [u8; 8])) -> PyResult<Column> {
    let (cells, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(PyValueError::new_err("the bytes of a column are no multiple of eight"));
    }
    let mut column = Column::with_capacity(cells.len());
    cells.iter().for_each(|cell| push(&mut column, *cell));
    Ok(column)
}

/// Adds an object. What is no number becomes its text, so that the reader's rules decide, and name row and column.
fn push_object(column: &mut Column, cell: &Bound<'_, PyAny>) -> PyResult<()> {
    if cell.is_none() {
        column.push_missing();
    } else if let Ok(text) = cell.cast::<PyString>() {
        column.push_text(&text.to_cow()?);
    } else if let Ok(flag) = cell.cast::<PyBool>() {
        column.push_integer(u8::from(flag.is_true()));
    } else if let Ok(number) = cell.extract::<i64>() {
        column.push_integer(number);
    } else if let Ok(number) = cell.extract::<f64>() {
        column.push_number(number);
    } else if matches!(&*cell.get_type().name()?.to_cow()?, "NAType" | "NaTType") {
        column.push_missing();
    } else {
        column.push_text(&cell.str()?.to_cow()?);
    }
    Ok(())
}

/// Answers or a table about items: a path, or a table.
pub(crate) enum Source {
    Path(PathBuf),
    Columns(String, Columns),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(table) = object.cast::<Table>() {
            let mut table = table.try_borrow_mut()?;
            return Ok(Self::Columns(table.name.clone(), std::mem::take(&mut table.columns)));
        }
        Ok(Self::Path(object.extract()?))
    }
}

impl Source {
    /// The source as an input of the reader.
    pub(crate) fn input(self) -> Input<'static> {
        match self {
            Self::Path(path) => Input::file(&path),
            Self::Columns(name, columns) => Input::columns(name, columns),
        }
    }
}

//! Columns of an Arrow stream by our own rules: nothing is cast. What cannot be an answer becomes a text that says so, and the
//! reader complains with row and column.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, OffsetSizeTrait, RecordBatchReader};
use fedirt::Column;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

/// The name that the Arrow C stream interface gives its capsules.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";

/// Reads a stream to its end.
pub(crate) fn columns(capsule: &Bound<'_, PyCapsule>) -> PyResult<Vec<(String, Column)>> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(format!("the Arrow stream: {error}"));
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a pointer to a valid stream, by the Arrow PyCapsule interface; `from_raw` takes the
    // stream out and leaves a released one, which the capsule's destructor knows to leave alone.
    let reader =
        unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) }.map_err(|error| wrong(&error))?;
    let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    let mut columns: Vec<(String, Column)> =
        names.into_iter().map(|name| (name, Column::default())).collect();
    for batch in reader {
        let batch = batch.map_err(|error| wrong(&error))?;
        for ((_, column), array) in columns.iter_mut().zip(batch.columns()) {
            let push = pusher(array.as_ref());
            (0..array.len()).for_each(|row| push(column, row));
        }
    }
    Ok(columns)
}

/// Adds the value of a row to a column.
type Push<'a> = Box<dyn Fn(&mut Column, usize) + 'a>;

fn pusher(array: &dyn Array) -> Push<'_> {
    use arrow_schema::DataType;
    match array.data_type() {
        DataType::Null => Box::new(|column, _| column.push_missing()),
        DataType::Boolean => {
            let cells = array.as_boolean();
            unless_null(array, move |column, row| column.push_integer(u8::from(cells.value(row))))
        }
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => integers::<UInt64Type>(array),
        DataType::Float32 => numbers::<Float32Type>(array),
        DataType::Float64 => numbers::<Float64Type>(array),
        DataType::Utf8 => texts::<i32>(array),
        DataType::LargeUtf8 => texts::<i64>(array),
        DataType::Utf8View => {
            let cells = array.as_string_view();
            unless_null(array, move |column, row| column.push_text(cells.value(row)))
        }
        DataType::Dictionary(..) => dictionary(array),
        other => {
            let words = format!("a value of the Arrow type {other}");
            unless_null(array, move |column, _| column.push_text(&words))
        }
    }
}

fn unless_null<'a>(array: &'a dyn Array, push: impl Fn(&mut Column, usize) + 'a) -> Push<'a> {
    if array.null_count() == 0 {
        return Box::new(push);
    }
    Box::new(move |column, row| if array.is_null(row) { column.push_missing() } else { push(column, row) })
}

fn integers<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &dyn Array) -> Push<'_> {
    let cells = array.as_primitive::<T>().values();
    unless_null(array, move |column, row| column.push_integer(cells[row]))
}

fn numbers<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &dyn Array) -> Push<'_> {
    let cells = array.as_primitive::<T>().values();
    unless_null(array, move |column, row| column.push_number(cells[row].into()))
}

fn texts<O: OffsetSizeTrait>(array: &dyn Array) -> Push<'_> {
    let cells = array.as_string::<O>();
    unless_null(array, move |column, row| column.push_text(cells.value(row)))
}

/// A dictionary holds each value once; a factor without its unused levels is what its rows say.
fn dictionary(array: &dyn Array) -> Push<'_> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    if values.is_empty() {
        return Box::new(|column, _| column.push_missing());
    }
    let (keys, push) = (dictionary.normalized_keys(), pusher(values.as_ref()));
    let value = move |column: &mut Column, row: usize| {
        let key = keys[row];
        if values.is_null(key) { column.push_missing() } else { push(column, key) }
    };
    unless_null(dictionary.keys(), value)
}

//! Casts that keep all values, and texts of dates and timestamps.

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use orcish::time::zone_offsets;
use orcish_core::cast::ExactCast;
use orcish_core::{Error, ErrorKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule::{self, Pair};
use crate::errors::{cast_error, to_python};

fn exact(adds_fields: bool) -> ExactCast<'static> {
    ExactCast { zones: &zone_offsets, adds_fields }
}

fn fault(py: Python<'_>, error: &Error) -> PyErr {
    match (error.kind(), error.place().row) {
        (ErrorKind::InvalidArgument, row) => cast_error(py, error.message(), row),
        _ => to_python(py, error),
    }
}

/// An array with the type of the only field of a schema.
#[pyfunction]
pub(crate) fn cast<'py>(
    py: Python<'py>,
    array: Pair<'py>,
    schema: &Bound<'py, PyCapsule>,
    adds_fields: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = capsule::read_schema(schema)?;
    let field = schema.fields().first().ok_or_else(|| PyValueError::new_err("a schema of one field is needed"))?;
    let array = capsule::read_array(&array)?;
    let made: Result<ArrayRef, Error> = py.detach(|| exact(adds_fields).apply(&array, field.data_type()));
    capsule::array(py, made.map_err(|error| fault(py, &error))?.to_data())
}

/// ISO 8601 texts of an array of dates, times or timestamps.
#[pyfunction]
pub(crate) fn iso_texts<'py>(py: Python<'py>, array: Pair<'py>) -> PyResult<Pair<'py>> {
    let array = capsule::read_array(&array)?;
    let texts = py.detach(|| exact(false).iso_texts(&array)).map_err(|error| fault(py, &error))?;
    Ok((capsule::field(py, &Field::new("", DataType::Utf8, true))?, capsule::array(py, texts.to_data())?))
}

/// The text of a number of days since 1970.
#[pyfunction]
pub(crate) fn date_text(days: i64) -> String {
    orcish_core::cast::date_text(days)
}

/// The ISO 8601 text of a timestamp without zone.
#[pyfunction]
pub(crate) fn timestamp_text(seconds: i64, nanoseconds: u32) -> String {
    orcish_core::cast::timestamp_text(seconds, nanoseconds)
}

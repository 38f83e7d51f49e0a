//! PyCapsules of the Arrow C data interface, as its PyCapsule interface names them.
//!
//! A capsule owns its structure: dropping it calls the structure's `release`, unless a consumer has
//! moved the structure out, which clears `release`.

use arrow_array::RecordBatchReader;
use arrow_array::ffi::FFI_ArrowArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_data::ArrayData;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

pub(crate) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

pub(crate) fn field<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(field).map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

pub(crate) fn array(py: Python<'_>, data: ArrayData) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), c"arrow_array")
}

pub(crate) fn stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}

/// The schema that a capsule of another producer holds.
#[expect(unsafe_code, reason = "what a capsule points to is known by its name only")]
pub(crate) fn read_schema(capsule: &Bound<'_, PyCapsule>) -> PyResult<Schema> {
    let pointer = capsule.pointer_checked(Some(c"arrow_schema"))?;
    // SAFETY: a capsule of this name holds an `ArrowSchema`, by the Arrow PyCapsule interface, for as long as it
    // lives; it is only looked at here.
    let schema = unsafe { pointer.cast::<FFI_ArrowSchema>().as_ref() };
    Schema::try_from(schema).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The stream that a capsule of another producer holds; the capsule is empty then.
#[expect(unsafe_code, reason = "what a capsule points to is known by its name only")]
pub(crate) fn read_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds an `ArrowArrayStream`, by the Arrow PyCapsule interface. Nobody else has it
    // while we hold the interpreter, and what is moved out is replaced by a stream that is released.
    let stream = unsafe { RecordBatchStreamReader::from_raw(pointer.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    stream.map_err(|error| PyValueError::new_err(error.to_string()))
}

//! PyCapsules of the Arrow C data interface, as its PyCapsule interface names them.
//!
//! A capsule owns its structure: dropping it calls the structure's `release`, unless a consumer has
//! moved the structure out, which clears `release`.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, from_ffi, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray, make_array};
use arrow_data::ArrayData;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
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

/// The array that two capsules of another producer hold, its type and itself; the latter is empty then.
#[expect(unsafe_code, reason = "what a capsule points to is known by its name only")]
pub(crate) fn read_array((schema, array): &Pair<'_>) -> PyResult<ArrayRef> {
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: capsules of these names hold an `ArrowSchema` and an `ArrowArray`, by the Arrow PyCapsule interface; the
    // producer says that they belong together. Nobody else has them while we hold the interpreter, the schema is only
    // looked at, and the array that is moved out is replaced by one that is released.
    let data = unsafe {
        let array = FFI_ArrowArray::from_raw(array.cast::<FFI_ArrowArray>().as_ptr());
        from_ffi(array, schema.cast::<FFI_ArrowSchema>().as_ref())
    };
    Ok(make_array(data.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

/// An array of another producer, as its type and itself.
pub(crate) type Pair<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// The stream that a capsule of another producer holds; the capsule is empty then.
#[expect(unsafe_code, reason = "what a capsule points to is known by its name only")]
pub(crate) fn read_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<ArrayStream> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds an `ArrowArrayStream`, by the Arrow PyCapsule interface. Nobody else has it
    // while we hold the interpreter, and what is moved out is replaced by a stream that is released.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    ArrayStream::new(stream).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Batches of a stream of another producer, whose columns may be null whatever the schema says: that is looked at where
/// the row can be named.
pub(crate) struct ArrayStream {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl ArrayStream {
    #[expect(unsafe_code, reason = "the functions of a stream are of another language")]
    fn new(mut stream: FFI_ArrowArrayStream) -> Result<Self, ArrowError> {
        let ask = stream.get_schema().ok_or_else(released)?;
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and both are ours.
        let code = unsafe { ask(&mut stream, &mut schema) };
        if code != 0 {
            return Err(fault(&mut stream, code));
        }
        let schema = Schema::try_from(&schema)?;
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
        Ok(ArrayStream { stream, schema: Arc::new(schema) })
    }

    #[expect(unsafe_code, reason = "the functions of a stream are of another language")]
    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let ask = self.stream.get_next().ok_or_else(released)?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released, and both are ours.
        let code = unsafe { ask(&mut self.stream, &mut array) };
        if code != 0 {
            return Err(fault(&mut self.stream, code));
        }
        if array.is_released() {
            return Ok(None);
        }
        let rows = array.len();
        // SAFETY: the producer says that its arrays are of its schema, which is a struct of these fields.
        let data = unsafe { from_ffi_and_data_type(array, DataType::Struct(self.schema.fields().clone())) }?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = StructArray::from(data).into_parts().1;
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map(Some)
    }
}

impl Iterator for ArrayStream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

fn released() -> ArrowError {
    ArrowError::CDataInterface("the stream has been taken already".to_owned())
}

/// What a stream says of its last error.
#[expect(unsafe_code, reason = "the functions of a stream are of another language")]
fn fault(stream: &mut FFI_ArrowArrayStream, code: i32) -> ArrowError {
    // SAFETY: the stream is not released; the text is its own, and lives until the next call.
    let text = stream.get_last_error().map(|ask| unsafe { ask(stream) }).filter(|text| !text.is_null());
    let text = text.map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
    ArrowError::CDataInterface(text.unwrap_or_else(|| format!("error {code}")))
}

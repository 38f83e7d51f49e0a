//! Import and export by the Arrow PyCapsule interface.
//!
//! A capsule owns its C structure. Dropping the capsule calls `release` of the structure, unless a consumer has moved
//! the structure out, which clears `release`.

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

/// Maximum number of levels of an imported type. Types are converted by recursion, which needs about 10 KiB a level.
const MAX_DEPTH: usize = 256;

/// Checks the nesting of a type, without recursion.
///
/// # Errors
/// `CDataInterface` for more than [`MAX_DEPTH`] levels.
fn check_depth(schema: &FFI_ArrowSchema) -> Result<(), ArrowError> {
    let mut remaining = vec![(schema, 0)];
    while let Some((schema, depth)) = remaining.pop() {
        if depth > MAX_DEPTH {
            let text = format!("types are nested deeper than {MAX_DEPTH} levels");
            return Err(ArrowError::CDataInterface(text));
        }
        remaining.extend(schema.children().chain(schema.dictionary()).map(|child| (child, depth + 1)));
    }
    Ok(())
}

/// Imports the schema of a capsule.
#[expect(unsafe_code, reason = "only the name of a capsule tells the type of its pointer")]
pub(crate) fn read_schema(capsule: &Bound<'_, PyCapsule>) -> PyResult<Schema> {
    let pointer = capsule.pointer_checked(Some(c"arrow_schema"))?;
    // SAFETY: by the Arrow PyCapsule interface a capsule of this name has a valid `ArrowSchema` as long as the capsule
    // lives. The schema is only read here.
    let schema = unsafe { pointer.cast::<FFI_ArrowSchema>().as_ref() };
    check_depth(schema)
        .and_then(|()| Schema::try_from(schema))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Imports the array of a schema and an array capsule. The array is moved out of its capsule.
#[expect(unsafe_code, reason = "only the name of a capsule tells the type of its pointer")]
pub(crate) fn read_array((schema, array): &Pair<'_>) -> PyResult<ArrayRef> {
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: by the Arrow PyCapsule interface capsules of these names have a valid `ArrowSchema` and `ArrowArray`, and
    // the producer states that the array has this schema. The interpreter lock excludes other users. The schema is only
    // read, and the array that is moved out is replaced by a released one.
    let data = unsafe {
        let schema = schema.cast::<FFI_ArrowSchema>().as_ref();
        check_depth(schema).and_then(|()| {
            let array = FFI_ArrowArray::from_raw(array.cast::<FFI_ArrowArray>().as_ptr());
            from_ffi(array, schema)
        })
    };
    Ok(make_array(data.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

/// The schema and the array capsule of an array.
pub(crate) type Pair<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// Imports the stream of a capsule. The stream is moved out of its capsule.
#[expect(unsafe_code, reason = "only the name of a capsule tells the type of its pointer")]
pub(crate) fn read_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<ArrayStream> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: by the Arrow PyCapsule interface a capsule of this name has a valid `ArrowArrayStream`. The interpreter
    // lock excludes other users. The stream that is moved out is replaced by a released one.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.cast::<FFI_ArrowArrayStream>().as_ptr()) };
    ArrayStream::new(stream).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The batches of an imported stream. All fields are nullable here: the writer checks nulls, and its error has the row.
pub(crate) struct ArrayStream {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl ArrayStream {
    #[expect(unsafe_code, reason = "the callbacks of a stream are C functions")]
    fn new(mut stream: FFI_ArrowArrayStream) -> Result<Self, ArrowError> {
        let get_schema = stream.get_schema().ok_or_else(released_error)?;
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and both pointers are to owned values.
        let code = unsafe { get_schema(&mut stream, &mut schema) };
        if code != 0 {
            return Err(last_error(&mut stream, code));
        }
        check_depth(&schema)?;
        let schema = Schema::try_from(&schema)?;
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
        Ok(ArrayStream { stream, schema: Arc::new(schema) })
    }

    #[expect(unsafe_code, reason = "the callbacks of a stream are C functions")]
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let get_next = self.stream.get_next().ok_or_else(released_error)?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is not released, and both pointers are to owned values.
        let code = unsafe { get_next(&mut self.stream, &mut array) };
        if code != 0 {
            return Err(last_error(&mut self.stream, code));
        }
        if array.is_released() {
            return Ok(None);
        }
        let rows = array.len();
        // SAFETY: the arrays of a stream have the schema of the stream, which is a struct of these fields.
        let data = unsafe { from_ffi_and_data_type(array, DataType::Struct(self.schema.fields().clone())) }?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = StructArray::from(data).into_parts().1;
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map(Some)
    }
}

impl Iterator for ArrayStream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

fn released_error() -> ArrowError {
    ArrowError::CDataInterface("the stream has been taken already".to_owned())
}

/// The last error of a stream.
#[expect(unsafe_code, reason = "the callbacks of a stream are C functions")]
fn last_error(stream: &mut FFI_ArrowArrayStream, code: i32) -> ArrowError {
    // SAFETY: the stream is not released. It owns the text, which is valid until the next call.
    let text =
        stream.get_last_error().map(|get_last_error| unsafe { get_last_error(stream) }).filter(|text| !text.is_null());
    let text = text.map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
    ArrowError::CDataInterface(text.unwrap_or_else(|| format!("error {code}")))
}

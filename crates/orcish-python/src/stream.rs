//! Export of batches by the Arrow C stream interface.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use orcish_core::Limits;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule;
use crate::errors::to_python;
use crate::interpreter::{attached, gone};
use crate::node::{self, Node};

/// The exception that ended a stream. The C stream interface transfers only its text.
type Failure = Arc<Mutex<Option<PyErr>>>;

/// A reader that is dropped detached from the interpreter: dropping waits for the threads of the reader, which may wait
/// for the interpreter to read from a file object.
struct Reader(Option<Source>);

/// A source of batches.
type Source = Box<dyn Iterator<Item = orcish_core::Result<RecordBatch>> + Send>;

impl Reader {
    fn next(&mut self) -> Option<orcish_core::Result<RecordBatch>> {
        self.0.as_mut()?.next()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let reader = self.0.take();
        // At the end of the process there may be no interpreter, and then no thread waits for it.
        attached(|py| py.detach(|| drop(reader)));
    }
}

/// Batches of a read, which can be consumed once.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Batches {
    reader: Mutex<Option<Reader>>,
    schema: SchemaRef,
    failure: Failure,
    limits: Limits,
}

impl Batches {
    /// The batches of a reader. The reader must check signals while it waits, because another thread may read from the
    /// same file object.
    pub(crate) fn of(
        schema: SchemaRef,
        reader: impl Iterator<Item = orcish_core::Result<RecordBatch>> + Send + 'static,
        limits: &Limits,
    ) -> Self {
        let reader = Reader(Some(Box::new(reader)));
        Batches { schema, reader: Mutex::new(Some(reader)), failure: Failure::default(), limits: limits.clone() }
    }
}

#[pymethods]
impl Batches {
    /// The schema as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.schema)
    }

    /// The batches as a PyCapsule.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Producers may ignore a requested schema.
        drop(requested_schema);
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reader = reader.ok_or_else(|| PyValueError::new_err("the batches have been taken already"))?;
        let stream = Stream { reader, schema: self.schema.clone(), failure: self.failure.clone(), ended: None };
        capsule::stream(py, Box::new(stream))
    }

    /// Levels of nesting of the deepest column. A column without children has one level.
    #[getter]
    fn depth(&self) -> usize {
        node::depth_of(self.schema.fields())
    }

    /// Maximum bytes of a table of all batches; `None` without a limit.
    #[getter]
    fn max_result(&self) -> Option<u64> {
        Some(self.limits.result).filter(|&limit| limit < u64::MAX)
    }

    /// The fields of the batches, for export level by level.
    fn nodes(&self) -> Vec<Node> {
        Node::roots(&self.schema, None)
    }

    /// The columns of the next batch, for export level by level. `None` after the last batch.
    fn next_nodes(&self, py: Python<'_>) -> PyResult<Option<Vec<Node>>> {
        let next = || self.reader.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.next();
        let batch = py.detach(next).transpose().map_err(|error| to_python(py, &error))?;
        Ok(batch.map(|batch| Node::roots(&self.schema, Some(batch.columns()))))
    }

    /// Raises the exception that ended the stream, if there is one.
    fn raise_failure(&self) -> PyResult<()> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

struct Stream {
    reader: Reader,
    schema: SchemaRef,
    failure: Failure,
    /// The text of the error that ended the stream. Threads of a consumer that have not seen the error may ask for more.
    ended: Option<String>,
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(text) = &self.ended {
            return Some(Err(ArrowError::ComputeError(text.clone())));
        }
        let next = |py: Python<'_>| {
            // The caller is C code, and a panic in C code ends the process.
            let next = || catch_unwind(AssertUnwindSafe(|| self.reader.next()));
            // Ctrl-C must end a read that does not return to Python between batches.
            let result = match py.check_signals() {
                Ok(()) => match py.detach(next) {
                    Ok(batch) => batch?.map_err(|error| to_python(py, &error)),
                    Err(_) => Err(PyRuntimeError::new_err("orcish panicked; standard error has the text")),
                },
                Err(interrupt) => Err(interrupt),
            };
            Some(result.map_err(|error| {
                let is_exception = error.is_instance_of::<PyException>(py);
                let text = if is_exception { error.value(py).to_string() } else { format!("interrupted by {error}") };
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                if !is_exception && is_main_thread(py) {
                    raise_later(&self.failure);
                }
                // The stream interface transfers a C string.
                let text = text.replace('\0', "\\0");
                self.ended = Some(text.clone());
                ArrowError::ComputeError(text)
            }))
        };
        attached(next).unwrap_or_else(|| Some(Err(ArrowError::ComputeError(gone().to_string()))))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The consumer may release the stream on a detached thread, and dropping the exception needs the interpreter.
        let failure = std::mem::take(&mut self.failure);
        attached(|_| drop(failure));
    }
}

/// Whether this is the main thread of the interpreter, which runs signal handlers and pending calls. It is taken for
/// another thread where the interpreter cannot tell.
fn is_main_thread(py: Python<'_>) -> bool {
    let compare = || {
        let threading = py.import("threading")?;
        let main = threading.call_method0("main_thread")?.getattr("ident")?;
        threading.call_method0("get_ident")?.eq(main)
    };
    compare().unwrap_or(false)
}

/// Schedules a call that raises the exception of a failure, as for the exception of a signal, unless it has been raised
/// before. A consumer of a stream raises its own error with the text only, which does not have the effect of
/// `KeyboardInterrupt`.
///
/// Only the main thread may schedule the call: the interpreter runs it there, and the exception of a read on another
/// thread would be raised in code that has nothing to do with the read.
#[expect(unsafe_code, reason = "pyo3 has no call for this")]
fn raise_later(failure: &Failure) {
    let pointer = Arc::into_raw(failure.clone());
    // SAFETY: the function is called once, and takes ownership of the reference of the pointer.
    let has_room = unsafe { pyo3::ffi::Py_AddPendingCall(Some(raise_now), pointer.cast_mut().cast()) } == 0;
    if !has_room {
        // SAFETY: the pointer is from `into_raw`, and the call was not scheduled.
        drop(unsafe { Arc::from_raw(pointer) });
        // SAFETY: the function may be called at any time.
        unsafe { pyo3::ffi::PyErr_SetInterrupt() };
    }
}

/// Raises the exception of a failure, unless it has been raised before. The interpreter calls the function on its main
/// thread.
#[expect(unsafe_code, reason = "the interpreter calls the function with a pointer")]
extern "C" fn raise_now(failure: *mut c_void) -> c_int {
    // SAFETY: the pointer is from `raise_later`, which gave its reference to this call.
    let failure = unsafe { Failure::from_raw(failure.cast()) };
    let error = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    // SAFETY: the interpreter calls the function on an attached thread.
    error.map_or(0, |error| {
        error.restore(unsafe { Python::assume_attached() });
        -1
    })
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

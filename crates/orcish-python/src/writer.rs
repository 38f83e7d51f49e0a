//! Writing and merging of files.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use once_cell::race::OnceBox;
use orcish::write::{FileWriter, Written};
use orcish_core::process::OwnerProcess;
use orcish_io::Staging;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::errors::{check_signals, signals, signals_and_progress, to_python};
use crate::interpreter::attached;
use crate::options::{limits, storage_options, write_options};
use crate::sink::{Publication, create};
use crate::{capsule, source};

/// A file that is being written.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Writer {
    state: Mutex<WriterState>,
    /// Name of the file in error messages.
    name: String,
    /// In a child process of a fork the writer may stay busy, because the thread that uses it does not exist.
    owner: OwnerProcess,
    /// Rows written so far.
    rows: AtomicU64,
    /// Receives the staged file of a writer that does not publish.
    staged: Option<Staging>,
    /// The token of a finished staged file.
    token: OnceBox<Vec<u8>>,
}

/// The state of a writer. A call takes the file writer out, so that the producer of batches can call the writer
/// meanwhile.
enum WriterState {
    Idle(Box<FileWriter>),
    /// A call uses the file writer.
    Busy(AfterCall),
    Closed,
}

/// What happens at the end of the current call, as other calls have requested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterCall {
    Continue,
    /// The file is discarded and closed.
    Abort,
    /// The file is discarded, and later calls fail.
    Fail,
}

impl Writer {
    fn lock(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_owner(&self) -> Result<(), WriteError> {
        self.owner.check().map_err(|error| WriteError::Writer(error.in_file(&self.name)))
    }

    /// Calls `work` with the file writer, detached from the interpreter. An error discards the file.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut FileWriter) -> Result<T, WriteError> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            self.check_owner()?;
            let mut writer = {
                let mut state = self.lock();
                match std::mem::replace(&mut *state, WriterState::Busy(AfterCall::Continue)) {
                    WriterState::Idle(writer) => writer,
                    other => {
                        let error =
                            if matches!(other, WriterState::Closed) { WriteError::Closed } else { WriteError::Busy };
                        *state = other;
                        return Err(error);
                    }
                }
            };
            let result = work(&mut writer);
            let mut has_failed = result.is_err();
            loop {
                if has_failed {
                    writer.abort();
                }
                self.rows.store(writer.rows(), Ordering::Relaxed);
                let mut state = self.lock();
                match *state {
                    // `fail` was called meanwhile.
                    WriterState::Busy(AfterCall::Fail) if !has_failed => has_failed = true,
                    WriterState::Busy(AfterCall::Abort) => {
                        *state = WriterState::Closed;
                        drop(state);
                        drop(writer);
                        break;
                    }
                    _ => {
                        *state = WriterState::Idle(writer);
                        break;
                    }
                }
            }
            result
        });
        result.map_err(|error| error.raise(py))
    }

    /// What happens at the end of the current call.
    fn after_call(&self) -> AfterCall {
        match *self.lock() {
            WriterState::Busy(after_call) => after_call,
            WriterState::Idle(_) | WriterState::Closed => AfterCall::Continue,
        }
    }
}

#[pymethods]
impl Writer {
    /// Begins a file at `target`, a path, a URL or an object with `write`, with the schema of a capsule.
    ///
    /// With `publish=False`, for paths and URLs, `finish` leaves a staged file. `complete_upload` or `abort_upload`
    /// with its `token` publishes or removes it. A staged local file has a hidden name in the folder `staging`, or in
    /// the folder of `target`. In an object store it consists of uploaded parts.
    #[new]
    #[pyo3(signature = (target, schema, *, options=None, storage_options=None, publish=true, staging=None, overwrite=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        target: &Bound<'_, PyAny>,
        schema: &Bound<'_, PyCapsule>,
        options: Option<&Bound<'_, PyDict>>,
        storage_options: Option<&Bound<'_, PyDict>>,
        publish: bool,
        staging: Option<&str>,
        overwrite: bool,
    ) -> PyResult<Self> {
        let options = write_options(options)?;
        let storage = self::storage_options(storage_options)?;
        let schema = Arc::new(capsule::read_schema(schema)?);
        let (sink, staged) = create(target, &storage, &Publication { publish, staging, overwrite })?;
        let name = sink.name().to_owned();
        let writer = py.detach(|| FileWriter::try_new(sink, schema, &options));
        let mut writer = writer.map_err(|error| to_python(py, &error))?;
        writer.set_cancel_check(signals());
        let (state, rows) = (Mutex::new(WriterState::Idle(Box::new(writer))), AtomicU64::new(0));
        Ok(Writer { state, name, owner: OwnerProcess::current(), rows, staged, token: OnceBox::new() })
    }

    /// Writes all batches of the stream of a capsule.
    fn write_stream(&self, py: Python<'_>, stream: &Bound<'_, PyCapsule>) -> PyResult<()> {
        let batches = capsule::read_stream(stream)?;
        // A producer attaches to the interpreter if it needs it.
        self.work(py, |writer| {
            for batch in batches {
                let batch = batch.map_err(|error| WriteError::Producer(error.to_string()))?;
                writer.write(&batch).map_err(WriteError::Writer)?;
                self.rows.store(writer.rows(), Ordering::Relaxed);
                check_signals().map_err(WriteError::Writer)?;
                match self.after_call() {
                    AfterCall::Continue => {}
                    AfterCall::Abort => return Err(WriteError::Closed),
                    AfterCall::Fail => return Err(WriteError::Failed),
                }
            }
            Ok(())
        })
    }

    /// Ends the stripe before it has reached the stripe size.
    fn end_stripe(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |writer| writer.end_stripe().map_err(WriteError::Writer))
    }

    /// Ends the stripe, and sets the time zone of the writer of the next stripes.
    fn set_timezone(&self, py: Python<'_>, timezone: &str) -> PyResult<()> {
        self.work(py, |writer| writer.set_timezone(timezone).map_err(WriteError::Writer))
    }

    /// Bytes of memory of the current stripe.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        if !self.owner.is_current() {
            return 0;
        }
        py.detach(|| match &mut *self.lock() {
            WriterState::Idle(writer) => writer.memory(),
            WriterState::Busy(_) | WriterState::Closed => 0,
        })
    }

    /// Finishes the file, and publishes it unless it is staged. Returns the number of rows, bytes and stripes.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, u64, usize)> {
        let written = self.work(py, |writer| writer.finish().map_err(WriteError::Writer))?;
        if let Some(token) = token(self.staged.as_ref(), &written) {
            self.token.get_or_init(|| Box::new(token));
        }
        *self.lock() = WriterState::Closed;
        Ok((written.rows, written.bytes, written.stripes))
    }

    /// The token of the finished staged file. `None` for a published or unfinished file.
    #[getter]
    fn token<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.token.get().map(|token| PyBytes::new(py, token))
    }

    /// Discards the file. A finished file stays, published or staged, and so does a file of another process.
    fn abort(&self, py: Python<'_>) {
        if !self.owner.is_current() {
            return;
        }
        py.detach(|| {
            let mut state = self.lock();
            let next = match *state {
                WriterState::Busy(_) => WriterState::Busy(AfterCall::Abort),
                WriterState::Idle(_) | WriterState::Closed => WriterState::Closed,
            };
            let before = std::mem::replace(&mut *state, next);
            drop(state);
            drop(before);
        });
    }

    /// Discards the file as a failing call does: later calls are errors.
    fn fail(&self, py: Python<'_>) {
        let aborted = self.work(py, |writer| {
            writer.abort();
            Ok(())
        });
        if aborted.is_err() && self.owner.is_current() {
            py.detach(|| {
                let mut state = self.lock();
                if matches!(*state, WriterState::Busy(AfterCall::Continue)) {
                    *state = WriterState::Busy(AfterCall::Fail);
                }
            });
        }
    }

    /// Rows written so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// The ORC type of the file.
    #[getter]
    fn type_string(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.check_owner().map_err(|error| error.raise(py))?;
        let text = match &*self.lock() {
            WriterState::Idle(writer) => Some(writer.types().type_string(0)),
            WriterState::Busy(_) | WriterState::Closed => None,
        };
        text.transpose().map_err(|error| to_python(py, &error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let state =
            std::mem::replace(self.state.get_mut().unwrap_or_else(PoisonError::into_inner), WriterState::Closed);
        // A file in an object store is discarded by a request, for which other threads should not wait. At the end of
        // the process there may be no interpreter to attach to.
        attached(|py| py.detach(|| drop(state)));
    }
}

/// The token of a finished staged file. `None` for a published file.
pub(crate) fn token(staged: Option<&Staging>, written: &Written) -> Option<Vec<u8>> {
    Some(written.take_staged(staged?)?.to_bytes())
}

/// Merges files into one without decoding their stripes. Returns the number of rows, bytes and stripes, and the token
/// of a staged file with `publish=False`. `progress` is called with the number of bytes that are written.
#[pyfunction]
#[pyo3(signature = (sources, target, *, storage_options=None, limits=None, publish=true, staging=None, overwrite=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn merge_files(
    py: Python<'_>,
    sources: Vec<Bound<'_, PyAny>>,
    target: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyDict>>,
    limits: Option<&Bound<'_, PyDict>>,
    publish: bool,
    staging: Option<&str>,
    overwrite: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(u64, u64, usize, Option<Py<PyBytes>>)> {
    let limits = self::limits(limits)?;
    let storage = self::storage_options(storage_options)?;
    let sources = sources.iter().map(|source| source::open(source, &storage, None)).collect::<PyResult<Vec<_>>>()?;
    let (sink, staged) = create(target, &storage, &Publication { publish, staging, overwrite })?;
    let done = Arc::default();
    let check = signals_and_progress(progress, &done);
    let written = py.detach(|| orcish::write::merge(&sources, sink, &limits, Some(&check), Some(&done)));
    let written = written.map_err(|error| to_python(py, &error))?;
    let token = token(staged.as_ref(), &written).map(|token| PyBytes::new(py, &token).unbind());
    Ok((written.rows, written.bytes, written.stripes, token))
}

/// Why a call of a writer failed.
enum WriteError {
    Closed,
    Busy,
    Failed,
    Producer(String),
    Writer(orcish_core::Error),
}

impl WriteError {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            WriteError::Closed => PyValueError::new_err("the file is closed"),
            WriteError::Failed => PyValueError::new_err("writing the file has failed before"),
            WriteError::Busy => PyValueError::new_err("the file is being written to by another call"),
            WriteError::Producer(text) => {
                PyValueError::new_err(format!("the batches that are to be written ended: {text}"))
            }
            WriteError::Writer(error) => to_python(py, &error),
        }
    }
}

//! Writing of a file.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use orcish::{Check, FileWriter, Sink, StorageOptions, Written};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyString};

use crate::errors::{check_signals, from_python, to_python};
use crate::options::{limits, storage_options, write_options};
use crate::{capsule, source};

/// A file that is being written.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Writer {
    /// None once it is finished or given up.
    writer: Mutex<Option<FileWriter>>,
}

impl Writer {
    fn lock(&self) -> MutexGuard<'_, Option<FileWriter>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Writer {
    /// A writer to `target`, a path, a URL or an object with `write`, of batches of the schema that a capsule holds.
    #[new]
    #[pyo3(signature = (target, schema, *, options=None, storage_options=None))]
    fn new(
        py: Python<'_>,
        target: &Bound<'_, PyAny>,
        schema: &Bound<'_, PyCapsule>,
        options: Option<&Bound<'_, PyDict>>,
        storage_options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = write_options(options)?;
        let storage = self::storage_options(storage_options)?;
        let schema = Arc::new(capsule::read_schema(schema)?);
        let sink = create(target, &storage)?;
        let writer = py.detach(|| FileWriter::new(sink, schema, &options));
        Ok(Writer { writer: Mutex::new(Some(writer.map_err(|error| to_python(py, &error))?)) })
    }

    /// Takes all batches of the stream that a capsule holds.
    fn write_stream(&self, py: Python<'_>, stream: &Bound<'_, PyCapsule>) -> PyResult<()> {
        let batches = capsule::read_stream(stream)?;
        // Producers take the interpreter where they need it.
        py.detach(move || {
            let mut writer = self.lock();
            let Some(writer) = writer.as_mut() else { return Err(Stop::Closed) };
            for batch in batches {
                let batch = batch.map_err(|error| Stop::Producer(error.to_string()))?;
                writer.write(&batch).map_err(Stop::Writer)?;
                Python::attach(check_signals).map_err(Stop::Writer)?;
            }
            Ok(())
        })
        .map_err(|stop| stop.raise(py))
    }

    /// Writes what there is as a stripe.
    fn end_stripe(&self, py: Python<'_>) -> PyResult<()> {
        let end = || self.lock().as_mut().ok_or(Stop::Closed)?.end_stripe().map_err(Stop::Writer);
        py.detach(end).map_err(|stop| stop.raise(py))
    }

    /// Bytes of memory that the stripe takes which is being built.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().as_mut().map_or(0, FileWriter::memory))
    }

    /// Writes what is left, and makes the file appear under its name: rows, bytes and stripes.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, u64, usize)> {
        let written = py.detach(|| {
            let mut writer = self.lock();
            let written = writer.as_mut().ok_or(Stop::Closed)?.finish().map_err(Stop::Writer)?;
            *writer = None;
            Ok(written)
        });
        let Written { rows, bytes, stripes } = written.map_err(|stop: Stop| stop.raise(py))?;
        Ok((rows, bytes, stripes))
    }

    /// Gives the file up: nothing appears under its name.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| *self.lock() = None);
    }

    /// Rows that it has been given.
    #[getter]
    fn rows(&self, py: Python<'_>) -> Option<u64> {
        py.detach(|| self.lock().as_ref().map(FileWriter::rows))
    }

    /// Bytes that have been written.
    #[getter]
    fn bytes(&self, py: Python<'_>) -> Option<u64> {
        py.detach(|| self.lock().as_ref().map(FileWriter::bytes))
    }

    /// The ORC type of the file.
    #[getter]
    fn type_string(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let text = py.detach(|| self.lock().as_ref().map(|writer| writer.types().type_string(0)));
        text.transpose().map_err(|error| to_python(py, &error))
    }
}

/// Writes the stripes of files as one file, without decoding them: rows, bytes and stripes.
#[pyfunction]
#[pyo3(signature = (sources, target, *, storage_options=None, limits=None))]
pub(crate) fn merge_files(
    py: Python<'_>,
    sources: Vec<Bound<'_, PyAny>>,
    target: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyDict>>,
    limits: Option<&Bound<'_, PyDict>>,
) -> PyResult<(u64, u64, usize)> {
    let limits = self::limits(limits)?;
    let storage = self::storage_options(storage_options)?;
    let sources = sources.iter().map(|source| source::open(source, &storage, None)).collect::<PyResult<Vec<_>>>()?;
    let sink = create(target, &storage)?;
    let check: Check = Arc::new(|| Python::attach(check_signals));
    let written = py.detach(|| orcish::merge(&sources, sink, &limits, Some(&check)));
    let Written { rows, bytes, stripes } = written.map_err(|error| to_python(py, &error))?;
    Ok((rows, bytes, stripes))
}

/// Why writing stopped.
enum Stop {
    Closed,
    Producer(String),
    Writer(orcish::Error),
}

impl Stop {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Stop::Closed => PyValueError::new_err("the file is closed"),
            Stop::Producer(text) => PyValueError::new_err(format!("the batches that are to be written ended: {text}")),
            Stop::Writer(error) => to_python(py, &error),
        }
    }
}

/// The sink for `target`: `str` is a path or URL.
fn create(target: &Bound<'_, PyAny>, storage: &StorageOptions) -> PyResult<Box<dyn Sink>> {
    let py = target.py();
    if let Ok(path) = target.cast::<PyString>() {
        let made = match path.to_str() {
            Ok(location) => py.detach(|| orcish::create(location, storage)),
            // A path of the system that is not Unicode.
            Err(_) => orcish::FileSink::create(path.extract::<std::path::PathBuf>()?).map(|sink| Box::new(sink) as _),
        };
        return made.map_err(|error| to_python(py, &error));
    }
    let name = target.getattr("name").ok().and_then(|name| name.extract::<String>().ok());
    let name = name.unwrap_or_else(|| "<file object>".to_owned());
    Ok(Box::new(PythonSink { object: target.clone().unbind(), name }))
}

/// A Python file object. It is not closed.
struct PythonSink {
    object: Py<PyAny>,
    name: String,
}

impl Sink for PythonSink {
    fn name(&self) -> &str {
        &self.name
    }

    fn write(&mut self, bytes: &[u8]) -> orcish::Result<()> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let write = |mut rest: &[u8]| -> PyResult<()> {
                while !rest.is_empty() {
                    let written = object.call_method1("write", (PyBytes::new(py, rest),))?;
                    // Raw files may take a part only; some objects return nothing.
                    let count = written.extract::<usize>().unwrap_or(rest.len());
                    rest = match rest.get(count..) {
                        Some(left) if count > 0 => left,
                        _ => return Err(PyValueError::new_err(format!("write took {count} of {} bytes", rest.len()))),
                    };
                }
                Ok(())
            };
            write(bytes).map_err(|error| from_python(py, "the file object failed", error))
        })
    }

    fn finish(&mut self) -> orcish::Result<()> {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let flush = || match object.hasattr("flush")? {
                true => object.call_method0("flush").map(drop),
                false => Ok(()),
            };
            flush().map_err(|error| from_python(py, "the file object failed", error))
        })
    }
}

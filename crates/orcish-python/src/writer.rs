//! Writing of a file.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use orcish::{Check, FileWriter, Sink, StorageOptions, Withheld, Written};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyString};

use crate::errors::{check_signals, from_python, to_python};
use crate::options::{limits, storage_options, write_options};
use crate::{capsule, source};

/// A file that is being written.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Writer {
    slot: Mutex<Slot>,
    /// Rows that it has been given.
    rows: AtomicU64,
    /// Where the file is found that is not to appear, and its token, once it is whole.
    withheld: Option<Withheld>,
    token: Mutex<Option<Vec<u8>>>,
}

/// Where the writer is. It is taken out for work, so that producers of batches may ask for it meanwhile.
enum Slot {
    Here(Box<FileWriter>),
    /// At work, and whether it is to be given up after that.
    AtWork {
        abort: bool,
    },
    Closed,
}

impl Writer {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the writer, without the interpreter. What fails gives the file up.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut FileWriter) -> Result<T, Stop> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            let mut writer = {
                let mut slot = self.lock();
                match std::mem::replace(&mut *slot, Slot::AtWork { abort: false }) {
                    Slot::Here(writer) => writer,
                    other => {
                        let stop = if matches!(other, Slot::Closed) { Stop::Closed } else { Stop::AtWork };
                        *slot = other;
                        return Err(stop);
                    }
                }
            };
            let result = work(&mut writer);
            if result.is_err() {
                writer.abort();
            }
            self.rows.store(writer.rows(), Ordering::Relaxed);
            let mut slot = self.lock();
            let is_given_up = matches!(*slot, Slot::AtWork { abort: true });
            let (next, rest) = if is_given_up { (Slot::Closed, Some(writer)) } else { (Slot::Here(writer), None) };
            *slot = next;
            drop(slot);
            drop(rest);
            result
        });
        result.map_err(|stop| stop.raise(py))
    }
}

#[pymethods]
impl Writer {
    /// A writer to `target`, a path, a URL or an object with `write`, of batches of the schema that a capsule holds.
    ///
    /// With `publish=False`, for paths and URLs, `finish` leaves a file that does not appear: whoever has its `token` calls
    /// `complete_upload` or `abort_upload`. A local one waits under a hidden name in the folder `staging`, or in its own;
    /// stores hold its parts.
    #[new]
    #[pyo3(signature = (target, schema, *, options=None, storage_options=None, publish=true, staging=None))]
    fn new(
        py: Python<'_>,
        target: &Bound<'_, PyAny>,
        schema: &Bound<'_, PyCapsule>,
        options: Option<&Bound<'_, PyDict>>,
        storage_options: Option<&Bound<'_, PyDict>>,
        publish: bool,
        staging: Option<&str>,
    ) -> PyResult<Self> {
        let options = write_options(options)?;
        let storage = self::storage_options(storage_options)?;
        let schema = Arc::new(capsule::read_schema(schema)?);
        let (sink, withheld) = create(target, &storage, publish, staging)?;
        let writer = py.detach(|| FileWriter::new(sink, schema, &options)).map_err(|error| to_python(py, &error))?;
        let (slot, rows) = (Mutex::new(Slot::Here(Box::new(writer))), AtomicU64::new(0));
        Ok(Writer { slot, rows, withheld, token: Mutex::new(None) })
    }

    /// Takes all batches of the stream that a capsule holds.
    fn write_stream(&self, py: Python<'_>, stream: &Bound<'_, PyCapsule>) -> PyResult<()> {
        let batches = capsule::read_stream(stream)?;
        // Producers take the interpreter where they need it.
        self.work(py, |writer| {
            for batch in batches {
                let batch = batch.map_err(|error| Stop::Producer(error.to_string()))?;
                writer.write(&batch).map_err(Stop::Writer)?;
                self.rows.store(writer.rows(), Ordering::Relaxed);
                Python::attach(check_signals).map_err(Stop::Writer)?;
                if matches!(*self.lock(), Slot::AtWork { abort: true }) {
                    return Err(Stop::Closed);
                }
            }
            Ok(())
        })
    }

    /// Writes what there is as a stripe.
    fn end_stripe(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |writer| writer.end_stripe().map_err(Stop::Writer))
    }

    /// Bytes of memory that the stripe takes which is being built.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        py.detach(|| match &mut *self.lock() {
            Slot::Here(writer) => writer.memory(),
            Slot::AtWork { .. } | Slot::Closed => 0,
        })
    }

    /// Writes what is left, and makes the file appear under its name, if it is to: rows, bytes and stripes.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, u64, usize)> {
        let written = self.work(py, |writer| writer.finish().map_err(Stop::Writer))?;
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token(self.withheld.as_ref(), &written);
        *self.lock() = Slot::Closed;
        Ok((written.rows, written.bytes, written.stripes))
    }

    /// What makes the file appear, once it is finished; `None` where it has appeared.
    #[getter]
    fn token<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.as_ref().map(|token| PyBytes::new(py, token))
    }

    /// Gives the file up: nothing appears under its name. One that is finished stays, published or not.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| {
            let mut slot = self.lock();
            let next = match *slot {
                Slot::AtWork { .. } => Slot::AtWork { abort: true },
                Slot::Here(_) | Slot::Closed => Slot::Closed,
            };
            let before = std::mem::replace(&mut *slot, next);
            drop(slot);
            drop(before);
        });
    }

    /// Rows that it has been given.
    #[getter]
    fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// The ORC type of the file.
    #[getter]
    fn type_string(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let text = match &*self.lock() {
            Slot::Here(writer) => Some(writer.types().type_string(0)),
            Slot::AtWork { .. } | Slot::Closed => None,
        };
        text.transpose().map_err(|error| to_python(py, &error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let slot = std::mem::replace(&mut *self.lock(), Slot::Closed);
        // A file of a store is given up by a request, which others should not wait for. At the end of the process there
        // may be no interpreter to attach to.
        Python::try_attach(|py| py.detach(|| drop(slot)));
    }
}

/// What makes a finished file appear; `None` where it has appeared.
fn token(withheld: Option<&Withheld>, written: &Written) -> Option<Vec<u8>> {
    let mut file = withheld?.take()?;
    (file.rows, file.stripes) = (written.rows, written.stripes as u64);
    Some(file.to_bytes())
}

/// Writes the stripes of files as one file, without decoding them: rows, bytes, stripes, and, with `publish=False` as of a
/// `Writer`, its token.
#[pyfunction]
#[pyo3(signature = (sources, target, *, storage_options=None, limits=None, publish=true, staging=None))]
pub(crate) fn merge_files(
    py: Python<'_>,
    sources: Vec<Bound<'_, PyAny>>,
    target: &Bound<'_, PyAny>,
    storage_options: Option<&Bound<'_, PyDict>>,
    limits: Option<&Bound<'_, PyDict>>,
    publish: bool,
    staging: Option<&str>,
) -> PyResult<(u64, u64, usize, Option<Py<PyBytes>>)> {
    let limits = self::limits(limits)?;
    let storage = self::storage_options(storage_options)?;
    let sources = sources.iter().map(|source| source::open(source, &storage, None)).collect::<PyResult<Vec<_>>>()?;
    let (sink, withheld) = create(target, &storage, publish, staging)?;
    let check: Check = Arc::new(|| Python::attach(check_signals));
    let written = py.detach(|| orcish::merge(&sources, sink, &limits, Some(&check)));
    let written = written.map_err(|error| to_python(py, &error))?;
    let token = token(withheld.as_ref(), &written).map(|token| PyBytes::new(py, &token).unbind());
    Ok((written.rows, written.bytes, written.stripes, token))
}

/// Why writing stopped.
enum Stop {
    Closed,
    AtWork,
    Producer(String),
    Writer(orcish::Error),
}

impl Stop {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Stop::Closed => PyValueError::new_err("the file is closed"),
            Stop::AtWork => PyValueError::new_err("the file is being written to by another call"),
            Stop::Producer(text) => PyValueError::new_err(format!("the batches that are to be written ended: {text}")),
            Stop::Writer(error) => to_python(py, &error),
        }
    }
}

/// The sink for `target`, and where the file is found if it is not to appear.
fn create(
    target: &Bound<'_, PyAny>,
    storage: &StorageOptions,
    publish: bool,
    staging: Option<&str>,
) -> PyResult<(Box<dyn Sink>, Option<Withheld>)> {
    match publish {
        true if staging.is_some() => {
            Err(PyValueError::new_err("staging is for files that are not published: publish=False"))
        }
        true => Ok((create_published(target, storage)?, None)),
        false => create_unpublished(target, staging, storage).map(|(sink, withheld)| (sink, Some(withheld))),
    }
}

/// The sink for `target`: `str` is a path or URL.
fn create_published(target: &Bound<'_, PyAny>, storage: &StorageOptions) -> PyResult<Box<dyn Sink>> {
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

/// The sink for `target` where it is not to appear.
fn create_unpublished(
    target: &Bound<'_, PyAny>,
    staging: Option<&str>,
    storage: &StorageOptions,
) -> PyResult<(Box<dyn Sink>, Withheld)> {
    let py = target.py();
    let Some(location) = target.cast::<PyString>().ok().and_then(|path| path.to_str().ok()) else {
        return Err(PyValueError::new_err("publish=False: what is not published has a path in Unicode, or a URL"));
    };
    let made = py.detach(|| orcish::create_unpublished(location, staging, storage));
    made.map_err(|error| to_python(py, &error))
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

//! Writing of a file.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use orcish::write::{FileWriter, Written};
use orcish_core::process::OwnerProcess;
use orcish_io::Staging;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::errors::{check_signals, signals, to_python};
use crate::interpreter::attached;
use crate::options::{limits, storage_options, write_options};
use crate::sink::create;
use crate::{capsule, source};

/// A file that is being written.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Writer {
    slot: Mutex<Slot>,
    /// What messages call the file.
    name: String,
    /// In a child of a fork the writer may be at work for ever, as the thread is missing that has it.
    owner: OwnerProcess,
    /// Rows that it has been given.
    rows: AtomicU64,
    /// Where the file is found that is not to appear, and its token, once it is whole.
    staged: Option<Staging>,
    token: Mutex<Option<Vec<u8>>>,
}

/// Where the writer is. It is taken out for work, so that producers of batches may ask for it meanwhile.
enum Slot {
    Here(Box<FileWriter>),
    /// At work, and what is to become of the file after that.
    AtWork(Fate),
    Closed,
}

/// What is to become of a file that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    GoOn,
    /// It is given up, and closed.
    Abort,
    /// It is given up, and what follows fails.
    Fail,
}

impl Writer {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_owner(&self) -> Result<(), Stop> {
        self.owner.check().map_err(|error| Stop::Writer(error.in_file(&self.name)))
    }

    /// Does something with the writer, without the interpreter. What fails gives the file up.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut FileWriter) -> Result<T, Stop> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            self.check_owner()?;
            let mut writer = {
                let mut slot = self.lock();
                match std::mem::replace(&mut *slot, Slot::AtWork(Fate::GoOn)) {
                    Slot::Here(writer) => writer,
                    other => {
                        let stop = if matches!(other, Slot::Closed) { Stop::Closed } else { Stop::AtWork };
                        *slot = other;
                        return Err(stop);
                    }
                }
            };
            let result = work(&mut writer);
            let mut is_failed = result.is_err();
            loop {
                if is_failed {
                    writer.abort();
                }
                self.rows.store(writer.rows(), Ordering::Relaxed);
                let mut slot = self.lock();
                match *slot {
                    // Another call has failed meanwhile.
                    Slot::AtWork(Fate::Fail) if !is_failed => is_failed = true,
                    Slot::AtWork(Fate::Abort) => {
                        *slot = Slot::Closed;
                        drop(slot);
                        drop(writer);
                        break;
                    }
                    _ => {
                        *slot = Slot::Here(writer);
                        break;
                    }
                }
            }
            result
        });
        result.map_err(|stop| stop.raise(py))
    }

    /// What is to become of the file that is at work.
    fn fate(&self) -> Fate {
        match *self.lock() {
            Slot::AtWork(fate) => fate,
            Slot::Here(_) | Slot::Closed => Fate::GoOn,
        }
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
        let (sink, staged) = create(target, &storage, publish, staging)?;
        let name = sink.name().to_owned();
        let writer = py.detach(|| FileWriter::new(sink, schema, &options));
        let mut writer = writer.map_err(|error| to_python(py, &error))?;
        writer.set_cancel_check(signals());
        let (slot, rows) = (Mutex::new(Slot::Here(Box::new(writer))), AtomicU64::new(0));
        Ok(Writer { slot, name, owner: OwnerProcess::current(), rows, staged, token: Mutex::new(None) })
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
                check_signals().map_err(Stop::Writer)?;
                match self.fate() {
                    Fate::GoOn => {}
                    Fate::Abort => return Err(Stop::Closed),
                    Fate::Fail => return Err(Stop::Failed),
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
        if !self.owner.is_current() {
            return 0;
        }
        py.detach(|| match &mut *self.lock() {
            Slot::Here(writer) => writer.memory(),
            Slot::AtWork(_) | Slot::Closed => 0,
        })
    }

    /// Writes what is left, and makes the file appear under its name, if it is to: rows, bytes and stripes.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, u64, usize)> {
        let written = self.work(py, |writer| writer.finish().map_err(Stop::Writer))?;
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token(self.staged.as_ref(), &written);
        *self.lock() = Slot::Closed;
        Ok((written.rows, written.bytes, written.stripes))
    }

    /// What makes the file appear, once it is finished; `None` where it has appeared.
    #[getter]
    fn token<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.as_ref().map(|token| PyBytes::new(py, token))
    }

    /// Gives the file up: nothing appears under its name. One that is finished stays, published or not, and so does that
    /// of another process.
    fn abort(&self, py: Python<'_>) {
        if !self.owner.is_current() {
            return;
        }
        py.detach(|| {
            let mut slot = self.lock();
            let next = match *slot {
                Slot::AtWork(_) => Slot::AtWork(Fate::Abort),
                Slot::Here(_) | Slot::Closed => Slot::Closed,
            };
            let before = std::mem::replace(&mut *slot, next);
            drop(slot);
            drop(before);
        });
    }

    /// Gives the file up as a call does that fails: what follows says so, and nothing appears.
    fn fail(&self, py: Python<'_>) {
        let given_up = self.work(py, |writer| {
            writer.abort();
            Ok(())
        });
        if given_up.is_err() && self.owner.is_current() {
            py.detach(|| {
                let mut slot = self.lock();
                if matches!(*slot, Slot::AtWork(Fate::GoOn)) {
                    *slot = Slot::AtWork(Fate::Fail);
                }
            });
        }
    }

    /// Rows that it has been given.
    #[getter]
    fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// The ORC type of the file.
    #[getter]
    fn type_string(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.check_owner().map_err(|stop| stop.raise(py))?;
        let text = match &*self.lock() {
            Slot::Here(writer) => Some(writer.types().type_string(0)),
            Slot::AtWork(_) | Slot::Closed => None,
        };
        text.transpose().map_err(|error| to_python(py, &error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let slot = std::mem::replace(self.slot.get_mut().unwrap_or_else(PoisonError::into_inner), Slot::Closed);
        // A file of a store is given up by a request, which others should not wait for. At the end of the process there
        // may be no interpreter to attach to.
        attached(|py| py.detach(|| drop(slot)));
    }
}

/// What makes a finished file appear; `None` where it has appeared.
fn token(staged: Option<&Staging>, written: &Written) -> Option<Vec<u8>> {
    let mut file = staged?.take()?;
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
    let (sink, staged) = create(target, &storage, publish, staging)?;
    let written = py.detach(|| orcish::write::merge(&sources, sink, &limits, Some(&signals())));
    let written = written.map_err(|error| to_python(py, &error))?;
    let token = token(staged.as_ref(), &written).map(|token| PyBytes::new(py, &token).unbind());
    Ok((written.rows, written.bytes, written.stripes, token))
}

/// Why writing stopped.
enum Stop {
    Closed,
    AtWork,
    Failed,
    Producer(String),
    Writer(orcish_core::Error),
}

impl Stop {
    fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Stop::Closed => PyValueError::new_err("the file is closed"),
            Stop::Failed => PyValueError::new_err("writing the file has failed before"),
            Stop::AtWork => PyValueError::new_err("the file is being written to by another call"),
            Stop::Producer(text) => PyValueError::new_err(format!("the batches that are to be written ended: {text}")),
            Stop::Writer(error) => to_python(py, &error),
        }
    }
}

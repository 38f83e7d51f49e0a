//! Files of bytes that are being written.

use std::sync::{Mutex, MutexGuard, PoisonError};

use orcish_core::Error;
use orcish_io::Sink;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::errors::to_python;
use crate::interpreter::attached;
use crate::options::storage_options;
use crate::sink::{Publication, create};

/// A file of bytes that is being written.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct NewFile {
    /// `None` once the file is finished or discarded, or a call has failed.
    sink: Mutex<Option<Box<dyn Sink>>>,
}

impl NewFile {
    fn lock(&self) -> MutexGuard<'_, Option<Box<dyn Sink>>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with the sink, detached from the interpreter. An error discards the file.
    fn work(&self, py: Python<'_>, work: impl FnOnce(&mut dyn Sink) -> orcish_core::Result<()> + Send) -> PyResult<()> {
        let done = py.detach(|| {
            let mut place = self.lock();
            let sink = place.as_mut().ok_or_else(|| Error::invalid("the file is finished, or has failed before"))?;
            let result = work(sink.as_mut()).map_err(|error| error.in_file(sink.name()));
            if result.is_err() {
                *place = None;
            }
            result
        });
        done.map_err(|error| to_python(py, &error))
    }
}

#[pymethods]
impl NewFile {
    /// Begins a file at `target`; arguments as those of `Writer`.
    #[new]
    #[pyo3(signature = (target, storage_options=None, *, overwrite=false))]
    fn new(target: &Bound<'_, PyAny>, storage_options: Option<&Bound<'_, PyDict>>, overwrite: bool) -> PyResult<Self> {
        let storage = self::storage_options(storage_options)?;
        let (sink, _) = create(target, &storage, &Publication::immediate(overwrite))?;
        Ok(NewFile { sink: Mutex::new(Some(sink)) })
    }

    /// Appends bytes.
    fn write(&self, py: Python<'_>, data: PyBackedBytes) -> PyResult<()> {
        self.work(py, |sink| sink.write(&data))
    }

    /// Finishes the file, and publishes it.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |sink| sink.finish())?;
        py.detach(|| *self.lock() = None);
        Ok(())
    }

    /// Discards the file. A finished file stays.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| *self.lock() = None);
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let sink = self.sink.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // A file in an object store is discarded by a request, for which other threads should not wait. At the end of
        // the process there may be no interpreter to attach to.
        attached(|py| py.detach(|| drop(sink)));
    }
}

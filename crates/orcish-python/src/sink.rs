//! Targets of files: a path or URL, or a Python object with `write`.

use std::io;

use orcish_core::Error;
use orcish_io::{FileSink, Sink, Staging, StorageOptions};
use pyo3::exceptions::{PyFileExistsError, PyIsADirectoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::errors::{from_python, to_python};
use crate::file_object::{check_binary, is_non_blocking, name_of, number, would_block};
use crate::interpreter::{attached, gone};
use crate::options::storage_options;

/// Minimum number of bytes of a call of `write` after a call that took only a part of its bytes.
const MIN_WRITE: usize = 64 << 10;

/// How a file becomes visible, as keywords of Python.
pub(crate) struct Publication<'a> {
    /// Whether the file appears when it is finished; a staged file is left otherwise.
    pub(crate) publish: bool,
    /// The folder of a staged file of the local disk.
    pub(crate) staging: Option<&'a str>,
    /// Whether an existing file is replaced.
    pub(crate) overwrite: bool,
}

impl Publication<'_> {
    /// The publication of calls that leave no staged file.
    pub(crate) fn immediate(overwrite: bool) -> Self {
        Publication { publish: true, staging: None, overwrite }
    }
}

/// The sink for `target`. The second value receives a staged file.
pub(crate) fn create(
    target: &Bound<'_, PyAny>,
    storage: &StorageOptions,
    publication: &Publication<'_>,
) -> PyResult<(Box<dyn Sink>, Option<Staging>)> {
    let &Publication { publish, staging, overwrite } = publication;
    if !publish {
        create_staged(target, staging, overwrite, storage).map(|(sink, staging)| (sink, Some(staging)))
    } else if staging.is_some() {
        Err(PyValueError::new_err("staging is for files that are not published: publish=False"))
    } else {
        Ok((create_published(target, overwrite, storage)?, None))
    }
}

/// The sink for `target`: `str` is a path or URL.
fn create_published(target: &Bound<'_, PyAny>, overwrite: bool, storage: &StorageOptions) -> PyResult<Box<dyn Sink>> {
    let py = target.py();
    if let Ok(path) = target.cast::<PyString>() {
        let sink = match path.to_str() {
            Ok(location) => {
                let create = if overwrite { orcish_io::create } else { orcish_io::create_new };
                py.detach(|| create(location, storage))
            }
            // A path that is not Unicode.
            Err(_) => {
                let path = path.extract::<std::path::PathBuf>()?;
                let sink = if overwrite { FileSink::create(path) } else { FileSink::create_new(path) };
                sink.map(|sink| Box::new(sink) as _)
            }
        };
        return sink.map_err(|error| target_error(py, &error));
    }
    Ok(Box::new(PythonSink::new(target)?))
}

/// Checks that a file can be created at a path or URL.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None, *, overwrite=false))]
pub(crate) fn check_target(
    py: Python<'_>,
    location: &Bound<'_, PyString>,
    storage_options: Option<&Bound<'_, PyDict>>,
    overwrite: bool,
) -> PyResult<()> {
    let storage = self::storage_options(storage_options)?;
    let checked = match location.to_str() {
        Ok(location) => py.detach(|| orcish_io::check_target(location, overwrite, &storage)),
        // A path that is not Unicode.
        Err(_) => FileSink::check_target(location.extract::<std::path::PathBuf>()?, overwrite),
    };
    checked.map_err(|error| target_error(py, &error))
}

/// The exception for a target that cannot be created. It says how an existing file is replaced.
fn target_error(py: Python<'_>, error: &Error) -> PyErr {
    match error.io_kind() {
        Some(io::ErrorKind::AlreadyExists) => {
            PyFileExistsError::new_err(format!("{error}: existing_data='overwrite' replaces it"))
        }
        Some(io::ErrorKind::IsADirectory) => {
            PyIsADirectoryError::new_err(format!("{error}; orcish.write_dataset writes a folder of files"))
        }
        _ => to_python(py, error),
    }
}

/// The sink for a staged file, which appears at `target` once it is published.
fn create_staged(
    target: &Bound<'_, PyAny>,
    staging_folder: Option<&str>,
    overwrite: bool,
    storage: &StorageOptions,
) -> PyResult<(Box<dyn Sink>, Staging)> {
    let py = target.py();
    let Some(location) = target.cast::<PyString>().ok().and_then(|path| path.to_str().ok()) else {
        return Err(PyValueError::new_err("publish=False: what is not published has a path in Unicode, or a URL"));
    };
    let sink = py.detach(|| staged(location, staging_folder, overwrite, storage));
    sink.map_err(|error| target_error(py, &error))
}

/// The sink for a staged file, which appears at a path or URL once it is published.
pub(crate) fn staged(
    location: &str,
    staging_folder: Option<&str>,
    overwrite: bool,
    storage: &StorageOptions,
) -> orcish_core::Result<(Box<dyn Sink>, Staging)> {
    orcish_io::check_target(location, overwrite, storage)?;
    orcish_io::create_staged(location, staging_folder, storage)
}

/// Checks that a file object that can seek has no bytes: those before the new file would shift its offsets, and those behind
/// it would be read as its tail.
///
/// # Errors
/// `ValueError` for an object with bytes. Exceptions of the object.
fn check_empty(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let can = |name: &str| Ok::<_, PyErr>(object.hasattr(name)? && object.call_method0(name)?.is_truthy()?);
    // What cannot be written says so when it is written.
    if !can("seekable")? || !can("writable")? {
        return Ok(());
    }
    let position = object.call_method0("tell")?;
    let mut is_empty = number("tell()", "a place in the file", &position)? == Some(0);
    // Objects that only write may not seek from their end.
    if is_empty && can("readable")? {
        let end = object.call_method1("seek", (0, 2))?;
        is_empty = number("seek(0, 2)", "a place in the file", &end)? == Some(0);
        object.call_method1("seek", (0,))?;
    }
    if is_empty {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "the file object has bytes already, and a file begins at its start: seek(0) and truncate() remove them",
    ))
}

/// A Python file object. The sink does not close it.
struct PythonSink {
    object: Py<PyAny>,
    name: String,
}

impl PythonSink {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        check_binary(object, "wb")?;
        check_empty(object)?;
        Ok(PythonSink { object: object.clone().unbind(), name: name_of(object, "<file object>") })
    }

    /// Writes all bytes. The object may take them in several calls.
    fn write_all(&self, object: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<()> {
        let mut remaining = bytes;
        let mut length = bytes.len();
        while !remaining.is_empty() {
            let (offered, _) = remaining.split_at(length.min(remaining.len()));
            let returned = object.call_method1("write", (PyBytes::new(object.py(), offered),))?;
            let count = self.count(object, &returned, offered.len(), bytes.len() - remaining.len())?;
            (_, remaining) = remaining.split_at(count);
            // The bytes of each call are copied. The length is limited for objects that take few bytes at a time.
            length = count.saturating_mul(2).max(MIN_WRITE);
        }
        Ok(())
    }

    /// The number of bytes that a call of `write` took, which is at least 1. `done` bytes were written by the calls
    /// before.
    ///
    /// # Errors
    /// `TypeError` or `ValueError` for an invalid number; `BlockingIOError` for an object that does not block.
    fn count(
        &self,
        object: &Bound<'_, PyAny>,
        returned: &Bound<'_, PyAny>,
        offered: usize,
        done: usize,
    ) -> PyResult<usize> {
        if returned.is_none() {
            if !is_non_blocking(object)? {
                // `write` of some objects returns None after it took all bytes.
                return Ok(offered);
            }
            let text = "the file object does not block, and takes no bytes now: have it block, or write to a buffer";
            return Err(would_block(object.py(), text.to_owned(), done));
        }
        let count = number("write", "the number of bytes that it took", returned)?;
        let count = count.and_then(|count| usize::try_from(count).ok()).filter(|count| (1..=offered).contains(count));
        count.ok_or_else(|| PyValueError::new_err(format!("write took {returned} of {offered} bytes")))
    }
}

impl Sink for PythonSink {
    fn name(&self) -> &str {
        &self.name
    }

    fn write(&mut self, bytes: &[u8]) -> orcish_core::Result<()> {
        let write = |py: Python<'_>| {
            let written = self.write_all(self.object.bind(py), bytes);
            written.map_err(|error| from_python(py, "the file object failed", error))
        };
        attached(write).unwrap_or_else(|| Err(gone()))
    }

    fn finish(&mut self) -> orcish_core::Result<()> {
        let flush = |py: Python<'_>| {
            let object = self.object.bind(py);
            let flush = || {
                if object.hasattr("flush")? {
                    object.call_method0("flush")?;
                }
                Ok(())
            };
            flush().map_err(|error| from_python(py, "the file object failed", error))
        };
        attached(flush).unwrap_or_else(|| Err(gone()))
    }
}

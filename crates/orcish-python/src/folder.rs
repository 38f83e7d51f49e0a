//! Operations on whole files and folders.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use orcish_core::error::Error;
use orcish_io::{FileStatus, ReadAt, StagedFile, StorageOptions};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::to_python;
use crate::options::storage_options;

/// Storage options as a Python dictionary.
type StorageDict<'a, 'py> = Option<&'a Bound<'py, PyDict>>;

/// Calls `work` with the storage options, detached from the interpreter.
fn detached<T: Send>(
    py: Python<'_>,
    options: StorageDict<'_, '_>,
    work: impl FnOnce(&StorageOptions) -> orcish_core::Result<T> + Send,
) -> PyResult<T> {
    let storage = storage_options(options)?;
    py.detach(|| work(&storage)).map_err(|error| to_python(py, &error))
}

/// Size in bytes, and modification time in seconds since 1970. Earlier times are 1970.
fn size_and_time(status: FileStatus) -> (u64, f64) {
    (status.size, status.modified.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64())
}

/// A file of which ranges are read. A file that is replaced meanwhile is an error where the store says it.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct StoredFile {
    source: Arc<dyn ReadAt>,
}

#[pymethods]
impl StoredFile {
    #[new]
    #[pyo3(signature = (location, storage_options=None))]
    fn new(py: Python<'_>, location: &str, storage_options: StorageDict<'_, '_>) -> PyResult<Self> {
        let source = detached(py, storage_options, |storage| orcish_io::open(location, storage))?;
        Ok(StoredFile { source })
    }

    /// Length of the file in bytes.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.source.size()).map_err(|error| self.to_python(py, error))
    }

    /// The bytes from `start` to `end`, which are within the file.
    fn read<'py>(&self, py: Python<'py>, start: u64, end: u64) -> PyResult<Bound<'py, PyBytes>> {
        let read = py.detach(|| self.source.read_range(start..end));
        Ok(PyBytes::new(py, &read.map_err(|error| self.to_python(py, error))?))
    }
}

impl StoredFile {
    fn to_python(&self, py: Python<'_>, error: Error) -> PyErr {
        to_python(py, &error.in_file(self.source.name()))
    }
}

/// All bytes of a file. A file of more than `limit` bytes is an error.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None, *, limit=67_108_864))]
pub(crate) fn read_small<'py>(
    py: Python<'py>,
    location: &str,
    storage_options: StorageDict<'_, 'py>,
    limit: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = detached(py, storage_options, |storage| orcish_io::read_small(location, limit, storage))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Writes a file, which appears with all its bytes. Without `overwrite`, an existing file is an error.
#[pyfunction]
#[pyo3(signature = (location, data, storage_options=None, *, overwrite))]
pub(crate) fn write_small(
    py: Python<'_>,
    location: &str,
    data: PyBackedBytes,
    storage_options: StorageDict<'_, '_>,
    overwrite: bool,
) -> PyResult<()> {
    let bytes = Bytes::from_owner(data);
    detached(py, storage_options, |storage| orcish_io::write_small(location, bytes, overwrite, storage))
}

/// Deletes files. Missing files are ignored.
#[pyfunction]
#[pyo3(signature = (locations, storage_options=None))]
pub(crate) fn delete_files(
    py: Python<'_>,
    locations: Vec<String>,
    storage_options: StorageDict<'_, '_>,
) -> PyResult<()> {
    detached(py, storage_options, |storage| orcish_io::delete_files(&locations, storage))
}

/// Deletes a folder with all files and folders below. A missing folder is ignored.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None))]
pub(crate) fn delete_folder(py: Python<'_>, location: &str, storage_options: StorageDict<'_, '_>) -> PyResult<()> {
    detached(py, storage_options, |storage| orcish_io::delete_folder(location, storage))
}

/// Location, size and modification time of all files below a folder, hidden files included.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None))]
pub(crate) fn list_all(
    py: Python<'_>,
    location: &str,
    storage_options: StorageDict<'_, '_>,
) -> PyResult<Vec<(String, u64, f64)>> {
    let files = detached(py, storage_options, |storage| orcish_io::list_all(location, storage))?;
    let spec = |(location, status)| {
        let (size, modified) = size_and_time(status);
        (location, size, modified)
    };
    Ok(files.into_iter().map(spec).collect())
}

/// Whether there is a folder. In an object store, there is one if an object is below it.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None))]
pub(crate) fn has_folder(py: Python<'_>, location: &str, storage_options: StorageDict<'_, '_>) -> PyResult<bool> {
    detached(py, storage_options, |storage| orcish_io::has_folder(location, storage))
}

/// Size and modification time of a file. `None` for a missing file.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None))]
pub(crate) fn stat(
    py: Python<'_>,
    location: &str,
    storage_options: StorageDict<'_, '_>,
) -> PyResult<Option<(u64, f64)>> {
    Ok(detached(py, storage_options, |storage| orcish_io::stat(location, storage))?.map(size_and_time))
}

/// Publishes the staged file of a `Writer`. Does nothing if the file has been published.
#[pyfunction]
#[pyo3(signature = (location, token, storage_options=None))]
pub(crate) fn complete_upload(
    py: Python<'_>,
    location: &str,
    token: &[u8],
    storage_options: StorageDict<'_, '_>,
) -> PyResult<()> {
    let file = StagedFile::from_bytes(token).map_err(|error| to_python(py, &error))?;
    detached(py, storage_options, |storage| orcish_io::complete_upload(location, &file, storage))
}

/// Removes the staged file of a `Writer`. A published file stays.
#[pyfunction]
#[pyo3(signature = (location, token, storage_options=None))]
pub(crate) fn abort_upload(
    py: Python<'_>,
    location: &str,
    token: &[u8],
    storage_options: StorageDict<'_, '_>,
) -> PyResult<()> {
    let file = StagedFile::from_bytes(token).map_err(|error| to_python(py, &error))?;
    detached(py, storage_options, |storage| orcish_io::abort_upload(location, &file, storage))
}

/// Location, rows, bytes and stripes of the staged file of a `Writer`.
#[pyfunction]
pub(crate) fn upload_info(py: Python<'_>, token: &[u8]) -> PyResult<(String, u64, u64, u64)> {
    let file = StagedFile::from_bytes(token).map_err(|error| to_python(py, &error))?;
    Ok((file.location, file.rows, file.bytes, file.stripes))
}

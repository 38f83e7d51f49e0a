//! What is done with files and folders as wholes.

use std::time::UNIX_EPOCH;

use bytes::Bytes;
use orcish_io::{FileStatus, StagedFile, StorageOptions};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::to_python;
use crate::options::storage_options;

type Given<'a, 'py> = Option<&'a Bound<'py, PyDict>>;

/// Does something without the interpreter.
fn work<T: Send>(
    py: Python<'_>,
    given: Given<'_, '_>,
    work: impl FnOnce(&StorageOptions) -> orcish_core::Result<T> + Send,
) -> PyResult<T> {
    let storage = storage_options(given)?;
    py.detach(|| work(&storage)).map_err(|error| to_python(py, &error))
}

/// Bytes, and seconds since 1970.
fn spec(status: FileStatus) -> (u64, f64) {
    (status.size, status.modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64())
}

/// All bytes of a file, which are at most `limit`.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None, *, limit=67_108_864))]
pub(crate) fn read_small<'py>(
    py: Python<'py>,
    location: &str,
    storage_options: Given<'_, 'py>,
    limit: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = work(py, storage_options, |storage| orcish_io::read_small(location, limit, storage))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Makes a file of these bytes, which appears whole: in place of what is there, or only where there is nothing.
#[pyfunction]
#[pyo3(signature = (location, data, storage_options=None, *, overwrite))]
pub(crate) fn write_small(
    py: Python<'_>,
    location: &str,
    data: PyBackedBytes,
    storage_options: Given<'_, '_>,
    overwrite: bool,
) -> PyResult<()> {
    let bytes = Bytes::from_owner(data);
    work(py, storage_options, |storage| orcish_io::write_small(location, bytes, overwrite, storage))
}

/// Deletes files; those that are missing are no error.
#[pyfunction]
#[pyo3(signature = (locations, storage_options=None))]
pub(crate) fn delete_files(py: Python<'_>, locations: Vec<String>, storage_options: Given<'_, '_>) -> PyResult<()> {
    work(py, storage_options, |storage| orcish_io::delete_files(&locations, storage))
}

/// Deletes a folder with all that is below; one that is missing is no error.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None))]
pub(crate) fn delete_folder(py: Python<'_>, location: &str, storage_options: Given<'_, '_>) -> PyResult<()> {
    work(py, storage_options, |storage| orcish_io::delete_folder(location, storage))
}

/// Locations, sizes and times of all files below a folder, hidden ones too.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None))]
pub(crate) fn list_all(
    py: Python<'_>,
    location: &str,
    storage_options: Given<'_, '_>,
) -> PyResult<Vec<(String, u64, f64)>> {
    let found = work(py, storage_options, |storage| orcish_io::list_all(location, storage))?;
    let spec = |(path, status)| {
        let (size, modified) = spec(status);
        (path, size, modified)
    };
    Ok(found.into_iter().map(spec).collect())
}

/// Size and time of a file; `None` where there is none.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None))]
pub(crate) fn stat(py: Python<'_>, location: &str, storage_options: Given<'_, '_>) -> PyResult<Option<(u64, f64)>> {
    Ok(work(py, storage_options, |storage| orcish_io::stat(location, storage))?.map(spec))
}

/// Makes the file appear that a `Writer` has not published; once more does nothing more.
#[pyfunction]
#[pyo3(signature = (location, token, storage_options=None))]
pub(crate) fn complete_upload(
    py: Python<'_>,
    location: &str,
    token: &[u8],
    storage_options: Given<'_, '_>,
) -> PyResult<()> {
    let file = StagedFile::from_bytes(token).map_err(|error| to_python(py, &error))?;
    work(py, storage_options, |storage| orcish_io::complete_upload(location, &file, storage))
}

/// Removes the file that a `Writer` has not published; one that has appeared stays.
#[pyfunction]
#[pyo3(signature = (location, token, storage_options=None))]
pub(crate) fn abort_upload(
    py: Python<'_>,
    location: &str,
    token: &[u8],
    storage_options: Given<'_, '_>,
) -> PyResult<()> {
    let file = StagedFile::from_bytes(token).map_err(|error| to_python(py, &error))?;
    work(py, storage_options, |storage| orcish_io::abort_upload(location, &file, storage))
}

/// Location, rows, bytes and stripes of the file that a `Writer` has not published.
#[pyfunction]
pub(crate) fn upload_info(py: Python<'_>, token: &[u8]) -> PyResult<(String, u64, u64, u64)> {
    let file = StagedFile::from_bytes(token).map_err(|error| to_python(py, &error))?;
    Ok((file.location, file.rows, file.bytes, file.stripes))
}

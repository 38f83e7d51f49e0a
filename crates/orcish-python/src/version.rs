//! Versions of files of Python's file systems, which Rust compares.

use orcish_io::{FileVersion, VersionMark};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::to_python;

/// The version of a file, serialized, given its size and what a file system states about it, by kind.
#[pyfunction]
pub(crate) fn file_version<'py>(
    py: Python<'py>,
    size: Option<u64>,
    marks: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut version = size.map_or_else(FileVersion::default, FileVersion::of_size);
    for (kind, value) in marks {
        let mark = match kind.as_str() {
            "entity_tag" => VersionMark::EntityTag,
            "generation" => VersionMark::Generation,
            "version_id" => VersionMark::VersionId,
            "checksum" => VersionMark::Checksum,
            "modified" => VersionMark::ModifiedText,
            "created" => VersionMark::Created,
            _ => return Err(PyValueError::new_err(format!("unknown kind {kind:?}"))),
        };
        version = version.with_mark(mark, value);
    }
    Ok(PyBytes::new(py, &version.to_bytes()))
}

/// Whether a file may still be the version that was opened, given its version now.
#[pyfunction]
pub(crate) fn is_same_version(py: Python<'_>, opened: &[u8], now: &[u8]) -> PyResult<bool> {
    let version = |bytes| FileVersion::from_bytes(bytes).map_err(|error| to_python(py, &error));
    Ok(version(opened)?.check(&version(now)?).is_ok())
}

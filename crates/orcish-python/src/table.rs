//! Logs of tables.

use std::time::Duration;

use orcish_io::{StorageOptions, display_name};
use orcish_table::{
    Commit, FileStore, Pending, Recovered, StreamBatch, View, block_on, history, recover, vacuum, view,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule;
use crate::errors::to_python;
use crate::job::{SchemaPair, schema_pair};
use crate::options::storage_options;

/// Name, and size in bytes.
type FileSize = (String, u64);

/// The union of two schemas, as a PyCapsule.
#[pyfunction]
pub(crate) fn unify_schemas<'py>(
    py: Python<'py>,
    first: &Bound<'py, PyCapsule>,
    other: &Bound<'py, PyCapsule>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let (first, other) = (capsule::read_schema(first)?, capsule::read_schema(other)?);
    let union = orcish_core::unify::unify_schemas(&first, &other, true);
    capsule::schema(py, &union.map_err(|error| to_python(py, &error))?)
}

/// Metadata for pandas that fit columns of some names; `None` if they stay.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "the names of an argument")]
pub(crate) fn fitted_pandas(described: &str, names: Vec<String>, is_whole: bool) -> Option<String> {
    orcish::table::fitted_pandas(described, names.iter().map(String::as_str), is_whole)
}

fn pending(is_before: bool) -> Pending {
    if is_before { Pending::Before } else { Pending::Wait }
}

type CommitFields = (u64, u64, &'static str, &'static str, u64, usize, usize, Option<(String, u64)>, String, String);

fn commit_fields(commit: Commit) -> CommitFields {
    let Commit { number, time, operation, status, rows_added, files_added, files_removed, batch, job, engine } = commit;
    let batch = batch.map(|StreamBatch { stream, batch }| (stream, batch));
    (number, time, operation.name(), status.name(), rows_added, files_added, files_removed, batch, job, engine)
}

/// The log of a table.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct TableLog {
    store: FileStore,
}

#[pymethods]
impl TableLog {
    /// The log of the table in a folder, given by its absolute path or its URL.
    #[new]
    #[pyo3(signature = (root, storage_options=None))]
    fn new(root: &str, storage_options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options: StorageOptions = self::storage_options(storage_options)?;
        Ok(TableLog { store: FileStore::new(root, &options) })
    }

    /// The visible files below a folder of the table, and the schema in the log.
    #[pyo3(signature = (folder, *, is_before=false))]
    fn view(&self, py: Python<'_>, folder: &str, is_before: bool) -> PyResult<(Vec<FileSize>, Option<SchemaPair>)> {
        let view = py.detach(|| block_on(view(&self.store, folder, pending(is_before))));
        let View { files, schema } = view.map_err(|error| to_python(py, &error))?;
        Ok((files.into_iter().map(|file| (file.name, file.size)).collect(), schema.map(schema_pair)))
    }

    /// The nearest folder above that of the table that is a table with a log.
    fn table_above(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let above = py.detach(|| self.store.table_above());
        Ok(above.map_err(|error| to_python(py, &error))?.map(|folder| display_name(&folder)))
    }

    /// Finishes the last commit, or undoes it. Gives what was done.
    #[pyo3(signature = (*, undo=false))]
    fn recover(&self, py: Python<'_>, undo: bool) -> PyResult<&'static str> {
        let recovered = py.detach(|| block_on(recover(&self.store, undo)));
        Ok(match recovered.map_err(|error| to_python(py, &error))? {
            Recovered::Nothing => "nothing",
            Recovered::Finished => "finished",
            Recovered::Undone => "undone",
        })
    }

    /// The last commits, the newest first: number, milliseconds since 1970, operation, status, rows, numbers of files that
    /// are added and removed, batch of a stream, job, and engine.
    #[pyo3(signature = (limit))]
    fn history(&self, py: Python<'_>, limit: usize) -> PyResult<Vec<CommitFields>> {
        let commits = py.detach(|| block_on(history(&self.store, limit))).map_err(|error| to_python(py, &error))?;
        Ok(commits.into_iter().map(commit_fields).collect())
    }

    /// Removes what killed processes have left and what is older than a number of seconds. Gives the number of files.
    fn vacuum(&self, py: Python<'_>, seconds: f64) -> PyResult<usize> {
        let age = Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.detach(|| block_on(vacuum(&self.store, age))).map_err(|error| to_python(py, &error))
    }
}

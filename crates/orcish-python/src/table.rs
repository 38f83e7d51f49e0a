//! Logs of tables.

use std::time::{Duration, UNIX_EPOCH};

use orcish_core::Error;
use orcish_io::{StagedFile, StorageOptions, display_name};
use orcish_table::{
    AddedFile, Change, CommitError, FileStore, Operation, Outcome, Pending, Recovered, Removes, StoredFile,
    StreamBatch, abandon, block_on, commit, list_files, position, recover, vacuum, view,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule;
use crate::errors::{exception, to_python};
use crate::options::storage_options;

/// Name, size in bytes, and seconds since 1970.
type File = (String, u64, f64);

/// The folder of the table that a folder belongs to, and the path below it.
#[pyfunction]
pub(crate) fn table_root(folder: &str) -> (String, String) {
    let (root, inside) = orcish_table::table_root(folder);
    (root.to_owned(), inside.to_owned())
}

/// The schema with which rows are appended to a table, as a PyCapsule.
#[pyfunction]
pub(crate) fn appended_schema<'py>(
    py: Python<'py>,
    table: &Bound<'py, PyCapsule>,
    rows: &Bound<'py, PyCapsule>,
    has_schema: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let (table, rows) = (capsule::read_schema(table)?, capsule::read_schema(rows)?);
    let appended = orcish_core::unify::appended_schema(&table, &rows, has_schema);
    capsule::schema(py, &appended.map_err(|error| to_python(py, &error))?)
}

/// The locations of the files at a path, a URL or a pattern, at one moment of the logs of their tables.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None, *, is_before=false))]
pub(crate) fn list_table_files(
    py: Python<'_>,
    location: &str,
    storage_options: Option<&Bound<'_, PyDict>>,
    is_before: bool,
) -> PyResult<Vec<String>> {
    let storage = self::storage_options(storage_options)?;
    py.detach(|| list_files(location, &storage, pending(is_before))).map_err(|error| to_python(py, &error))
}

fn pending(is_before: bool) -> Pending {
    if is_before { Pending::Before } else { Pending::Wait }
}

/// The log of a table.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct TableLog {
    store: FileStore,
}

impl TableLog {
    /// The staged files of a job, by their tokens.
    fn added(&self, job: &str, tokens: &[Vec<u8>]) -> Result<Vec<AddedFile>, Error> {
        tokens.iter().map(|token| self.store.added(job, &StagedFile::from_bytes(token)?)).collect()
    }
}

fn operation(name: &str) -> PyResult<Operation> {
    Ok(match name {
        "append" => Operation::Append,
        "overwrite" => Operation::Overwrite,
        "compact" => Operation::Compact,
        "delete" => Operation::Delete,
        _ => return Err(PyValueError::new_err(format!("{name:?} is no operation"))),
    })
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

    /// The visible files below a folder of the table.
    #[pyo3(signature = (folder, *, is_before=false))]
    fn view(&self, py: Python<'_>, folder: &str, is_before: bool) -> PyResult<Vec<(String, u64)>> {
        let found = py.detach(|| block_on(view(&self.store, folder, pending(is_before))));
        let found = found.map_err(|error| to_python(py, &error))?;
        Ok(found.files.into_iter().map(|file| (file.name, file.size)).collect())
    }

    /// The nearest folder above that of the table that is a table with a log.
    fn table_above(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let found = py.detach(|| self.store.table_above());
        Ok(found.map_err(|error| to_python(py, &error))?.map(|folder| display_name(&folder)))
    }

    /// The number that the next entry has, for a job that is about to write.
    fn position(&self, py: Python<'_>) -> PyResult<u64> {
        let found = py.detach(|| {
            self.store.check_own_folders()?;
            block_on(position(&self.store))
        });
        found.map_err(|error| to_python(py, &error))
    }

    /// Commits a change. `tokens` are those of staged files. Gives what has happened, `committed`, `before` for a batch of
    /// a stream that was committed before, or `outdated` if the log is at another position, and a number: that of the
    /// entry, 0, or the position.
    ///
    /// Files to remove: `existing` are files that must be unchanged, `partitions` are folders whose own files are
    /// removed, `everything` is a folder that is removed, and `nothing` is one that may have no file.
    #[pyo3(signature = (
        job, operation, tokens, *, existing=None, partitions=None, everything=None, nothing=None, stream=None,
        position=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn commit(
        &self,
        py: Python<'_>,
        job: &str,
        operation: &str,
        tokens: Vec<Vec<u8>>,
        existing: Option<Vec<File>>,
        partitions: Option<Vec<String>>,
        everything: Option<String>,
        nothing: Option<String>,
        stream: Option<(String, u64)>,
        position: Option<u64>,
    ) -> PyResult<(&'static str, u64)> {
        let operation = self::operation(operation)?;
        let stored = |(name, size, modified): File| {
            let modified = Duration::try_from_secs_f64(modified).unwrap_or_default();
            StoredFile { name, size, modified: UNIX_EPOCH + modified }
        };
        let removes = match (existing, partitions, everything, nothing) {
            (Some(files), ..) => Removes::Files(files.into_iter().map(stored).collect()),
            (_, Some(folders), ..) => Removes::Folders(folders.into_iter().collect()),
            (_, _, Some(folder), _) => Removes::Everything(folder),
            (.., Some(folder)) => Removes::NothingExists(folder),
            _ => Removes::Nothing,
        };
        let stream = stream.map(|(stream, batch)| StreamBatch { stream, batch });
        let result = py.detach(|| {
            let added = self.added(job, &tokens)?;
            block_on(commit(&self.store, job, &Change { operation, added, removes, stream, position }))
        });
        match result {
            Ok(Outcome::Committed(number)) => Ok(("committed", number)),
            Ok(Outcome::CommittedBefore) => Ok(("before", 0)),
            Ok(Outcome::Outdated(position)) => Ok(("outdated", position)),
            Err(CommitError::Refused(error)) => Err(to_python(py, &error)),
            Err(CommitError::InDoubt(error) | CommitError::Unfinished(error)) => {
                Err(exception(py, "UnfinishedCommitError", error.to_string()))
            }
        }
    }

    /// Removes the staged files of a job that does not commit.
    fn abandon(&self, py: Python<'_>, job: &str, tokens: Vec<Vec<u8>>) -> PyResult<()> {
        let work = || block_on(abandon(&self.store, job, &self.added(job, &tokens)?));
        py.detach(work).map_err(|error| to_python(py, &error))
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

    /// Removes what killed processes have left and what is older than a number of seconds. Gives the number of files.
    fn vacuum(&self, py: Python<'_>, seconds: f64) -> PyResult<usize> {
        let age = Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.detach(|| block_on(vacuum(&self.store, age))).map_err(|error| to_python(py, &error))
    }
}

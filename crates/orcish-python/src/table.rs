//! Logs of tables.

use std::borrow::Cow;
use std::time::{Duration, TryFromFloatSecsError, UNIX_EPOCH};

use orcish_core::Error;
use orcish_core::options::Words as _;
use orcish_io::{StagedFile, StorageOptions, display_name};
use orcish_table::{
    AddedFile, Change, Commit, CommitError, FileStore, Operation, Outcome, Pending, Recovered, Removes, StoredFile,
    StreamBatch, TableSchema, View, abandon, block_on, commit, history, position, recover, vacuum, view,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule;
use crate::errors::{exception, to_python};
use crate::options::storage_options;

/// Name, and size in bytes.
type FileSize = (String, u64);

/// Name, size in bytes, and seconds since 1970.
type File = (String, u64, f64);

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

/// The schema of a table: the bytes of an ORC file without rows, and the names of the partition columns.
type SchemaPair = (Cow<'static, [u8]>, Vec<String>);

fn schema_pair(schema: Option<TableSchema>) -> Option<SchemaPair> {
    schema.map(|TableSchema { file, partition }| (Cow::Owned(file.into()), partition))
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

impl TableLog {
    /// The staged files of a job, by their tokens.
    fn added(&self, job: &str, tokens: &[Vec<u8>]) -> Result<Vec<AddedFile>, Error> {
        tokens.iter().map(|token| self.store.added(job, &StagedFile::from_bytes(token)?)).collect()
    }
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
        Ok((files.into_iter().map(|file| (file.name, file.size)).collect(), schema_pair(schema)))
    }

    /// The nearest folder above that of the table that is a table with a log.
    fn table_above(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let above = py.detach(|| self.store.table_above());
        Ok(above.map_err(|error| to_python(py, &error))?.map(|folder| display_name(&folder)))
    }

    /// A folder below that of the table that is a table with a log.
    fn table_below(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let below = py.detach(|| self.store.table_below());
        Ok(below.map_err(|error| to_python(py, &error))?.map(|folder| display_name(&folder)))
    }

    /// The number that the next entry has, for a job that is about to write.
    fn position(&self, py: Python<'_>) -> PyResult<u64> {
        let position = py.detach(|| {
            self.store.check_own_folders()?;
            block_on(position(&self.store))
        });
        position.map_err(|error| to_python(py, &error))
    }

    /// Commits a change. `tokens` are those of staged files, which have `rows`. Gives what has happened, `committed`, `before` for a batch of
    /// a stream that was committed before, or `outdated` if the log is at another position, and a number: that of the
    /// entry, 0, or the position.
    ///
    /// Files to remove: `existing` are files that must be unchanged, `partitions` are folders whose own files are
    /// removed, `everything` is a folder that is removed, and `nothing` is one that may have no file. `schema` is that of the
    /// table after the change, if it does not stay.
    #[pyo3(signature = (
        job, operation, tokens, rows, *, existing=None, partitions=None, everything=None, nothing=None, stream=None,
        position=None, schema=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn commit(
        &self,
        py: Python<'_>,
        job: &str,
        operation: &str,
        tokens: Vec<Vec<u8>>,
        rows: u64,
        existing: Option<Vec<File>>,
        partitions: Option<Vec<String>>,
        everything: Option<String>,
        nothing: Option<String>,
        stream: Option<(String, u64)>,
        position: Option<u64>,
        schema: Option<(Vec<u8>, Vec<String>)>,
    ) -> PyResult<(&'static str, u64)> {
        let operation = Operation::from_word(operation)
            .ok_or_else(|| PyValueError::new_err(format!("{operation:?} is no operation")))?;
        let existing_file = |(name, size, modified): File| {
            let invalid = |error: TryFromFloatSecsError| PyValueError::new_err(format!("{name}: {error}"));
            let modified = UNIX_EPOCH + Duration::try_from_secs_f64(modified).map_err(invalid)?;
            Ok(StoredFile { name, size, modified })
        };
        let removes = match (existing, partitions, everything, nothing) {
            (Some(files), ..) => Removes::Files(files.into_iter().map(existing_file).collect::<PyResult<_>>()?),
            (_, Some(folders), ..) => Removes::Folders(folders.into_iter().collect()),
            (_, _, Some(folder), _) => Removes::Everything(folder),
            (.., Some(folder)) => Removes::NothingExists(folder),
            _ => Removes::Nothing,
        };
        let schema = schema.map(|(file, partition)| TableSchema { file: file.into(), partition });
        let stream = stream.map(|(stream, batch)| StreamBatch { stream, batch });
        let result = py.detach(|| {
            let added = self.added(job, &tokens)?;
            block_on(commit(
                &self.store,
                job,
                &Change { operation, rows_added: rows, added, removes, stream, position, schema },
            ))
        });
        match result {
            Ok(Outcome::Committed(number)) => Ok(("committed", number)),
            Ok(Outcome::CommittedBefore) => Ok(("before", 0)),
            Ok(Outcome::Outdated(position)) => Ok(("outdated", position)),
            Err(CommitError::Refused(error)) => Err(to_python(py, &error)),
            Err(CommitError::InDoubt(error)) => Err(exception(py, "UnfinishedCommitError", error.to_string())),
            Err(CommitError::Unfinished(error)) => {
                let unfinished = exception(py, "UnfinishedCommitError", error.to_string());
                unfinished.value(py).setattr("is_decided", true)?;
                Err(unfinished)
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

//! Jobs that change tables.

use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

use orcish_core::options::Words as _;
use orcish_table::{CommitError, Decision, Operation, Removes, Snapshot, StreamBatch, TableSchema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::errors::{exception, to_python};
use crate::locations::location_of;
use crate::options::storage_options;
use crate::storage;

/// Name, size in bytes, and seconds since 1970.
pub(crate) type FileSpec = (String, u64, f64);

/// The schema of a table: the bytes of an ORC file without rows, and the names of the partition columns.
pub(crate) type SchemaPair = (Cow<'static, [u8]>, Vec<String>);

/// A [`SchemaPair`] from Python, which has what messages need behind it.
#[derive(FromPyObject)]
pub(crate) struct GivenSchema(#[pyo3(from_py_with = schema_of)] pub(crate) TableSchema);

fn schema_of(given: &Bound<'_, PyAny>) -> PyResult<TableSchema> {
    let file: Vec<u8> = given.get_item(0)?.extract()?;
    Ok(TableSchema { file: file.into(), partition: given.get_item(1)?.extract()? })
}

pub(crate) fn schema_pair(schema: TableSchema) -> SchemaPair {
    let TableSchema { file, partition } = schema;
    (Cow::Owned(file.into()), partition)
}

pub(crate) fn file_spec(file: orcish_table::StoredFile) -> FileSpec {
    // A file that was found in an entry of the log has no time.
    let modified = file.modified.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    (file.name, file.size, modified.as_secs_f64())
}

/// The file that [`file_spec`] describes.
pub(crate) fn stored_file((name, size, modified): FileSpec) -> PyResult<orcish_table::StoredFile> {
    let since = Duration::try_from_secs_f64(modified);
    let modified = UNIX_EPOCH + since.map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
    Ok(orcish_table::StoredFile { name, size, modified })
}

/// The exception for a failed commit.
pub(crate) fn commit_error(py: Python<'_>, error: &CommitError) -> PyErr {
    match error {
        CommitError::Refused(error) => to_python(py, error),
        CommitError::InDoubt(error) => exception(py, "UnfinishedCommitError", error.to_string()),
        CommitError::Unfinished(error) => {
            let unfinished = exception(py, "UnfinishedCommitError", error.to_string());
            match unfinished.value(py).setattr("is_decided", true) {
                Ok(()) => unfinished,
                Err(error) => error,
            }
        }
    }
}

/// A file that is written and not published, for the process that publishes it.
#[pyclass(frozen, module = "orcish._native")]
#[derive(Clone)]
pub(crate) struct StagedFile(pub(crate) orcish_io::StagedFile);

#[pymethods]
impl StagedFile {
    /// The file of a token.
    #[new]
    fn new(py: Python<'_>, token: &[u8]) -> PyResult<Self> {
        orcish_io::StagedFile::from_bytes(token).map(StagedFile).map_err(|error| to_python(py, &error))
    }

    /// The serialized file.
    #[getter]
    fn token<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Path or URL of the file once it is published.
    #[getter]
    fn location(&self) -> &str {
        &self.0.location
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows
    }

    /// Size in bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.0.bytes
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (slf.get_type(), (slf.get().token(slf.py()),))
    }

    fn __repr__(&self) -> String {
        format!("<orcish staged file {}: {} rows>", orcish_io::display_name(&self.0.location), self.0.rows)
    }
}

/// The files of a sequence.
pub(crate) fn staged_files(files: &[Bound<'_, StagedFile>]) -> Vec<orcish_io::StagedFile> {
    files.iter().map(|file| file.get().0.clone()).collect()
}

/// A job that changes a table. It is pickled for its tasks.
#[pyclass(frozen, subclass, module = "orcish._native")]
pub(crate) struct Job {
    pub(crate) job: orcish_table::Job,
    /// Options of the store as they were given, for other processes.
    given: Py<PyAny>,
}

#[pymethods]
impl Job {
    /// A job of the table in a folder, or of a partition of one, given by its path or URL. `id` is that of a job of another process.
    #[new]
    #[pyo3(signature = (path, storage=None, id=None))]
    fn new(path: &Bound<'_, PyAny>, storage: Option<Bound<'_, PyAny>>, id: Option<&str>) -> PyResult<Self> {
        let py = path.py();
        let location = location_of(path)?;
        let text = location.as_os_str().to_string_lossy().into_owned();
        let options = storage_options(storage::complete(py, [text.as_str()].into_iter(), storage.as_ref())?.as_ref())?;
        let job = py.detach(|| {
            let job = orcish_table::Job::try_new(&location, &options)?;
            match id {
                Some(id) => job.with_id(id),
                None => Ok(job),
            }
        });
        let given = storage.map_or_else(|| py.None(), Bound::unbind);
        Ok(Job { job: job.map_err(|error| to_python(py, &error))?, given })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String, Py<PyAny>, String)) {
        let Job { job, given } = slf.get();
        (slf.get_type(), (job.base().to_owned(), given.clone_ref(slf.py()), job.id().to_owned()))
    }

    fn __repr__(&self) -> String {
        format!("<orcish job {} of {}>", self.job.id(), orcish_io::display_name(self.job.base()))
    }

    /// Path or URL of the folder that the job writes to, without links: a table, or a partition of one.
    #[getter]
    fn base(&self) -> &str {
        self.job.base()
    }

    /// Path or URL of the folder of the table, without links.
    #[getter]
    fn root(&self) -> &str {
        self.job.root()
    }

    /// The path of the folder of the job below that of the table; empty for the table itself.
    #[getter]
    fn inside(&self) -> &str {
        self.job.inside()
    }

    /// The ID of the job.
    #[getter]
    fn id(&self) -> &str {
        self.job.id()
    }

    /// Options of the store, as they were given.
    #[getter(storage)]
    fn given_storage(&self, py: Python<'_>) -> Py<PyAny> {
        self.given.clone_ref(py)
    }

    /// Folder of the files of the job, within the folder of the table.
    #[getter]
    fn staging(&self) -> String {
        self.job.staging()
    }

    /// Whether the job belongs to this process, and not to the parent of a fork.
    #[getter]
    fn is_own(&self) -> bool {
        self.job.is_own()
    }

    /// A new folder for one attempt of a task, within the folder of the table. Its name has 32 digits.
    fn attempt(&self, py: Python<'_>) -> PyResult<String> {
        self.job.new_attempt().map_err(|error| to_python(py, &error))
    }

    /// The path or URL of a file or folder, by its path in the table.
    fn location(&self, name: &str) -> String {
        self.job.location(name)
    }

    /// The path of a staged file of the job in the table.
    fn name_of(&self, py: Python<'_>, file: &Bound<'_, StagedFile>) -> PyResult<String> {
        self.job.name_of(&file.get().0).map(str::to_owned).map_err(|error| to_python(py, &error))
    }

    /// Finishes a commit of another job that has died, and looks at a folder of the table. Gives the position of the log, the files by
    /// their paths in the table, and the schema in the log.
    fn prepare(&self, py: Python<'_>, folder: &str) -> PyResult<(u64, Vec<String>, Option<SchemaPair>)> {
        let found = py.detach(|| self.job.prepare(folder));
        let Snapshot { position, files, schema } = found.map_err(|error| to_python(py, &error))?;
        Ok((position, files, schema.map(schema_pair)))
    }

    /// All files below the folder that the job writes to, hidden ones included, by their paths in the table.
    fn stored_files(&self, py: Python<'_>) -> PyResult<Vec<FileSpec>> {
        let files = py.detach(|| self.job.files());
        Ok(files.map_err(|error| to_python(py, &error))?.into_iter().map(file_spec).collect())
    }

    /// Checks that files that readers see are those of the table alone; `fate` is what does not become of another one.
    fn check_own_files(&self, py: Python<'_>, names: Vec<String>, there: Vec<FileSpec>, fate: &str) -> PyResult<()> {
        let there = there.into_iter().map(stored_file).collect::<PyResult<Vec<_>>>()?;
        let checked = self.job.check_own_files(names.iter().map(String::as_str), &there, fate);
        checked.map_err(|error| to_python(py, &error))
    }

    /// Adds staged files to the table, and removes others, as a whole. Gives whether the files are in the table: false if the batch of the
    /// stream was committed before.
    ///
    /// Files to remove: `existing` are files that must be unchanged, `partitions` are folders whose own files are removed, `everything`
    /// are all files of the folder of the job, and with `is_new` the folder may have no file. `schema` is that of the table after the
    /// commit, if it does not stay. With `position`, it is an error if other commits have come first since.
    #[pyo3(signature = (
        added, operation="append", *, existing=None, partitions=None, everything=false, is_new=false, stream=None, position=None,
        schema=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn commit(
        &self,
        py: Python<'_>,
        added: Vec<Bound<'_, StagedFile>>,
        operation: &str,
        existing: Option<Vec<FileSpec>>,
        partitions: Option<Vec<String>>,
        everything: bool,
        is_new: bool,
        stream: Option<(String, u64)>,
        position: Option<u64>,
        schema: Option<GivenSchema>,
    ) -> PyResult<bool> {
        let operation = operation_of(operation)?;
        let inside = || self.job.inside().to_owned();
        let removes = match (existing, partitions) {
            (Some(files), _) => Removes::Files(files.into_iter().map(stored_file).collect::<PyResult<_>>()?),
            (_, Some(folders)) => Removes::Folders(folders.into_iter().collect()),
            _ if everything => Removes::Everything(inside()),
            _ if is_new => Removes::NothingExists(inside()),
            _ => Removes::Nothing,
        };
        let files = staged_files(&added);
        let stream = stream_batch(stream);
        let schema = schema.map(|GivenSchema(schema)| schema);
        let root = orcish_io::display_name(self.job.root());
        let decide = |is_again: bool| match is_again {
            false => Ok(Decision { removes: removes.clone(), schema: schema.clone() }),
            true => {
                let text = "the table was changed meanwhile, and stays as it is: run it again";
                Err(orcish_core::Error::new(orcish_core::ErrorKind::Commit, text).in_file(&root))
            }
        };
        let done = py.detach(|| self.job.commit(operation, &files, stream.as_ref(), position, decide));
        done.map_err(|error| commit_error(py, &error))
    }

    /// Removes the staged files of the job. Files of a commit that is decided stay.
    #[pyo3(signature = (written=None))]
    fn abort(&self, py: Python<'_>, written: Option<Vec<Bound<'_, StagedFile>>>) -> PyResult<()> {
        let files = written.map_or(Vec::new(), |files| staged_files(&files));
        py.detach(|| self.job.abandon(&files)).map_err(|error| to_python(py, &error))
    }

    /// As `abort`, but ignores errors, and does nothing in a child of a fork. Files that cannot be removed stay until they are vacuumed.
    fn give_up(&self, py: Python<'_>, written: Vec<Bound<'_, StagedFile>>) {
        let files = staged_files(&written);
        py.detach(|| self.job.give_up(&files));
    }
}

/// What the log calls a commit.
pub(crate) fn operation_of(word: &str) -> PyResult<Operation> {
    Operation::from_word(word).ok_or_else(|| PyValueError::new_err(format!("{word:?} is no operation")))
}

pub(crate) fn stream_batch(stream: Option<(String, u64)>) -> Option<StreamBatch> {
    stream.map(|(stream, batch)| StreamBatch { stream, batch })
}

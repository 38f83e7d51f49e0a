//! Files of tables that become other files: compaction, and deletion of rows.

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use orcish::table::{AfterDeletion, Combination, LoggedSchema, Rewrite, RewriteOptions};
use orcish::write::Written;
use orcish_core::{Error, OrInternal as _};
use orcish_io::{Sink, Staging, StorageOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::capsule::{self, Pair};
use crate::errors::to_python;
use crate::options::{storage_options, write_options};
use crate::sink::staged;
use crate::table_columns::{LogSchema, logged};
use crate::writer::token;

/// A staged file: rows, bytes and token.
type StagedSpec = (u64, u64, Py<PyBytes>);

/// What rewrites have in common.
struct Given {
    schema: Option<LoggedSchema>,
    storage: StorageOptions,
}

impl Given {
    fn new(py: Python<'_>, schema: Option<LogSchema>, storage: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let schema = schema.map(|schema| logged(py, schema)).transpose()?;
        Ok(Given { schema, storage: storage_options(storage)? })
    }
}

/// The options of a file that takes the place of others.
fn rewrite_options(given: &Bound<'_, PyDict>) -> PyResult<RewriteOptions> {
    let is_given = |name: &str| Ok::<_, PyErr>(given.get_item(name)?.is_some_and(|value| !value.is_none()));
    let write = write_options(Some(given))?;
    Ok(RewriteOptions {
        timezone: is_given("timezone")?.then(|| write.timezone.clone()),
        arrow_schema: is_given("arrow_schema")?.then_some(write.arrow_schema),
        write: Some(write),
    })
}

/// The new file of a job, which is not published yet.
struct NewFile<'a> {
    folder: &'a str,
    storage: &'a StorageOptions,
    made: Option<(&'a str, Staging)>,
}

impl<'a> NewFile<'a> {
    fn create(&mut self, location: &'a str) -> Result<Box<dyn Sink>, Error> {
        let (sink, staging) = staged(location, Some(self.folder), true, self.storage)?;
        self.made = Some((location, staging));
        Ok(sink)
    }

    /// Removes a file that is finished, as it is not what it should be.
    fn discard(self) {
        if let Some((location, staging)) = self.made
            && let Some(file) = staging.take()
        {
            // The error that is returned says why the file is removed.
            let _ = orcish_io::abort_upload(location, &file, self.storage);
        }
    }

    /// The token of the finished file.
    fn token(&self, written: &Written) -> Result<Vec<u8>, Error> {
        self.made
            .as_ref()
            .and_then(|(_, staging)| token(Some(staging), written))
            .or_internal("a new file is not staged")
    }
}

fn spec(py: Python<'_>, written: &Written, token: &[u8]) -> StagedSpec {
    (written.rows, written.bytes, PyBytes::new(py, token).unbind())
}

/// Groups of files that become one file each, as indexes. A file has a path in the table, a size in bytes, and a time.
#[pyfunction]
pub(crate) fn compaction_groups(files: Vec<(String, u64, f64)>, size: u64, rewrite: bool) -> Vec<Vec<usize>> {
    let files: Vec<_> = files.iter().map(|(name, bytes, _)| (name.as_str(), *bytes)).collect();
    orcish::table::compaction_groups(&files, size, rewrite)
}

/// The schema with which a file is written again, as a PyCapsule.
#[pyfunction]
pub(crate) fn rewritten_schema<'py>(
    py: Python<'py>,
    source: String,
    options: &Bound<'py, PyDict>,
    schema: Option<LogSchema>,
    storage_options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let (Given { schema, storage }, options) = (Given::new(py, schema, storage_options)?, rewrite_options(options)?);
    let rewrite = py.detach(|| Rewrite::try_new(&[source], schema.as_ref(), &options, &storage));
    capsule::schema(py, rewrite.map_err(|error| to_python(py, &error))?.schema())
}

/// Writes the rows of files of a table into one file, which is not published yet: at `merged` if their stripes are copied, or else at
/// `rewritten`. With `rewrite`, they are not copied. Returns what was done, and rows, bytes and token of the file.
#[pyfunction]
#[pyo3(signature = (sources, merged, rewritten, *, rewrite, options, schema, storage_options, staging))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn combine_files(
    py: Python<'_>,
    sources: Vec<String>,
    merged: &str,
    rewritten: &str,
    rewrite: bool,
    options: &Bound<'_, PyDict>,
    schema: Option<LogSchema>,
    storage_options: Option<&Bound<'_, PyDict>>,
    staging: &str,
) -> PyResult<(&'static str, StagedSpec)> {
    let (Given { schema, storage }, options) = (Given::new(py, schema, storage_options)?, rewrite_options(options)?);
    let combined = py.detach(|| {
        let mut file = NewFile { folder: staging, storage: &storage, made: None };
        let create = |how| file.create(if how == Combination::Merge { merged } else { rewritten });
        let options = rewrite.then_some(&options);
        match orcish::table::combine_files(&sources, schema.as_ref(), options, &storage, create) {
            Ok((how, written)) => Ok((how.name(), written, file.token(&written)?)),
            Err(error) => {
                file.discard();
                Err(error)
            }
        }
    });
    let (how, written, token) = combined.map_err(|error| to_python(py, &error))?;
    Ok((how, spec(py, &written, &token)))
}

/// Deletes rows of a file, by the capsules of an array of their numbers: where some are left, they are written into a file at `target`,
/// which is not published yet. Returns rows, bytes and token of that file.
#[pyfunction]
#[pyo3(signature = (source, numbers, target, *, options, schema, storage_options, staging))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn delete_rows(
    py: Python<'_>,
    source: &str,
    numbers: Pair<'_>,
    target: &str,
    options: &Bound<'_, PyDict>,
    schema: Option<LogSchema>,
    storage_options: Option<&Bound<'_, PyDict>>,
    staging: &str,
) -> PyResult<Option<StagedSpec>> {
    let (Given { schema, storage }, options) = (Given::new(py, schema, storage_options)?, rewrite_options(options)?);
    let numbers = capsule::read_array(&numbers)?;
    let Some(numbers) = numbers.as_primitive_opt::<Int64Type>().filter(|numbers| numbers.null_count() == 0) else {
        return Err(PyValueError::new_err("numbers of rows are integers of 64 bits"));
    };
    let mut numbers = numbers.values().to_vec();
    let done = py.detach(|| {
        numbers.sort_unstable();
        let mut file = NewFile { folder: staging, storage: &storage, made: None };
        let create = || file.create(target);
        match orcish::table::delete_rows(source, &numbers, schema.as_ref(), &options, &storage, create)? {
            AfterDeletion::Kept | AfterDeletion::Removed => Ok(None),
            AfterDeletion::Replaced(written) => Ok(Some((written, file.token(&written)?))),
        }
    });
    let written = done.map_err(|error: Error| to_python(py, &error))?;
    Ok(written.map(|(written, token)| spec(py, &written, &token)))
}

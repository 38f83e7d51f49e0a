//! Files of tables that become other files: compaction, and deletion of rows.

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use orcish::table::{
    CompactionPlan, DeletionPlan, Replaced, Rewrite, RewriteOptions, combine_files_of, delete_rows_of, replace_files,
};
use orcish::{OrcFile, WriteOptions};
use orcish_core::Limits;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule::{self, Pair};
use crate::errors::to_python;
use crate::job::{
    FileSpec, GivenSchema, Job, SchemaPair, StagedFile, commit_error, file_spec, operation_of, schema_pair, stored_file,
};
use crate::options::{set_write_options, write_options};

/// The options of a file that takes the place of others, of which `first` is the first one: those of that file, and given ones.
fn rewrite_options(py: Python<'_>, job: &Job, first: &str, given: &Bound<'_, PyDict>) -> PyResult<RewriteOptions> {
    let value = |name: &str| Ok::<_, PyErr>(given.get_item(name)?.filter(|value| !value.is_none()));
    let has_filters = value("bloom_filter_columns")?.map_or(Ok(false), |columns| columns.is_truthy())?;
    let (location, storage) = (job.job.location(first), job.job.storage());
    let open = || OrcFile::try_new(orcish_io::open(&location, storage)?, &Limits::default());
    let file = py.detach(open).map_err(|error| to_python(py, &error))?;
    let mut write = WriteOptions::of_file(&file, has_filters);
    set_write_options(&mut write, Some(given))?;
    Ok(RewriteOptions {
        timezone: value("timezone")?.map(|_| write.timezone.clone()),
        arrow_schema: value("arrow_schema")?.map(|_| write.arrow_schema),
        write: Some(write),
    })
}

/// The schema with which a file of the table of a job is written again, as a PyCapsule.
#[pyfunction]
pub(crate) fn rewritten_schema<'py>(
    py: Python<'py>,
    job: &Bound<'py, Job>,
    name: &str,
    options: &Bound<'py, PyDict>,
    schema: Option<GivenSchema>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let job = job.get();
    let schema = schema.map(|GivenSchema(schema)| orcish::table::logged_schema(&job.job, &schema)).transpose();
    let schema = schema.map_err(|error| to_python(py, &error))?;
    let options = rewrite_options(py, job, name, options)?;
    let rewrite =
        py.detach(|| Rewrite::try_new(&[job.job.location(name)], schema.as_ref(), &options, job.job.storage()));
    capsule::schema(py, rewrite.map_err(|error| to_python(py, &error))?.schema())
}

/// Groups of files, all files, and the schema in the log.
type CompactionSpec = (Vec<Vec<FileSpec>>, Vec<FileSpec>, Option<SchemaPair>);

/// Which files of the folder of a job become one file each time, with all of its files, and the schema in its log.
#[pyfunction]
pub(crate) fn plan_compaction(
    py: Python<'_>,
    job: &Bound<'_, Job>,
    size: u64,
    rewrite: bool,
) -> PyResult<CompactionSpec> {
    let job = job.get();
    let plan = py.detach(|| CompactionPlan::of(&job.job, size, rewrite)).map_err(|error| to_python(py, &error))?;
    let CompactionPlan { groups, files, schema } = plan;
    let groups = groups.into_iter().map(|group| group.into_iter().map(file_spec).collect()).collect();
    Ok((groups, files.into_iter().map(file_spec).collect(), schema.map(schema_pair)))
}

/// Names of the visible files, names of those with bytes, all files, and the schema in the log.
type DeletionSpec = (Vec<String>, Vec<String>, Vec<FileSpec>, Option<SchemaPair>);

/// The visible files of the folder of a job, the names of those with bytes, all files, and the schema in its log.
#[pyfunction]
pub(crate) fn plan_deletion(py: Python<'_>, job: &Bound<'_, Job>) -> PyResult<DeletionSpec> {
    let job = job.get();
    let plan = py.detach(|| DeletionPlan::of(&job.job)).map_err(|error| to_python(py, &error))?;
    let read = plan.read_names().map(str::to_owned).collect();
    let DeletionPlan { names, files, schema } = plan;
    Ok((names, read, files.into_iter().map(file_spec).collect(), schema.map(schema_pair)))
}

/// Writes the rows of files of a table, given by their paths in it, into one file, which is not published yet. With `rewrite`, their stripes
/// are not copied. Returns what was done, and the file.
#[pyfunction]
#[pyo3(signature = (job, names, *, rewrite, options, schema))]
pub(crate) fn combine_files(
    py: Python<'_>,
    job: &Bound<'_, Job>,
    names: Vec<String>,
    rewrite: bool,
    options: &Bound<'_, PyDict>,
    schema: Option<GivenSchema>,
) -> PyResult<(&'static str, StagedFile)> {
    let (job, schema) = (job.get(), schema.map(|GivenSchema(schema)| schema));
    let options = match names.first() {
        Some(first) if rewrite => Some(rewrite_options(py, job, first, options)?),
        _ => None,
    };
    let made = py.detach(|| combine_files_of(&job.job, &names, schema.as_ref(), options.as_ref()));
    let (how, file) = made.map_err(|error| to_python(py, &error))?;
    Ok((how.name(), StagedFile(file)))
}

/// Deletes rows of a file of a table, given by the capsules of an array of their numbers. Returns the file with the other rows, which is not
/// published yet; `None` if no row is left.
#[pyfunction]
#[pyo3(signature = (job, name, numbers, *, options, schema))]
pub(crate) fn delete_rows(
    py: Python<'_>,
    job: &Bound<'_, Job>,
    name: &str,
    numbers: Pair<'_>,
    options: &Bound<'_, PyDict>,
    schema: Option<GivenSchema>,
) -> PyResult<Option<StagedFile>> {
    let (job, schema) = (job.get(), schema.map(|GivenSchema(schema)| schema));
    let options = rewrite_options(py, job, name, options)?;
    let numbers = capsule::read_array(&numbers)?;
    let Some(numbers) = numbers.as_primitive_opt::<Int64Type>().filter(|numbers| numbers.null_count() == 0) else {
        return Err(PyValueError::new_err("numbers of rows are integers of 64 bits"));
    };
    let mut numbers = numbers.values().to_vec();
    let made = py.detach(|| {
        numbers.sort_unstable();
        delete_rows_of(&job.job, name, &numbers, schema.as_ref(), &options)
    });
    Ok(made.map_err(|error| to_python(py, &error))?.map(StagedFile))
}

/// Files by their paths in the table, and the file in their place.
type ReplacedSpec<'py> = (Vec<String>, Option<Bound<'py, StagedFile>>);

/// Commits the replacement of files by files of their rows. `operation` is what the log calls the commit. `files` and `schema` are those of
/// the table when the job was planned.
#[pyfunction]
#[pyo3(name = "replace_files")]
pub(crate) fn replace_files_of(
    py: Python<'_>,
    job: &Bound<'_, Job>,
    operation: &str,
    replaced: Vec<ReplacedSpec<'_>>,
    files: Vec<FileSpec>,
    schema: Option<GivenSchema>,
) -> PyResult<()> {
    let operation = operation_of(operation)?;
    let replaced = replaced.into_iter().map(|(files, by)| Replaced { files, by: by.map(|by| by.get().0.clone()) });
    let replaced: Vec<Replaced> = replaced.collect();
    let files = files.into_iter().map(stored_file).collect::<PyResult<Vec<_>>>()?;
    let (job, schema) = (job.get(), schema.map(|GivenSchema(schema)| schema));
    let done = py.detach(|| replace_files(&job.job, operation, &replaced, &files, schema.as_ref()));
    done.map_err(|error| commit_error(py, &error))
}

/// The ending of the names of files that are written with some options.
#[pyfunction]
pub(crate) fn file_suffix(options: &Bound<'_, PyDict>) -> PyResult<String> {
    Ok(orcish::table::file_suffix(&write_options(Some(options))?))
}

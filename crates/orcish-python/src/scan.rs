//! A scan over the files of a table.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use orcish::read::OrcFile;
use orcish::scan::{Matching, SchemaFile, SchemaSource, Split, TableFile};
use orcish_core::Limits;
use orcish_core::explain::{Explanation, SectionPlan};
use orcish_core::predicate::Outcome;
use orcish_io::{MemorySource, ReadAt};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyTuple};

use crate::capsule::Pair;
use crate::errors::{signals, to_python};
use crate::options::{limits, read_options, storage_options};
use crate::stream::Batches;
use crate::{aggregate, capsule, source, statistics};

/// A file of a table: location, bytes or file object instead, partition values, tail, stripes.
type FileSpec<'py> =
    (String, Option<Bound<'py, PyAny>>, Vec<(String, Option<String>)>, Option<Vec<u8>>, Option<Vec<usize>>);

/// The union of schemas: the schema, whether they differ, the error of columns that cannot be read, columns without a common
/// type and their errors.
type Unified<'py> = (Bound<'py, PyCapsule>, bool, Option<PyErr>, Vec<(String, PyErr)>);

/// A part of a scan: location, partition values, tail, stripes, rows, bytes.
type SplitSpec<'py> =
    (String, Vec<(String, Option<String>)>, Option<Bound<'py, PyBytes>>, Option<Vec<usize>>, u64, u64);

/// A scan over the files of a table.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Scan {
    scan: orcish::scan::Scan,
    limits: Limits,
}

#[pymethods]
impl Scan {
    /// A scan over `files`, whose columns are found by `matching`: `name`, `name_ignoring_case`, `position`, or the
    /// key of an attribute. `schema` is a capsule, or an ORC file that has the schema: its bytes, its name, the
    /// names of partition columns, and of those that a scan without files has. By default all files decide on it.
    /// `schema_of` says what a schema is of: the `caller`, to whose types values are converted; the `files`; a `log` with
    /// Arrow types; or a log with the types of `orc`.
    #[new]
    #[pyo3(signature = (
        files, *, schema=None, options=None, matching="name", storage_options=None, limits=None,
        schema_of="caller"
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        files: Vec<FileSpec<'_>>,
        schema: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
        matching: &str,
        storage_options: Option<&Bound<'_, PyDict>>,
        limits: Option<&Bound<'_, PyDict>>,
        schema_of: &str,
    ) -> PyResult<Self> {
        let limits = self::limits(limits)?;
        let options = read_options(options, &limits)?;
        let storage = self::storage_options(storage_options)?;
        let schema = match schema.map_or(Ok(SchemaSource::FirstFile), |schema| schema_source(schema, &limits))? {
            SchemaSource::Given(schema) => match schema_of {
                "caller" => SchemaSource::Given(schema),
                "files" => SchemaSource::OfFiles(schema),
                "log" => SchemaSource::Inferred(schema),
                "orc" => SchemaSource::InferredOfOrc(schema),
                other => return Err(PyValueError::new_err(format!("schema_of: there is no {other:?}"))),
            },
            schema => schema,
        };
        // An object has one position, and so one source, however often it is named.
        let mut opened: HashMap<usize, Arc<dyn ReadAt>> = HashMap::new();
        let mut open = |object: Bound<'_, PyAny>, name: &str| -> PyResult<Arc<dyn ReadAt>> {
            let at = object.as_ptr() as usize;
            if let Some(source) = opened.get(&at) {
                return Ok(source.clone());
            }
            let source = source::open(&object, &storage, Some(name))?;
            opened.insert(at, source.clone());
            Ok(source)
        };
        let file = |(location, object, partition, tail, stripes): FileSpec<'_>| {
            let source = object.map(|object| open(object, &location)).transpose()?;
            let file = TableFile::new(location).with_source(source).with_partition(partition);
            Ok(file.with_tail(tail.map(Bytes::from)).with_stripes(stripes))
        };
        let files = files.into_iter().map(file).collect::<PyResult<Vec<_>>>()?;
        let matching = match matching {
            "name" => Matching::Name,
            "name_ignoring_case" => Matching::NameIgnoringCase,
            "position" => Matching::Position,
            key => Matching::Attribute(key.to_owned()),
        };
        let scan = py.detach(|| orcish::scan::Scan::try_new(files, schema, options, matching, storage));
        Ok(Scan { scan: scan.map_err(|error| to_python(py, &error))?, limits })
    }

    /// A scan of the same table under other options.
    fn with_options(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = read_options(Some(options), &self.limits)?;
        let scan = py.detach(|| self.scan.with_options(options));
        Ok(Scan { scan: scan.map_err(|error| to_python(py, &error))?, limits: self.limits.clone() })
    }

    /// The schema of the batches as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.scan.schema())
    }

    /// The schema of the table, its partition columns last, as a PyCapsule.
    fn table_schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.scan.table_schema())
    }

    /// The union of the schemas of the files as a PyCapsule, whether they differ, the error of columns that cannot be read, and
    /// the dotted names and errors of columns that have no common type.
    fn unified_schema<'py>(&self, py: Python<'py>, case_sensitive: bool) -> PyResult<Unified<'py>> {
        let unified = py.detach(|| self.scan.unified_schema(case_sensitive));
        let unified = unified.map_err(|error| to_python(py, &error))?;
        let fault = unified.fault.map(|fault| to_python(py, &fault));
        let conflicts =
            unified.conflicts.iter().map(|(column, error)| (column.clone(), to_python(py, error))).collect();
        Ok((capsule::schema(py, &unified.schema)?, unified.differs, fault, conflicts))
    }

    /// Locations of the files.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.scan.files().iter().map(|file| file.location.clone()).collect()
    }

    /// Begins to read.
    fn read(&self) -> Batches {
        let mut reader = self.scan.read();
        reader.set_cancel_check(signals());
        Batches::of(reader.schema(), reader, &self.limits)
    }

    /// Number of rows.
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.scan.count()).map_err(|error| to_python(py, &error))
    }

    /// The minimum, maximum or sum of the only column, as the capsules of an array of one value.
    fn aggregate<'py>(&self, py: Python<'py>, function: &str) -> PyResult<Pair<'py>> {
        let function = aggregate::function(py, function)?;
        let result = py.detach(|| self.scan.aggregate(function)).map_err(|error| to_python(py, &error))?;
        aggregate::export(py, &result)
    }

    /// What reading would do, a file each.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Vec<FilePlan<'py>>> {
        let plans = py.detach(|| self.scan.explain()).map_err(|error| to_python(py, &error))?;
        plans.iter().map(|file| explanation(py, file)).collect()
    }

    /// For each file, statistics of the column over stripes all of whose rows are wanted, and the other stripes.
    fn exact_statistics<'py>(&self, py: Python<'py>) -> PyResult<Vec<(Bound<'py, PyDict>, Vec<usize>)>> {
        let files = py.detach(|| self.scan.exact_statistics()).map_err(|error| to_python(py, &error))?;
        files.into_iter().map(|(exact, others)| Ok((statistics::to_python(py, &exact)?, others))).collect()
    }

    /// Parts of about so many bytes.
    fn splits<'py>(&self, py: Python<'py>, size: u64) -> PyResult<Vec<SplitSpec<'py>>> {
        let splits = py.detach(|| self.scan.splits(size)).map_err(|error| to_python(py, &error))?;
        // Splits of a file share its tail.
        let mut shared: Option<(*const u8, Bound<'py, PyBytes>)> = None;
        let mut object = |tail: Bytes| match &shared {
            Some((at, object)) if *at == tail.as_ptr() => object.clone(),
            _ => {
                let object = PyBytes::new(py, &tail);
                shared = Some((tail.as_ptr(), object.clone()));
                object
            }
        };
        let spec = |split: Split| {
            let TableFile { location, partition, tail, stripes, .. } = split.file;
            let tail = tail.map(&mut object);
            (location, partition, tail, stripes, split.rows, split.bytes)
        };
        Ok(splits.into_iter().map(spec).collect())
    }
}

/// A path or URL for messages, without secrets.
#[pyfunction]
pub(crate) fn display_name(location: &str) -> String {
    orcish_io::display_name(location)
}

/// A file's name, whether it is skipped, and its stripes: index, rows, outcome, row groups, bytes and requests for the
/// columns that the filter asks, and for the others.
pub(crate) type FilePlan<'py> = (String, bool, Vec<Bound<'py, PyTuple>>);

/// Row groups after which signals are looked for.
const GROUPS_AT_A_TIME: usize = 4096;

/// What would become of a file.
pub(crate) fn explanation<'py>(py: Python<'py>, file: &Explanation) -> PyResult<FilePlan<'py>> {
    let section = |plan: &SectionPlan| {
        py.check_signals()?;
        let groups = PyList::empty(py);
        for some in plan.row_groups.chunks(GROUPS_AT_A_TIME) {
            py.check_signals()?;
            some.iter().try_for_each(|(rows, result)| groups.append((*rows, outcome(result))))?;
        }
        let weights = (plan.filter_bytes, plan.filter_requests, plan.payload_bytes, plan.payload_requests);
        (plan.index, plan.rows, outcome(&plan.outcome), groups, weights).into_pyobject(py)
    };
    Ok((file.file.clone(), file.skipped, file.sections.iter().map(section).collect::<PyResult<_>>()?))
}

/// A word, and for what is skipped the tests that no row passes, each with what proves it.
fn outcome(outcome: &Outcome) -> (&'static str, Vec<(String, &'static str)>) {
    match outcome {
        Outcome::AllMatch => ("all", Vec::new()),
        Outcome::Read => ("read", Vec::new()),
        Outcome::Skipped(causes) => ("skipped", causes.iter().map(|(test, by)| (test.clone(), by.name())).collect()),
    }
}

fn schema_source(schema: &Bound<'_, PyAny>, limits: &Limits) -> PyResult<SchemaSource> {
    if let Ok(capsule) = schema.cast::<PyCapsule>() {
        return Ok(SchemaSource::Given(Arc::new(capsule::read_schema(capsule)?)));
    }
    let (bytes, name, partition, shown): (Vec<u8>, String, Vec<String>, Vec<String>) = schema.extract()?;
    let source = MemorySource::new(bytes).named(name);
    let file = OrcFile::try_new(Arc::new(source), limits).map_err(|error| to_python(schema.py(), &error))?;
    Ok(SchemaSource::OtherFile(SchemaFile { file, partition, shown }))
}

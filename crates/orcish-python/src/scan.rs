//! A scan over the files of a table.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use orcish::options::{Columns, ReadOptions};
use orcish::scan::{FileScan, Matching, SchemaSource, Split, TableFile};
use orcish_core::Limits;
use orcish_core::aggregate::Aggregate;
use orcish_core::explain::{Explanation, SectionPlan};
use orcish_core::predicate::Outcome;
use orcish_core::stages::{RowSelection, Stage, StagedScan, TableScan};
use orcish_io::ReadAt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyTuple};

use crate::capsule::Pair;
use crate::errors::{signals, to_python};
use crate::keys::keys;
use crate::options::{carbon_options, limits, read_options, storage_options};
use crate::stream::Batches;
use crate::table_columns::{LogSchema, logged_schema};
use crate::{aggregate, capsule, row_filter, source, statistics, storage};

/// A file of a table: location, bytes or file object instead, partition values, tail, stripes.
type FileSpec<'py> =
    (String, Option<Bound<'py, PyAny>>, Vec<(String, Option<String>)>, Option<Vec<u8>>, Option<Vec<usize>>);

/// The union of schemas: the schema, whether they differ, the error of columns that cannot be read, columns without a common
/// type and their errors.
type Unified<'py> = (Bound<'py, PyCapsule>, bool, Option<PyErr>, Vec<(String, PyErr)>);

/// A part of a scan: location, rows, bytes, stripes or blocklets; for ORC files the partition values and the tail, for CarbonData
/// `None` and the token of the split.
type SplitSpec<'py> = (String, u64, u64, Vec<usize>, Option<Vec<(String, Option<String>)>>, Bound<'py, PyBytes>);

/// Statistics of the stripes of a file all of whose rows are wanted, and the indexes of the other stripes.
type FileStatistics<'py> = (Bound<'py, PyDict>, Vec<usize>);

/// A table of any format, or a file.
#[derive(Debug, Clone)]
pub(crate) enum Opened {
    Orc(orcish::scan::Scan),
    File(Box<FileScan>),
    Carbon(carbondata::Scan),
}

impl Opened {
    /// The same table under other options.
    fn with_options(&self, py: Python<'_>, options: ReadOptions) -> PyResult<Self> {
        let found = match self {
            Opened::Orc(scan) => py.detach(|| scan.with_options(options)).map(Opened::Orc),
            Opened::File(scan) => {
                py.detach(|| FileScan::try_new(scan.file().clone(), options)).map(Box::new).map(Opened::File)
            }
            Opened::Carbon(scan) => {
                let options = carbon_options(options)?;
                py.detach(|| scan.with_options(options)).map(Opened::Carbon)
            }
        };
        found.map_err(|error| to_python(py, &error))
    }
}

/// Calls the same method of the scan of each format.
macro_rules! of_format {
    ($opened:expr, $scan:ident => $call:expr) => {
        match $opened {
            Opened::Orc($scan) => $call,
            Opened::File(boxed) => {
                let $scan = &**boxed;
                $call
            }
            Opened::Carbon($scan) => $call,
        }
    };
}

impl TableScan for Opened {
    type Rows = Box<dyn Iterator<Item = orcish_core::Result<RecordBatch>> + Send>;

    fn schema(&self) -> SchemaRef {
        of_format!(self, scan => TableScan::schema(scan))
    }

    fn row_number(&self) -> Option<&str> {
        of_format!(self, scan => scan.row_number())
    }

    fn readable_schema(&self) -> orcish_core::Result<SchemaRef> {
        of_format!(self, scan => scan.readable_schema())
    }

    fn has_read_unions(&self) -> bool {
        of_format!(self, scan => scan.has_read_unions())
    }

    fn select(&self, selection: RowSelection) -> orcish_core::Result<Self> {
        match self {
            Opened::Orc(scan) => scan.select(selection).map(Opened::Orc),
            Opened::File(scan) => scan.select(selection).map(Box::new).map(Opened::File),
            Opened::Carbon(scan) => scan.select(selection).map(Opened::Carbon),
        }
    }

    fn read(&self) -> orcish_core::Result<Self::Rows> {
        // Reads look for signals, whatever the check of the table is.
        of_format!(self, scan => {
            let mut rows = TableScan::read(scan)?;
            rows.set_cancel_check(signals());
            Ok(Box::new(rows))
        })
    }

    fn count(&self) -> orcish_core::Result<u64> {
        of_format!(self, scan => TableScan::count(scan))
    }

    fn aggregate(&self, aggregate: Aggregate) -> orcish_core::Result<ArrayRef> {
        of_format!(self, scan => TableScan::aggregate(scan, aggregate))
    }
}

/// A scan of the rows and columns of a table, or of a file.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Scan {
    staged: StagedScan<Opened>,
    limits: Limits,
}

impl Scan {
    /// The scan of a table under the options that it was opened with.
    pub(crate) fn of(py: Python<'_>, opened: Opened, limits: Limits) -> PyResult<Self> {
        Self::staged(py, opened, &[], limits)
    }

    fn staged(py: Python<'_>, opened: Opened, stages: &[Stage], limits: Limits) -> PyResult<Self> {
        let staged = py.detach(|| StagedScan::try_new(opened, stages));
        Ok(Scan { staged: staged.map_err(|error| to_python(py, &error))?, limits })
    }

    /// The scan of ORC files of a table.
    fn orc(&self) -> PyResult<&orcish::scan::Scan> {
        match self.staged.scan() {
            Opened::Orc(scan) => Ok(scan),
            _ => Err(PyValueError::new_err("the scan is not one of a table of ORC files")),
        }
    }
}

#[pymethods]
impl Scan {
    /// A scan over `files`, whose columns are found by `matching`: `name`, `name_ignoring_case`, `position`, or the
    /// key of an attribute. `schema` is a capsule, or an ORC file that has the schema: its bytes, the names
    /// of partition columns, the table for people, and the partition columns that a scan without files has, if not all. By default all files decide on it.
    /// `schema_of` says what a schema is of: the `caller`, to whose types values are converted; the `files`; a `log` with
    /// Arrow types; or a log with the types of `orc`. Columns that cannot be read are an error where they are selected.
    #[new]
    #[pyo3(signature = (
        files, *, schema=None, options=None, matching="name", storage_options=None, limits=None,
        schema_of="caller", keys=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        files: Vec<FileSpec<'_>>,
        schema: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
        matching: &str,
        storage_options: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyDict>>,
        schema_of: &str,
        keys: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (limits, keys) = (self::limits(limits)?, self::keys(keys)?);
        // No column is selected yet.
        let options = read_options(options, &limits)?.with_columns(Columns::Names(Vec::new())).with_keys(keys);
        let paths = files.iter().filter(|(_, object, ..)| object.is_none()).map(|(location, ..)| location.as_str());
        let storage = self::storage_options(storage::complete(py, paths, storage_options)?.as_ref())?;
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
        Self::of(py, Opened::Orc(scan.map_err(|error| to_python(py, &error))?), limits)
    }

    /// The scan of a split of a CarbonData table, by its token.
    #[staticmethod]
    #[pyo3(signature = (token, *, storage_options=None, limits=None))]
    fn of_carbon_split(
        py: Python<'_>,
        token: &[u8],
        storage_options: Option<&Bound<'_, PyDict>>,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let limits = self::limits(limits)?;
        let storage = self::storage_options(storage_options)?;
        let options = carbondata::ReadOptions::default().with_limits(limits.clone());
        let scan = py.detach(|| carbondata::Scan::from_split(token, options, storage));
        Self::of(py, Opened::Carbon(scan.map_err(|error| to_python(py, &error))?), limits)
    }

    /// A scan of the same table under other options, which have no filter and no limit, but `stages`.
    fn with_options(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let (stages, options) = row_filter::stages(options)?;
        let options = read_options(Some(&options), &self.limits)?;
        let opened = self.staged.base().with_options(py, options)?;
        Self::staged(py, opened, &stages, self.limits.clone())
    }

    /// An empty read of the schema of the batches, also where it is nested deeper than a PyCapsule may be.
    fn schema_only(&self) -> Batches {
        Batches::of(self.staged.schema(), std::iter::empty(), &self.limits)
    }

    /// As `schema_only`, of all columns of the table that can be read, and of the column of row numbers where that is asked for,
    /// and there is one.
    #[pyo3(signature = (*, row_number=false))]
    fn readable(&self, py: Python<'_>, row_number: bool) -> PyResult<Batches> {
        let base = self.staged.base();
        let mut schema = py.detach(|| base.readable_schema()).map_err(|error| to_python(py, &error))?;
        if base.row_number().is_some() && !row_number {
            let fields: Vec<_> = schema.fields().iter().take(schema.fields().len() - 1).cloned().collect();
            schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        }
        Ok(Batches::of(schema, std::iter::empty(), &self.limits))
    }

    /// The union of the schemas of the files as a PyCapsule, whether they differ, the error of columns that cannot be read, and
    /// the dotted names and errors of columns that have no common type.
    fn unified_schema<'py>(&self, py: Python<'py>, case_sensitive: bool) -> PyResult<Unified<'py>> {
        let scan = self.orc()?;
        let unified = py.detach(|| scan.unified_schema(case_sensitive));
        let unified = unified.map_err(|error| to_python(py, &error))?;
        let fault = unified.fault.map(|fault| to_python(py, &fault));
        let conflicts =
            unified.conflicts.iter().map(|(column, error)| (column.clone(), to_python(py, error))).collect();
        Ok((capsule::schema(py, &unified.schema)?, unified.differs, fault, conflicts))
    }

    /// The columns of the table, and after them those that only its files have, as a PyCapsule; no partition columns. Unless
    /// `is_whole`, columns without a common type are no error.
    fn all_columns<'py>(&self, py: Python<'py>, is_whole: bool) -> PyResult<Bound<'py, PyCapsule>> {
        let scan = self.orc()?;
        let columns = py.detach(|| scan.all_columns(is_whole));
        capsule::schema(py, &*columns.map_err(|error| to_python(py, &error))?)
    }

    /// The error of the columns of the table that cannot be read; `None` if all can.
    #[getter]
    fn fault(&self, py: Python<'_>) -> Option<PyErr> {
        match self.staged.base() {
            Opened::Orc(scan) => scan.fault().map(|fault| to_python(py, fault)),
            Opened::File(scan) => scan.file().tail().schema.fault(0).map(|fault| to_python(py, &fault)),
            Opened::Carbon(_) => None,
        }
    }

    /// Locations of the files.
    #[getter]
    fn files(&self) -> Vec<String> {
        match self.staged.base() {
            Opened::Orc(scan) => scan.files().iter().map(|file| file.location.clone()).collect(),
            Opened::File(scan) => vec![scan.file().name().to_owned()],
            Opened::Carbon(scan) => scan.files(),
        }
    }

    /// The filters and limits that are applied after the read, for people; `None` if there are none.
    #[getter]
    fn residual(&self) -> Option<String> {
        let plan = self.staged.plan();
        plan.is_late().then(|| plan.to_string())
    }

    /// Whether parts of the rows can be read alone: there is no limit, and no filter is about all rows at once.
    #[getter]
    fn is_divisible(&self) -> bool {
        self.staged.plan().is_divisible()
    }

    /// The number of rows after which a read ends, where it is known before.
    #[getter]
    fn known_limit(&self) -> Option<u64> {
        self.staged.plan().known_limit()
    }

    /// Begins to read.
    fn read(&self, py: Python<'_>) -> PyResult<Batches> {
        // A filter may need statistics, which are read here.
        let late = py.detach(|| self.staged.read_late()).map_err(|error| to_python(py, &error))?;
        let schema = self.staged.schema();
        if let Some(rows) = late {
            return Ok(Batches::of(schema, rows, &self.limits));
        }
        let rows = py.detach(|| self.staged.scan().read()).map_err(|error| to_python(py, &error))?;
        Ok(Batches::of(schema, rows, &self.limits))
    }

    /// Number of rows.
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.staged.count()).map_err(|error| to_python(py, &error))
    }

    /// The minimum, maximum or sum of the only column, as the capsules of an array of one value.
    fn aggregate<'py>(&self, py: Python<'py>, function: &str) -> PyResult<Pair<'py>> {
        let function = aggregate::function(py, function)?;
        let result = py.detach(|| self.staged.aggregate(function)).map_err(|error| to_python(py, &error))?;
        aggregate::export(py, &result)
    }

    /// What reading would do, a file each. The limit is that of the plans of all files.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Vec<FilePlan<'py>>> {
        let explain = || match self.staged.without_limit()? {
            Opened::Orc(scan) => scan.explain(),
            Opened::File(scan) => Ok(vec![scan.file().explain(scan.options().clone())?]),
            Opened::Carbon(scan) => scan.explain(),
        };
        let plans = py.detach(explain).map_err(|error| to_python(py, &error))?;
        plans.iter().map(|file| explanation(py, file)).collect()
    }

    /// For each file, statistics of the column over stripes all of whose rows are wanted, and the other stripes; `None` where
    /// rows have to be read to know that.
    fn exact_statistics<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<FileStatistics<'py>>>> {
        let plan = self.staged.plan();
        let Opened::Orc(scan) = self.staged.scan() else { return Ok(None) };
        if plan.is_late() || plan.limit.is_some() {
            return Ok(None);
        }
        let files = py.detach(|| scan.exact_statistics()).map_err(|error| to_python(py, &error))?;
        let files = files.into_iter().map(|(exact, others)| Ok((statistics::to_python(py, &exact)?, others)));
        files.collect::<PyResult<_>>().map(Some)
    }

    /// Parts of about so many bytes.
    fn splits<'py>(&self, py: Python<'py>, size: u64) -> PyResult<Vec<SplitSpec<'py>>> {
        let not_elementwise = self.staged.check_elementwise();
        not_elementwise.map_err(|error| PyTypeError::new_err(error.message().to_owned()))?;
        match self.staged.scan() {
            Opened::Orc(scan) => orc_splits(py, scan, size),
            Opened::Carbon(scan) => {
                let splits = py.detach(|| scan.splits(size)).map_err(|error| to_python(py, &error))?;
                let spec = |split: carbondata::Split| {
                    let token = PyBytes::new(py, &split.token);
                    (split.location, split.rows, split.bytes, split.blocklets, None, token)
                };
                Ok(splits.into_iter().map(spec).collect())
            }
            Opened::File(_) => Err(PyValueError::new_err("splits are of tables: scan the file")),
        }
    }
}

fn orc_splits<'py>(py: Python<'py>, scan: &orcish::scan::Scan, size: u64) -> PyResult<Vec<SplitSpec<'py>>> {
    let splits = py.detach(|| scan.splits(size)).map_err(|error| to_python(py, &error))?;
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
        let (Some(tail), Some(stripes)) = (tail, stripes) else {
            let error = orcish_core::Error::internal("a split has no tail, or no stripes");
            return Err(to_python(py, &error));
        };
        Ok((location, split.rows, split.bytes, stripes, Some(partition), object(tail)))
    };
    splits.into_iter().map(spec).collect()
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
    let (bytes, partition, table, shown): LogSchema = schema.extract()?;
    let shown = shown.unwrap_or_else(|| partition.clone());
    let logged = logged_schema(schema.py(), (bytes, partition, table, None), limits)?;
    Ok(SchemaSource::OtherFile(logged.into_schema_file(shown)))
}

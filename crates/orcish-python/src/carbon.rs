//! CarbonData tables, scans and files.

use std::collections::BTreeMap;

use carbondata::Segment;
use orcish::options::{Columns, ReadOptions, TimestampUnit};
use orcish_core::Limits;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::aggregate;
use crate::capsule::{self, Pair};
use crate::errors::{signals, to_python};
use crate::options::{limits, read_options, storage_options};
use crate::scan::{FilePlan, explanation};
use crate::stream::Batches;

/// A segment: id, state, whether it is read, format; times of start, end and last change in milliseconds since 1970;
/// the segment that it was merged into; rows, deleted rows, bytes of data and of indexes, files.
type SegmentSpec = (
    (String, String, bool, String),
    (Option<i64>, Option<i64>, Option<i64>),
    Option<String>,
    (Option<u64>, Option<u64>, Option<u64>, Option<u64>, usize),
);

/// A split of a scan: location, blocklets, rows, bytes, and the token for `CarbonScan.of_split`.
type SplitSpec<'py> = (String, Vec<usize>, u64, u64, Bound<'py, PyBytes>);

/// Options of a scan.
///
/// # Errors
/// `ValueError` for an option that only ORC files have.
fn carbon_options(options: ReadOptions) -> PyResult<carbondata::ReadOptions> {
    let standard = ReadOptions::default();
    let given = [
        ("stripes", options.stripes != standard.stripes),
        ("row_number", options.row_number.is_some()),
        // Timestamps have their unit, which keeps all digits.
        ("timestamp_unit", !matches!(options.timestamp_unit, None | Some(TimestampUnit::Exact))),
        ("strings", options.strings.is_some()),
        ("unions", options.unions.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) {
        return Err(PyValueError::new_err(format!("{name}: tables of CarbonData are read without it")));
    }
    let mut carbon = carbondata::ReadOptions::default()
        .with_batch_size(options.batch_size)
        .with_limit(options.limit)
        .with_threads(options.threads)
        .with_limits(options.limits);
    carbon.filter = options.filter;
    carbon.columns = match options.columns {
        Columns::All => None,
        Columns::Names(names) => Some(names),
        _ => return Err(PyValueError::new_err("the columns of a table have names, and no ids")),
    };
    Ok(carbon)
}

/// Whether a CarbonData table, or a data file of one, is at a location.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None))]
pub(crate) fn is_carbon(py: Python<'_>, location: &str, storage_options: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
    let storage = self::storage_options(storage_options)?;
    py.detach(|| carbondata::is_table(location, &storage)).map_err(|error| to_python(py, &error))
}

/// A CarbonData table in the state of the time at which it was opened.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct CarbonTable {
    table: carbondata::Table,
    limits: Limits,
}

#[pymethods]
impl CarbonTable {
    /// Opens the table at the path or URL of its folder, of a folder with data files, or of a data file.
    #[new]
    #[pyo3(signature = (location, *, storage_options=None, limits=None, external_locations=Vec::new()))]
    fn new(
        py: Python<'_>,
        location: &str,
        storage_options: Option<&Bound<'_, PyDict>>,
        limits: Option<&Bound<'_, PyDict>>,
        external_locations: Vec<String>,
    ) -> PyResult<Self> {
        let limits = self::limits(limits)?;
        let storage = self::storage_options(storage_options)?;
        let open = || carbondata::Table::open_with_external(location, &storage, &limits, &external_locations);
        let table = py.detach(open);
        Ok(CarbonTable { table: table.map_err(|error| to_python(py, &error))?, limits })
    }

    /// Location of the table.
    #[getter]
    fn location(&self) -> &str {
        self.table.location()
    }

    /// The schema as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.table.schema())
    }

    /// Properties of the table.
    #[getter]
    fn properties(&self) -> BTreeMap<String, String> {
        self.table.properties().clone()
    }

    /// All segments, including segments that are not read.
    #[getter]
    fn segments(&self) -> Vec<SegmentSpec> {
        let spec = |segment: &Segment| {
            let Segment { id, state, format, merged_into, .. } = segment.clone();
            (
                (id, state, segment.is_readable, format),
                (segment.started, segment.ended, segment.modified),
                merged_into,
                (segment.rows, segment.deleted_rows, segment.data_bytes, segment.index_bytes, segment.files),
            )
        };
        self.table.segments().iter().map(spec).collect()
    }

    /// Locations of the data files that are read.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.table.files()
    }

    /// Number of rows. `None` if it is not known without reading columns.
    fn rows(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        py.detach(|| self.table.num_rows()).map_err(|error| to_python(py, &error))
    }

    /// Names of the columns by which the rows of a file are sorted.
    #[getter]
    fn sort_columns(&self) -> Vec<String> {
        self.table.sort_columns()
    }

    /// Names of the partition columns, whose values are in folder names.
    #[getter]
    fn partition_columns(&self) -> Vec<String> {
        self.table.partition_columns()
    }

    /// Whether the table has metadata. Otherwise it is a folder with data files.
    #[getter]
    fn is_transactional(&self) -> bool {
        self.table.is_transactional()
    }

    /// A scan of the table.
    #[pyo3(signature = (options=None))]
    fn scan(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<CarbonScan> {
        CarbonScan::new(py, options, &self.limits, |options| carbondata::Scan::try_new(&self.table, options))
    }
}

/// A scan over a CarbonData table, or over a split of one.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct CarbonScan {
    scan: carbondata::Scan,
    limits: Limits,
}

impl CarbonScan {
    /// The scan that `make` returns for the options.
    fn new(
        py: Python<'_>,
        options: Option<&Bound<'_, PyDict>>,
        limits: &Limits,
        make: impl FnOnce(carbondata::ReadOptions) -> orcish_core::Result<carbondata::Scan> + Send,
    ) -> PyResult<Self> {
        let options = carbon_options(read_options(options, limits)?)?;
        let scan = py.detach(|| make(options)).map_err(|error| to_python(py, &error))?;
        Ok(CarbonScan { scan, limits: limits.clone() })
    }
}

#[pymethods]
impl CarbonScan {
    /// The scan of a split, by the token of `splits`.
    #[staticmethod]
    #[pyo3(signature = (token, options=None, *, storage_options=None, limits=None))]
    fn of_split(
        py: Python<'_>,
        token: &[u8],
        options: Option<&Bound<'_, PyDict>>,
        storage_options: Option<&Bound<'_, PyDict>>,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let limits = self::limits(limits)?;
        let storage = self::storage_options(storage_options)?;
        Self::new(py, options, &limits, |options| carbondata::Scan::from_split(token, options, storage))
    }

    /// A scan of the same table or split with other options.
    fn with_options(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        Self::new(py, Some(options), &self.limits, |options| self.scan.with_options(options))
    }

    /// The schema of the batches as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.scan.schema())
    }

    /// The schema of the table as a PyCapsule.
    fn table_schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.scan.table_schema())
    }

    /// Locations of the data files.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.scan.files()
    }

    /// Begins a read.
    fn read(&self, py: Python<'_>) -> Batches {
        // The bounds of all blocklets are compared with the filter here.
        let mut reader = py.detach(|| self.scan.read());
        reader.set_cancel_check(signals());
        Batches::of(reader.schema(), reader, &self.limits)
    }

    /// The minimum, maximum or sum of the only column, as the capsules of an array of one value.
    fn aggregate<'py>(&self, py: Python<'py>, function: &str) -> PyResult<Pair<'py>> {
        let function = aggregate::function(py, function)?;
        let result = py.detach(|| self.scan.aggregate(function)).map_err(|error| to_python(py, &error))?;
        aggregate::export(py, &result)
    }

    /// Number of rows.
    fn count(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.scan.count()).map_err(|error| to_python(py, &error))
    }

    /// The plan of a read, by file. Blocklets take the place of stripes of ORC files.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Vec<FilePlan<'py>>> {
        let plans = py.detach(|| self.scan.explain()).map_err(|error| to_python(py, &error))?;
        plans.iter().map(|file| explanation(py, file)).collect()
    }

    /// Splits of about `size` bytes.
    fn splits<'py>(&self, py: Python<'py>, size: u64) -> PyResult<Vec<SplitSpec<'py>>> {
        let splits = py.detach(|| self.scan.splits(size)).map_err(|error| to_python(py, &error))?;
        let spec = |split: carbondata::Split| {
            let token = PyBytes::new(py, &split.token);
            (split.location, split.blocklets, split.rows, split.bytes, token)
        };
        Ok(splits.into_iter().map(spec).collect())
    }
}

/// A CarbonData data file.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct CarbonFile {
    file: carbondata::File,
}

#[pymethods]
impl CarbonFile {
    /// Opens the file at a path or URL.
    #[new]
    #[pyo3(signature = (location, *, storage_options=None, limits=None))]
    fn new(
        py: Python<'_>,
        location: &str,
        storage_options: Option<&Bound<'_, PyDict>>,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let limits = self::limits(limits)?;
        let storage = self::storage_options(storage_options)?;
        let file = py.detach(|| carbondata::File::open(location, &storage, &limits));
        Ok(CarbonFile { file: file.map_err(|error| to_python(py, &error))? })
    }

    /// Version of the format.
    #[getter]
    fn version(&self) -> u8 {
        self.file.version()
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> u64 {
        self.file.num_rows()
    }

    /// The schema as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.file.schema())
    }

    /// Properties of the software that wrote the file.
    #[getter]
    fn written_by(&self) -> Vec<(String, String)> {
        self.file.written_by().to_vec()
    }

    /// Rows, pages and bytes of each blocklet.
    #[getter]
    fn blocklets(&self, py: Python<'_>) -> PyResult<Vec<(u64, usize, u64)>> {
        let blocklets = self.file.blocklets().map_err(|error| to_python(py, &error))?;
        Ok(blocklets.iter().map(|blocklet| (blocklet.rows, blocklet.pages, blocklet.bytes)).collect())
    }
}

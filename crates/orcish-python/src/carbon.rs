//! CarbonData tables, scans and files.

use std::collections::BTreeMap;

use carbondata::Segment;
use orcish_core::Limits;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule;
use crate::errors::to_python;
use crate::options::{limits, storage_options};
use crate::scan::{Opened, Scan};

/// A segment: id, state, whether it is read, format; times of start, end and last change in milliseconds since 1970;
/// the segment that it was merged into; rows, deleted rows, bytes of data and of indexes, files.
type SegmentSpec = (
    (String, String, bool, String),
    (Option<i64>, Option<i64>, Option<i64>),
    Option<String>,
    (Option<u64>, Option<u64>, Option<u64>, Option<u64>, usize),
);

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
    fn scan(&self, py: Python<'_>) -> PyResult<Scan> {
        let options = carbondata::ReadOptions::default().with_limits(self.limits.clone());
        let scan = py.detach(|| carbondata::Scan::try_new(&self.table, options));
        Scan::of(py, Opened::Carbon(scan.map_err(|error| to_python(py, &error))?), self.limits.clone())
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

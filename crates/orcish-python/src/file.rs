//! Open ORC files.

use std::collections::BTreeMap;
use std::sync::Arc;

use orcish::options::{Columns, ReadOptions};
use orcish::read::{ColumnStorage, OrcFile, RowGroup};
use orcish::scan::FileScan;
use orcish::tail::{Calendar, FileTail};
use orcish::write::{Finding, WriteOptions};
use orcish_core::Limits;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::{signals, signals_and_progress, to_python};
use crate::keys::keys;
use crate::locations::{source_form, storage_of_source};
use crate::names::Name;
use crate::options::{limits, storage_options};
use crate::scan::{Opened, Scan};
use crate::{source, statistics};

/// A finding of a check: stripe, row group, column, message.
type FindingSpec = (Option<usize>, Option<usize>, String, String, bool);

/// Storage of a column: bytes of data streams, bytes of index streams, bytes by kind of stream, entries of dictionaries, and
/// number of stripes by encoding.
type StorageSpec = (u64, u64, BTreeMap<&'static str, u64>, u64, BTreeMap<&'static str, u64>);

/// A row group of a column: stripe, first row in it, rows, statistics, positions and bloom filter.
type RowGroupSpec<'py> = (usize, u64, u64, Option<Bound<'py, PyDict>>, Vec<u64>, Option<(&'static str, u32, u32, u32)>);

/// The encryption of a file: key provider; names, versions and algorithms of keys; column, key and bytes of the encrypted key
/// of variants; names, parameters and columns of masks.
type EncryptionSpec =
    (String, Vec<(String, u32, &'static str)>, Vec<(u32, u32, usize)>, Vec<(String, Vec<String>, Vec<u32>)>);

/// An ORC file whose tail has been read.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct File {
    file: OrcFile,
    limits: Limits,
    /// What was opened: a path or URL, bytes or a file object.
    source: Py<PyAny>,
}

impl File {
    fn tail(&self) -> &FileTail {
        self.file.tail()
    }

    fn raise(&self, py: Python<'_>, error: orcish_core::Error) -> PyErr {
        to_python(py, &error.in_file(self.file.name()))
    }
}

#[pymethods]
impl File {
    /// Opens `source`: a path or URL, an object with a path, bytes or a buffer, or an object with `read` and `seek`. With the `tail` of `tail_bytes`,
    /// nothing is read.
    #[new]
    #[pyo3(signature = (source, *, tail=None, limits=None, storage_options=None, keys=None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        tail: Option<&[u8]>,
        limits: Option<&Bound<'_, PyDict>>,
        storage_options: Option<&Bound<'_, PyAny>>,
        keys: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (limits, keys) = (self::limits(limits)?, self::keys(keys)?);
        let given = source_form(source, storage_options)?;
        let source = source::open(&given, &storage_of_source(&given, storage_options)?, None)?;
        let file = py.detach(|| match tail {
            Some(tail) => FileTail::from_bytes(tail, &limits)
                .map_err(|error| error.in_file(source.name()))
                .and_then(|tail| OrcFile::try_with_tail(source.clone(), tail)),
            None => OrcFile::try_new(source, &limits),
        });
        let file = file.and_then(|file| match &keys {
            Some(keys) => py.detach(|| file.with_keys(keys)),
            None => Ok(file),
        });
        let file = file.map_err(|error| to_python(py, &error))?;
        Ok(File { file: file.with_cancel_check(signals()), limits, source: given.unbind() })
    }

    /// The file with dates and timestamps of the proleptic Gregorian calendar, whatever its footer says.
    fn in_gregorian_calendar(&self, py: Python<'_>) -> Self {
        let file = self.file.clone().with_calendar(Calendar::ProlepticGregorian);
        File { file, limits: self.limits.clone(), source: self.source.clone_ref(py) }
    }

    /// What was opened: a path or URL, bytes or a file object.
    #[getter]
    fn source(&self, py: Python<'_>) -> Py<PyAny> {
        self.source.clone_ref(py)
    }

    /// Name of the source in error messages: a path, or a URL without credentials.
    #[getter]
    fn name(&self) -> &str {
        self.file.name()
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> u64 {
        self.tail().rows
    }

    /// The type of the root column in Hive's syntax.
    #[getter]
    fn type_string(&self, py: Python<'_>) -> PyResult<String> {
        self.tail().schema.type_string(0).map_err(|error| self.raise(py, error))
    }

    /// Dotted names of all columns, by column id. The name of the root is empty.
    #[getter]
    fn column_paths(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.tail().schema.paths(&self.limits).map_err(|error| self.raise(py, error))
    }

    /// The column id of a name.
    fn column_id(&self, py: Python<'_>, name: Name) -> PyResult<u32> {
        self.tail().schema.column_id(&name.0).map_err(|error| self.raise(py, error))
    }

    /// Types of all columns in Hive's syntax, by column id.
    #[getter]
    fn column_types(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.tail().schema.type_strings(&self.limits).map_err(|error| self.raise(py, error))
    }

    /// The type of a column in Hive's syntax.
    fn column_type(&self, py: Python<'_>, id: u32) -> PyResult<String> {
        self.tail().schema.type_string(id).map_err(|error| self.raise(py, error))
    }

    /// Column ids of the parents of all columns, by column id. The root has none.
    #[getter]
    fn column_parents(&self) -> Vec<Option<u32>> {
        self.tail().schema.types().iter().map(|orc_type| orc_type.parent).collect()
    }

    /// Attributes of a column's type.
    fn column_attributes(&self, py: Python<'_>, id: u32) -> PyResult<Vec<(String, String)>> {
        let orc_type = self.tail().schema.get(id).map_err(|error| self.raise(py, error))?;
        Ok(orc_type.attributes.clone())
    }

    /// User metadata.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metadata = PyDict::new(py);
        for (key, value) in &self.tail().metadata {
            metadata.set_item(key, PyBytes::new(py, value))?;
        }
        Ok(metadata)
    }

    /// Properties of the file by name.
    #[getter]
    fn properties<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tail = self.tail();
        let properties = PyDict::new(py);
        properties.set_item("compression", tail.compression.name())?;
        properties.set_item("compression_chunk_size", tail.chunk_size)?;
        properties.set_item("stated_chunk_size", tail.stated_chunk_size())?;
        properties.set_item("version", &tail.version)?;
        properties.set_item("writer", tail.writer.to_string())?;
        properties.set_item("writer_code", tail.writer.code())?;
        properties.set_item("writer_version", tail.writer_version)?;
        properties.set_item("software_version", &tail.software_version)?;
        properties.set_item("records_parent_nulls", tail.records_parent_nulls())?;
        properties.set_item(
            "calendar",
            match tail.calendar {
                Calendar::JulianGregorian => "julian/gregorian",
                Calendar::ProlepticGregorian => "proleptic gregorian",
            },
        )?;
        properties.set_item("row_index_stride", tail.row_index_stride)?;
        properties.set_item("file_length", tail.file_length)?;
        properties.set_item("content_length", tail.content_length)?;
        properties.set_item("stripe_statistics_length", tail.stripe_statistics.end - tail.stripe_statistics.start)?;
        properties.set_item("tail_length", tail.tail_length)?;
        properties.set_item("postscript_length", tail.postscript_length())?;
        properties.set_item("encrypted_columns", &tail.encrypted_columns)?;
        Ok(properties)
    }

    /// Options of writing of a file that takes the place of this one, and may have bloom filters.
    fn write_options<'py>(&self, py: Python<'py>, has_bloom_filters: bool) -> PyResult<Bound<'py, PyDict>> {
        let options = WriteOptions::of_file(&self.file, has_bloom_filters);
        let metadata = PyDict::new(py);
        for (key, value) in &options.metadata {
            metadata.set_item(key, PyBytes::new(py, value))?;
        }
        let given = PyDict::new(py);
        given.set_item("compression", options.compression.name())?;
        given.set_item("metadata", metadata)?;
        given.set_item("row_index_stride", options.row_index_stride)?;
        given.set_item("version", options.version.name())?;
        Ok(given)
    }

    /// Keys, encrypted columns and masks. `None` if no column is encrypted.
    #[getter]
    fn encryption(&self) -> Option<EncryptionSpec> {
        let encryption = self.tail().encryption.clone()?;
        let keys = encryption.keys.into_iter().map(|key| (key.name, key.version, key.algorithm)).collect();
        let variants =
            encryption.variants.iter().map(|each| (each.root, each.key, each.encrypted_key_length)).collect();
        let masks = encryption.masks.into_iter().map(|mask| (mask.name, mask.parameters, mask.columns)).collect();
        Some((encryption.key_provider, keys, variants, masks))
    }

    /// Offset, bytes of index, data and footer, rows, and first row of each stripe.
    #[getter]
    fn stripes(&self) -> Vec<(u64, u64, u64, u64, u64, u64)> {
        let info = |stripe: &orcish::tail::StripeInfo| {
            let lengths = (stripe.index_length, stripe.data_length, stripe.footer_length);
            (stripe.offset, lengths.0, lengths.1, lengths.2, stripe.rows, stripe.first_row)
        };
        self.tail().stripes.iter().map(info).collect()
    }

    /// The tail as bytes, for `File(source, tail=…)` in this or another process.
    fn tail_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.tail().to_bytes())
    }

    /// Statistics of a column in the file, by name. `None` if the file has none.
    fn column_statistics<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Option<Bound<'py, PyDict>>> {
        let statistics = self.tail().column_statistics(id).map_err(|error| self.raise(py, error))?;
        statistics.map(|statistics| statistics::to_python(py, &statistics)).transpose()
    }

    /// Statistics of the columns of each stripe.
    fn stripe_statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let statistics = py.detach(|| self.file.stripe_statistics(&self.limits));
        let stripes = PyList::empty(py);
        for stripe in statistics.map_err(|error| self.raise(py, error))? {
            py.check_signals()?;
            let columns = stripe.iter().map(|column| statistics::to_python(py, column));
            stripes.append(columns.collect::<PyResult<Vec<_>>>()?)?;
        }
        Ok(stripes)
    }

    /// Statistics of a column in each stripe that records some.
    fn column_stripe_statistics<'py>(&self, py: Python<'py>, id: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let stripes = py.detach(|| self.file.stripe_statistics(&self.limits));
        let stripes = stripes.map_err(|error| self.raise(py, error))?;
        stripes.iter().filter_map(|stripe| stripe.get(id)).map(|column| statistics::to_python(py, column)).collect()
    }

    /// Storage of all columns in these stripes, or in all stripes, by column id: bytes of data streams, bytes of index
    /// streams, bytes by kind of stream, entries of dictionaries, and the number of stripes of each encoding. Stripe footers
    /// are read.
    #[pyo3(signature = (stripes=None))]
    fn column_storage(&self, py: Python<'_>, stripes: Option<Vec<usize>>) -> PyResult<Vec<StorageSpec>> {
        let columns = py.detach(|| self.file.column_storage(stripes.as_deref(), &self.limits));
        let columns = columns.map_err(|error| self.raise(py, error))?;
        let spec = |column: ColumnStorage| {
            (column.data, column.index, column.streams, column.dictionary_entries, column.encodings)
        };
        Ok(columns.into_iter().map(spec).collect())
    }

    /// The row groups of a column in these stripes, or in all stripes: stripe, first row in it, rows, statistics, positions,
    /// and of the bloom filter the kind, hash functions, bits, and bits that are set. The row indexes and bloom filters of
    /// the column are read.
    #[pyo3(signature = (id, stripes=None))]
    fn row_groups<'py>(
        &self,
        py: Python<'py>,
        id: u32,
        stripes: Option<Vec<usize>>,
    ) -> PyResult<Vec<RowGroupSpec<'py>>> {
        let groups = py.detach(|| self.file.row_groups(id, stripes.as_deref(), &self.limits));
        let spec = |group: RowGroup| {
            let statistics = group.statistics.map(|statistics| statistics::to_python(py, &statistics)).transpose()?;
            let filter =
                group.bloom_filter.map(|filter| (filter.kind, filter.hash_functions, filter.bits, filter.bits_set));
            Ok((group.stripe, group.first_row, group.rows, statistics, group.positions, filter))
        };
        groups.map_err(|error| self.raise(py, error))?.into_iter().map(spec).collect()
    }

    /// The time zones of the writer in the footers of these stripes, or of all stripes. Empty for a stripe without one.
    #[pyo3(signature = (stripes=None))]
    fn writer_timezones(&self, py: Python<'_>, stripes: Option<Vec<usize>>) -> PyResult<Vec<String>> {
        let timezones = py.detach(|| self.file.writer_timezones(stripes.as_deref(), &self.limits));
        timezones.map_err(|error| self.raise(py, error))
    }

    /// Compares the rows with recorded statistics, positions and bloom filters. Returns stripe, row group, column and
    /// message of each finding, and whether it contradicts the rows. `progress` is called with the number of rows that are
    /// done.
    #[pyo3(signature = (progress=None))]
    fn check(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<Vec<FindingSpec>> {
        let done = Arc::default();
        let check = signals_and_progress(progress, &done);
        let findings = py.detach(|| self.file.check(&self.limits, Some(&check), Some(&done)));
        let findings = findings.map_err(|error| self.raise(py, error))?;
        let spec = |finding: Finding| {
            (finding.stripe, finding.group, finding.column, finding.message, finding.contradicts_rows)
        };
        Ok(findings.into_iter().map(spec).collect())
    }

    /// A scan of the file.
    fn scan(&self, py: Python<'_>) -> PyResult<Scan> {
        // No column is selected yet.
        let options = ReadOptions::default().with_columns(Columns::Names(Vec::new())).with_limits(self.limits.clone());
        let scan = FileScan::try_new(self.file.clone(), options).map_err(|error| to_python(py, &error))?;
        Scan::of(py, Opened::File(Box::new(scan)), self.limits.clone())
    }
}

/// Locations and sizes of the files at a path or URL: a file, the files of a folder, or the files of a pattern. Without
/// `patterns`, a pattern is an ordinary name.
#[pyfunction]
#[pyo3(signature = (location, storage_options=None, *, patterns=true))]
pub(crate) fn list_files(
    py: Python<'_>,
    location: &str,
    storage_options: Option<&Bound<'_, PyDict>>,
    patterns: bool,
) -> PyResult<Vec<(String, u64)>> {
    let storage = self::storage_options(storage_options)?;
    let list = if patterns { orcish_io::list } else { orcish_io::list_folder };
    py.detach(|| list(location, &storage)).map_err(|error| to_python(py, &error))
}

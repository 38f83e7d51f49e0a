//! Rows that are added to tables: their types, the casts to them, and the schema of the log.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, StructArray};
use arrow_schema::{DataType, Field, Schema};
use orcish::table::{LoggedSchema, PartitionOf, StoredTimestamp, TableFolder, TimestampTypes, cast_column};
use orcish_core::type_names::unit_name;
use orcish_core::types::value_type;
use orcish_core::{Error, Limits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule::{self, Pair, read_schema};
use crate::errors::to_python;
use crate::options::{read_options, storage_options};

/// The schema in the log of a table: an ORC file, the names of partition columns, the table, and the names of the partition columns
/// that a scan without files has; all by default.
pub(crate) type LogSchema = (Vec<u8>, Vec<String>, String, Option<Vec<String>>);

/// Dotted names of columns of timestamps, and their ORC types.
type TimestampPairs = Vec<(String, String)>;

/// Opens the schema in a log, under the limits of the files of the table.
pub(crate) fn logged_schema(py: Python<'_>, schema: LogSchema, limits: &Limits) -> PyResult<LoggedSchema> {
    let (file, partition, table, _) = schema;
    let name = format!("{table}: the schema in the log");
    LoggedSchema::open(file.into(), &name, partition, limits).map_err(|error| to_python(py, &error))
}

pub(crate) fn logged(py: Python<'_>, schema: LogSchema) -> PyResult<LoggedSchema> {
    logged_schema(py, schema, &Limits::default())
}

fn timestamps(pairs: TimestampPairs) -> PyResult<TimestampTypes> {
    let stored = |(path, name): (String, String)| match StoredTimestamp::from_name(&name) {
        Some(stored) => Ok((path, stored)),
        None => Err(PyValueError::new_err(format!("{name:?} is no type of timestamps"))),
    };
    pairs.into_iter().map(stored).collect()
}

/// The columns of a table that rows are added to.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct TableColumns {
    columns: orcish::table::TableColumns,
}

impl TableColumns {
    pub(crate) fn new(columns: orcish::table::TableColumns) -> Self {
        TableColumns { columns }
    }
}

#[pymethods]
impl TableColumns {
    /// The columns of a table: those of the schema in its log, or without one those of its files; `None` if no file has columns.
    /// `files` are those that stay, and `visible` those whose folders have values of partition columns, by their paths in the
    /// table. With `keeps_twins`, columns of the first file stay that are one column to some readers.
    #[staticmethod]
    #[pyo3(signature = (table, files, visible, schema=None, storage_options=None, *, keeps_twins=false))]
    fn of(
        py: Python<'_>,
        table: String,
        files: Vec<String>,
        visible: Vec<String>,
        schema: Option<LogSchema>,
        storage_options: Option<&Bound<'_, PyDict>>,
        keeps_twins: bool,
    ) -> PyResult<Option<Self>> {
        let storage = self::storage_options(storage_options)?;
        let folder = TableFolder { location: table, files, visible, storage };
        let schema = schema.map(|schema| logged(py, schema)).transpose()?;
        let columns = py.detach(|| match &schema {
            Some(schema) => orcish::table::TableColumns::of_log(folder, schema).map(Some),
            None => orcish::table::TableColumns::of_files(folder, keeps_twins),
        });
        let columns = columns.map_err(|error| to_python(py, &error))?;
        Ok(columns.map(|columns| TableColumns { columns }))
    }

    /// Path or URL of the table.
    #[getter]
    fn location(&self) -> &str {
        self.columns.location()
    }

    /// The columns that can be read, without partition columns, as a PyCapsule.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, self.columns.schema())
    }

    /// The partition columns whose types are known, with the types that readers see, as a PyCapsule.
    #[getter]
    fn partition_schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &Schema::new(self.columns.partition_fields().clone()))
    }

    /// The ORC types of the columns of timestamps, by their dotted names.
    #[getter]
    fn timestamp_types(&self) -> HashMap<String, &'static str> {
        self.columns.timestamp_types().iter().map(|(path, stored)| (path.to_owned(), stored.name())).collect()
    }

    /// Whether readers have types that only an Arrow schema keeps.
    #[getter]
    fn has_arrow_schema(&self) -> bool {
        self.columns.has_arrow_schema()
    }

    /// The schema with which rows are appended, as a PyCapsule. Instants are stored as in `timestamps`, by default as in the table.
    #[pyo3(signature = (rows, partition, timestamps=None))]
    fn appended_schema<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyCapsule>,
        partition: Vec<String>,
        timestamps: Option<TimestampPairs>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let rows = read_schema(rows)?;
        let timestamps = timestamps.map(self::timestamps).transpose()?;
        let appended = py.detach(|| self.columns.appended_schema(&rows, &partition, timestamps.as_ref()));
        capsule::schema(py, &appended.map_err(|error| to_python(py, &error))?)
    }

    /// The time zone with which rows are written beside the files of the table; `None` if any zone will do.
    fn timezone_beside(&self, py: Python<'_>, rows: &Bound<'_, PyCapsule>) -> PyResult<Option<String>> {
        let rows = read_schema(rows)?;
        py.detach(|| self.columns.timezone_beside(&rows)).map_err(|error| to_python(py, &error))
    }
}

/// The schema that readers see of a file which is written without an Arrow schema, as a PyCapsule.
#[pyfunction]
#[pyo3(signature = (schema, options=None))]
pub(crate) fn stored_schema<'py>(
    py: Python<'py>,
    schema: &Bound<'py, PyCapsule>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let options = read_options(options, &Limits::default())?;
    let stored = orcish::write::stored_schema(&read_schema(schema)?, &options);
    let stored = stored.map_err(|error| to_python(py, &error))?;
    capsule::schema(py, &stored)
}

/// Whether readers of a file without an Arrow schema see the types of a schema.
#[pyfunction]
pub(crate) fn are_inferred(py: Python<'_>, schema: &Bound<'_, PyCapsule>) -> PyResult<bool> {
    orcish::write::are_inferred(read_schema(schema)?.fields()).map_err(|error| to_python(py, &error))
}

/// The schema with instants that are stored as the ORC types say, as a PyCapsule. A column is `timestamp` if all types of it are.
#[pyfunction]
pub(crate) fn with_timestamp_types<'py>(
    py: Python<'py>,
    schema: &Bound<'py, PyCapsule>,
    types: TimestampPairs,
) -> PyResult<Bound<'py, PyCapsule>> {
    capsule::schema(py, &timestamps(types)?.applied_to(&read_schema(schema)?))
}

/// The partition columns that have no type in the log yet.
#[pyfunction]
pub(crate) fn untyped_columns(py: Python<'_>, schema: LogSchema) -> PyResult<Vec<String>> {
    logged(py, schema)?.untyped_columns().map_err(|error| to_python(py, &error))
}

/// What users of pyarrow can do about a value that is not one of the type of the table.
fn advice(own: &DataType, kind: &DataType) -> String {
    match (value_type(own), value_type(kind)) {
        (DataType::Timestamp(own, _), DataType::Timestamp(unit, _)) if own != unit => {
            let unit = unit_name(*unit);
            format!(
                ": cut the digits off, with cast(pyarrow.timestamp('{unit}'), safe=False), or write to another table"
            )
        }
        _ => String::new(),
    }
}

/// A batch with the types of a schema of the same columns. Values of the columns `partition` are cast by their texts.
#[pyfunction]
pub(crate) fn cast_rows<'py>(
    py: Python<'py>,
    rows: Pair<'py>,
    schema: &Bound<'py, PyCapsule>,
    partition: Vec<String>,
) -> PyResult<Pair<'py>> {
    let schema = read_schema(schema)?;
    let rows = capsule::read_array(&rows)?;
    let length = rows.len();
    let Some(rows) = rows.as_struct_opt() else { return Err(PyValueError::new_err("a batch is a struct of columns")) };
    if rows.num_columns() != schema.fields().len() {
        return Err(PyValueError::new_err("the batch has other columns than the schema"));
    }
    let cast = |(column, field): (&ArrayRef, &Arc<Field>)| {
        let of = if partition.contains(field.name()) { PartitionOf::Folders } else { PartitionOf::Files };
        cast_column(column, field, of).map_err(|error| match error.message().starts_with("column") {
            true => Error::new(error.kind(), format!("{error}{}", advice(column.data_type(), field.data_type()))),
            false => error,
        })
    };
    let columns = py.detach(|| rows.columns().iter().zip(schema.fields()).map(cast).collect::<Result<Vec<_>, _>>());
    let columns = columns.map_err(|error| to_python(py, &error))?;
    // Whether a column may have nulls is checked where it is written.
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
    let batch = StructArray::try_new_with_length(schema.fields().clone(), columns, None, length);
    let batch = batch.map_err(|error| to_python(py, &Error::internal(error)))?;
    Ok((capsule::schema(py, &schema)?, capsule::array(py, batch.to_data())?))
}

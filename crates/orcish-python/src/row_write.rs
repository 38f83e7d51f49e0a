//! Writing of rows to tables.

use std::sync::{Mutex, PoisonError};

use arrow_schema::Schema;
use orcish::partition::TextZone;
use orcish::table::{AppendedRows, ExistingData, PartitionOption, RowTypes, WritePlan, WrittenTypes};
use orcish_core::options::Words as _;
use orcish_core::{Error, ErrorKind};
use orcish_io::Location;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyString};

use crate::capsule::{self, read_schema};
use crate::errors::{from_python, to_python};
use crate::interpreter::attached;
use crate::job::{GivenSchema, Job, SchemaPair, StagedFile, commit_error, schema_pair, staged_files, stream_batch};
use crate::table_columns::TableColumns;

/// Position of the log, schema of the rows as a PyCapsule, time zone of the writer, schema of the table after the commit, and whether the
/// table is new.
type PlanSpec<'py> = (u64, Bound<'py, PyCapsule>, Option<String>, SchemaPair, bool);

/// A [`PlanSpec`] from Python.
type GivenPlan<'py> = (u64, Bound<'py, PyCapsule>, Option<String>, GivenSchema, bool);

/// The rows of a write.
struct Rows {
    types: Types,
    /// The types of the values of partition columns; by default those with which rows are written.
    values: Option<Schema>,
    /// Whether files of CarbonData in the folder are those that the rows replace.
    replaces_carbon: bool,
    /// The exception of the function, which is raised again.
    exception: Mutex<Option<PyErr>>,
}

/// Who decides with which types rows are written.
enum Types {
    Own(AppendedRows),
    /// A function of Python that is called with the columns of the table, or `None`. It gives a schema and a time zone.
    Function(Py<PyAny>),
}

impl RowTypes for Rows {
    fn beside(&self, table: Option<&orcish::table::TableColumns>) -> orcish_core::Result<WrittenTypes> {
        let function = match &self.types {
            Types::Own(rows) => return rows.beside(table),
            Types::Function(function) => function,
        };
        let call = |py: Python<'_>| {
            let columns = table.cloned().map(TableColumns::new);
            let (schema, timezone): (Bound<'_, PyCapsule>, Option<String>) =
                function.bind(py).call1((columns,))?.extract()?;
            Ok(WrittenTypes { schema: read_schema(&schema)?, timezone })
        };
        let called = attached(|py| {
            call(py).map_err(|error: PyErr| {
                if !error.is_instance_of::<PyValueError>(py) {
                    return from_python(py, "the types of the rows are not known", error);
                }
                let text = error.value(py).str().map_or_else(|_| error.to_string(), |text| text.to_string());
                *self.exception.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Error::invalid(text)
            })
        });
        called.unwrap_or_else(|| Err(Error::new(ErrorKind::Interrupted, "the process ends")))
    }

    fn partition_values(&self, written: &Schema) -> Schema {
        self.values.as_ref().unwrap_or(written).clone()
    }

    fn check_files(&self, files: &[&str]) -> orcish_core::Result<()> {
        let is_carbon = |name: &&str| Location::try_new(name).is_ok_and(|location| carbondata::is_data_file(&location));
        if !self.replaces_carbon && files.iter().any(is_carbon) {
            let text = "the folder has data of CarbonData, which is only read: write ORC into another folder";
            return Err(Error::unsupported(text));
        }
        Ok(())
    }
}

/// A write of rows to a table, or to a partition of one.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct RowWrite {
    write: orcish::table::RowWrite,
    replaces_carbon: bool,
}

impl RowWrite {
    /// The rows of a schema, or those whose types a function decides.
    fn rows(
        &self,
        given: &Bound<'_, PyAny>,
        timezone: Option<String>,
        values: Option<&Bound<'_, PyCapsule>>,
    ) -> PyResult<Rows> {
        let types = match given.cast::<PyCapsule>() {
            Ok(schema) => Types::Own(AppendedRows {
                schema: read_schema(schema)?,
                partition_by: self.write.partition_by.clone(),
                timezone,
            }),
            Err(_) => Types::Function(given.clone().unbind()),
        };
        let values = values.map(read_schema).transpose()?;
        Ok(Rows { types, values, replaces_carbon: self.replaces_carbon, exception: Mutex::default() })
    }
}

#[pymethods]
impl RowWrite {
    /// A write by a job.
    ///
    /// `existing_data` is what the write does where there are data. `partition_by` are the partition columns of the rows, without those
    /// of the folder. `arrow_schema` is whether the files of the rows have an Arrow schema. `option` is the name of the option with the
    /// partition columns, and how the option is set. `text_zone` is the zone of instants in names of folders, where the table has no
    /// type for them.
    #[new]
    #[pyo3(signature = (
        job, existing_data, partition_by, *, arrow_schema, option=None, text_zone=None, replaces_carbon=false
    ))]
    fn new(
        job: &Bound<'_, Job>,
        existing_data: &Bound<'_, PyString>,
        partition_by: Vec<String>,
        arrow_schema: bool,
        option: Option<(String, String)>,
        text_zone: Option<String>,
        replaces_carbon: bool,
    ) -> PyResult<Self> {
        let existing = ExistingData::from_word(existing_data.to_str()?).ok_or_else(|| {
            PyValueError::new_err(format!("existing_data={:?}: {}", existing_data, ExistingData::requirement()))
        })?;
        let mut write = orcish::table::RowWrite::new(job.get().job.clone());
        write.existing_data = existing;
        write.partition_by = partition_by;
        write.arrow_schema = arrow_schema;
        write.text_zone = text_zone.map_or(TextZone::Unknown, TextZone::Named);
        if let Some((name, setting)) = option {
            write.option = PartitionOption { name, setting };
        }
        Ok(RowWrite { write, replaces_carbon })
    }

    /// Checks the names of the columns of the rows, partition columns included.
    fn check_columns(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        let checked = py.detach(|| self.write.check_columns(names.iter().map(String::as_str)));
        checked.map_err(|error| to_python(py, &error))
    }

    /// Checks that rows that replace partitions have partition columns.
    fn check_partitioned(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.write.check_partitioned()).map_err(|error| to_python(py, &error))
    }

    /// The partition columns of the table that the rows do not have.
    fn missing_partition_columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| self.write.missing_partition_columns()).map_err(|error| to_python(py, &error))
    }

    /// Looks at the table, and decides how rows are written. `rows` is the schema of the rows, as a PyCapsule, or a function that is called
    /// with the columns of the table, and gives the schema with which the rows are written, and the time zone of the writer.
    #[pyo3(signature = (rows, timezone=None))]
    fn plan<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        timezone: Option<String>,
    ) -> PyResult<PlanSpec<'py>> {
        let rows = self.rows(rows, timezone, None)?;
        let plan = py.detach(|| self.write.plan(&rows)).map_err(|error| {
            let raised = rows.exception.lock().unwrap_or_else(PoisonError::into_inner).take();
            raised.unwrap_or_else(|| to_python(py, &error))
        })?;
        let WritePlan { position, types: WrittenTypes { schema, timezone }, schema: logged, is_new } = plan;
        Ok((position, capsule::schema(py, &schema)?, timezone, schema_pair(logged), is_new))
    }

    /// Commits the files of the rows, as they were planned. `rows` and `timezone` are those of the plan. `values` is the schema of the
    /// values of partition columns, where it is not that of the plan. `stream` is the ID of a stream, and the number of its batch.
    #[pyo3(signature = (plan, files, rows, timezone=None, *, values=None, stream=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn commit(
        &self,
        py: Python<'_>,
        plan: GivenPlan<'_>,
        files: Vec<Bound<'_, StagedFile>>,
        rows: &Bound<'_, PyAny>,
        timezone: Option<String>,
        values: Option<&Bound<'_, PyCapsule>>,
        stream: Option<(String, u64)>,
    ) -> PyResult<bool> {
        let (position, schema, zone, GivenSchema(logged), is_new) = plan;
        let types = WrittenTypes { schema: read_schema(&schema)?, timezone: zone };
        let plan = WritePlan { position, types, schema: logged, is_new };
        let rows = self.rows(rows, timezone, values)?;
        let (files, stream) = (staged_files(&files), stream_batch(stream));
        let done = py.detach(|| self.write.commit(&plan, &files, &rows, stream.as_ref()));
        done.map_err(|error| commit_error(py, &error))
    }
}

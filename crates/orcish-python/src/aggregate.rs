//! Aggregates of columns.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Field;
use orcish_core::aggregate::{Accumulator, Aggregate};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule::{self, Pair};
use crate::errors::to_python;
use crate::statistics;

/// The function of a name.
pub(crate) fn function(py: Python<'_>, name: &str) -> PyResult<Aggregate> {
    name.parse().map_err(|error| to_python(py, &error))
}

/// An array as the capsules of its type and of itself.
pub(crate) fn export<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Pair<'py>> {
    let field = Field::new("", array.data_type().clone(), true);
    Ok((capsule::field(py, &field)?, capsule::array(py, array.to_data())?))
}

/// The state of an aggregate over the only column of batches.
#[pyclass(module = "orcish._native")]
pub(crate) struct ColumnAggregate(Option<Accumulator>);

#[pymethods]
impl ColumnAggregate {
    /// The aggregate of no batches of a schema.
    #[new]
    fn new(py: Python<'_>, function: &str, schema: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let function = self::function(py, function)?;
        let accumulator = Accumulator::of_only_column(function, &capsule::read_schema(schema)?);
        Ok(ColumnAggregate(Some(accumulator.map_err(|error| to_python(py, &error))?)))
    }

    /// Adds the capsules of a batch.
    fn update(&mut self, py: Python<'_>, batch: Pair<'_>) -> PyResult<()> {
        let fields = capsule::read_array(&batch)?;
        let accumulator = self.0.as_mut().ok_or_else(finished)?;
        let updated = py.detach(|| match fields.as_any().downcast_ref() {
            Some(fields) => accumulator.update_batch(&RecordBatch::from(fields)),
            None => accumulator.update(&fields, None),
        });
        updated.map_err(|error| to_python(py, &error))
    }

    /// The result, as the capsules of an array of one value.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Pair<'py>> {
        let result = self.0.take().ok_or_else(finished)?.finish();
        export(py, &result.map_err(|error| to_python(py, &error))?)
    }
}

fn finished() -> PyErr {
    PyRuntimeError::new_err("the aggregate is finished")
}

/// The minimum or maximum of values of the only type of a schema by statistics, as the capsules of an array of one value; `None`
/// if the statistics are not exact.
#[pyfunction]
pub(crate) fn exact_bound<'py>(
    py: Python<'py>,
    statistics: &Bound<'py, PyDict>,
    schema: &Bound<'py, PyCapsule>,
    function: &str,
) -> PyResult<Option<Pair<'py>>> {
    let function = self::function(py, function)?;
    let bound = || {
        let mut accumulator = Accumulator::of_only_column(function, &capsule::read_schema(schema)?)
            .map_err(|error| to_python(py, &error))?;
        let statistics = statistics::from_python(statistics)?;
        let is_exact = accumulator.update_statistics(&statistics).map_err(|error| to_python(py, &error))?;
        let result = is_exact.then(|| accumulator.finish()).transpose();
        result.map_err(|error| to_python(py, &error))
    };
    bound()?.map(|array| export(py, &array)).transpose()
}

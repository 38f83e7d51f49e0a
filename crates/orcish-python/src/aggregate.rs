//! Aggregates of columns.

use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use orcish_core::aggregate::{Accumulator, Aggregate};
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

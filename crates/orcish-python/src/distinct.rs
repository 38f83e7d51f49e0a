//! Sketches of the number of distinct values.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::capsule::{Pair, read_array};
use crate::errors::to_python;

/// A sketch of a set of values, which estimates the number of distinct values.
#[pyclass(module = "orcish._native")]
pub(crate) struct Distinct {
    sketch: orcish_core::distinct::HyperLogLog,
}

#[pymethods]
impl Distinct {
    #[new]
    fn new() -> Self {
        Distinct { sketch: orcish_core::distinct::HyperLogLog::new() }
    }

    /// Adds the values of an array, from its `__arrow_c_array__`. Nulls are ignored.
    fn add(&mut self, py: Python<'_>, array: Pair<'_>) -> PyResult<()> {
        let array = read_array(&array)?;
        py.detach(|| self.sketch.add(&array)).map_err(|error| to_python(py, &error))
    }

    /// Adds all values of another sketch, from its `to_bytes`.
    fn merge(&mut self, py: Python<'_>, other: &[u8]) -> PyResult<()> {
        let other = orcish_core::distinct::HyperLogLog::from_bytes(other).map_err(|error| to_python(py, &error))?;
        self.sketch.merge(&other);
        Ok(())
    }

    /// The sketch as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.sketch.to_bytes())
    }

    /// The estimated number of distinct values.
    fn estimate(&self) -> f64 {
        self.sketch.estimate()
    }
}

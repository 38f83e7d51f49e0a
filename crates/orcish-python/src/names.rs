//! Names of columns in Python: a text, or a tuple of steps.

use arrow_schema::Fields;
use orcish_core::ErrorKind;
use orcish_core::names::{ArrowNames, ColumnName};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyString, PyTuple};

use crate::capsule::read_schema;
use crate::errors::to_python;

/// A name of a column that Python gives: a text, or a tuple or list of texts, which are the steps.
pub(crate) struct Name(pub(crate) ColumnName);

impl FromPyObject<'_, '_> for Name {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = given.cast::<PyString>() {
            return Ok(Name(text.to_str()?.into()));
        }
        if !given.is_instance_of::<PyTuple>() && !given.is_instance_of::<PyList>() {
            let kind = given.get_type();
            return Err(PyTypeError::new_err(format!("a name is a str or a tuple of str, not {}", kind.name()?)));
        }
        let steps: Vec<String> = given.extract()?;
        if steps.is_empty() {
            return Err(PyValueError::new_err("the name of a column has no steps"));
        }
        Ok(Name(ColumnName::of_steps(steps)))
    }
}

/// The name in Python: a text, or a tuple of several steps.
pub(crate) fn to_object<'py>(py: Python<'py>, name: &ColumnName) -> PyResult<Bound<'py, PyAny>> {
    if name.is_one_step() {
        return Ok(PyString::new(py, name.as_str()).into_any());
    }
    Ok(PyTuple::new(py, name.steps().collect::<Vec<_>>())?.into_any())
}

/// The error of a column that does not exist, with the nearest of the names that do.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "the names of an argument")]
pub(crate) fn unknown_column(py: Python<'_>, name: &str, names: Vec<String>) -> PyErr {
    to_python(py, &orcish_core::names::unknown_column(name, names.into_iter()))
}

/// The indexes of the column, and of the fields within it, that a name leads to in the schema of a PyCapsule; `None` where there
/// is no such column. A list has one field, and a map two.
#[pyfunction]
pub(crate) fn field_path(py: Python<'_>, schema: &Bound<'_, PyCapsule>, name: Name) -> PyResult<Option<Vec<usize>>> {
    let schema = read_schema(schema)?;
    match ArrowNames::new(schema.fields()).path(&name.0, &Fields::empty()) {
        Ok(path) => Ok(Some(path)),
        Err(error) if error.kind() == ErrorKind::UnknownColumn => Ok(None),
        Err(error) => Err(to_python(py, &error)),
    }
}

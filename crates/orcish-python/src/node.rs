//! Export of arrays level by level, for arrays that are nested deeper than the consumer can import.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, Schema, UnionMode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};

use crate::capsule;

/// An array, or a field without an array, which is exported level by level.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct Node {
    field: FieldRef,
    data: Option<ArrayData>,
}

/// Levels of nesting. A type without children has one level.
fn depth(data_type: &DataType) -> usize {
    1 + depth_of(&fields(data_type))
}

/// Levels of nesting of the deepest of some fields. There are none without fields.
pub(crate) fn depth_of(fields: &[FieldRef]) -> usize {
    fields.iter().map(|field| depth(field.data_type())).fold(0, usize::max)
}

fn fields(data_type: &DataType) -> Vec<FieldRef> {
    match data_type {
        DataType::List(field) | DataType::Map(field, _) => vec![field.clone()],
        DataType::Struct(fields) => fields.iter().cloned().collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.clone()).collect(),
        _ => Vec::new(),
    }
}

impl Node {
    /// Nodes of the fields of a schema, with the arrays of a batch if there is one.
    pub(crate) fn roots(schema: &Schema, arrays: Option<&[ArrayRef]>) -> Vec<Self> {
        let fields = schema.fields().iter().cloned();
        match arrays {
            Some(arrays) => {
                fields.zip(arrays).map(|(field, array)| Node { field, data: Some(array.to_data()) }).collect()
            }
            None => fields.map(|field| Node { field, data: None }).collect(),
        }
    }
}

#[pymethods]
impl Node {
    /// Levels of nesting. A type without children has one level.
    #[getter]
    fn depth(&self) -> usize {
        depth(self.field.data_type())
    }

    /// `struct`, `list`, `map`, or the mode of a union.
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        match self.field.data_type() {
            DataType::Struct(_) => Ok("struct"),
            DataType::List(_) => Ok("list"),
            DataType::Map(_, _) => Ok("map"),
            DataType::Union(_, UnionMode::Dense) => Ok("dense"),
            DataType::Union(_, UnionMode::Sparse) => Ok("sparse"),
            other => Err(PyValueError::new_err(format!("{other} has no children"))),
        }
    }

    /// Name of the field.
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// Whether the field is nullable.
    #[getter]
    fn nullable(&self) -> bool {
        self.field.is_nullable()
    }

    /// Metadata of the field.
    #[getter]
    fn metadata(&self) -> HashMap<String, String> {
        self.field.metadata().clone().into()
    }

    /// Type ids of the variants of a union.
    #[getter]
    fn type_codes(&self) -> Vec<i32> {
        match self.field.data_type() {
            DataType::Union(fields, _) => fields.iter().map(|(type_id, _)| i32::from(type_id)).collect(),
            _ => Vec::new(),
        }
    }

    /// Number of values.
    #[getter]
    fn length(&self) -> usize {
        self.data.as_ref().map_or(0, ArrayData::len)
    }

    /// Buffers of the array in the order of the Arrow columnar format, without buffers of its children.
    fn buffers<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
        let data = self.data.as_ref().ok_or_else(|| PyValueError::new_err("a field has no buffers"))?;
        if data.offset() != 0 {
            return Err(PyValueError::new_err("an array with an offset"));
        }
        let mut buffers = Vec::new();
        if !matches!(self.field.data_type(), DataType::Union(_, _)) {
            buffers.push(data.nulls().map(|nulls| PyBytes::new(py, &nulls.inner().sliced())));
        } else {
            buffers.push(None);
        }
        buffers.extend(data.buffers().iter().map(|buffer| Some(PyBytes::new(py, buffer.as_slice()))));
        Ok(buffers)
    }

    /// Nodes of the child fields.
    fn children(&self) -> Vec<Node> {
        let fields = fields(self.field.data_type()).into_iter();
        match &self.data {
            Some(data) => {
                fields.zip(data.child_data()).map(|(field, data)| Node { field, data: Some(data.clone()) }).collect()
            }
            None => fields.map(|field| Node { field, data: None }).collect(),
        }
    }

    /// The field as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::field(py, &self.field)
    }

    /// The array as PyCapsules.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let data = self.data.clone().ok_or_else(|| PyValueError::new_err("a field is no array"))?;
        let field = Field::new(self.field.name(), data.data_type().clone(), true);
        Ok((capsule::field(py, &field)?, capsule::array(py, make_array(data).to_data())?))
    }
}

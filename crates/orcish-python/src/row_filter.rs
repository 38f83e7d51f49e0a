//! Filters of other libraries, which Python evaluates on batches.

use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, BooleanArray, RecordBatch, StructArray};
use orcish_core::error::{Error, Result};
use orcish_core::stages::{RowFilter, Stage};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::capsule::{self, Pair};
use crate::errors::from_python;
use crate::interpreter::{attached, gone};
use crate::predicate::predicate;

/// A filter of another library: an object with `columns`, the names of the columns that it needs or `None`; `by_row`, whether
/// it is elementwise; `masks`, which takes the capsules of batches, and returns those of their masks; and a text.
#[derive(Debug)]
struct PythonFilter {
    object: Py<PyAny>,
    columns: Option<Vec<String>>,
    is_elementwise: bool,
    text: String,
}

impl PythonFilter {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(PythonFilter {
            columns: object.getattr("columns")?.extract()?,
            is_elementwise: object.getattr("by_row")?.extract()?,
            text: object.str()?.extract()?,
            object: object.clone().unbind(),
        })
    }

    fn call(&self, py: Python<'_>, batches: &[RecordBatch]) -> PyResult<Vec<BooleanArray>> {
        let given = PyList::empty(py);
        for batch in batches {
            let rows = StructArray::from(batch.clone());
            let schema = capsule::schema(py, &batch.schema())?;
            given.append((schema, capsule::array(py, rows.to_data())?))?;
        }
        let masks = self.object.call_method1(py, "masks", (given,))?;
        let mut found = Vec::new();
        for mask in masks.bind(py).try_iter()? {
            let pair: Pair<'_> = mask?.extract()?;
            found.push(capsule::read_array(&pair)?.as_boolean().clone());
        }
        Ok(found)
    }
}

impl fmt::Display for PythonFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl RowFilter for PythonFilter {
    fn columns(&self) -> Option<&[String]> {
        self.columns.as_deref()
    }

    fn is_elementwise(&self) -> bool {
        self.is_elementwise
    }

    fn masks(&self, batches: &[RecordBatch]) -> Result<Vec<BooleanArray>> {
        let call = |py: Python<'_>| {
            self.call(py, batches).map_err(|error| from_python(py, "a filter of another library failed", error))
        };
        attached(call).unwrap_or_else(|| Err(Error::new(orcish_core::ErrorKind::Interrupted, gone().to_string())))
    }
}

/// The stages under the key `stages` of options: for each a predicate or `None`, a list of filters of other libraries, and a
/// limit or `None`. Also returns the other options.
pub(crate) fn stages<'py>(options: &Bound<'py, PyDict>) -> PyResult<(Vec<Stage>, Bound<'py, PyDict>)> {
    let options = options.copy()?;
    let mut stages = Vec::new();
    let Some(given) = options.get_item("stages")? else { return Ok((stages, options)) };
    options.del_item("stages")?;
    for stage in given.try_iter()? {
        let (filter, row_filters, limit): (Option<Bound<'_, PyAny>>, Vec<Bound<'_, PyAny>>, Option<u64>) =
            stage?.extract()?;
        let row_filters = row_filters.iter().map(|object| Ok(Arc::new(PythonFilter::new(object)?) as _));
        stages.push(Stage {
            predicate: filter.as_ref().map(predicate).transpose()?,
            row_filters: row_filters.collect::<PyResult<_>>()?,
            limit,
        });
    }
    Ok((stages, options))
}

//! Column statistics as a Python dictionary, which has no keys for unknown statistics.

use orcish::statistics::{Bound as StringBound, ColumnStatistics, Decimal, Detail};
use orcish_core::OrInternal as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors;

pub(crate) fn to_python<'py>(py: Python<'py>, statistics: &ColumnStatistics) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let set = |name: &str, value: Option<Bound<'py, PyAny>>| match value {
        Some(value) => out.set_item(name, value),
        None => Ok(()),
    };
    macro_rules! set {
        ($($name:literal: $value:expr),*) => {
            {$(set($name, $value.map(|value| value.into_pyobject(py).map(|value| value.into_any())).transpose()?)?;)*}
        };
    }
    set!("values": statistics.values, "bytes_on_disk": statistics.bytes_on_disk);
    if let Some(has_null) = statistics.has_null {
        out.set_item("has_null", has_null)?;
    }
    let text = |decimal: Decimal| decimal.to_string();
    let bytes = |bound: &StringBound| (PyBytes::new(py, &bound.value).unbind(), bound.exact);
    let kind = match &statistics.detail {
        Detail::Integer { min, max, sum } => {
            set!("min": *min, "max": *max, "sum": *sum);
            "integer"
        }
        Detail::Double { min, max, sum } => {
            set!("min": *min, "max": *max, "sum": *sum);
            "double"
        }
        Detail::String { min, max, total_length } => {
            set!("min": min.as_ref().map(bytes), "max": max.as_ref().map(bytes), "total_length": *total_length);
            "string"
        }
        Detail::Boolean { true_count } => {
            set!("true_count": *true_count);
            "boolean"
        }
        Detail::Decimal { min, max, sum } => {
            set!("min": min.map(text), "max": max.map(text), "sum": sum.map(text));
            "decimal"
        }
        Detail::Date { min, max } => {
            set!("min": *min, "max": *max);
            "date"
        }
        detail @ Detail::Timestamp { .. } => {
            let span = detail.timestamp_span().or_internal("statistics of timestamps have no span");
            let (min, max) = span.map_err(|error| errors::to_python(py, &error))?;
            set!("min": min, "max": max);
            "timestamp"
        }
        Detail::Binary { total_length } => {
            set!("total_length": *total_length);
            "binary"
        }
        Detail::Collection { min_children, max_children, total_children } => {
            set!("min_children": *min_children, "max_children": *max_children, "total_children": *total_children);
            "collection"
        }
        Detail::Geospatial { bounding_box, types } => {
            set!("x": bounding_box.x, "y": bounding_box.y, "z": bounding_box.z, "m": bounding_box.m);
            out.set_item("types", types)?;
            "geospatial"
        }
        _ => "none",
    };
    out.set_item("kind", kind)?;
    Ok(out)
}

/// The statistics of a dictionary that [`to_python`] has made, as far as minimum, maximum and sum go.
pub(crate) fn from_python(given: &Bound<'_, PyDict>) -> PyResult<ColumnStatistics> {
    fn get<'py, T: FromPyObjectOwned<'py>>(given: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>> {
        given.get_item(name)?.map(|value| value.extract().map_err(Into::into)).transpose()
    }
    let decimal = |name: &str| {
        let parse = |text: String| {
            Decimal::parse(text.as_bytes())
                .ok_or_else(|| PyValueError::new_err(format!("{name}={text:?}: is no decimal")))
        };
        get::<String>(given, name)?.map(parse).transpose()
    };
    let bound = |name: &str| {
        let bound = get::<(Vec<u8>, bool)>(given, name)?;
        Ok::<_, PyErr>(bound.map(|(value, exact)| StringBound { value: value.into(), exact }))
    };
    let kind: Option<String> = get(given, "kind")?;
    let detail = match kind.as_deref() {
        Some("integer") => {
            Detail::Integer { min: get(given, "min")?, max: get(given, "max")?, sum: get(given, "sum")? }
        }
        Some("double") => Detail::Double { min: get(given, "min")?, max: get(given, "max")?, sum: get(given, "sum")? },
        Some("string") => Detail::String { min: bound("min")?, max: bound("max")?, total_length: None },
        Some("boolean") => Detail::Boolean { true_count: get(given, "true_count")? },
        Some("decimal") => Detail::Decimal { min: decimal("min")?, max: decimal("max")?, sum: decimal("sum")? },
        Some("date") => Detail::Date { min: get(given, "min")?, max: get(given, "max")? },
        _ => Detail::None,
    };
    let (values, has_null) = (get(given, "values")?, get(given, "has_null")?);
    Ok(ColumnStatistics { values, has_null, bytes_on_disk: None, detail })
}

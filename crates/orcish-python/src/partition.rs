//! Partition columns: names of folders, and conversions between texts and values.

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray};
use arrow_schema::{DataType, Field, Schema};
use orcish::partition::{Flavor, IntervalField, IntervalFields, ValueFormat, format_values, infer_type, parse_values};
use orcish_core::type_names::TypeName;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule::{self, Pair};
use crate::errors::to_python;

fn flavor(name: &str) -> PyResult<Flavor> {
    match name {
        "hive" => Ok(Flavor::Hive),
        "spark" => Ok(Flavor::Spark),
        _ => Err(PyValueError::new_err(format!("flavor={name:?}: must be hive or spark"))),
    }
}

/// Names and values of the partition columns in a path.
#[pyfunction]
pub(crate) fn partitions_of(location: &str) -> Vec<(String, Option<String>)> {
    orcish::partition::hive_partitions(location)
}

/// As `partitions_of`, of the folders below the location, or pattern, that was listed.
#[pyfunction]
pub(crate) fn partitions_below(base: &str, location: &str) -> Vec<(String, Option<String>)> {
    orcish::partition::hive_partitions_below(base, location)
}

/// The name of the folder of a value: `key=value`, escaped.
#[pyfunction]
pub(crate) fn partition_folder(key: &str, value: Option<&str>) -> String {
    orcish::partition::partition_folder(key, value)
}

/// The schema of partition columns, given the names and texts of each.
#[pyfunction]
pub(crate) fn infer_partition_schema<'py>(
    py: Python<'py>,
    columns: Vec<(String, Vec<String>)>,
    flavor: &str,
) -> PyResult<Bound<'py, PyCapsule>> {
    let flavor = self::flavor(flavor)?;
    let field = |(name, texts): (String, Vec<String>)| {
        Field::new(name, infer_type(texts.iter().map(String::as_str), flavor), true)
    };
    capsule::schema(py, &Schema::new(columns.into_iter().map(field).collect::<Vec<_>>()))
}

/// An array of texts as values of the type of the only field of a schema.
#[pyfunction]
pub(crate) fn parse_partition_values<'py>(
    py: Python<'py>,
    texts: Pair<'py>,
    schema: &Bound<'py, PyCapsule>,
    flavor: &str,
) -> PyResult<Pair<'py>> {
    let flavor = self::flavor(flavor)?;
    let schema = capsule::read_schema(schema)?;
    let field = schema.fields().first().ok_or_else(|| PyValueError::new_err("a schema of one field is needed"))?;
    let texts = strings(&texts)?;
    let values = py.detach(|| parse_values(&texts, field.data_type(), flavor));
    let values = values.map_err(|error| to_python(py, &error))?;
    Ok((capsule::field(py, field)?, capsule::array(py, values.to_data())?))
}

/// The texts of an array of values. `interval` has the numbers of the first and the last field of durations, which are
/// days and seconds without it.
#[pyfunction]
#[pyo3(signature = (values, flavor, *, timezone=None, interval=None))]
pub(crate) fn format_partition_values<'py>(
    py: Python<'py>,
    values: Pair<'py>,
    flavor: &str,
    timezone: Option<String>,
    interval: Option<(u8, u8)>,
) -> PyResult<Pair<'py>> {
    let interval = match interval {
        None => IntervalFields::default(),
        Some((first, last)) => IntervalFields { first: interval_field(first)?, last: interval_field(last)? },
    };
    let format = ValueFormat { flavor: self::flavor(flavor)?, timezone, interval };
    let values = capsule::read_array(&values)?;
    let texts = py.detach(|| format_values(&values, &format)).map_err(|error| to_python(py, &error))?;
    Ok((capsule::field(py, &Field::new("", DataType::Utf8, true))?, capsule::array(py, texts.to_data())?))
}

/// A field of a day-time interval by its number in Spark.
fn interval_field(number: u8) -> PyResult<IntervalField> {
    let fields = [IntervalField::Day, IntervalField::Hour, IntervalField::Minute, IntervalField::Second];
    let field = fields.get(usize::from(number)).copied();
    field.ok_or_else(|| PyValueError::new_err(format!("an interval has no field {number}")))
}

fn strings(pair: &Pair<'_>) -> PyResult<StringArray> {
    let array = capsule::read_array(pair)?;
    let strings = array.as_string_opt::<i32>();
    strings
        .cloned()
        .ok_or_else(|| PyTypeError::new_err(format!("texts are strings, and not {}", TypeName(array.data_type()))))
}

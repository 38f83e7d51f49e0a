//! Casts of values of partition columns to the type that a table has.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use orcish_core::cast::ExactCast;
use orcish_core::error::{Error, Result};
use orcish_core::type_names::TypeName;
use orcish_core::types::value_type;

use super::flavor::{Flavor, ValueFormat};
use super::float::hive_float;
use super::format::format_values;
use super::parse::parse_values;
use crate::time::zone_offsets;

const EXACT: ExactCast<'static> = ExactCast { zones: &zone_offsets, adds_fields: false };

/// Casts the values of a partition column to the type that the table has, by their texts. Whole numbers of any type are integers,
/// and midnights without a time zone are dates.
///
/// A text is exactly a floating point number if it has its value, or the digits that it is printed with, in any spelling. The empty
/// text is null, as it is as a name of a folder.
///
/// # Errors
/// `InvalidArgument` if a value is not one of the type, or not exactly. `Unsupported` if partition columns cannot be of one of the
/// types.
///
/// ```
/// use arrow_array::{ArrayRef, Float64Array, Int16Array};
/// use arrow_schema::DataType;
/// use orcish::partition::cast_values;
///
/// let numbers: ArrayRef = std::sync::Arc::new(Float64Array::from(vec![1.0, 2.0]));
/// assert_eq!(*cast_values(&numbers, &DataType::Int16)?, Int16Array::from(vec![1, 2]));
/// # Ok::<(), orcish::Error>(())
/// ```
pub fn cast_values(values: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if is_cast_by_value(values.data_type(), to) {
        return EXACT.apply(values, to);
    }
    let texts = format_values(values, &ValueFormat::default())?;
    let texts: StringArray = texts.iter().map(|text| text.filter(|text| !text.is_empty())).collect();
    let parsed = parse_values(&texts, to, Flavor::Hive)?;
    if to.is_floating() {
        check_exact(&texts, &parsed, to)?;
    }
    Ok(parsed)
}

/// Whether values are cast, where others are parsed from their texts. The text of a large floating point number has not all of its
/// digits.
pub(crate) fn is_cast_by_value(own: &DataType, to: &DataType) -> bool {
    let own = value_type(own);
    let is_date = matches!(to, DataType::Date32 | DataType::Date64);
    let is_wall_clock = matches!(own, DataType::Timestamp(_, None));
    ((to.is_integer() || to.is_floating()) && own.is_numeric()) || (is_date && is_wall_clock)
}

fn check_exact(texts: &StringArray, values: &ArrayRef, to: &DataType) -> Result<()> {
    let numbers = EXACT.apply(values, &DataType::Float64)?;
    let mut seen = HashSet::new();
    for (text, number) in texts.iter().zip(numbers.as_primitive::<Float64Type>()) {
        let (Some(text), Some(number)) = (text, number) else { continue };
        if number.is_finite() && seen.insert(text) && !is_exact(text, to) {
            let (kind, nearest) = (TypeName(to), hive_float(number)?);
            let message = format!("the partition value {text} is no exact {kind}: the nearest one is {nearest}");
            return Err(Error::invalid(message));
        }
    }
    Ok(())
}

/// Whether a text is that of a floating point number of a type, or of the same number in double precision.
fn is_exact(text: &str, to: &DataType) -> bool {
    // Java writes the type behind the digits.
    let digits = text.trim().trim_end_matches(['d', 'D', 'f', 'F']);
    let number: ArrayRef = Arc::new(StringArray::from_iter_values([digits]));
    let is_of_type = |number: &ArrayRef| EXACT.apply(number, to).is_ok();
    is_of_type(&number) || EXACT.apply(&number, &DataType::Float64).is_ok_and(|number| is_of_type(&number))
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Float32Type, Int64Type};
    use arrow_array::{Date32Array, Float32Array, Float64Array, Int64Array, TimestampMicrosecondArray};

    use super::*;

    fn cast(values: impl Array + 'static, to: &DataType) -> Result<ArrayRef> {
        cast_values(&(Arc::new(values) as ArrayRef), to)
    }

    #[test]
    fn numbers_and_midnights_are_cast_by_value() {
        let large = cast(Float64Array::from(vec![1e17]), &DataType::Int64).unwrap();
        assert_eq!(large.as_primitive::<Int64Type>().value(0), 100_000_000_000_000_000);
        let day = cast(TimestampMicrosecondArray::from(vec![86_400_000_000]), &DataType::Date32).unwrap();
        assert_eq!(*day, Date32Array::from(vec![1]));
        assert!(cast(TimestampMicrosecondArray::from(vec![1]), &DataType::Date32).is_err());
    }

    #[test]
    fn texts_are_parsed() {
        let found = cast(StringArray::from(vec![Some("007"), Some(""), None]), &DataType::Int64).unwrap();
        assert_eq!(*found, Int64Array::from(vec![Some(7), None, None]));
        assert!(cast(StringArray::from(vec!["x"]), &DataType::Int64).is_err());
        let texts = cast(Int64Array::from(vec![7]), &DataType::Utf8).unwrap();
        assert_eq!(*texts, StringArray::from(vec!["7"]));
    }

    #[test]
    fn texts_are_exact_numbers() {
        for text in ["0.1", "0.10000000149011612", "1e3", " 1.50f", "NaN"] {
            let found = cast(StringArray::from(vec![text]), &DataType::Float32).unwrap();
            assert_eq!(found.as_primitive::<Float32Type>().len(), 1, "{text}");
        }
        let error = cast(StringArray::from(vec!["0.12345678901234"]), &DataType::Float32).unwrap_err();
        let expected = "the partition value 0.12345678901234 is no exact float: the nearest one is 0.12345679104328156";
        assert_eq!(error.message(), expected);
        assert_eq!(*cast(Float64Array::from(vec![0.5]), &DataType::Float32).unwrap(), Float32Array::from(vec![0.5]));
    }
}

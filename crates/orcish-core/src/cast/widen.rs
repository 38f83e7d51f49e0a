//! Widening casts, for files with an older type of a column of the table.

use arrow_array::{Array as _, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use crate::error::{Error, Result};
use crate::types::{self, is_binary};

/// Whether values are strings, plain or dictionary encoded.
pub fn is_text_or_dictionary(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text_or_dictionary(values),
        data_type => types::is_text(data_type),
    }
}

/// Whether a type is cast to another without loss, or as in Java.
pub fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType as D;
    let digits = |data_type: &D| match data_type {
        D::Int8 => Some((3, 0)),
        D::Int16 => Some((5, 0)),
        D::Int32 => Some((10, 0)),
        D::Int64 => Some((19, 0)),
        D::Decimal128(precision, scale) => Some((i16::from(*precision) - i16::from(*scale), i16::from(*scale))),
        _ => None,
    };
    let is_number = from.is_integer() || matches!(from, D::Float32 | D::Float64 | D::Decimal128(_, _));
    match (from, to) {
        (from, to) if is_text_or_dictionary(to) => {
            is_text_or_dictionary(from) || is_number || matches!(from, D::Boolean | D::Date32 | D::Timestamp(_, _))
        }
        (from, to) if is_binary(to) => is_binary(from) || is_text_or_dictionary(from),
        (from, to) if from.is_integer() && to.is_integer() => from.primitive_width() <= to.primitive_width(),
        (from, D::Decimal128(_, _)) => {
            digits(from).zip(digits(to)).is_some_and(|(from, to)| from.0 <= to.0 && from.1 <= to.1)
        }
        (_, D::Float64) => is_number,
        (from, D::Float32) => from.is_integer(),
        (D::Boolean, to) => to.is_integer(),
        (D::Date32, D::Timestamp(_, None)) => true,
        (D::Timestamp(a, from), D::Timestamp(b, to)) => from == to && fraction_digits(a) <= fraction_digits(b),
        _ => false,
    }
}

/// Decimal digits of fractions of a second.
fn fraction_digits(unit: &TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

/// Casts an array to a type to which its type [widens], or to its own type.
///
/// # Errors
/// `Unsupported` where the type does not widen, `LimitExceeded` where a value overflows.
pub fn widen(array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    match array.data_type() {
        own if own == target => Ok(array.clone()),
        own if widens(own, target) => cast(array, target),
        own => Err(Error::unsupported(format!("{own} does not become {target}"))),
    }
}

/// Casts an array to a type to which its type [widens].
///
/// # Errors
/// `LimitExceeded` where a value overflows.
pub fn cast(array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = match array.data_type() {
        // `arrow-cast` without `chrono-tz` does not know ids of time zones, including UTC.
        DataType::Timestamp(unit, Some(_)) if is_text_or_dictionary(target) => {
            let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            cast_with_options(array, &utc, &options).and_then(|array| cast_with_options(&array, target, &options))
        }
        _ => cast_with_options(array, target, &options),
    };
    cast.map_err(|error| overflow(target, error))
}

/// The error for a value that overflows a type.
pub(super) fn overflow(target: &DataType, error: ArrowError) -> Error {
    Error::limit(format!("a value does not fit into {target}")).with_source(error)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int64Type;
    use arrow_array::{Int32Array, Int64Array};

    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn values_are_widened_or_an_error() {
        let narrow: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(-3)]));
        let wide = widen(&narrow, &DataType::Int64).unwrap();
        assert_eq!(wide.as_primitive::<Int64Type>(), &Int64Array::from(vec![Some(1), None, Some(-3)]));
        assert!(Arc::ptr_eq(&widen(&narrow, &DataType::Int32).unwrap(), &narrow));
        assert_eq!(widen(&narrow, &DataType::Int16).unwrap_err().kind(), ErrorKind::Unsupported);
        let text = widen(&narrow, &DataType::Utf8).unwrap();
        assert_eq!(text.as_string::<i32>().value(2), "-3");
    }

    #[test]
    fn overflows_are_errors() {
        let days: ArrayRef = Arc::new(arrow_array::Date32Array::from(vec![i32::MAX]));
        let nanos = DataType::Timestamp(TimeUnit::Nanosecond, None);
        let error = widen(&days, &nanos).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.to_string().starts_with("a value does not fit into Timestamp"), "{error}");
    }
}

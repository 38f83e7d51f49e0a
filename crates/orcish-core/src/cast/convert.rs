//! Conversions to types that a caller asks for.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Decimal128Type, Float64Type};
use arrow_array::{Array as _, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};

use crate::error::{Error, Result};
use crate::type_names::TypeName;
use crate::types::{is_text, precision_and_scale, value_type};
use crate::unify::holds;

/// Whether values are strings, plain or dictionary encoded.
fn is_text_or_dictionary(data_type: &DataType) -> bool {
    is_text(value_type(data_type))
}

/// Whether values of a type become values of another one where a caller names that type: where it [`holds`] them, and
/// where each value that it has the same as is known. Text has all numbers, dates and timestamps; integers have booleans and
/// integers of other signs; floating point numbers have some integers and decimals; timestamps without zone have dates.
pub fn converts(from: &DataType, to: &DataType) -> bool {
    use DataType as D;
    let is_number = |kind: &D| kind.is_integer() || kind.is_floating() || kind.is_decimal();
    match (value_type(from), value_type(to)) {
        (from, to) if holds(to, from) => true,
        (from, to) if is_text(to) => is_number(from) || matches!(from, D::Boolean | D::Date32 | D::Timestamp(_, _)),
        (from, to) if from.is_integer() && to.is_integer() => from.primitive_width() <= to.primitive_width(),
        (from, D::Float64) => is_number(from),
        (from, D::Float32) => from.is_integer(),
        (D::Boolean, to) => to.is_integer(),
        (D::Date32, D::Timestamp(_, None)) => true,
        (D::Timestamp(_, from), D::Timestamp(_, to)) => from.is_some() == to.is_some(),
        _ => false,
    }
}

/// Casts an array to a type that its type [`converts`] to.
///
/// # Errors
/// `LimitExceeded` where a value is not one of the type: it overflows, or would be rounded.
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
    let converted = cast.map_err(|error| overflow(target, error))?;
    if target.is_floating() && !holds(target, array.data_type()) {
        check_not_rounded(array, &converted)?;
    }
    Ok(converted)
}

/// Checks that integers and decimals are the same numbers as floating point numbers: that they are equal, or that the
/// shortest digits of the floating point number are those of the decimal.
fn check_not_rounded(array: &ArrayRef, floats: &ArrayRef) -> Result<()> {
    let target = floats.data_type();
    let options = CastOptions { safe: true, ..CastOptions::default() };
    let to = |array: &ArrayRef, kind: DataType| {
        cast_with_options(array, &kind, &options).map_err(|error| overflow(target, error))
    };
    let (digits, wide) = (to(array, DataType::Utf8)?, to(floats, DataType::Float64)?);
    let (digits, wide) = (digits.as_string::<i32>(), wide.as_primitive::<Float64Type>());
    // Equal numbers beyond 15 digits have other shortest digits.
    let whole = (to(array, DataType::Decimal128(38, 0))?, to(floats, DataType::Decimal128(38, 0))?);
    let (whole, whole_float) = (whole.0.as_primitive::<Decimal128Type>(), whole.1.as_primitive::<Decimal128Type>());
    let has_fraction = precision_and_scale(array.data_type()).is_some_and(|(_, scale)| scale > 0);
    for (row, ((digits, float), (whole, whole_float))) in
        digits.iter().zip(wide).zip(whole.iter().zip(whole_float)).enumerate()
    {
        let (Some(digits), Some(float)) = (digits, float) else { continue };
        let is_equal = !has_fraction && whole.is_some() && whole == whole_float;
        if !is_equal && without_zeros(digits) != without_zeros(&float.to_string()) {
            let text = format!("the value {digits} is rounded in {}, to {float}", TypeName(target));
            return Err(Error::limit(text).at_row(row as u64));
        }
    }
    Ok(())
}

/// The digits of a number without zeros at the end of its fraction.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// The error for a value that overflows a type.
pub(super) fn overflow(target: &DataType, error: ArrowError) -> Error {
    Error::limit(format!("a value does not fit into {target}")).with_source(error)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int64Type;
    use arrow_array::{Date32Array, Decimal128Array, Int32Array, Int64Array};
    use arrow_schema::TimeUnit;

    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn values_are_cast() {
        let narrow: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(-3)]));
        let wide = cast(&narrow, &DataType::Int64).unwrap();
        assert_eq!(wide.as_primitive::<Int64Type>(), &Int64Array::from(vec![Some(1), None, Some(-3)]));
        assert!(!converts(&DataType::Int32, &DataType::Int16));
        let text = cast(&narrow, &DataType::Utf8).unwrap();
        assert_eq!(text.as_string::<i32>().value(2), "-3");
    }

    #[test]
    fn overflows_are_errors() {
        let days: ArrayRef = Arc::new(Date32Array::from(vec![i32::MAX]));
        let error = cast(&days, &DataType::Timestamp(TimeUnit::Nanosecond, None)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.to_string().starts_with("a value does not fit into Timestamp"), "{error}");
    }

    #[test]
    fn rounded_numbers_are_errors() {
        let decimals = |values: Vec<i128>, scale| -> ArrayRef {
            Arc::new(Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap())
        };
        let integers = |values: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
        for (array, target, rounded) in [
            (integers(vec![0, 1 << 53, -(1 << 53), (1 << 53) + 2, i64::MIN]), DataType::Float64, None),
            (integers(vec![1, (1 << 53) + 1]), DataType::Float64, Some("9007199254740993")),
            (integers(vec![i64::MAX]), DataType::Float64, Some("9223372036854775807")),
            (integers(vec![16_777_216, -16_777_218]), DataType::Float32, None),
            (integers(vec![16_777_217]), DataType::Float32, Some("16777217")),
            (decimals(vec![0, -150, 1, 99_999_999_999], 2), DataType::Float64, None),
            (decimals(vec![100_000_000_000_000_000_000], 0), DataType::Float64, None),
            (decimals(vec![1 << 60], 0), DataType::Float64, None),
            (decimals(vec![12_345_678_901_234_567_890], 2), DataType::Float64, Some("123456789012345678.90")),
        ] {
            assert!(converts(array.data_type(), &target));
            match (cast(&array, &target), rounded) {
                (found, None) => assert_eq!(found.unwrap().len(), array.len()),
                (found, Some(value)) => {
                    let error = found.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
                    assert!(error.to_string().contains(&format!("the value {value} is rounded")), "{error}");
                }
            }
        }
    }
}

//! Values of partition columns from texts.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal256Type, Float16Type, Float64Type, Int32Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, PrimitiveArray, StringArray, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DECIMAL256_MAX_PRECISION, DataType, TimeUnit};
use orcish_core::calendar::date_text;
use orcish_core::error::{Error, Result};
use orcish_core::type_names::TypeName;
use orcish_core::types::{is_binary, is_text, nanoseconds, value_type};

use super::decimal::parse_decimal;
use super::duration::parse_duration;
use super::flavor::Flavor;
use super::interval::parse_interval;
use super::number::parse_float;
use super::syntax::{parse_clock, parse_date, parse_instant, parse_short_date, parse_time};
use crate::time::{NANOS, WriterZone};

/// Parses texts of a partition column as values of a type. Nulls stay null.
///
/// All spellings of a value are known in both flavors: `007`, `TRUE`, `1.50`, `1E-8`, and durations of Hive and of Spark. A
/// text of a timestamp with a time zone has an offset, or is the wall clock in that zone. Of a time that clocks show twice
/// the first one counts. In [`Flavor::Hive`], a text with more digits than the type has is no value of it; in
/// [`Flavor::Spark`], they are cut.
///
/// # Errors
/// `InvalidArgument` if a text is no value of the type. `Unsupported` if partition columns cannot be of the type.
pub fn parse_values(texts: &StringArray, data_type: &DataType, flavor: Flavor) -> Result<ArrayRef> {
    let is_hive = flavor == Flavor::Hive;
    let parsed: ArrayRef = match value_type(data_type) {
        DataType::Null if texts.null_count() == texts.len() => return Ok(new_null_array(data_type, texts.len())),
        kind if is_text(kind) || is_binary(kind) => Arc::new(texts.clone()),
        DataType::FixedSizeBinary(size) => {
            if let Some(text) = texts.iter().flatten().find(|text| i32::try_from(text.len()) != Ok(*size)) {
                return Err(type_mismatch(text, data_type));
            }
            let bytes = texts.iter().map(|text| text.map(str::as_bytes));
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes, *size);
            Arc::new(array.map_err(|error| no_values(data_type).with_source(error))?)
        }
        DataType::Boolean => {
            let boolean = |text| parse_boolean(text).ok_or_else(|| type_mismatch(text, data_type));
            let values = texts.iter().map(|text| text.map(boolean).transpose());
            Arc::new(values.collect::<Result<BooleanArray>>()?)
        }
        DataType::UInt64 => {
            let integer = |text: &str| text.parse::<i128>().ok().and_then(|value| u64::try_from(value).ok());
            Arc::new(primitives::<UInt64Type>(texts, data_type, integer)?)
        }
        kind if kind.is_integer() => {
            let range = integer_range(kind);
            let integer = |text: &str| text.parse().ok().filter(|value| range.contains(value));
            Arc::new(primitives::<Int64Type>(texts, data_type, integer)?)
        }
        DataType::Date32 | DataType::Date64 => {
            let date = if is_hive { parse_short_date } else { parse_date };
            let days = |text: &str| date(text).and_then(|days| i32::try_from(days).ok());
            Arc::new(primitives::<Date32Type>(texts, data_type, days)?)
        }
        kind @ (DataType::Float16 | DataType::Float32 | DataType::Float64) => {
            let float = |text: &str| parse_float(text).filter(|value| !is_hive || !overflows(text, *value, kind));
            Arc::new(primitives::<Float64Type>(texts, data_type, float)?)
        }
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            let decimal = |text: &str| parse_decimal(text, *precision, *scale);
            let values = primitives::<Decimal256Type>(texts, data_type, decimal)?;
            Arc::new(values.with_data_type(DataType::Decimal256(DECIMAL256_MAX_PRECISION, *scale)))
        }
        DataType::Timestamp(unit, zone) => {
            let zone = zone.as_deref().map(WriterZone::parse_reader_zone).transpose()?;
            let timestamp = |text: &str| in_unit(instant_nanos(text, zone.as_ref())?, *unit, is_hive);
            Arc::new(primitives::<Int64Type>(texts, data_type, timestamp)?)
        }
        DataType::Time32(unit) => {
            let time = |text: &str| i32::try_from(in_unit(parse_time(text)?.into(), *unit, is_hive)?).ok();
            Arc::new(primitives::<Int32Type>(texts, data_type, time)?)
        }
        DataType::Time64(unit) => {
            let time = |text: &str| in_unit(parse_time(text)?.into(), *unit, is_hive);
            Arc::new(primitives::<Int64Type>(texts, data_type, time)?)
        }
        DataType::Duration(unit) => {
            let nanos = |text: &str| parse_interval(text).map(|micros| i128::from(micros) * 1_000);
            let duration = |text: &str| in_unit(nanos(text).or_else(|| parse_duration(text))?, *unit, is_hive);
            Arc::new(primitives::<Int64Type>(texts, data_type, duration)?)
        }
        _ => return Err(Error::unsupported(format!("partition columns are not of {}", TypeName(data_type)))),
    };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(&parsed, data_type, &options).map_err(|error| no_values(data_type).with_source(error))
}

/// Whether partition columns can be of a type, which is no dictionary.
pub(crate) fn is_partition_type(data_type: &DataType) -> bool {
    parse_values(&StringArray::from_iter_values([""; 0]), data_type, Flavor::Hive).is_ok()
}

/// The error for texts that are no values of a type together.
fn no_values(data_type: &DataType) -> Error {
    Error::invalid(format!("the partition values are no {}", TypeName(data_type)))
}

/// The error for a text that is no value of a type.
fn type_mismatch(text: &str, data_type: &DataType) -> Error {
    Error::invalid(format!("the partition value {text:?} is no {}", TypeName(data_type)))
}

/// Parses each text. Of adjacent equal texts the first is parsed.
fn primitives<T: ArrowPrimitiveType>(
    texts: &StringArray,
    data_type: &DataType,
    parse: impl Fn(&str) -> Option<T::Native>,
) -> Result<PrimitiveArray<T>> {
    let mut last: Option<(&str, T::Native)> = None;
    let mut value = |text: Option<_>| {
        let Some(text) = text else { return Ok(None) };
        if let Some((_, value)) = last.filter(|(before, _)| *before == text) {
            return Ok(Some(value));
        }
        let value = parse(text).ok_or_else(|| type_mismatch(text, data_type))?;
        last = Some((text, value));
        Ok(Some(value))
    };
    texts.iter().map(&mut value).collect()
}

fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        text if text.eq_ignore_ascii_case("true") => Some(true),
        text if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// The values of an integer type, as far as 64-bit integers have them.
fn integer_range(data_type: &DataType) -> std::ops::RangeInclusive<i64> {
    match data_type {
        DataType::Int8 => i8::MIN.into()..=i8::MAX.into(),
        DataType::Int16 => i16::MIN.into()..=i16::MAX.into(),
        DataType::Int32 => i32::MIN.into()..=i32::MAX.into(),
        DataType::UInt8 => 0..=u8::MAX.into(),
        DataType::UInt16 => 0..=u16::MAX.into(),
        DataType::UInt32 => 0..=u32::MAX.into(),
        _ => i64::MIN..=i64::MAX,
    }
}

/// An integer that is written as it would be printed: `007` is none.
pub(super) fn canonical_integer(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|value| value.to_string() == text)
}

/// Days since 1970 of a date that is written as it would be printed: `+2026-11-21` is none.
pub(super) fn canonical_date(text: &str) -> Option<i64> {
    parse_date(text).filter(|days| date_text(*days) == text)
}

/// Nanoseconds since 1970 of a timestamp.
fn instant_nanos(text: &str, zone: Option<&WriterZone>) -> Option<i128> {
    let (seconds, nanos) = match zone {
        None => parse_clock(text)?,
        Some(zone) => {
            let (seconds, nanos, offset) = parse_instant(text)?;
            (offset.map_or_else(|| zone.historic_instant_of(seconds), |offset| seconds - offset), nanos)
        }
    };
    Some(i128::from(seconds) * i128::from(NANOS) + i128::from(nanos))
}

/// Nanoseconds in a unit. Finer digits are cut, or refused.
fn in_unit(nanos: i128, unit: TimeUnit, is_exact: bool) -> Option<i64> {
    let length = i128::from(nanoseconds(unit));
    if is_exact && nanos.rem_euclid(length) != 0 {
        return None;
    }
    i64::try_from(nanos.div_euclid(length)).ok()
}

/// Whether a finite number is beyond the range of a type of floats.
fn overflows(text: &str, value: f64, data_type: &DataType) -> bool {
    let is_finite = match data_type {
        DataType::Float16 => <Float16Type as ArrowPrimitiveType>::Native::from_f64(value).is_finite(),
        #[expect(clippy::cast_possible_truncation, reason = "the nearest 32-bit float is asked for")]
        DataType::Float32 => (value as f32).is_finite(),
        _ => value.is_finite(),
    };
    // `NaN` and `Infinity` have no digits.
    !is_finite && text.contains(|char: char| char.is_ascii_digit())
}

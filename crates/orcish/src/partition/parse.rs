//! Values of partition columns from texts.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal256Type, Float64Type, Int32Type, Int64Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, StringArray, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DECIMAL256_MAX_PRECISION, DataType, TimeUnit};
use orcish_core::calendar::date_text;
use orcish_core::cast::is_text_or_dictionary;
use orcish_core::error::{Error, Result};
use orcish_core::type_names::TypeName;
use orcish_core::types::{is_binary, nanoseconds};

use super::decimal::parse_decimal;
use super::flavor::Flavor;
use super::interval::parse_interval;
use super::number::parse_float;
use super::syntax::{parse_clock, parse_date, parse_time};
use crate::time::{NANOS, WriterZone};

/// Parses texts of a partition column as values of a type. Nulls stay null.
///
/// [`Flavor::Hive`] knows integers, booleans, dates and text. The text of a timestamp with a time zone is the wall clock
/// in that zone. Of a time that clocks show twice the first one counts.
///
/// # Errors
/// `InvalidArgument` if a text is no value of the type. `Unsupported` if partition columns cannot be of the type.
pub fn parse_values(texts: &StringArray, data_type: &DataType, flavor: Flavor) -> Result<ArrayRef> {
    let is_hive = flavor == Flavor::Hive;
    let parsed: ArrayRef = match data_type {
        DataType::Null if texts.null_count() == texts.len() => return Ok(new_null_array(data_type, texts.len())),
        data_type if is_text_or_dictionary(data_type) || (!is_hive && is_binary(data_type)) => Arc::new(texts.clone()),
        DataType::Boolean => {
            let boolean = |text| parse_boolean(text).ok_or_else(|| type_mismatch(text, data_type));
            let values = texts.iter().map(|text| text.map(boolean).transpose());
            Arc::new(values.collect::<Result<BooleanArray>>()?)
        }
        DataType::UInt64 => Arc::new(primitives::<UInt64Type>(texts, data_type, |text| text.parse().ok())?),
        data_type if data_type.is_integer() => {
            let range = integer_range(data_type);
            let integer = |text: &str| text.parse().ok().filter(|value| range.contains(value));
            Arc::new(primitives::<Int64Type>(texts, data_type, integer)?)
        }
        DataType::Date32 => {
            let date = if is_hive { canonical_date } else { parse_date };
            let days = |text: &str| date(text).and_then(|days| i32::try_from(days).ok());
            Arc::new(primitives::<Date32Type>(texts, data_type, days)?)
        }
        _ if is_hive => {
            let text = format!("partition columns are of integers, booleans, dates or text, and not of {data_type}");
            return Err(Error::unsupported(text));
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            Arc::new(primitives::<Float64Type>(texts, data_type, parse_float)?)
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
            Arc::new(primitives::<Int64Type>(texts, data_type, |text| timestamp(text, *unit, zone.as_ref()))?)
        }
        DataType::Time32(unit) => {
            let time = |text: &str| i32::try_from(parse_time(text)? / nanoseconds(*unit)).ok();
            Arc::new(primitives::<Int32Type>(texts, data_type, time)?)
        }
        DataType::Time64(unit) => {
            let time = |text: &str| Some(parse_time(text)? / nanoseconds(*unit));
            Arc::new(primitives::<Int64Type>(texts, data_type, time)?)
        }
        DataType::Duration(unit) => {
            let duration = |text: &str| {
                let nanos = i128::from(parse_interval(text)?) * 1_000;
                i64::try_from(nanos.div_euclid(nanoseconds(*unit).into())).ok()
            };
            Arc::new(primitives::<Int64Type>(texts, data_type, duration)?)
        }
        _ => return Err(Error::unsupported(format!("partition columns are not of {data_type}"))),
    };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let cast = cast_with_options(&parsed, data_type, &options);
    cast.map_err(|error| Error::invalid(format!("the partition values are no {data_type}")).with_source(error))
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

/// A timestamp in a unit. Finer digits are cut.
fn timestamp(text: &str, unit: TimeUnit, zone: Option<&WriterZone>) -> Option<i64> {
    let (seconds, nanos) = parse_clock(text)?;
    let seconds = zone.map_or(seconds, |zone| zone.historic_instant_of(seconds));
    seconds.checked_mul(NANOS / nanoseconds(unit))?.checked_add(nanos / nanoseconds(unit))
}

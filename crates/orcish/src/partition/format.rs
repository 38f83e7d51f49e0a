//! Values of partition columns as texts.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Int64Array, StringArray, new_null_array};
use arrow_schema::{DataType, TimeUnit};
use orcish_core::calendar::{date_of, date_text};
use orcish_core::cast::plain_values;
use orcish_core::error::{Error, Result};
use orcish_core::type_names::TypeName;
use orcish_core::types::nanoseconds;

use super::decimal::decimal_text;
use super::duration::duration_text;
use super::flavor::{Flavor, ValueFormat};
use super::float::{hive_float, spark_float};
use super::interval::interval_text;
use super::plain::bytes_of_text;
use super::time_text::{time_text, trimmed_fraction, whole_fraction};
use crate::time::{NANOS, SECONDS_PER_DAY, WriterZone};

const MILLIS_PER_DAY: i64 = SECONDS_PER_DAY * 1_000;

/// Formats values of a partition column. Nulls stay null. Texts are not escaped: see
/// [`partition_folder`](orcish_io::partition_folder).
///
/// # Errors
/// `InvalidArgument` if a text is not UTF-8, if [`Flavor::Hive`] is given a date outside of the years 1 to 9999 or
/// a `date64` within a day, or if the time zone is unknown. `Unsupported` for lists, structs, maps, unions and intervals of months.
pub fn format_values(array: &ArrayRef, format: &ValueFormat) -> Result<StringArray> {
    let array = plain_values(array)?;
    let flavor = format.flavor;
    if let Some(bytes) = bytes_of_text(&array) {
        return texts(&bytes);
    }
    match array.data_type() {
        DataType::Null => Ok(new_null_array(&DataType::Utf8, array.len()).as_string::<i32>().clone()),
        DataType::Boolean => Ok(array.as_boolean().iter().map(|value| value.map(|value| value.to_string())).collect()),
        DataType::Int8 => Ok(numbers::<Int8Type>(&array)),
        DataType::Int16 => Ok(numbers::<Int16Type>(&array)),
        DataType::Int32 => Ok(numbers::<Int32Type>(&array)),
        DataType::Int64 => Ok(numbers::<Int64Type>(&array)),
        DataType::UInt8 => Ok(numbers::<UInt8Type>(&array)),
        DataType::UInt16 => Ok(numbers::<UInt16Type>(&array)),
        DataType::UInt32 => Ok(numbers::<UInt32Type>(&array)),
        DataType::UInt64 => Ok(numbers::<UInt64Type>(&array)),
        DataType::Float16 => {
            let values = array.as_primitive::<Float16Type>().iter();
            values.map(|value| value.map(|value| hive_float(value.to_f64())).transpose()).collect()
        }
        DataType::Float32 => {
            let text = |value: f32| match flavor {
                Flavor::Hive => hive_float(value.into()),
                Flavor::Spark => spark_float(value.into(), true),
            };
            array.as_primitive::<Float32Type>().iter().map(|value| value.map(text).transpose()).collect()
        }
        DataType::Float64 => {
            let text = |value: f64| match flavor {
                Flavor::Hive => hive_float(value),
                Flavor::Spark => spark_float(value, false),
            };
            array.as_primitive::<Float64Type>().iter().map(|value| value.map(text).transpose()).collect()
        }
        DataType::Decimal32(_, scale) => Ok(decimals::<Decimal32Type>(&array, *scale, flavor)),
        DataType::Decimal64(_, scale) => Ok(decimals::<Decimal64Type>(&array, *scale, flavor)),
        DataType::Decimal128(_, scale) => Ok(decimals::<Decimal128Type>(&array, *scale, flavor)),
        DataType::Decimal256(_, scale) => Ok(decimals::<Decimal256Type>(&array, *scale, flavor)),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().iter();
            days.map(|days| days.map(|days| date(days.into(), flavor)).transpose()).collect()
        }
        DataType::Date64 => {
            let day = |millis: i64| match (millis.rem_euclid(MILLIS_PER_DAY), flavor) {
                (1.., Flavor::Hive) => Err(Error::invalid(format!("the date64 {millis} is no whole number of days"))),
                _ => date(millis.div_euclid(MILLIS_PER_DAY), flavor),
            };
            array.as_primitive::<Date64Type>().iter().map(|millis| millis.map(day).transpose()).collect()
        }
        DataType::Time32(unit) | DataType::Time64(unit) => {
            let text = |ticks| {
                let (seconds, nanos) = split(ticks, *unit);
                time_text(seconds) + &fraction(nanos, flavor)
            };
            Ok(ticks(&array)?.iter().map(|ticks| ticks.map(text)).collect())
        }
        DataType::Timestamp(unit, zone) => timestamps(&ticks(&array)?, *unit, zone.as_deref(), format),
        DataType::Duration(unit) => durations(&ticks(&array)?, *unit, format),
        kind => Err(Error::unsupported(format!("values of {} cannot be names of folders", TypeName(kind)))),
    }
}

fn texts(array: &ArrayRef) -> Result<StringArray> {
    let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => {
            let shown = bytes.escape_ascii();
            Err(Error::invalid(format!("b'{shown}' is not UTF-8, as values of partition columns have to be")))
        }
    };
    let text = |bytes: Option<&[u8]>| bytes.map(text).transpose();
    match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().iter().map(text).collect(),
        DataType::LargeBinary => array.as_binary::<i64>().iter().map(text).collect(),
        DataType::BinaryView => array.as_binary_view().iter().map(text).collect(),
        _ => array.as_fixed_size_binary().iter().map(text).collect(),
    }
}

fn numbers<T: ArrowPrimitiveType<Native: Display>>(array: &ArrayRef) -> StringArray {
    array.as_primitive::<T>().iter().map(|value| value.map(|value| value.to_string())).collect()
}

fn decimals<T: DecimalType + ArrowPrimitiveType<Native: Display>>(
    array: &ArrayRef,
    scale: i8,
    flavor: Flavor,
) -> StringArray {
    let text = |value: T::Native| decimal_text(&value.to_string(), scale, flavor);
    array.as_primitive::<T>().iter().map(|value| value.map(text)).collect()
}

/// Values of a type of times as 64-bit integers.
fn ticks(array: &ArrayRef) -> Result<Int64Array> {
    let cast = |array: &ArrayRef, kind| arrow_cast::cast(array, kind);
    let integers = match array.data_type() {
        DataType::Time32(_) => cast(array, &DataType::Int32).and_then(|array| cast(&array, &DataType::Int64)),
        _ => cast(array, &DataType::Int64),
    };
    let fault = |error| {
        Error::unsupported(format!("values of type {} are no whole numbers", TypeName(array.data_type())))
            .with_source(error)
    };
    Ok(integers.map_err(fault)?.as_primitive::<Int64Type>().clone())
}

/// Whole seconds, rounded down, and nanoseconds.
fn split(ticks: i64, unit: TimeUnit) -> (i64, i64) {
    let per_second = NANOS / nanoseconds(unit);
    (ticks.div_euclid(per_second), ticks.rem_euclid(per_second) * nanoseconds(unit))
}

/// A fraction of a second. Spark has microseconds: finer digits are cut.
fn fraction(nanos: i64, flavor: Flavor) -> String {
    match flavor {
        Flavor::Hive => whole_fraction(nanos),
        Flavor::Spark => trimmed_fraction(nanos - nanos % 1_000),
    }
}

fn date(days: i64, flavor: Flavor) -> Result<String> {
    let text = date_text(days);
    if flavor == Flavor::Hive && !(1..=9_999).contains(&date_of(days).0) {
        return Err(Error::invalid(format!("the date {text} is outside of the years 1 to 9999")));
    }
    Ok(text)
}

fn timestamps(ticks: &Int64Array, unit: TimeUnit, zone: Option<&str>, format: &ValueFormat) -> Result<StringArray> {
    let flavor = format.flavor;
    let shown = match (zone, flavor, &format.timezone) {
        (Some(_), Flavor::Spark, Some(shown)) => Some(shown.as_str()),
        (zone, _, _) => zone,
    };
    let shown = shown.map(WriterZone::parse_reader_zone).transpose()?;
    let text = |ticks| {
        let (seconds, nanos) = split(ticks, unit);
        let offset = shown.as_ref().map(|zone| zone.historic_offset_at(seconds));
        let seconds = offset.map_or(seconds, |offset| seconds.saturating_add(offset.into()));
        let day = date(seconds.div_euclid(SECONDS_PER_DAY), flavor)?;
        let offset = match (offset, flavor) {
            (Some(offset), Flavor::Hive) => offset_text(offset),
            _ => String::new(),
        };
        let time = time_text(seconds.rem_euclid(SECONDS_PER_DAY));
        Ok(format!("{day} {time}{}{offset}", fraction(nanos, flavor)))
    };
    ticks.iter().map(|ticks| ticks.map(text).transpose()).collect()
}

/// An offset from UTC in seconds: `+01:00`, or `+00:53:28`.
fn offset_text(seconds: i32) -> String {
    let text = time_text(seconds.unsigned_abs().into());
    format!("{}{}", if seconds < 0 { '-' } else { '+' }, text.strip_suffix(":00").unwrap_or(&text))
}

fn durations(ticks: &Int64Array, unit: TimeUnit, format: &ValueFormat) -> Result<StringArray> {
    let text = |ticks| {
        let (seconds, nanos) = split(ticks, unit);
        if format.flavor == Flavor::Hive {
            return Ok(duration_text(seconds, nanos));
        }
        let micros = i64::try_from(i128::from(seconds) * 1_000_000 + i128::from(nanos / 1_000));
        let micros = micros.map_err(|_| Error::invalid(format!("{seconds} s is longer than intervals can be")))?;
        Ok(interval_text(micros, format.interval))
    };
    ticks.iter().map(|ticks| ticks.map(text).transpose()).collect()
}

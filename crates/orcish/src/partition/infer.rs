//! Types of partition columns, from all of their texts.

use arrow_schema::{DataType, TimeUnit};

use super::flavor::Flavor;
use super::number::{parse_float, parse_integer, parse_number};
use super::parse::{canonical_date, canonical_integer};
use super::syntax::{is_spark_timestamp, parse_date};

/// The type of a partition column whose values are `texts`, without nulls. A column without values is text.
pub fn infer_type<'a>(texts: impl Iterator<Item = &'a str>, flavor: Flavor) -> DataType {
    match flavor {
        Flavor::Hive => hive_type(texts),
        Flavor::Spark => spark_type(texts),
    }
}

fn hive_type<'a>(texts: impl Iterator<Item = &'a str>) -> DataType {
    let (mut is_empty, mut are_integers, mut are_dates) = (true, true, true);
    for text in texts {
        is_empty = false;
        are_integers = are_integers && canonical_integer(text).is_some();
        are_dates = are_dates && canonical_date(text).is_some();
        if !are_integers && !are_dates {
            break;
        }
    }
    match (is_empty, are_integers, are_dates) {
        (false, true, _) => DataType::Int64,
        (false, _, true) => DataType::Date32,
        _ => DataType::Utf8,
    }
}

/// What Spark takes a text for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Long,
    /// The number of digits.
    Decimal(u8),
    Double,
    Date,
    Timestamp,
    Text,
}

fn spark_kind(text: &str) -> Kind {
    if let Some(integer) = parse_integer(text) {
        return if i32::try_from(integer).is_ok() { Kind::Int } else { Kind::Long };
    }
    if let Some(digits) = parse_number(text).and_then(|number| number.integer_digits()) {
        Kind::Decimal(digits)
    } else if parse_float(text).is_some() {
        Kind::Double
    } else if parse_date(text).is_some() {
        Kind::Date
    } else if is_spark_timestamp(text) {
        Kind::Timestamp
    } else {
        Kind::Text
    }
}

/// The type of the columns of both kinds together.
fn wider(a: Kind, b: Kind) -> Kind {
    use Kind::{Date, Decimal, Double, Int, Long, Text, Timestamp};
    /// Digits of a 32-bit and of a 64-bit integer, as Spark widens them to decimals.
    const INT_DIGITS: u8 = 10;
    const LONG_DIGITS: u8 = 20;
    match (a, b) {
        (a, b) if a == b => a,
        (Int, Long) | (Long, Int) => Long,
        (Decimal(a), Decimal(b)) => Decimal(a.max(b)),
        (Int, Decimal(digits)) | (Decimal(digits), Int) => Decimal(digits.max(INT_DIGITS)),
        (Long, Decimal(digits)) | (Decimal(digits), Long) => Decimal(digits.max(LONG_DIGITS)),
        (Int, Double) | (Double, Int) => Double,
        (Date, Timestamp) | (Timestamp, Date) => Timestamp,
        _ => Text,
    }
}

fn spark_type<'a>(texts: impl Iterator<Item = &'a str>) -> DataType {
    let mut common: Option<Kind> = None;
    for text in texts {
        let kind = spark_kind(text);
        common = Some(common.map_or(kind, |before| wider(before, kind)));
        if common == Some(Kind::Text) {
            break;
        }
    }
    match common {
        Some(Kind::Int) => DataType::Int32,
        Some(Kind::Long) => DataType::Int64,
        Some(Kind::Decimal(digits)) => DataType::Decimal128(digits, 0),
        Some(Kind::Double) => DataType::Float64,
        Some(Kind::Date) => DataType::Date32,
        Some(Kind::Timestamp) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Some(Kind::Text) | None => DataType::Utf8,
    }
}

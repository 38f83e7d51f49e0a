//! Comparison of Arrow values with JSON, for tests.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use serde_json::Value;

/// Quotes numbers with a fraction, as serde_json does not round them exactly.
pub(super) fn quote_fractions(line: &str) -> String {
    let mut all = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let mut is_escaped = false;
                let end = rest.char_indices().skip(1).find(|&(_, sign)| {
                    let is_end = sign == '"' && !is_escaped;
                    is_escaped = sign == '\\' && !is_escaped;
                    is_end
                });
                end.unwrap().0 + 1
            }
            '-' | '0'..='9' => rest.find([',', '}', ']']).unwrap(),
            other => other.len_utf8(),
        };
        let (part, tail) = rest.split_at(length);
        let is_fraction = first != '"' && length > 1 && part.contains(['.', 'E', 'e']);
        all += &if is_fraction { format!("\"{part}\"") } else { part.to_owned() };
        rest = tail;
    }
    all
}

pub(super) fn float(expected: &Value) -> Option<f64> {
    expected.as_str().map_or_else(|| expected.as_f64(), |text| text.parse().ok())
}

/// The date of a number of days since 1970-01-01.
fn format_date(days: i64) -> String {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + i64::from(month <= 2))
}

/// Whether a value is equal to JSON.
pub(super) fn json_eq(array: &ArrayRef, row: usize, expected: &Value) -> bool {
    let is_null = array.is_null(row);
    if is_null || expected.is_null() {
        // Null and `[null]` are stored alike.
        let is_one_null = expected.as_array().is_some_and(|expected| matches!(expected.as_slice(), [Value::Null]));
        return is_null && (expected.is_null() || is_one_null);
    }
    match array.data_type() {
        DataType::Boolean => expected.as_bool() == Some(array.as_boolean().value(row)),
        DataType::Int8 => expected.as_i64() == Some(array.as_primitive::<Int8Type>().value(row).into()),
        DataType::Int16 => expected.as_i64() == Some(array.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => expected.as_i64() == Some(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => expected.as_i64() == Some(array.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => {
            expected.to_string().trim_matches('"').parse() == Ok(array.as_primitive::<Float32Type>().value(row))
        }
        DataType::Float64 => float(expected) == Some(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(..) => {
            let decimal = array.as_primitive::<Decimal128Type>().value_as_string(row);
            expected.as_str().map_or_else(|| expected.to_string(), str::to_owned) == decimal
        }
        DataType::Utf8 => expected.as_str() == Some(array.as_string::<i32>().value(row)),
        DataType::Binary => {
            let bytes = array.as_binary::<i32>().value(row);
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let text = expected.as_str().unwrap();
            hex == text || base64(bytes) == text
        }
        DataType::Date32 => {
            expected.as_str() == Some(&format_date(array.as_primitive::<Date32Type>().value(row).into()))
        }
        DataType::Timestamp(..) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(row);
            let (days, millis) = (micros.div_euclid(86_400_000_000), micros.rem_euclid(86_400_000_000) / 1000);
            let (hours, minutes, seconds) = (millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60);
            let timestamp = format!("{} {hours:02}:{minutes:02}:{seconds:02}.{:03}", format_date(days), millis % 1000);
            expected.as_str().unwrap().trim_end_matches('Z').replace('T', " ") == timestamp
        }
        DataType::List(_) => {
            let elements = array.as_list::<i32>().value(row);
            let expected = expected.as_array().unwrap();
            expected.len() == elements.len()
                && expected.iter().enumerate().all(|(at, expected)| json_eq(&elements, at, expected))
        }
        DataType::Struct(_) => {
            array.as_struct().columns().iter().zip(array.as_struct().column_names()).all(|(child, name)| {
                // Spark leaves null fields out.
                json_eq(child, row, expected.get(name).unwrap_or(&Value::Null))
            })
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let (keys, values) = (entries.column(0), entries.column(1));
            match expected {
                Value::Array(expected) => {
                    expected.len() == entries.len()
                        && expected
                            .iter()
                            .enumerate()
                            .all(|(at, pair)| json_eq(keys, at, &pair[0]) && json_eq(values, at, &pair[1]))
                }
                expected => {
                    let expected = expected.as_object().unwrap();
                    expected.len() == entries.len()
                        && expected.iter().enumerate().all(|(at, (key, value))| {
                            let is_key = match keys.data_type() {
                                DataType::Utf8 => keys.as_string::<i32>().value(at) == key,
                                _ => keys.as_primitive::<Int32Type>().value(at).to_string() == *key,
                            };
                            is_key && json_eq(values, at, value)
                        })
                }
            }
        }
        other => panic!("{other}"),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().chain(&[0, 0]).take(3).fold(0usize, |bits, &byte| bits << 8 | usize::from(byte));
        for digit in 0..4 {
            let is_padding = digit > chunk.len();
            text.push(if is_padding { '=' } else { char::from(DIGITS[bits >> (18 - 6 * digit) & 63]) });
        }
    }
    text
}

//! Partitions: values that are in the paths of files, `…/day=2026-11-21/country=DE/part-0.orc`, as Hive has them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, Int64Array, StringArray, new_null_array};
use arrow_schema::{DataType, Field, FieldRef};

use crate::error::{Error, Result};
use crate::predicate::Held;

/// What stands for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Names and values in a path, in their order: segments `name=value` that are folders.
pub fn partitions_of(location: &str) -> Vec<(String, Option<String>)> {
    let folders = location.rsplit_once('/').map_or("", |(folders, _)| folders);
    let pair = |segment: &str| {
        let (name, value) = segment.split_once('=').filter(|(name, _)| !name.is_empty())?;
        let value = unescape(value);
        Some((unescape(name), (value != NULL).then_some(value)))
    };
    folders.split('/').filter_map(pair).collect()
}

/// Undoes `%3A` and the like.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Days since 1970 of a date written `2026-11-21`.
fn date(text: &str) -> Option<i32> {
    let date = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| text.len() == 10)?;
    let epoch = chrono::NaiveDate::from_ymd_opt(1970, 1, 1)?;
    i32::try_from(date.signed_duration_since(epoch).num_days()).ok()
}

/// An integer written as it would be printed: `007` is text.
fn integer(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|value| value.to_string() == text)
}

/// The type of a partition column that has all of these values: integer, date or text.
pub(super) fn infer<'a>(values: impl Iterator<Item = &'a str> + Clone) -> DataType {
    let mut some = values.clone().peekable();
    if some.peek().is_none() {
        DataType::Utf8
    } else if values.clone().all(|value| integer(value).is_some()) {
        DataType::Int64
    } else if values.clone().all(|value| date(value).is_some()) {
        DataType::Date32
    } else {
        DataType::Utf8
    }
}

/// The field of a partition column.
pub(super) fn field(name: &str, kind: DataType) -> FieldRef {
    Arc::new(Field::new(name, kind, true))
}

/// The value as what a condition compares.
pub(super) fn held(value: Option<&str>, kind: &DataType) -> Result<Held> {
    let Some(text) = value else { return Ok(Held::Null) };
    let held = match kind {
        DataType::Int64 => integer(text).map(Held::Integer),
        DataType::Date32 => date(text).map(|days| Held::Integer(days.into())),
        _ => Some(Held::Text(text.as_bytes().to_vec())),
    };
    held.ok_or_else(|| Error::invalid(format!("the partition value {text:?} is no {kind}")))
}

/// The value, `rows` times.
pub(super) fn array(value: Option<&str>, kind: &DataType, rows: usize) -> Result<ArrayRef> {
    Ok(match held(value, kind)? {
        Held::Integer(value) if *kind == DataType::Int64 => Arc::new(Int64Array::from_value(value, rows)),
        Held::Integer(days) => Arc::new(Date32Array::from_value(i32::try_from(days).unwrap_or_default(), rows)),
        Held::Text(text) => {
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(String::from_utf8_lossy(&text), rows)))
        }
        Held::Null | Held::Column(_) => new_null_array(kind, rows),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_hold_values() {
        let pair = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let found = partitions_of("s3://b/t/day=2026-11-21/c=__HIVE_DEFAULT_PARTITION__/x%3Dy=a%2Fb/part=0.orc");
        let want = [pair("day", Some("2026-11-21")), pair("c", None), pair("x=y", Some("a/b"))];
        assert_eq!(found, want);
        assert_eq!(partitions_of("t/=5/100%/p.orc"), []);
    }

    #[test]
    fn types_are_what_all_values_are() {
        let of = |values: &[&str]| infer(values.iter().copied());
        assert_eq!(of(&["1", "-20"]), DataType::Int64);
        assert_eq!(of(&["1", "007"]), DataType::Utf8);
        assert_eq!(of(&["2026-11-21", "1999-01-01"]), DataType::Date32);
        assert_eq!(of(&["2026-11-21", "1"]), DataType::Utf8);
        assert_eq!(of(&[]), DataType::Utf8);
    }
}

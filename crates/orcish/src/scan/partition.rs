//! Partitions: values that are in the paths of files, `…/day=2026-11-21/country=DE/part-0.orc`, as Hive has them.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Date32Array, Int64Array, StringArray, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Fields, Schema};

use super::TableFile;
use crate::error::{Error, Result};
use crate::io::{display_name, folders_below, folders_of, percent_decode};
use crate::predicate::Held;
use crate::shared::is_text;

/// What stands for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Names and values in a path or URL, in their order: segments `name=value` that are folders.
pub fn partitions_of(location: &str) -> Vec<(String, Option<String>)> {
    pairs(&folders_of(location))
}

/// As [`partitions_of`], of the folders below `base` alone: the location that [`list`](crate::list) was asked for, or
/// if that is a pattern, its part before the first segment with a sign. They may be spelled differently.
pub fn partitions_below(base: &str, location: &str) -> Vec<(String, Option<String>)> {
    pairs(&folders_below(base, location))
}

fn pairs(folders: &[String]) -> Vec<(String, Option<String>)> {
    let pair = |segment: &String| {
        let (name, value) = segment.split_once('=').filter(|(name, _)| !name.is_empty())?;
        let value = percent_decode(value);
        Some((percent_decode(name), (value != NULL).then_some(value)))
    };
    folders.iter().filter_map(pair).collect()
}

/// Days since 1970 of a date written `2026-11-21`.
fn date(text: &str) -> Option<i32> {
    let date = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    let days = date.signed_duration_since(chrono::NaiveDate::default()).num_days();
    i32::try_from(days).ok().filter(|_| date.format("%Y-%m-%d").to_string() == text)
}

/// An integer written as it would be printed: `007` is text.
fn integer(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|value| value.to_string() == text)
}

/// The partition columns, which all files have alike. Their types are those of `schema` where it has the column, and
/// else what all values are.
pub(super) fn fields(files: &[TableFile], schema: Option<&Schema>) -> Result<Fields> {
    let Some(first) = files.first() else { return Ok(Fields::empty()) };
    let names = |file: &TableFile| file.partition.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let wanted = names(first);
    if let Some(other) = files.iter().find(|file| names(file) != wanted) {
        let (theirs, ours) = (names(other).join(", "), wanted.join(", "));
        let first = display_name(&first.location);
        let text = format!("its partition columns are ({theirs}), those of {first} are ({ours})");
        return Err(Error::invalid(text).in_file(&display_name(&other.location)));
    }
    let field = |(at, name): (usize, &String)| {
        let given = schema.and_then(|schema| schema.fields().iter().find(|field| field.name() == name));
        let Some(field) = given else {
            let values = files.iter().filter_map(move |file| file.partition.get(at)?.1.as_deref());
            return Ok(Arc::new(Field::new(name, infer(values), true)));
        };
        for file in files {
            let value = file.partition.get(at).and_then(|(_, value)| value.as_deref());
            let found = array(value, field.data_type(), 1);
            found.map_err(|error| error.in_column(name).in_file(&display_name(&file.location)))?;
        }
        Ok(field.clone())
    };
    // Of folders of one name the first counts.
    let is_first = |(at, name): &(usize, &String)| !wanted.iter().take(*at).any(|other| other == *name);
    wanted.iter().enumerate().filter(is_first).map(field).collect()
}

/// The type of a partition column that has all of these values: integer, date or text.
fn infer<'a>(values: impl Iterator<Item = &'a str> + Clone) -> DataType {
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

/// The value as what a condition compares.
pub(super) fn held(value: Option<&str>, kind: &DataType) -> Result<Held> {
    let Some(text) = value else { return Ok(Held::Null) };
    let held = match kind {
        DataType::Boolean if text.eq_ignore_ascii_case("true") => Some(Held::Integer(1)),
        DataType::Boolean if text.eq_ignore_ascii_case("false") => Some(Held::Integer(0)),
        DataType::Boolean => None,
        DataType::UInt64 if text.parse::<u64>().is_ok_and(|number| i64::try_from(number).is_err()) => {
            return Err(Error::unsupported(format!(
                "the partition value {text} is beyond the {} that is read",
                i64::MAX
            )));
        }
        kind if kind.is_integer() => text.parse().ok().map(Held::Integer),
        DataType::Date32 => date(text).map(|days| Held::Integer(days.into())),
        kind if is_text(kind) => Some(Held::Text(text.as_bytes().to_vec())),
        _ => {
            let text = format!("partition columns are of integers, booleans, dates or text, and not of {kind}");
            return Err(Error::unsupported(text));
        }
    };
    held.ok_or_else(|| misfit(text, kind))
}

fn misfit(text: &str, kind: &DataType) -> Error {
    Error::invalid(format!("the partition value {text:?} is no {kind}"))
}

/// The value, `rows` times.
pub(super) fn array(value: Option<&str>, kind: &DataType, rows: usize) -> Result<ArrayRef> {
    let array: ArrayRef = match held(value, kind)? {
        Held::Integer(value) if *kind == DataType::Boolean => Arc::new(BooleanArray::from(vec![value == 1; rows])),
        Held::Integer(value) if *kind == DataType::Date32 => {
            Arc::new(Date32Array::from_value(i32::try_from(value).unwrap_or_default(), rows))
        }
        Held::Integer(value) => Arc::new(Int64Array::from_value(value, rows)),
        Held::Text(text) => {
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(String::from_utf8_lossy(&text), rows)))
        }
        Held::Null | Held::Column(_) => return Ok(new_null_array(kind, rows)),
    };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(&array, kind, &options)
        .map_err(|error| misfit(value.unwrap_or_default(), kind).with_source(error))
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
        assert_eq!(partitions_of("t/k=100%+5/l=%-1/p.orc"), [pair("k", Some("100%+5")), pair("l", Some("%-1"))]);
        assert_eq!(partitions_of("file:///t/k=a%20b/p.orc"), [pair("k", Some("a b"))]);
    }

    #[test]
    fn queries_of_urls_are_no_folders() {
        let pair = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        let found = partitions_of("https://h/k=a%253Ab/j=%2F/f.orc?token=a/x=1/y=2#z=3/");
        assert_eq!(found, [pair("k", "a:b"), pair("j", "/")]);
        assert_eq!(partitions_of("s3://b/k=1?/x=2/f.orc"), [pair("k", "1?"), pair("x", "2")]);
        assert_eq!(partitions_of("https://k=1/f.orc"), []);
    }

    #[test]
    fn what_is_above_the_base_does_not_count() {
        let names = |base: &str, location: &str| {
            partitions_below(base, location).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("/a=1/b=2", "/a=1/b=2/c=3/f.orc"), "c");
        assert_eq!(names("/a=1//b=2/", "/a=1/b=2/c=3/f.orc"), "c");
        assert_eq!(names("file:///a=1/b=2", "/a=1/b=2/c=3/f.orc"), "c");
        assert_eq!(names("file:/a%3D1/b=*", "/a=1/b=2/c=3/f.orc"), "b c");
        assert_eq!(names("S3://x/a=1", "s3://x/a=1/c=3/f.orc"), "c");
        assert_eq!(names("s3://x/a=1/*/*.orc", "s3://x/a=1/c=3/f.orc"), "c");
        assert_eq!(names("HTTP://h/a=1/?sig=1", "http://h/a%3D1/c=3/f.orc"), "c");
        assert_eq!(names("/a=[1]", "/a=[1]/c=3/f.orc"), "c");
        assert_eq!(names("/a=1/f.orc", "/a=1/f.orc"), "");
        assert_eq!(names("c=*", "c=3/f.orc"), "c");
        assert_eq!(names(".", "./c=3/f.orc"), "c");
        assert_eq!(names("", "c=3/f.orc"), "c");
    }

    #[test]
    fn values_of_given_types() {
        let of = |text: &str, kind: &DataType| array(Some(text), kind, 2).map(|array| array.data_type().clone());
        for kind in [DataType::Int8, DataType::UInt64, DataType::Int64, DataType::LargeUtf8, DataType::Utf8View] {
            assert_eq!(of("007", &kind).unwrap(), kind);
        }
        assert_eq!(of("True", &DataType::Boolean).unwrap(), DataType::Boolean);
        assert_eq!(of("2026-01-01", &DataType::Date32).unwrap(), DataType::Date32);
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        assert_eq!(of("x", &dictionary).unwrap(), dictionary);
        for (text, kind) in [("200", DataType::Int8), ("-1", DataType::UInt8), ("x", DataType::Int64)] {
            assert!(of(text, &kind).unwrap_err().message().contains(text));
        }
        assert!(of("1", &DataType::Float64).is_err());
    }

    #[test]
    fn types_are_what_all_values_are() {
        let of = |values: &[&str]| infer(values.iter().copied());
        assert_eq!(of(&["1", "-20"]), DataType::Int64);
        assert_eq!(of(&["1", "007"]), DataType::Utf8);
        assert_eq!(of(&["2026-11-21", "1999-01-01"]), DataType::Date32);
        assert_eq!(of(&["2026-11-21", "1"]), DataType::Utf8);
        for text in ["+2026-1-01", "2026- 1- 1", "2026-1-1", "+2026-01-01"] {
            assert_eq!(of(&["2026-11-21", text]), DataType::Utf8);
        }
        assert_eq!(of(&[]), DataType::Utf8);
    }
}

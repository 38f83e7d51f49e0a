//! Partitions: values that are in the paths of files, `…/day=2026-11-21/country=DE/part-0.orc`, as Hive has them.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Date32Array, Int64Array, StringArray, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Fields, Schema};
use orcish_core::cast::is_text;
use orcish_core::error::{Error, Result};
use orcish_core::predicate::ValueSource;
use orcish_io::display_name;

use super::table_file::TableFile;

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
pub(super) fn constant(value: Option<&str>, kind: &DataType) -> Result<ValueSource> {
    let Some(text) = value else { return Ok(ValueSource::Null) };
    let source = match kind {
        DataType::Boolean if text.eq_ignore_ascii_case("true") => Some(ValueSource::Integer(1)),
        DataType::Boolean if text.eq_ignore_ascii_case("false") => Some(ValueSource::Integer(0)),
        DataType::Boolean => None,
        DataType::UInt64 if text.parse::<u64>().is_ok_and(|number| i64::try_from(number).is_err()) => {
            return Err(Error::unsupported(format!(
                "the partition value {text} is beyond the {} that is read",
                i64::MAX
            )));
        }
        kind if kind.is_integer() => text.parse().ok().map(ValueSource::Integer),
        DataType::Date32 => date(text).map(|days| ValueSource::Integer(days.into())),
        kind if is_text(kind) => Some(ValueSource::Text(text.as_bytes().to_vec())),
        _ => {
            let text = format!("partition columns are of integers, booleans, dates or text, and not of {kind}");
            return Err(Error::unsupported(text));
        }
    };
    source.ok_or_else(|| misfit(text, kind))
}

fn misfit(text: &str, kind: &DataType) -> Error {
    Error::invalid(format!("the partition value {text:?} is no {kind}"))
}

/// The value, `rows` times.
pub(super) fn array(value: Option<&str>, kind: &DataType, rows: usize) -> Result<ArrayRef> {
    let array: ArrayRef = match constant(value, kind)? {
        ValueSource::Integer(value) if *kind == DataType::Boolean => {
            Arc::new(BooleanArray::from(vec![value == 1; rows]))
        }
        ValueSource::Integer(value) if *kind == DataType::Date32 => {
            Arc::new(Date32Array::from_value(i32::try_from(value).unwrap_or_default(), rows))
        }
        ValueSource::Integer(value) => Arc::new(Int64Array::from_value(value, rows)),
        ValueSource::Text(text) => {
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(String::from_utf8_lossy(&text), rows)))
        }
        ValueSource::Null | ValueSource::Column(_) => return Ok(new_null_array(kind, rows)),
    };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(&array, kind, &options)
        .map_err(|error| misfit(value.unwrap_or_default(), kind).with_source(error))
}

#[cfg(test)]
mod tests {
    use super::*;

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

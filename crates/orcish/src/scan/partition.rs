//! Partition columns of a scan: their fields, and their values in the batches of a file.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, UInt32Array, new_null_array};
use arrow_schema::{DataType, Field, Fields, Schema};
use arrow_select::take::take;
use orcish_core::error::{Error, Result};
use orcish_core::predicate::Constant;
use orcish_core::types::value_type;
use orcish_io::display_name;

use super::table_file::{SchemaFile, TableFile};
use crate::options::ReadOptions;
use crate::partition::{Flavor, infer_type, is_partition_type, parse_values};
use crate::read::ARROW_SCHEMA_KEY;

/// The partition columns, which are the same for all files. Types are those of `schema`, or else are inferred from the
/// values.
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
            return Ok(Arc::new(Field::new(name, infer_type(values, Flavor::Hive), true)));
        };
        for file in files {
            let value = file.partition.get(at).and_then(|(_, value)| value.as_deref());
            let constant = constant(value, field.data_type());
            constant.map_err(|error| error.in_column(name).in_file(&display_name(&file.location)))?;
        }
        Ok(field.clone())
    };
    // Of several folders with the same name the first counts.
    let is_first = |(at, name): &(usize, &String)| !wanted.iter().take(*at).any(|other| other == *name);
    wanted.iter().enumerate().filter(is_first).map(field).collect()
}

/// The partition columns of a table, with the types that they have in a file with its columns. Without files, they are those
/// that the schema shows.
pub(super) fn fields_of(schema: &SchemaFile, files: &[TableFile]) -> Result<Fields> {
    let of_file = schema.file.schema(&ReadOptions::default())?;
    let has_arrow_schema = schema.file.tail().metadata.iter().any(|(key, _)| key == ARROW_SCHEMA_KEY);
    // The file need not have all partition columns.
    let typed = |name: &String| read_type(of_file.field_with_name(name).ok()?.data_type(), has_arrow_schema);
    let field = |name: &String, kind: DataType| Field::new(name, kind, true);
    if files.is_empty() {
        let shown = schema.shown.iter().map(|name| field(name, typed(name).unwrap_or(DataType::Utf8)));
        return Ok(shown.collect());
    }
    let given: Fields = schema.partition.iter().filter_map(|name| Some(field(name, typed(name)?))).collect();
    fields(files, Some(&Schema::new(given)))
}

/// The type as which a partition column is read whose values had a type when they were written; `None` if it is inferred.
fn read_type(written: &DataType, has_arrow_schema: bool) -> Option<DataType> {
    match value_type(written) {
        DataType::Null => None,
        // The units of ORC's timestamps are those of the reader. Spark writes instants without an offset.
        DataType::Timestamp(_, _) if !has_arrow_schema => Some(DataType::Utf8),
        kind if is_partition_type(kind) => Some(kind.clone()),
        _ => Some(DataType::Utf8),
    }
}

/// The value as an array of one row.
fn single(text: &str, data_type: &DataType) -> Result<ArrayRef> {
    parse_values(&StringArray::from_iter_values([text]), data_type, Flavor::Hive)
}

/// The value as a constant of a filter.
pub(super) fn constant(value: Option<&str>, data_type: &DataType) -> Result<Constant> {
    let Some(text) = value else { return Ok(Constant::Null) };
    single(text, value_type(data_type)).map(Constant::Value)
}

/// An array of `rows` times the value.
pub(super) fn array(value: Option<&str>, data_type: &DataType, rows: usize) -> Result<ArrayRef> {
    let Some(text) = value else { return Ok(new_null_array(data_type, rows)) };
    let repeated = take(&single(text, data_type)?, &UInt32Array::from_value(0, rows), None);
    repeated.map_err(|error| Error::unsupported(format!("partition columns are not of {data_type}")).with_source(error))
}

#[cfg(test)]
mod tests {
    use arrow_array::{BooleanArray, Date32Array, UInt64Array};
    use arrow_schema::{IntervalUnit, TimeUnit};

    use super::*;

    #[test]
    fn values_of_given_types() {
        let of =
            |text: &str, data_type: &DataType| array(Some(text), data_type, 2).map(|array| array.data_type().clone());
        for data_type in [
            DataType::Int8,
            DataType::UInt64,
            DataType::Int64,
            DataType::LargeUtf8,
            DataType::Utf8View,
            DataType::Float16,
            DataType::Decimal128(5, 2),
            DataType::FixedSizeBinary(3),
        ] {
            assert_eq!(of("007", &data_type).unwrap(), data_type);
        }
        assert_eq!(of("True", &DataType::Boolean).unwrap(), DataType::Boolean);
        assert_eq!(of("2026-01-01", &DataType::Date32).unwrap(), DataType::Date32);
        for values in [DataType::Utf8, DataType::Int16] {
            let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(values));
            assert_eq!(of("7", &dictionary).unwrap(), dictionary);
        }
        for (text, data_type) in [("200", DataType::Int8), ("-1", DataType::UInt8), ("x", DataType::Int64)] {
            assert!(of(text, &data_type).unwrap_err().message().contains(text));
        }
        assert!(of("1", &DataType::new_list(DataType::Int8, true)).is_err());
    }

    #[test]
    fn constants_of_conditions() {
        let of = |text, data_type: &DataType| match constant(Some(text), data_type).unwrap() {
            Constant::Value(value) => value,
            Constant::Null => panic!("null"),
        };
        assert_eq!(of("True", &DataType::Boolean).as_ref(), &BooleanArray::from(vec![true]));
        assert_eq!(of("1970-01-03", &DataType::Date32).as_ref(), &Date32Array::from(vec![2]));
        assert_eq!(of("18446744073709551615", &DataType::UInt64).as_ref(), &UInt64Array::from(vec![u64::MAX]));
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        assert_eq!(of("7", &dictionary).as_ref(), &StringArray::from(vec!["7"]));
        assert!(matches!(constant(None, &DataType::Int8), Ok(Constant::Null)));
    }

    #[test]
    fn types_in_logs() {
        let instant = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        assert_eq!(read_type(&instant, true), Some(instant.clone()));
        assert_eq!(read_type(&instant, false), Some(DataType::Utf8));
        assert_eq!(read_type(&DataType::Null, true), None);
        for odd in [DataType::new_list(DataType::Int8, true), DataType::Interval(IntervalUnit::DayTime)] {
            assert_eq!(read_type(&odd, true), Some(DataType::Utf8));
        }
    }
}

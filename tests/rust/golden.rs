//! Files of other writers have the rows that were written.

use std::fs;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use chrono::{DateTime, Datelike as _, NaiveDate};
use orcish::io::MemorySource;
use orcish::options::{Masked, StringType, UnionType};
use orcish::{Limits, OrcFile, ReadOptions, Result};
use serde_json::{Value, json};

use crate::data;

/// A value in the JSON form of `tests/data/generate.py`.
fn value(array: &dyn Array, at: usize) -> Value {
    if array.is_null(at) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(at).into(),
        DataType::Int8 => array.as_primitive::<Int8Type>().value(at).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(at).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(at).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(at).into(),
        DataType::Float32 => float(array.as_primitive::<Float32Type>().value(at).into()),
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(at)),
        DataType::Utf8 => array.as_string::<i32>().value(at).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(at).into(),
        DataType::Utf8View => array.as_string_view().value(at).into(),
        DataType::Binary => hex(array.as_binary::<i32>().value(at)),
        DataType::LargeBinary => hex(array.as_binary::<i64>().value(at)),
        DataType::BinaryView => hex(array.as_binary_view().value(at)),
        DataType::Dictionary(_, _) => {
            let array = array.as_dictionary::<Int32Type>();
            value(array.values(), array.key(at).expect("not null"))
        }
        DataType::Decimal128(_, _) => array.as_primitive::<Decimal128Type>().value_as_string(at).into(),
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().value(at);
            let date = NaiveDate::from_num_days_from_ce_opt(days + 719_163).expect("a date");
            format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day()).into()
        }
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>().value(at);
            let text = DateTime::from_timestamp_micros(micros).expect("a time").format("%Y-%m-%d %H:%M:%S%.6f");
            format!("{text}{}", if zone.is_some() { "Z" } else { "" }).into()
        }
        DataType::List(_) => values(&array.as_list::<i32>().value(at)),
        DataType::Map(_, _) => {
            let entries = array.as_map().value(at);
            let pair = |i| json!([value(entries.column(0), i), value(entries.column(1), i)]);
            (0..entries.len()).map(pair).collect()
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            fields.iter().zip(columns).map(|(field, column)| (field.name().clone(), value(column, at))).collect()
        }
        DataType::Union(_, _) => {
            let array = array.as_union();
            let (tag, values) = (array.type_id(at), array.value(at));
            if values.is_null(0) { Value::Null } else { json!([tag, value(&values, 0)]) }
        }
        other => panic!("no file has {other}"),
    }
}

fn values(array: &dyn Array) -> Value {
    (0..array.len()).map(|at| value(array, at)).collect()
}

fn float(value: f64) -> Value {
    // JSON has no such numbers. The strings are those of Python.
    match value {
        _ if value.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ => value.into(),
    }
}

fn hex(bytes: &[u8]) -> Value {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

fn rows(batch: &RecordBatch) -> Vec<Value> {
    let schema = batch.schema();
    let row = |at| {
        let fields = schema.fields().iter().zip(batch.columns());
        fields.map(|(field, column)| (field.name().clone(), value(column, at))).collect()
    };
    (0..batch.num_rows()).map(row).collect()
}

/// All rows of a file. Encrypted columns have their masked values.
pub(crate) fn read(bytes: bytes::Bytes, options: ReadOptions) -> Result<Vec<Value>> {
    let options = options.with_masked(Masked::Allow);
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default())?;
    let mut all = Vec::new();
    for batch in file.read(options)? {
        all.extend(rows(&batch?));
    }
    Ok(all)
}

/// The rows that were written: `a.jsonl` has the rows of all files `a.*.orc`.
pub(crate) fn expected(name: &str) -> Vec<Value> {
    let stem = name.split('.').next().expect("a stem");
    let text = fs::read_to_string(data::path("tests/data").join(format!("{stem}.jsonl"))).expect("expected rows");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

#[track_caller]
fn assert_rows(name: &str, what: &str, got: &[Value], want: &[Value]) {
    for (at, (got, want)) in got.iter().zip(want).enumerate() {
        for (column, want) in want.as_object().expect("a row") {
            assert_eq!(&got[column], want, "{name}, {what}: column {column} of row {at}");
        }
    }
    assert_eq!(got.len(), want.len(), "{name}, {what}: rows");
}

#[test]
fn files_have_the_written_rows() {
    let files = data::files("tests/data");
    assert!(files.len() >= 24, "files of the folder: {}", files.len());
    for (name, bytes) in files {
        let got = read(bytes, ReadOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_rows(&name, "default", &got, &expected(&name));
    }
}

#[test]
fn options_do_not_change_values() {
    let sets = [
        ReadOptions::default().with_batch_size(1).with_threads(1),
        ReadOptions::default().with_batch_size(7).with_strings(StringType::Large),
        ReadOptions::default().with_batch_size(3).with_strings(StringType::View).with_unions(UnionType::Sparse),
        ReadOptions::default().with_strings(StringType::Dictionary).with_threads(3),
    ];
    for (name, bytes) in data::files("tests/data") {
        for (index, options) in sets.iter().enumerate() {
            let got = read(bytes.clone(), options.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_rows(&name, &format!("options {index}"), &got, &expected(&name));
        }
    }
}

#[test]
fn single_columns_have_the_written_values() {
    for (name, bytes) in data::files("tests/data") {
        let want = expected(&name);
        let Some(first) = want.first().and_then(Value::as_object) else { continue };
        for column in first.keys().filter(|column| *column != "value") {
            let columns = orcish::Columns::from([column.clone()]);
            let got = read(bytes.clone(), ReadOptions::default().with_columns(columns)).unwrap();
            let want: Vec<Value> = want.iter().map(|row| json!({ column.as_str(): row[column] })).collect();
            assert_rows(&name, column, &got, &want);
        }
    }
}

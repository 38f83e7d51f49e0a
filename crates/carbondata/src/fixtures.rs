//! Tables of Apache's writers, for tests. `ORCISH_CARBONDATA` is their folder.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use serde_json::Value;

/// The number of cases of a random test; see [`orcish_core::tuning::testing::cases`].
pub(crate) fn cases(number: u32) -> u64 {
    orcish_core::tuning::testing::cases(number).into()
}

/// The folder of a table; `None` where no tables are available.
pub(crate) fn table(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("ORCISH_CARBONDATA") else {
        eprintln!("left out: ORCISH_CARBONDATA names no folder of tables");
        return None;
    };
    Some(Path::new(&folder).join(name))
}

/// The rows of a file of JSON lines, sorted by `id`.
pub(crate) fn rows(file: &Path) -> Vec<Value> {
    let bytes = std::fs::read(file).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    let mut rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.sort_by_key(|row| row["id"].as_i64());
    rows
}

/// Files of a folder, at any depth, whose names end with `end`.
pub(crate) fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            all.push(path);
        }
    }
    all.sort();
    all
}

fn days(text: &str) -> i64 {
    let mut parts = text.split('-').map(|part| part.parse::<i64>().unwrap());
    let (year, month, day) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn micros(text: &str) -> i64 {
    let (day, time) = text.trim_end_matches('Z').split_once(['T', ' ']).unwrap();
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let seconds = time.split(':').fold(0, |sum, part| sum * 60 + part.parse::<i64>().unwrap());
    (days(day) * 86_400 + seconds) * 1_000_000 + format!("{fraction:0<6}").parse::<i64>().unwrap()
}

/// The expected value in the form of [`cell`].
fn expected_cell(value: &Value, kind: &DataType) -> Value {
    match (value, kind) {
        (Value::Null, _) => Value::Null,
        (Value::String(text), DataType::Date32) => days(text).into(),
        (Value::String(text), DataType::Timestamp(..)) => micros(text).into(),
        (Value::Number(number), DataType::Decimal128(_, scale)) => {
            format!("{:.*}", usize::try_from(*scale).unwrap(), number.as_f64().unwrap()).into()
        }
        (Value::Number(number), DataType::Float64) => number.as_f64().into(),
        (value, _) => value.clone(),
    }
}

fn cell(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row).into(),
        DataType::Date32 => array.as_primitive::<Date32Type>().value(row).into(),
        DataType::Timestamp(..) => array.as_primitive::<TimestampMicrosecondType>().value(row).into(),
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        kind => panic!("no cells of type {kind:?}"),
    }
}

/// Compares columns with rows of JSON. Rows are matched by the column `id`.
pub(crate) fn assert_rows(columns: &[(String, ArrayRef)], rows: &[Value]) {
    let (_, ids) = columns.iter().find(|(name, _)| name == "id").unwrap();
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|&row| cell(ids, row).as_i64());
    assert_eq!(order.len(), rows.len());
    for (name, array) in columns {
        for (&at, row) in order.iter().zip(rows) {
            let value = row.get(name).unwrap_or(&Value::Null);
            assert_eq!(cell(array, at), expected_cell(value, array.data_type()), "{name} of {}", row["id"]);
        }
    }
}

//! Reads with filters, limits and row numbers, which skip stripes, row groups and rows.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use orcish::io::{MemorySink, MemorySource};
use orcish::options::StringType;
use orcish::schema::Kind;
use orcish::write::{FileWriter, WriteOptions};
use orcish::{Columns, Comparison, Limits, Literal, OrcFile, Predicate, ReadOptions};
use serde_json::{Value, json};

use crate::damage::XorShift;
use crate::{data, golden};

/// A predicate, and the same condition on the JSON value of a row.
struct Case {
    predicate: Predicate,
    matches: Box<dyn Fn(&Value) -> bool>,
}

fn case(predicate: Predicate, matches: impl Fn(&Value) -> bool + 'static) -> Case {
    Case { predicate, matches: Box::new(matches) }
}

fn id(row: &Value) -> i64 {
    row["id"].as_i64().expect("an id")
}

/// A condition on ranges of the column `id`, which is the number of the row.
fn id_ranges(rows: usize, random: &mut XorShift) -> Case {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    let (mut at, max_gap) = (0, [2, 20, rows / 4, rows][random.below(4)]);
    let max_length = [1, 2, 30, rows / 3][random.below(4)];
    while ranges.len() < 30 {
        at += random.below(max_gap);
        let to = at + 1 + random.below(max_length);
        if at >= rows {
            break;
        }
        ranges.push((at as i64, to as i64));
        at = to + 1;
    }
    let condition = |&(from, to): &(i64, i64)| match to - from {
        1 => Predicate::compare("id", Comparison::Equal, from),
        _ => Predicate::And(vec![
            Predicate::compare("id", Comparison::GreaterOrEqual, from),
            Predicate::compare("id", Comparison::Less, to),
        ]),
    };
    let predicate = match ranges.iter().all(|(from, to)| to - from == 1) {
        true => Predicate::is_in("id", ranges.iter().map(|&(from, _)| from)),
        false => Predicate::Or(ranges.iter().map(condition).collect()),
    };
    case(predicate, move |row| ranges.iter().any(|&(from, to)| (from..to).contains(&id(row))))
}

/// A condition on a column of a random type.
fn column_condition(random: &mut XorShift) -> Case {
    let k = random.below(40) as i64;
    match random.below(14) {
        0 => case(Predicate::compare("word", Comparison::Equal, "green"), |row| row["word"] == "green"),
        1 => {
            let prefix = format!("{:05}", k * 3);
            let predicate = Predicate::StartsWith { column: "text".into(), prefix: prefix.as_str().into() };
            case(predicate, move |row| row["text"].as_str().is_some_and(|text| text.starts_with(&prefix)))
        }
        2 => case(Predicate::compare("bool", Comparison::NotEqual, true), |row| row["bool"] == false),
        3 => case(Predicate::compare("nest.x", Comparison::Greater, k), move |row| {
            row["nest"]["x"].as_i64().is_some_and(|x| x > k)
        }),
        4 => case(Predicate::compare("byte", Comparison::LessOrEqual, k - 20), move |row| {
            row["byte"].as_i64().is_some_and(|byte| byte <= k - 20)
        }),
        5 => case(!Predicate::compare("double", Comparison::Less, k as f64 / -8.0), move |row| match &row["double"] {
            Value::String(_) => true,
            double => double.as_f64().is_some_and(|double| double >= k as f64 / -8.0),
        }),
        6 => case(Predicate::IsNan { column: "double".into() }, |row| row["double"] == "nan"),
        7 => {
            let money = Literal::Decimal { unscaled: i128::from(k * 1001 - 7000), scale: 2 };
            let predicate = Predicate::compare("money", Comparison::Less, money);
            let cents = |row: &Value| row["money"].as_str().map(|text| text.replace('.', "").parse().unwrap());
            case(predicate, move |row| cents(row).is_some_and(|cents: i64| cents < k * 1001 - 7000))
        }
        8 => case(Predicate::IsNull { column: "list".into() }, |row| row["list"].is_null()),
        9 => case(!Predicate::IsNull { column: "nest".into() }, |row| !row["nest"].is_null()),
        10 => case(Predicate::IsNull { column: "nest.x".into() }, |row| row["nest"]["x"].is_null()),
        11 => {
            let value = Literal::Binary(vec![k as u8; k as usize % 6]);
            let hex = format!("{k:02x}").repeat(k as usize % 6);
            let predicate = Predicate::compare("binary", Comparison::Equal, value);
            case(predicate, move |row| row["binary"] == hex.as_str())
        }
        12 => {
            let predicate = Predicate::compare("date", Comparison::GreaterOrEqual, Literal::Date(3653 + k));
            case(predicate, move |row| row["date"].as_str().is_some_and(|date| date >= day(3653 + k).as_str()))
        }
        _ => case(Predicate::IsNull { column: "none".into() }, |_| true),
    }
}

fn day(days: i64) -> String {
    let epoch = chrono::NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
    (epoch + chrono::TimeDelta::days(days)).to_string()
}

/// A random condition, or two combined ones.
fn random_case(rows: usize, random: &mut XorShift) -> Case {
    let (a, b) = match random.below(3) {
        0 => return id_ranges(rows, random),
        1 => return column_condition(random),
        _ => (id_ranges(rows, random), column_condition(random)),
    };
    match random.below(3) {
        0 => case(Predicate::Or(vec![a.predicate, b.predicate]), move |row| (a.matches)(row) || (b.matches)(row)),
        _ => case(Predicate::And(vec![a.predicate, b.predicate]), move |row| (a.matches)(row) && (b.matches)(row)),
    }
}

fn options(random: &mut XorShift, predicate: Predicate) -> ReadOptions {
    let names = |names: &[&str]| Columns::from(names);
    let columns = match random.below(4) {
        0 => names(&["text", "list", "at"]),
        1 => names(&["id", "nest"]),
        2 => names(&["choice", "word", "map", "wide"]),
        _ => Columns::All,
    };
    // With little memory, batches end before they have the rows of the batch size.
    let limits = Limits::default().with_memory([4 << 30, 1 << 19][random.below(2)]);
    ReadOptions::default()
        .with_columns(columns)
        .with_filter(predicate)
        .with_row_number("row")
        .with_batch_size([7, 100, 65_536][random.below(3)])
        .with_threads(1 + random.below(2))
        .with_limit([None, None, None, Some(random.below(40) as u64)][random.below(4)])
        .with_strings([StringType::Utf8, StringType::View, StringType::Dictionary][random.below(3)])
        .with_limits(limits)
}

#[test]
fn filters_select_matching_rows() {
    let mut random = XorShift(0xf117e5);
    for (name, bytes) in data::files("tests/data/groups") {
        let all = golden::read(bytes.clone(), ReadOptions::default()).unwrap();
        for change in 0..250 {
            let Case { predicate, matches } = random_case(all.len(), &mut random);
            let options = options(&mut random, predicate);
            let what = format!("{name}, change {change}, {}", options.filter.as_ref().unwrap());
            let limit = options.limit.map_or(usize::MAX, |limit| limit as usize);
            let got = golden::read(bytes.clone(), options).unwrap_or_else(|error| panic!("{what}: {error}"));
            let want: Vec<_> = all.iter().enumerate().filter(|(_, row)| matches(row)).take(limit).collect();
            assert_eq!(got.len(), want.len(), "{what}: rows");
            for (got, (at, want)) in got.iter().zip(want) {
                for (column, value) in got.as_object().expect("a row") {
                    let want = if column == "row" { &json!(at) } else { &want[column] };
                    assert_eq!(value, want, "{what}: {column} of row {at}");
                }
            }
        }
    }
}

#[test]
fn row_numbers_and_limits_without_filter() {
    for (name, bytes) in data::files("tests/data").into_iter().chain(data::files("tests/data/groups")) {
        let all = golden::read(bytes.clone(), ReadOptions::default()).unwrap();
        let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes.clone())), &Limits::default()).unwrap();
        let firsts: Vec<u64> = file.tail().stripes.iter().map(|stripe| stripe.first_row).collect();
        for limit in [None, Some(0), Some(1), Some(firsts.last().copied().unwrap_or(0) + 1)] {
            for batch_size in [3, 1000] {
                let row_number = "row";
                let options =
                    ReadOptions::default().with_limit(limit).with_batch_size(batch_size).with_row_number(row_number);
                let got = golden::read(bytes.clone(), options.clone()).unwrap();
                assert_eq!(got.len(), all.len().min(limit.map_or(usize::MAX, |limit| limit as usize)), "{name}");
                assert!(got.iter().zip(0..).all(|(row, at)| row["row"] == at), "{name}");
                let bare = options.with_columns(Columns::Ids(vec![]));
                let numbers = golden::read(bytes.clone(), bare).unwrap();
                assert!(numbers.iter().zip(0..).all(|(row, at)| row["row"] == at), "{name}");
                assert_eq!(numbers.len(), got.len(), "{name}");
            }
        }
        // The last stripe alone.
        if let Some(&first) = firsts.last() {
            let stripes = Some(vec![firsts.len() - 1]);
            let row_number = "row";
            let got =
                golden::read(bytes, ReadOptions::default().with_stripes(stripes).with_row_number(row_number)).unwrap();
            assert_eq!(got.first().map(|row| &row["row"]), Some(&json!(first)), "{name}");
        }
    }
}

/// A file of three stripes with three row groups each.
fn stripes_of_row_groups() -> Vec<u8> {
    let sink = MemorySink::new();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..2_500));
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let options = WriteOptions::default().with_row_index_stride(1_000);
    let mut writer = FileWriter::try_new(Box::new(sink.clone()), batch.schema(), &options).unwrap();
    for _ in 0..3 {
        writer.write(&batch).unwrap();
        writer.end_stripe().unwrap();
    }
    writer.finish().unwrap();
    sink.take().expect("a complete file")
}

/// Row numbers are those of the file, in each row group of each stripe.
#[test]
fn row_numbers_select_rows_of_any_row_group() {
    let mut random = XorShift(0x70f5);
    let file = OrcFile::try_new(Arc::new(MemorySource::new(stripes_of_row_groups())), &Limits::default()).unwrap();
    let rows = usize::try_from(file.tail().rows).unwrap();
    for _ in 0..100 {
        let (from, to) = (random.below(rows), random.below(rows));
        let filter = format!("row >= {from} and row < {to}").parse::<Predicate>().unwrap();
        let options =
            ReadOptions::default().with_row_number("row").with_columns(Columns::Ids(vec![])).with_filter(filter);
        let mut numbers = Vec::new();
        for batch in file.read(options).unwrap() {
            numbers.extend_from_slice(batch.unwrap().column(0).as_primitive::<Int64Type>().values());
        }
        assert!(numbers.iter().copied().eq((from..to).map(|row| row as i64)), "{from} to {to}");
    }
}

/// All types but unions support the predicate `IsNull`.
#[test]
fn is_null_of_all_columns() {
    for (name, bytes) in data::files("tests/data") {
        let all = golden::read(bytes.clone(), ReadOptions::default()).unwrap();
        let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes.clone())), &Limits::default()).unwrap();
        let schema = &file.tail().schema;
        let root = schema.get(0).unwrap();
        for &child in root.children.iter().filter(|_| root.kind == Kind::Struct) {
            let column = schema.path(child);
            for positive in [true, false] {
                let is_null = Predicate::is_null(&column);
                let filter = if positive { is_null } else { !is_null };
                let got = golden::read(bytes.clone(), ReadOptions::default().with_filter(filter));
                if schema.get(child).unwrap().kind == Kind::Union {
                    assert!(got.unwrap_err().message().contains("no filter can ask"));
                    continue;
                }
                let want: Vec<_> = all.iter().filter(|row| row[&column].is_null() == positive).collect();
                assert_eq!(got.unwrap().iter().collect::<Vec<_>>(), want, "{name}: {column} is null: {positive}");
            }
        }
    }
}

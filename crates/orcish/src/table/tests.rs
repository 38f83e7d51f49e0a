//! Tests of rows that are added to tables.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use orcish_core::error::ErrorKind;
use orcish_core::limits::Limits;
use orcish_io::StorageOptions;
use proptest::prelude::*;

use super::*;
use crate::options::ReadOptions;
use crate::write::{OrcWriter, WriteOptions, stored_schema};

/// A folder of files, which is removed at the end.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("orcish-table-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(super) fn write(&self, name: &str, columns: &[(&str, ArrayRef)], options: &WriteOptions) {
        let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
        let mut writer = OrcWriter::try_new(Vec::new(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, writer.into_inner().unwrap()).unwrap();
    }

    /// The path of a file.
    pub(super) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn table(&self, files: &[&str]) -> TableFolder {
        let files: Vec<String> = files.iter().map(|name| (*name).to_owned()).collect();
        let location = self.0.to_str().unwrap().to_owned();
        TableFolder { location, visible: files.clone(), files, storage: StorageOptions::default() }
    }

    fn columns(&self, files: &[&str]) -> TableColumns {
        TableColumns::of_files(self.table(files), false).unwrap().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn integers() -> ArrayRef {
    Arc::new(Int64Array::from(vec![1, 2]))
}

pub(super) fn texts() -> ArrayRef {
    Arc::new(StringArray::from(vec!["a", "b"]))
}

fn instant() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

fn instants() -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(vec![1, 2]).with_timezone("UTC"))
}

fn schema(columns: &[(&str, DataType)]) -> Schema {
    Schema::new(columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect::<Vec<_>>())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn logged(table: Option<&TableColumns>, rows: &Schema, partition: &[&str], timezone: Option<&str>) -> LoggedSchema {
    let (schema, arrow_schema) = schema_with_rows(table, rows, &names(partition), true).unwrap();
    let file = schema_file(table, &schema, arrow_schema, timezone).unwrap();
    LoggedSchema::open(file, "log", names(partition), &Limits::default()).unwrap()
}

#[test]
fn rows_get_the_types_of_the_files() {
    let folder = Folder::new("types");
    folder.write("a.orc", &[("id", integers()), ("name", texts())], &WriteOptions::default());
    let table = folder.columns(&["a.orc"]);
    assert!(table.has_arrow_schema());
    let rows = schema(&[("id", DataType::Int8), ("name", DataType::LargeUtf8), ("more", DataType::Date32)]);
    let appended = table.appended_schema(&rows, &[], None).unwrap();
    let expected = schema(&[("id", DataType::Int64), ("name", DataType::LargeUtf8), ("more", DataType::Date32)]);
    assert_eq!(appended, expected);
    for (name, kind, text) in [
        ("id", DataType::Utf8, "column id of the rows is string, and int64 in the table, which does not hold it"),
        ("ID", DataType::Int64, "differ only by case"),
    ] {
        let error = table.appended_schema(&schema(&[(name, kind)]), &[], None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains(text), "{error}");
    }
    let log = logged(Some(&table), &expected, &[], None);
    let columns = TableColumns::of_log(folder.table(&["a.orc"]), &log).unwrap();
    let types = [("id", DataType::Int64), ("name", DataType::Utf8), ("more", DataType::Date32)];
    assert_eq!(**columns.schema(), schema(&types));
}

#[test]
fn a_file_has_columns_that_the_log_does_not_know() {
    let folder = Folder::new("added");
    folder.write("a.orc", &[("id", integers()), ("x", texts())], &WriteOptions::default());
    let log = logged(None, &schema(&[("id", DataType::Int64)]), &[], None);
    let table = TableColumns::of_log(folder.table(&["a.orc"]), &log).unwrap();
    let of = |kind| table.appended_schema(&schema(&[("x", kind)]), &[], None);
    assert_eq!(of(DataType::Utf8).unwrap(), schema(&[("x", DataType::Utf8)]));
    let error = of(DataType::Int64).unwrap_err();
    assert!(
        error.message().contains("the rows add columns to the schema of the table, x, and a file has other values"),
        "{error}"
    );
    // A file that is gone has no columns.
    let gone = TableColumns::of_log(folder.table(&["gone.orc"]), &log).unwrap();
    assert!(gone.appended_schema(&schema(&[("x", DataType::Int64)]), &[], None).is_ok());
}

#[test]
fn folders_without_columns() {
    let folder = Folder::new("empty");
    fs::write(folder.0.join("empty.orc"), b"").unwrap();
    assert!(TableColumns::of_files(folder.table(&["empty.orc", "gone.orc"]), false).unwrap().is_none());
    fs::write(folder.0.join("a.csv"), b"x").unwrap();
    let error = TableColumns::of_files(folder.table(&["empty.orc", "a.csv"]), false).unwrap_err();
    assert!(error.message().contains("a.csv is no ORC file"), "{error}");
    folder.write("z.orc", &[("id", integers())], &WriteOptions::default());
    let columns = folder.columns(&["empty.orc", "a.csv", "z.orc"]);
    assert_eq!(**columns.schema(), Schema::new(vec![Field::new("id", DataType::Int64, false)]));
}

#[test]
fn files_without_a_common_type() {
    let folder = Folder::new("conflict");
    folder.write("a.orc", &[("x", integers())], &WriteOptions::default());
    folder.write("b.orc", &[("x", texts())], &WriteOptions::default());
    let error = TableColumns::of_files(folder.table(&["a.orc", "b.orc"]), false).unwrap_err();
    assert!(error.message().contains("have no common schema"), "{error}");
}

#[test]
fn instants_are_stored_as_in_the_files() {
    let folder = Folder::new("instants");
    let with_zone = WriteOptions::default().with_timezone("Europe/Berlin");
    folder.write("a.orc", &[("at", instants())], &WriteOptions::default());
    let table = folder.columns(&["a.orc"]);
    let rows = schema(&[("at", instant())]);
    assert_eq!(table.appended_schema(&rows, &[], None).unwrap(), rows);
    let walls: TimestampTypes = [("at", StoredTimestamp::Wall)].into_iter().collect();
    let stored = table.appended_schema(&rows, &[], Some(&walls)).unwrap();
    assert_eq!(stored, walls.applied_to(&rows));
    assert_eq!(table.writer_timezone().unwrap(), None);

    let clocks: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1, 2]));
    folder.write("b.orc", &[("at", clocks)], &with_zone);
    let table = folder.columns(&["b.orc"]);
    assert_eq!(table.writer_timezone().unwrap().as_deref(), Some("Europe/Berlin"));
    // The zone of the files stays in the log, when they are gone.
    let log = logged(Some(&table), &schema(&[]), &[], Some("UTC"));
    let later = TableColumns::of_log(folder.table(&[]), &log).unwrap();
    assert_eq!(later.writer_timezone().unwrap().as_deref(), Some("Europe/Berlin"));
}

#[test]
fn partition_columns_have_the_types_of_the_table() {
    let folder = Folder::new("partition");
    for name in ["k=1/a.orc", "k=2/a.orc"] {
        folder.write(name, &[("id", integers())], &WriteOptions::default());
    }
    let table = folder.columns(&["k=1/a.orc", "k=2/a.orc"]);
    assert_eq!(*table.partition_fields(), *schema(&[("k", DataType::Int64)]).fields());
    let rows = schema(&[("id", DataType::Int64), ("k", DataType::Utf8)]);
    let appended = table.appended_schema(&rows, &names(&["k"]), None).unwrap();
    assert_eq!(appended, schema(&[("id", DataType::Int64), ("k", DataType::Int64)]));
    let log = logged(Some(&table), &rows, &["k"], None);
    assert_eq!(log.partition_fields().unwrap(), *schema(&[("k", DataType::Int64)]).fields());
    assert!(log.check_partition_values("t", ["k=07/a.orc", "k=__HIVE_DEFAULT_PARTITION__/a.orc"]).is_ok());
    let error = log.check_partition_values("t", ["k=1/a.orc", "k=x/a.orc"]).unwrap_err();
    assert_eq!(error.message(), "t: column k is int64 in the table: the partition value \"x\" is no int64");
}

#[test]
fn partition_columns_of_nulls_get_a_type_later() {
    let folder = Folder::new("untyped");
    let rows = schema(&[("id", DataType::Int64), ("k", DataType::Null)]);
    let log = logged(None, &rows, &["k"], None);
    assert_eq!(log.untyped_columns().unwrap(), ["k"]);
    let table = TableColumns::of_log(folder.table(&[]), &log).unwrap();
    let later = logged(Some(&table), &schema(&[("k", DataType::Date32)]), &["k"], None);
    assert!(later.untyped_columns().unwrap().is_empty());
    assert_eq!(later.partition_fields().unwrap(), *schema(&[("k", DataType::Date32)]).fields());
}

#[test]
fn names_of_new_tables_differ() {
    let inner = DataType::Struct(schema(&[("x", DataType::Int8), ("X", DataType::Int8)]).fields().clone());
    let list = DataType::new_list(inner, true);
    for (rows, text) in [
        (schema(&[("a", DataType::Int8), ("A", DataType::Int8)]), "columns 'a' and 'A' differ only by case"),
        (schema(&[("a", DataType::Int8), ("a", DataType::Int8)]), "'a' is there twice"),
        (schema(&[("l", list)]), "columns 'l.x' and 'l.X' differ only by case"),
    ] {
        let error = schema_with_rows(None, &rows, &[], true).unwrap_err();
        assert!(error.message().starts_with(text), "{error}");
    }
}

#[test]
fn partition_types_of_logs_without_an_arrow_schema() {
    let rows = schema(&[
        ("id", DataType::Int64),
        ("null", DataType::Null),
        ("day", DataType::Date64),
        ("time", DataType::Time32(TimeUnit::Second)),
        ("at", instant()),
        ("number", DataType::UInt8),
    ]);
    let partition = names(&["null", "day", "time", "at", "number"]);
    let (found, arrow_schema) = schema_with_rows(None, &rows, &partition, false).unwrap();
    let expected = [
        ("id", DataType::Int64),
        ("day", DataType::Date32),
        ("time", DataType::Utf8),
        ("at", DataType::Utf8),
        ("number", DataType::UInt8),
    ];
    assert_eq!((found, arrow_schema), (schema(&expected), false));
}

#[test]
fn values_of_columns_are_cast() {
    let field = |kind| Field::new("x", kind, true);
    let narrow = cast_column(&integers(), &field(DataType::Int8), PartitionOf::Files).unwrap();
    assert_eq!(narrow.data_type(), &DataType::Int8);
    let large: ArrayRef = Arc::new(Int64Array::from(vec![300]));
    let error = cast_column(&large, &field(DataType::Int8), PartitionOf::Files).unwrap_err();
    assert!(error.message().starts_with("column x: "), "{error}");
    let error = cast_column(&texts(), &field(DataType::Int8), PartitionOf::Folders).unwrap_err();
    assert!(error.message().starts_with("column x is int8 in the table: "), "{error}");
}

#[test]
fn logs_have_room_for_so_many_columns() {
    let long = "n".repeat(1_000);
    let columns = (0..20_000).map(|at| Field::new(format!("{long}{at}"), DataType::Int8, true));
    let error = schema_file(None, &Schema::new(columns.collect::<Vec<_>>()), false, None).unwrap_err();
    assert!(error.message().contains("the table would have 20000 columns"), "{error}");
}

/// Types of columns that are written.
fn types() -> impl Strategy<Value = DataType> {
    let unit = prop_oneof![Just(TimeUnit::Second), Just(TimeUnit::Microsecond), Just(TimeUnit::Nanosecond)];
    let leaf = prop_oneof![
        Just(DataType::Boolean),
        Just(DataType::Int8),
        Just(DataType::Int64),
        Just(DataType::UInt16),
        Just(DataType::Float32),
        Just(DataType::Float64),
        Just(DataType::Utf8),
        Just(DataType::Utf8View),
        Just(DataType::Binary),
        Just(DataType::Date32),
        Just(DataType::Decimal128(10, 2)),
        unit.clone().prop_map(DataType::Duration),
        unit.clone().prop_map(|unit| DataType::Timestamp(unit, None)),
        unit.prop_map(|unit| DataType::Timestamp(unit, Some("UTC".into()))),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|kind| DataType::new_list(kind, true)),
            proptest::collection::vec(inner, 1..3).prop_map(|kinds| {
                let field = |(at, kind)| Field::new(format!("f{at}"), kind, true);
                DataType::Struct(kinds.into_iter().enumerate().map(field).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Rows of the types of a table are appended as they are, and change nothing in its log.
    #[test]
    fn rows_of_the_table_fit(kinds in proptest::collection::vec(types(), 1..5), has_arrow_schema: bool) {
        let rows = Schema::new(
            kinds.into_iter().enumerate().map(|(at, kind)| Field::new(format!("c{at}"), kind, true)).collect::<Vec<_>>(),
        );
        let folder = TableFolder {
            location: "t".to_owned(),
            files: Vec::new(),
            visible: Vec::new(),
            storage: StorageOptions::default(),
        };
        let file = schema_file(None, &rows, has_arrow_schema, None).unwrap();
        let log = LoggedSchema::open(file.clone(), "log", Vec::new(), &Limits::default()).unwrap();
        let table = TableColumns::of_log(folder, &log).unwrap();
        let read = if has_arrow_schema { rows } else { stored_schema(&rows, &ReadOptions::default()).unwrap().as_ref().clone() };
        prop_assert_eq!(&**table.schema(), &read);
        let appended = table.appended_schema(&read, &[], None).unwrap();
        prop_assert_eq!(table.timestamp_types().applied_to(&read), appended.clone());
        let (after, arrow_schema) = schema_with_rows(Some(&table), &appended, &[], false).unwrap();
        prop_assert_eq!(schema_file(Some(&table), &after, arrow_schema, None).unwrap(), file);
    }
}

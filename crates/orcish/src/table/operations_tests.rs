//! Tests of tables that are written.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int8Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema};
use orcish_core::error::{ErrorKind, Result};
use orcish_io::{Location, StorageOptions};
use orcish_table::{CommitError, Job, Operation, history};

use super::tests::{Folder, integers, texts};
use super::*;
use crate::options::ReadOptions;
use crate::write::WriteOptions;

fn table_in(folder: &Folder, name: &str) -> Table {
    Table::open(&folder.path(name), &StorageOptions::default()).unwrap()
}

fn job_of(folder: &Folder, name: &str) -> Job {
    Job::try_new(&Location::try_new(&folder.path(name)).unwrap(), &StorageOptions::default()).unwrap()
}

fn ids(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn rows(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter(columns.iter().cloned()).unwrap()
}

fn options(existing: ExistingData, partition_by: &[&str]) -> TableWriteOptions {
    TableWriteOptions::default().with_existing_data(existing).with_partition_by(partition_by.iter().copied())
}

fn write(table: &Table, batch: &RecordBatch, options: TableWriteOptions) -> Result<usize> {
    let mut writer = table.write(&batch.schema(), options)?;
    writer.write(batch)?;
    Ok(writer.commit()?.len())
}

/// The sorted values of the column `id`.
fn found(table: &Table) -> Vec<i64> {
    let scan = table.scan(ReadOptions::default().with_columns(["id"])).unwrap();
    let mut values: Vec<i64> =
        scan.read().flat_map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
    values.sort_unstable();
    values
}

fn operations(folder: &Folder, name: &str) -> Vec<Operation> {
    let commits = orcish_table::block_on(history(job_of(folder, name).store(), 20)).unwrap();
    commits.into_iter().rev().map(|commit| commit.operation).collect()
}

/// No staged file is left.
fn assert_clean(folder: &Folder, name: &str) {
    let jobs = std::fs::read_dir(folder.path(&format!("{name}/_orcish/jobs")));
    assert!(jobs.map_or(0, Iterator::count) == 0);
}

#[test]
fn rows_are_added_replaced_and_deleted() {
    use ExistingData::{Append, Error, Overwrite, OverwritePartitions};
    let folder = Folder::new("verbs");
    let table = table_in(&folder, "t");
    let batch = |id: &[i64], k: &[&str]| rows(&[("id", ids(id)), ("k", Arc::new(StringArray::from(k.to_vec())))]);
    write(&table, &batch(&[1, 2], &["a", "b"]), options(Error, &["k"])).unwrap();
    let error = write(&table, &batch(&[9], &["a"]), options(Error, &["k"])).unwrap_err();
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::AlreadyExists));
    assert!(error.to_string().ends_with("t: cannot be written: the folder has data already"), "{error}");
    write(&table, &batch(&[3, 4], &["b", "c"]), options(Append, &["k"])).unwrap();
    assert_eq!(found(&table), [1, 2, 3, 4]);
    write(&table, &batch(&[5], &["b"]), options(OverwritePartitions, &["k"])).unwrap();
    assert_eq!(found(&table), [1, 4, 5]);
    let partition = table_in(&folder, "t/k=c");
    write(&partition, &rows(&[("id", ids(&[6]))]), options(Append, &[])).unwrap();
    assert_eq!(partition.compact(1 << 20, None).unwrap().iter().map(|file| file.files).collect::<Vec<_>>(), [2]);
    let deleted = table.delete(&"id = 1 or id = 6".parse().unwrap()).unwrap();
    assert_eq!(deleted, Deleted { rows: 2, files_removed: 1, files_rewritten: 1 });
    assert_eq!(found(&table), [4, 5]);
    write(&table, &batch(&[7], &["z"]), options(Overwrite, &["k"])).unwrap();
    assert_eq!(found(&table), [7]);
    let all = operations(&folder, "t");
    use Operation as O;
    assert_eq!(all, [O::Append, O::Append, O::Overwrite, O::Append, O::Compact, O::Delete, O::Overwrite]);
    assert_clean(&folder, "t");
}

#[test]
fn rows_get_the_types_of_the_table() {
    let folder = Folder::new("types-of-table");
    let table = table_in(&folder, "t");
    write(&table, &rows(&[("id", ids(&[1]))]), options(ExistingData::Append, &[])).unwrap();
    let narrow: ArrayRef = Arc::new(Int8Array::from(vec![2]));
    write(&table, &rows(&[("id", narrow)]), options(ExistingData::Append, &[])).unwrap();
    assert_eq!(found(&table), [1, 2]);
    let error = write(&table, &rows(&[("id", texts())]), options(ExistingData::Append, &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().ends_with(": cast the rows to the type of the table"), "{error}");
    let error = write(&table, &rows(&[("ID", ids(&[1]))]), options(ExistingData::Append, &[])).unwrap_err();
    assert!(error.to_string().ends_with("differ only by case: rename the column of the rows"), "{error}");
    // A batch of other columns changes nothing.
    let mut writer = table.write(&rows(&[("id", ids(&[1]))]).schema(), options(ExistingData::Append, &[])).unwrap();
    assert!(writer.write(&rows(&[("x", ids(&[1]))])).is_err());
    drop(writer);
    assert_eq!(found(&table), [1, 2]);
    assert_clean(&folder, "t");
}

#[test]
fn rows_are_divided_as_the_table_is() {
    let folder = Folder::new("divided");
    let table = table_in(&folder, "t");
    let batch = rows(&[("id", integers()), ("k", integers()), ("l", integers())]);
    write(&table, &batch, options(ExistingData::Append, &["k", "l"])).unwrap();
    for (name, existing, by, text) in [
        ("t", ExistingData::Append, &[][..], r#"partition the rows likewise, with partition_by=["k", "l"]"#),
        ("t", ExistingData::OverwritePartitions, &[], r#"needs partition_by=["k", "l"]"#),
        ("t", ExistingData::Append, &["l", "k"], "whose partition columns are: k, l; partition_by is: l, k"),
        ("t/k=1", ExistingData::Append, &["l"], "column 'k' of the rows is a partition column of the path"),
        ("u/k=1", ExistingData::Append, &["l"], "column 'k' of the rows is a partition column of the path"),
    ] {
        let error = write(&table_in(&folder, name), &batch, options(existing, by)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    let error = write(&table_in(&folder, "u/m=1"), &batch, options(ExistingData::Append, &[])).unwrap_err();
    assert!(error.to_string().contains("there is no table in"), "{error}");
}

/// Rows whose types are looked up while another job commits.
struct Interrupted<'a> {
    rows: AppendedRows,
    other: &'a (dyn Fn() + Sync),
}

impl RowTypes for Interrupted<'_> {
    fn beside(&self, table: Option<&TableColumns>) -> Result<WrittenTypes> {
        self.rows.beside(table)
    }

    fn partition_values(&self, written: &Schema) -> Schema {
        // Called once the commit has decided on its files.
        (self.other)();
        written.clone()
    }
}

#[test]
fn commits_in_between_are_seen() {
    let folder = Folder::new("between");
    let table = table_in(&folder, "t");
    let batch = |id: i64| rows(&[("id", ids(&[id])), ("k", ids(&[1]))]);
    write(&table, &batch(1), options(ExistingData::Append, &["k"])).unwrap();
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let other = || {
        if calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            // The folder of the same partition, by another spelling of its value.
            let path = folder.path("t/k=01");
            write(
                &Table::open(&path, &Default::default()).unwrap(),
                &rows(&[("id", ids(&[2]))]),
                options(ExistingData::Append, &[]),
            )
            .unwrap();
        }
    };
    let job = job_of(&folder, "t");
    let mut own = RowWrite::new(job.clone());
    own.existing_data = ExistingData::OverwritePartitions;
    own.partition_by = vec!["k".to_owned()];
    let given =
        AppendedRows { schema: batch(3).schema().as_ref().clone(), partition_by: vec!["k".to_owned()], timezone: None };
    let types = Interrupted { rows: given, other: &other };
    let plan = own.plan(&types).unwrap();
    assert!(own.commit(&plan, &[], &types, None).unwrap(), "nothing is written");
    let staged = staged_in(&job, &batch(3));
    assert!(own.commit(&plan, &staged, &types, None).unwrap());
    // The rows of both folders were replaced, those of the commit in between, too.
    assert_eq!((found(&table), calls.into_inner()), (vec![3], 2));
}

fn staged_in(job: &Job, batch: &RecordBatch) -> Vec<orcish_io::StagedFile> {
    use crate::dataset::{DatasetOptions, DatasetWriter, Publication};
    let attempt = job.new_attempt().unwrap();
    let options = DatasetOptions::default()
        .with_partition_by(["k"])
        .with_file_name(format!("part-{{i}}-{}.orc", &attempt[attempt.len() - 32..]))
        .with_publication(Publication::Staged { folder: Some(job.location(&attempt)) });
    let mut writer = DatasetWriter::try_new(job.base(), batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap().into_iter().map(|file| file.staged.unwrap()).collect()
}

#[test]
fn other_types_in_between_are_a_conflict() {
    let folder = Folder::new("types-between");
    let table = table_in(&folder, "t");
    write(&table, &rows(&[("id", ids(&[1]))]), options(ExistingData::Append, &[])).unwrap();
    let narrow: ArrayRef = Arc::new(Int8Array::from(vec![2]));
    let narrow = rows(&[("id", narrow)]);
    let mut writer = table.write(&narrow.schema(), options(ExistingData::Append, &[])).unwrap();
    writer.write(&narrow).unwrap();
    let wide: ArrayRef = Arc::new(arrow_array::Int32Array::from(vec![3]));
    write(&table, &rows(&[("id", wide)]), options(ExistingData::Overwrite, &[])).unwrap();
    let error = writer.commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Commit);
    assert!(error.to_string().contains("have changed while the rows were written"), "{error}");
    let schema = table.scan(ReadOptions::default()).unwrap().schema();
    assert_eq!(schema.field(0).data_type(), &DataType::Int32);
    assert_clean(&folder, "t");
}

#[test]
fn replaced_files_that_have_changed_are_a_conflict() {
    let folder = Folder::new("changed");
    for id in [1, 2] {
        folder.write(&format!("t/{id}.orc"), &[("id", ids(&[id]))], &WriteOptions::default());
    }
    let job = job_of(&folder, "t");
    let plan = CompactionPlan::of(&job, 1 << 20, false).unwrap();
    let names: Vec<String> = plan.files.iter().map(|file| file.name.clone()).collect();
    assert_eq!(names, ["1.orc", "2.orc"]);
    let (_, by) = combine_files_of(&job, &names, None, None).unwrap();
    table_in(&folder, "t").delete(&"id = 1".parse().unwrap()).unwrap();
    let replaced = [Replaced { files: names.clone(), by: Some(by.clone()) }];
    let error = replace_files(&job, Operation::Compact, &replaced, &plan.files, plan.schema.as_ref()).unwrap_err();
    assert!(matches!(&error, CommitError::Refused(error) if error.kind() == ErrorKind::Commit), "{error:?}");
    job.give_up(&[by]);
    assert_eq!(found(&table_in(&folder, "t")), [2]);
    assert_clean(&folder, "t");
    // A file that is gone is a conflict, too.
    let gone = job.reading(&names, || combine_files_of(&job, &names, None, None)).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Commit);
    assert!(gone.to_string().contains("1.orc: another job has removed the file meanwhile"), "{gone}");
}

#[test]
fn rows_of_concurrent_writers_are_there_once() {
    let folder = Folder::new("writers");
    let folder = &folder;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let table = table_in(folder, "t");
                for at in 0..5 {
                    write(&table, &rows(&[("id", ids(&[thread * 5 + at]))]), options(ExistingData::Append, &[]))
                        .unwrap();
                }
            });
        }
        scope.spawn(move || {
            for _ in 0..5 {
                let compacted = table_in(folder, "t").compact(1 << 20, None);
                if let Err(error) = compacted {
                    assert!(error.kind() == ErrorKind::Commit || error.io_kind().is_some(), "{error}");
                }
            }
        });
    });
    let table = table_in(folder, "t");
    assert_eq!(found(&table), (0..20).collect::<Vec<i64>>());
    let names: BTreeSet<String> = table.compact(1 << 20, None).unwrap().into_iter().map(|file| file.location).collect();
    assert!(names.len() <= 1);
    assert_eq!(found(&table), (0..20).collect::<Vec<i64>>());
    assert_clean(folder, "t");
}

#[test]
fn a_file_is_no_table() {
    let folder = Folder::new("file");
    folder.write("a.orc", &[("id", integers())], &WriteOptions::default());
    let error = Table::open(&folder.path("a.orc"), &StorageOptions::default()).unwrap_err();
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotADirectory));
    assert!(error.to_string().contains("a.orc: the path is a file, and no folder"), "{error}");
    for verb in [
        table_in(&folder, "none").compact(1, None).map(drop),
        table_in(&folder, "none").delete(&"id = 1".parse().unwrap()).map(drop),
    ] {
        assert_eq!(verb.unwrap_err().io_kind(), Some(std::io::ErrorKind::NotFound));
    }
    assert!(!std::path::Path::new(&folder.path("none")).exists());
}

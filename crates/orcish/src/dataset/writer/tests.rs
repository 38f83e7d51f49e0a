use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{Float64Array, Int32Array, Int64Array, StringArray};
use orcish_core::ErrorKind;
use orcish_io::{StorageOptions, complete_upload};

use super::*;
use crate::{OrcFile, ReadOptions, tuning};

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("orcish-dataset-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn location(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Paths of all files and folders below.
    fn entries(&self) -> Vec<String> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.clone());
                if path.is_dir() {
                    walk(&path, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.0, &mut found);
        let relative = |path: PathBuf| path.strip_prefix(&self.0).unwrap().to_str().unwrap().to_owned();
        let mut found: Vec<_> = found.into_iter().map(relative).collect();
        found.sort();
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn batch(ids: std::ops::Range<i64>) -> RecordBatch {
    let columns: [(&str, ArrayRef, bool); 3] = [
        ("a", Arc::new(ids.clone().map(|id| i32::try_from(id * 7 % 5).unwrap()).collect::<Int32Array>()), true),
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone())), true),
        ("b", Arc::new(ids.map(|id| (id % 11 != 0).then(|| format!("b/{}", id % 3))).collect::<StringArray>()), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn by(columns: &[&str]) -> DatasetOptions {
    DatasetOptions {
        partition_by: columns.iter().map(|name| (*name).to_owned()).collect(),
        ..DatasetOptions::default()
    }
}

fn ids_of(location: &str) -> Vec<i64> {
    let batches = OrcFile::open(location).unwrap().read(ReadOptions::default()).unwrap();
    let ids = |batch: RecordBatch| batch["id"].as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec();
    batches.flat_map(|batch| ids(batch.unwrap())).collect()
}

#[test]
fn partitions_of_two_columns() {
    let folder = Folder::new("two");
    let mut writer = DatasetWriter::try_new(&folder.location("t/"), batch(0..0).schema(), by(&["b", "a"])).unwrap();
    for start in [0, 400, 800] {
        writer.write(&batch(start..start + 400)).unwrap();
    }
    assert!(writer.files().is_empty());
    let files = writer.finish().unwrap();
    assert_eq!((files.len(), writer.files().len()), (20, 20));
    assert_eq!(files.iter().map(|file| file.rows).sum::<u64>(), 1200);
    for file in &files {
        let partitions = crate::partition::hive_partitions(&file.location);
        assert_eq!(partitions, file.partition);
        assert!(file.location.starts_with(&folder.location("t/b=")), "{}", file.location);
        assert_eq!(fs::metadata(&file.location).unwrap().len(), file.bytes);
        let (b, a) = (partitions[0].1.clone(), partitions[1].1.clone().unwrap());
        let is_own = |id: &i64| (id * 7 % 5).to_string() == a && (id % 11 != 0).then(|| format!("b/{}", id % 3)) == b;
        assert_eq!(ids_of(&file.location), (0..1200).filter(is_own).collect::<Vec<_>>());
        assert_eq!(file.values[1].data_type(), &arrow_schema::DataType::Int32);
    }
    assert!(writer.write(&batch(0..1)).unwrap_err().message().contains("is finished"));
    drop(writer);
    assert_eq!(folder.entries().iter().filter(|path| path.ends_with(".orc")).count(), 20);
}

#[test]
fn rows_of_files() {
    let folder = Folder::new("rows");
    let options = DatasetOptions { max_rows_per_file: Some(7), ..by(&["a"]) };
    let mut writer = DatasetWriter::try_new(&folder.location("t"), batch(0..0).schema(), options).unwrap();
    for start in (0..100).step_by(9) {
        writer.write(&batch(start..(start + 9).min(100))).unwrap();
    }
    let files = writer.finish().unwrap();
    assert_eq!(files.len(), 5 * 3);
    assert!(files.iter().all(|file| file.rows <= 7));
    assert_eq!(files.iter().map(|file| file.rows).sum::<u64>(), 100);
}

#[test]
fn open_files_and_memory_are_bounded() {
    let folder = Folder::new("bounds");
    let options = DatasetOptions { max_open_files: 2, ..by(&["a"]) };
    let mut writer = DatasetWriter::try_new(&folder.location("t"), batch(0..0).schema(), options).unwrap();
    for start in (0..300).step_by(30) {
        writer.write(&batch(start..start + 30)).unwrap();
        assert_eq!(folder.entries().iter().filter(|path| path.contains("/.")).count(), 2);
    }
    let files = writer.finish().unwrap();
    assert_eq!(files.len(), 5);
    let want = |a: i64| (0..300).filter(|id| id * 7 % 5 == a).collect::<Vec<_>>();
    for (file, a) in files.iter().zip([0, 2, 4, 1, 3]) {
        assert_eq!((file.partition[0].1.as_deref(), ids_of(&file.location)), (Some(&*a.to_string()), want(a)));
    }

    for (max_memory, stripes) in [(0, 10), (100_000_000, 1)] {
        let options = DatasetOptions { max_memory, ..by(&["a"]) };
        let base = folder.location(&max_memory.to_string());
        let mut writer = DatasetWriter::try_new(&base, batch(0..0).schema(), options).unwrap();
        for start in (0..300).step_by(30) {
            writer.write(&batch(start..start + 30)).unwrap();
            assert!(max_memory > 0 || writer.open.values().all(|file| !file.has_rows));
        }
        for file in writer.finish().unwrap() {
            assert_eq!(OrcFile::open(&file.location).unwrap().tail().stripes.len(), stripes);
        }
    }
}

/// Rows that are written to memory or to temporary files first. The small windows of tests merge these files, too.
#[test]
fn each_partition_has_one_file() {
    let folder = Folder::new("waiting");
    let windows = [&tuning::RUNS_MERGED, &tuning::BLOCKS_OF_WAITING, &tuning::MIN_WAITING_BLOCK];
    let before = windows.map(|window| window.get());
    for (at, small) in [false, true].into_iter().enumerate() {
        windows.iter().for_each(|window| window.set(if small { 2 } else { window.get() }));
        for max_memory in [0, 20_000, 100_000_000] {
            for max_rows_per_file in [None, Some(6)] {
                let options = DatasetOptions { max_open_files: 3, max_memory, max_rows_per_file, ..by(&["a", "b"]) };
                let base = folder.location(&format!("{at}-{max_memory}-{}", max_rows_per_file.unwrap_or(0)));
                let mut writer = DatasetWriter::try_new(&base, batch(0..0).schema(), options).unwrap();
                for start in (0..3000).step_by(100) {
                    writer.write(&batch(start..start + 100)).unwrap();
                    assert!(writer.waiting.memory() <= max_memory / 2);
                }
                assert_eq!(writer.waiting.spilled() > 0, max_memory < 100_000_000);
                let files = writer.finish().unwrap();
                let mut found: BTreeMap<_, Vec<i64>> = BTreeMap::new();
                for file in &files {
                    found.entry(file.partition.clone()).or_default().extend(ids_of(&file.location));
                }
                assert_eq!(found.len(), 20);
                let most = max_rows_per_file.unwrap_or(u64::MAX);
                let expected = found.values().map(|ids| (ids.len() as u64).div_ceil(most)).sum::<u64>();
                assert_eq!(files.len() as u64, expected);
                for ids in found.values() {
                    let first = ids[0];
                    let is_same = |id: &i64| {
                        let b = |id: i64| (id % 11 != 0).then_some(id % 3);
                        id * 7 % 5 == first * 7 % 5 && b(*id) == b(first)
                    };
                    assert_eq!(*ids, (0..3000).filter(is_same).collect::<Vec<_>>());
                }
            }
        }
    }
    windows.iter().zip(before).for_each(|(window, size)| window.set(size));
}

#[test]
fn partitions_are_bounded() {
    let folder = Folder::new("partitions");
    let options = |max_partitions| DatasetOptions { max_partitions, ..by(&["id"]) };
    let mut writer = DatasetWriter::try_new(&folder.location("t"), batch(0..0).schema(), options(100)).unwrap();
    for _ in 0..2 {
        writer.write(&batch(0..100)).unwrap();
    }
    let error = writer.write(&batch(50..101)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    for text in ["partition_by=[\"id\"]", "max_partitions=100", "a batch of 51 rows has 51"] {
        assert!(error.message().contains(text), "{error}");
    }
    assert!(folder.entries().is_empty());
    // No file is made before the error.
    let mut writer = DatasetWriter::try_new(&folder.location("t"), batch(0..0).schema(), options(1)).unwrap();
    assert!(writer.write(&batch(0..2)).is_err());
    assert!(folder.entries().is_empty());
}

/// An error in the middle leaves neither files nor temporary ones.
#[test]
fn failures_of_waiting_rows_leave_nothing() {
    let folder = Folder::new("waiting-failures");
    let options = DatasetOptions { max_open_files: 1, max_memory: 0, ..by(&["a"]) };
    let calls = Arc::new(AtomicUsize::new(0));
    for most in 0..40 {
        let mut writer = DatasetWriter::try_new(&folder.location("t"), batch(0..0).schema(), options.clone()).unwrap();
        let counted = calls.clone();
        counted.store(0, Ordering::Relaxed);
        writer.set_cancel_check(Arc::new(move || {
            let is_last = counted.fetch_add(1, Ordering::Relaxed) >= most;
            if is_last { Err(Error::invalid("stop")) } else { Ok(()) }
        }));
        let mut write = || {
            for start in (0..60).step_by(20) {
                writer.write(&batch(start..start + 20))?;
            }
            writer.finish()
        };
        match write() {
            Ok(files) => {
                assert_eq!(files.len(), 5);
                fs::remove_dir_all(folder.location("t")).unwrap();
                assert!(most > 5);
                return;
            }
            Err(error) => assert!(error.message().contains("stop"), "{error}"),
        }
        assert!(folder.entries().is_empty(), "{:?}", folder.entries());
        assert_eq!((writer.waiting.memory(), writer.waiting_memory), (0, 0));
    }
    panic!("the writer asks without an end");
}

#[test]
fn failures_leave_nothing() {
    let folder = Folder::new("failures");
    fs::create_dir(folder.0.join("there")).unwrap();
    let options = || DatasetOptions { max_rows_per_file: Some(3), ..by(&["a"]) };
    let begun = |options| {
        let mut writer = DatasetWriter::try_new(&folder.location("there/t"), batch(0..0).schema(), options).unwrap();
        writer.write(&batch(0..50)).unwrap();
        assert!(folder.entries().len() > 15);
        writer
    };
    // A batch of another schema.
    let mut writer = begun(options());
    let error = writer.write(&batch(0..1).project(&[0, 1]).unwrap()).unwrap_err();
    assert!(error.message().contains("a batch of 2 columns"), "{error}");
    assert_eq!(folder.entries(), ["there"]);
    for result in [writer.write(&batch(0..1)), writer.begin(), writer.finish().map(drop)] {
        assert!(result.unwrap_err().message().contains("failed before"));
    }
    // A writer that is dropped, or aborted.
    drop(begun(options()));
    assert_eq!(folder.entries(), ["there"]);
    let mut writer = begun(DatasetOptions { publication: Publication::Staged { folder: None }, ..options() });
    writer.abort();
    assert_eq!(folder.entries(), ["there"]);
    // The files of a finished dataset stay if the writer is dropped, and are removed if it is aborted.
    let mut writer = begun(options());
    let files = writer.finish().unwrap();
    assert!(files.iter().all(|file| fs::exists(&file.location).unwrap()));
    writer.abort();
    assert_eq!(folder.entries(), ["there"]);
    let mut writer = begun(options());
    let files = writer.finish().unwrap();
    drop(writer);
    assert!(!files.is_empty() && files.iter().all(|file| fs::exists(&file.location).unwrap()));
    fs::remove_dir_all(folder.0.join("there/t")).unwrap();
    // A file in the place of a folder.
    let mut writer = begun(options());
    let late = RecordBatch::try_new(
        batch(0..0).schema(),
        vec![
            Arc::new(Int32Array::from(vec![77])),
            Arc::new(Int64Array::from(vec![1])),
            Arc::new(StringArray::from(vec!["x"])),
        ],
    );
    fs::write(folder.0.join("there/t/a=77"), "mine").unwrap();
    assert_eq!(writer.write(&late.unwrap()).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(folder.entries(), ["there", "there/t", "there/t/a=77"]);
}

#[test]
fn staged_files_are_published_later() {
    let folder = Folder::new("staged");
    let publication = Publication::Staged { folder: Some(folder.location("_staging")) };
    let options = DatasetOptions { publication, ..by(&["a"]) };
    let mut writer = DatasetWriter::try_new(&folder.location("t"), batch(0..0).schema(), options).unwrap();
    writer.write(&batch(0..50)).unwrap();
    let files = writer.finish().unwrap();
    drop(writer);
    assert!(!folder.0.join("t").exists());
    for file in &files {
        let staged = file.staged.as_ref().unwrap();
        assert_eq!((staged.rows, staged.bytes, staged.stripes), (file.rows, file.bytes, 1));
        complete_upload(&file.location, staged, &StorageOptions::default()).unwrap();
        assert_eq!(ids_of(&file.location).len(), 10);
    }
}

#[test]
fn texts_are_partitions() {
    let folder = Folder::new("texts");
    let nan = f64::from_bits(f64::NAN.to_bits() | 1);
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..6))),
        ("p", Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(0.5), Some(nan), Some(-0.0), Some(0.0), None]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = DatasetWriter::try_new(&folder.location("t"), batch.schema(), by(&["p"])).unwrap();
    writer.write(&batch).unwrap();
    let files = writer.finish().unwrap();
    let found: Vec<_> = files.iter().map(|file| (file.partition[0].1.as_deref(), ids_of(&file.location))).collect();
    let want = [
        (Some("NaN"), vec![0, 2]),
        (Some("0.5"), vec![1]),
        (Some("-0.0"), vec![3]),
        (Some("0.0"), vec![4]),
        (None, vec![5]),
    ];
    assert_eq!(found, want);

    // Null and the empty text have one folder, and a file each.
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..2))),
        ("p", Arc::new(StringArray::from(vec![None, Some("")]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = DatasetWriter::try_new(&folder.location("u"), batch.schema(), by(&["p"])).unwrap();
    writer.write(&batch).unwrap();
    let files = writer.finish().unwrap();
    let want = ["0", "1"].map(|i| folder.location(&format!("u/p=__HIVE_DEFAULT_PARTITION__/part-0000{i}.orc")));
    assert_eq!(files.iter().map(|file| file.location.clone()).collect::<Vec<_>>(), want);

    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..1))),
        ("p", Arc::new(StringArray::from(vec![crate::partition::NULL_PARTITION]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = DatasetWriter::try_new(&folder.location("v"), batch.schema(), by(&["p"])).unwrap();
    let error = writer.write(&batch).unwrap_err();
    assert!(error.to_string().contains("column p: '__HIVE_DEFAULT_PARTITION__' stands for null"), "{error}");
    assert!(!folder.0.join("v").exists());
}

#[test]
fn names_of_files() {
    let folder = Folder::new("names");
    let options = DatasetOptions {
        file_name: "x{i}y.orc".into(),
        excluded: [folder.location("t/x00001y.orc")].into(),
        max_rows_per_file: Some(4),
        ..DatasetOptions::default()
    };
    let mut writer = DatasetWriter::try_new(&folder.location("t"), batch(0..0).schema(), options).unwrap();
    writer.write(&batch(0..10)).unwrap();
    writer.finish().unwrap();
    assert_eq!(folder.entries(), ["t", "t/x00000y.orc", "t/x00002y.orc", "t/x00003y.orc"]);
    let options = DatasetOptions { file_name: "one.orc".into(), max_rows_per_file: Some(4), ..by(&[]) };
    let mut writer = DatasetWriter::try_new(&folder.location("u"), batch(0..0).schema(), options).unwrap();
    let error = writer.write(&batch(0..10)).unwrap_err();
    assert!(error.message().contains("{i} has to be in it"), "{error}");
    // A dataset without rows.
    let mut writer = DatasetWriter::try_new(&folder.location("w"), batch(0..0).schema(), by(&[])).unwrap();
    writer.write(&batch(0..0)).unwrap();
    writer.begin().unwrap();
    let files = writer.finish().unwrap();
    assert_eq!((files.len(), files[0].rows, ids_of(&files[0].location).len()), (1, 0, 0));
}

#[test]
fn options_that_are_wrong() {
    let new = |options| DatasetWriter::try_new("t", batch(0..0).schema(), options).map(drop).unwrap_err();
    assert_eq!(new(by(&["absent"])).kind(), ErrorKind::UnknownColumn);
    for (options, text) in [
        (by(&["a", "a"]), "named once"),
        (by(&["a", "b", "id"]), "one column at least"),
        (DatasetOptions { max_rows_per_file: Some(0), ..by(&[]) }, "max_rows_per_file=0"),
        (DatasetOptions { max_open_files: 0, ..by(&[]) }, "max_open_files=0"),
        (DatasetOptions { max_partitions: 0, ..by(&[]) }, "max_partitions=0"),
        (DatasetOptions { file_name: "a/b.orc".into(), ..by(&[]) }, "names a file"),
    ] {
        assert!(new(options).message().contains(text), "{text}");
    }
}

#[test]
fn a_child_of_a_fork_leaves_files_alone() {
    let folder = Folder::new("fork");
    let options = DatasetOptions { max_rows_per_file: Some(3), ..by(&["a"]) };
    let mut writer = DatasetWriter::try_new(&folder.location("t"), batch(0..0).schema(), options).unwrap();
    writer.write(&batch(0..50)).unwrap();
    let complete = |folder: &Folder| folder.entries().iter().filter(|path| path.contains("/part-")).count();
    let before = complete(&folder);
    writer.owner = OwnerProcess::other();
    assert!(writer.write(&batch(0..1)).unwrap_err().to_string().contains("process 0"));
    assert!(writer.finish().is_err());
    drop(writer);
    assert_eq!(complete(&folder), before);
}

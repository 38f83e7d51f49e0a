//! Tests of files that become other files.

use std::fs;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, Int8Array, Int64Array, TimestampMicrosecondArray};
use arrow_schema::DataType;
use orcish_core::error::{ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_io::{StorageOptions, create};
use proptest::prelude::*;

use super::tests::{Folder, integers, texts};
use super::*;
use crate::codec::Compression;
use crate::options::{ReadOptions, Timestamps};
use crate::read::OrcFile;
use crate::write::WriteOptions;

/// Combines the files `a` and `b` of a folder as `c`.
fn combined(folder: &Folder, rewrite: Option<&RewriteOptions>) -> Result<(Combination, OrcFile)> {
    let files = ["a", "b"].map(|name| folder.path(name));
    let storage = StorageOptions::default();
    let target = folder.path("c");
    let (how, _) = combine_files(&files, None, rewrite, &storage, |_| create(&target, &storage))?;
    Ok((how, OrcFile::open(target)?))
}

fn integers_of(file: &OrcFile) -> Vec<i64> {
    let batches = file.read(ReadOptions::default()).unwrap().map(|batch| batch.unwrap());
    batches.flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec()).collect()
}

#[test]
fn stripes_are_copied_where_readers_see_no_difference() {
    let folder = Folder::new("combined");
    let (options, zlib) = (WriteOptions::default(), WriteOptions::default().with_compression(Compression::Zlib));
    let plain = options.clone().with_arrow_schema(false);
    for (other, expected) in
        [(&options, Combination::Merge), (&zlib, Combination::Rewrite), (&plain, Combination::Rewrite)]
    {
        folder.write("a", &[("x", integers())], &zlib.clone().with_compression(options.compression));
        folder.write("b", &[("x", integers())], other);
        let (how, file) = combined(&folder, None).unwrap();
        assert_eq!((how, integers_of(&file)), (expected, vec![1, 2, 1, 2]));
        assert_eq!(file.tail().compression, options.compression);
        let (how, file) = combined(&folder, Some(&RewriteOptions::default())).unwrap();
        assert_eq!((how, integers_of(&file)), (Combination::Rewrite, vec![1, 2, 1, 2]));
    }
}

#[test]
fn stripes_keep_the_zones_of_their_writers() {
    let folder = Folder::new("zones");
    let clocks = || Arc::new(TimestampMicrosecondArray::from(vec![0, 1_700_000_000_000_000])) as ArrayRef;
    let zones = ["Europe/Berlin", "America/New_York"];
    for (name, zone) in ["a", "b"].into_iter().zip(zones) {
        folder.write(name, &[("t", clocks())], &WriteOptions::default().with_timezone(zone));
    }
    let read = |file: &OrcFile, timestamps| {
        let options = ReadOptions::default().with_timestamps(timestamps);
        let batches = file.read(options).unwrap().map(|batch| batch.unwrap());
        let values = batches.map(|batch| batch.column(0).as_primitive::<TimestampMicrosecondType>().values().to_vec());
        values.collect::<Vec<_>>().concat()
    };
    let (_, file) = combined(&folder, Some(&RewriteOptions::default())).unwrap();
    assert_eq!(file.writer_timezones(None, &Limits::default()).unwrap(), zones);
    let files = ["a", "b"].map(|name| OrcFile::open(folder.path(name)).unwrap());
    for timestamps in [Timestamps::Instant, Timestamps::Wall] {
        assert_eq!(read(&file, timestamps), files.each_ref().map(|file| read(file, timestamps)).concat());
    }
    let utc = RewriteOptions { timezone: Some("UTC".to_owned()), ..RewriteOptions::default() };
    let (_, file) = combined(&folder, Some(&utc)).unwrap();
    assert_eq!(file.writer_timezones(None, &Limits::default()).unwrap(), ["UTC"]);
    let clocks = files.each_ref().map(|file| read(file, Timestamps::Wall)).concat();
    assert_eq!(read(&file, Timestamps::Wall), clocks);
}

#[test]
fn types_hold_the_values_of_all_files() {
    let folder = Folder::new("types");
    let narrow: ArrayRef = Arc::new(Int8Array::from(vec![3]));
    folder.write("a", &[("x", narrow)], &WriteOptions::default().with_arrow_schema(false));
    folder.write("b", &[("x", integers()), ("y", texts())], &WriteOptions::default());
    let (how, file) = combined(&folder, None).unwrap();
    assert_eq!((how, integers_of(&file)), (Combination::Rewrite, vec![3, 1, 2]));
    let schema = file.schema(&ReadOptions::default()).unwrap();
    let types: Vec<&DataType> = schema.fields().iter().map(|field| field.data_type()).collect();
    assert_eq!(types, [&DataType::Int64, &DataType::Utf8]);
    // All types are inferred, as they were before.
    assert!(file.stored().is_none());
}

#[test]
fn columns_that_are_one_to_some_readers_are_not_combined() {
    let folder = Folder::new("refused");
    folder.write("a", &[("x", integers())], &WriteOptions::default());
    folder.write("b", &[("X", integers())], &WriteOptions::default());
    let error = combined(&folder, Some(&RewriteOptions::default())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("/b: column X and column x of "), "{error}");
    assert!(!fs::exists(folder.path("c")).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn rows_that_are_not_deleted_stay(kept in prop::collection::vec(any::<bool>(), 1..60)) {
        let folder = Folder::new("deleted");
        let numbered = || (0i64..).zip(&kept);
        let all: ArrayRef = Arc::new(Int64Array::from_iter_values(numbered().map(|(number, _)| number)));
        folder.write("a", &[("x", all)], &WriteOptions::default());
        let removed: Vec<i64> = numbered().filter(|(_, kept)| !**kept).map(|(number, _)| number).collect();
        let expected: Vec<i64> = numbered().filter(|(_, kept)| **kept).map(|(number, _)| number).collect();
        let (storage, target) = (StorageOptions::default(), folder.path("c"));
        let options = RewriteOptions::default();
        let done = delete_rows(&folder.path("a"), &removed, None, &options, &storage, || create(&target, &storage));
        match done.unwrap() {
            AfterDeletion::Kept => prop_assert!(removed.is_empty()),
            AfterDeletion::Removed => prop_assert!(expected.is_empty()),
            AfterDeletion::Replaced(written) => {
                prop_assert_eq!(written.rows, expected.len() as u64);
                prop_assert_eq!(integers_of(&OrcFile::open(target).unwrap()), expected);
            }
        }
    }
}

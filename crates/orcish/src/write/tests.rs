//! Round trips of files.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date64Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, StructArray, TimestampNanosecondArray, UInt64Array, UnionArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema, UnionFields, UnionMode};
use orcish_io::{MemorySink, MemorySource};
use proptest::prelude::*;

use super::*;
use crate::{ColumnName, Columns, Comparison, Compression, Error, ErrorKind, Limits, OrcFile, Predicate, ReadOptions};

/// The bytes of a file with these batches.
#[expect(clippy::panic_in_result_fn, reason = "a test")]
fn write_batches(batches: &[RecordBatch], options: &WriteOptions) -> Result<Vec<u8>, Error> {
    let sink = MemorySink::new();
    let mut writer = FileWriter::try_new(Box::new(sink.clone()), batches[0].schema(), options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    let done = writer.finish()?;
    let bytes = sink.take().unwrap();
    assert_eq!(done.bytes, bytes.len() as u64);
    assert_eq!(done.rows, batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>());
    Ok(bytes)
}

fn open(bytes: Vec<u8>) -> OrcFile {
    OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap()
}

fn read(file: &OrcFile, options: ReadOptions) -> Vec<RecordBatch> {
    file.read(options).unwrap().map(Result::unwrap).collect()
}

/// One batch with the rows of all batches.
fn concat(batches: &[RecordBatch]) -> RecordBatch {
    arrow_select::concat::concat_batches(&batches[0].schema(), batches).unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

/// Rows of many types. A third of the seeds make rows without nulls.
fn rows(count: usize, seed: u64) -> RecordBatch {
    let mut state = seed.wrapping_mul(2) + 1;
    #[expect(clippy::cast_possible_truncation, reason = "numbers are small")]
    let small = |value: u64| value as i32;
    let mut next = move |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let nulls = !seed.is_multiple_of(3);
    let some = |next: &mut dyn FnMut(u64) -> u64| !nulls || next(7) > 0;
    let ids: Int64Array = (0..count as i64).map(Some).collect();
    let numbers: Int64Array = (0..count).map(|_| some(&mut next).then(|| next(1 << 20) as i64 - 500)).collect();
    let flags: BooleanArray = (0..count).map(|_| some(&mut next).then(|| next(5) == 0)).collect();
    let words: StringArray = (0..count).map(|_| some(&mut next).then(|| format!("word {}", next(9)))).collect();
    let texts: StringArray =
        (0..count).map(|_| some(&mut next).then(|| format!("{}-{}", next(1 << 31), next(99)))).collect();
    let floats: Float64Array = (0..count).map(|_| some(&mut next).then(|| next(1000) as f64 / 8.0)).collect();
    let money: Decimal128Array =
        (0..count).map(|_| some(&mut next).then(|| i128::from(next(10_000_000)) * 10)).collect();
    let money = money.with_precision_and_scale(12, 2).unwrap();
    let times: TimestampNanosecondArray =
        (0..count).map(|_| some(&mut next).then(|| next(1 << 31) as i64 * 1_000_000_007)).collect();
    let mut lists = ListBuilder::new(Int32Builder::new());
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    let (mut tags, mut values) = (Vec::new(), Vec::new());
    for _ in 0..count {
        for _ in 0..next(4) {
            let item = some(&mut next).then(|| small(next(50)));
            lists.values().append_option(item);
        }
        lists.append(some(&mut next));
        for at in 0..next(3) {
            maps.keys().append_value(format!("k{at}"));
            maps.values().append_option(some(&mut next).then(|| small(next(5))));
        }
        maps.append(some(&mut next)).unwrap();
        tags.push(next(2));
        values.push(small(next(9)));
    }
    let halves: Float64Array = values.iter().map(|&value| Some(f64::from(value) / 2.0)).collect();
    let variants: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(values)), Arc::new(halves)];
    let fields = [Field::new("a", DataType::Int32, false), Field::new("b", DataType::Float64, false)];
    let fields = UnionFields::try_new([3, 5], fields).unwrap();
    let tags: Vec<i8> = tags.into_iter().map(|tag| if tag == 0 { 3 } else { 5 }).collect();
    let union = UnionArray::try_new(fields, tags.into(), None, variants).unwrap();
    let (numbers, texts): (ArrayRef, ArrayRef) = (Arc::new(numbers), Arc::new(texts));
    let fields =
        vec![Arc::new(Field::new("number", DataType::Int64, true)), Arc::new(Field::new("text", DataType::Utf8, true))];
    let validity: Vec<bool> = (0..count).map(|_| some(&mut next)).collect();
    let nest = StructArray::new(fields.into(), vec![numbers.clone(), texts.clone()], Some(validity.into()));
    batch(vec![
        ("id", Arc::new(ids)),
        ("number", numbers),
        ("flag", Arc::new(flags)),
        ("word", Arc::new(words)),
        ("text", texts),
        ("float", Arc::new(floats)),
        ("money", Arc::new(money)),
        ("time", Arc::new(times)),
        ("list", Arc::new(lists.finish())),
        ("map", Arc::new(maps.finish())),
        ("nest", Arc::new(nest)),
        ("union", Arc::new(union)),
    ])
}

fn codecs() -> impl Strategy<Value = Compression> {
    use Compression::{Brotli, Lz4, None, Snappy, Zlib, Zstd};
    prop::sample::select(vec![None, Zlib, Snappy, Lz4, Zstd, Brotli])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Rows, statistics, positions and bloom filters are correct for all options and batch sizes.
    #[test]
    fn files_round_trip(
        seed in any::<u64>(), count in 0..6_000usize, codec in codecs(), is_old: bool, has_index: bool,
        stride in prop::sample::select(vec![1_000u32, 1_003, 10_000]),
        stripe_size in prop::sample::select(vec![1u64, 40_000, 64 << 20]), threads in 1..9usize,
        compression_block_size in prop::sample::select(vec![None, Some(1 << 10)]),
        cuts in prop::collection::vec(0..6_000usize, 0..4), choice in 0..3usize,
    ) {
        let all = rows(count, seed);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(count)).chain([0, count]).collect();
        cuts.sort_unstable();
        let batches: Vec<_> = cuts.windows(2).map(|cut| all.slice(cut[0], cut[1] - cut[0])).collect();
        let has_bloom_filters = has_index && !is_old;
        let names = vec!["number".into(), "nest".into(), "list".into()];
        let options = WriteOptions {
            compression: codec,
            row_index_stride: if has_index { stride } else { 0 },
            stripe_size,
            threads,
            compression_block_size,
            version: if is_old { Version::V0_11 } else { Version::V0_12 },
            bloom_filter_columns: if has_bloom_filters { names } else { Vec::new() },
            dictionary: [DictionaryChoice::Auto, DictionaryChoice::Always, DictionaryChoice::Never][choice],
            verify: true,
            ..WriteOptions::default()
        };
        let bytes = write_batches(&batches, &options).unwrap();
        let of_one_thread = write_batches(&batches, &WriteOptions { threads: 1, ..options.clone() }).unwrap();
        prop_assert!(bytes == of_one_thread, "{} threads write other bytes than one", threads);
        let file = open(bytes.clone());
        prop_assert_eq!(file.check(&Limits::default(), None, None).unwrap(), Vec::new());
        let back = read(&file, ReadOptions::default());
        if count > 0 {
            prop_assert_eq!(&concat(&back), &all);
            let wanted = (count / 2) as i64;
            let filter = Some(Predicate::compare("id", Comparison::Equal, wanted));
            let found = concat(&read(&file, ReadOptions { filter, ..ReadOptions::default() }));
            prop_assert_eq!(found, all.slice(count / 2, 1));
        }
        // The bytes do not depend on batch sizes.
        if stripe_size > 40_000 {
            prop_assert_eq!(write_batches(&[all], &options).unwrap(), bytes);
        }
    }

    /// Merged files have all rows, and the statistics of all rows.
    #[test]
    fn merged_files_round_trip(
        seeds in prop::collection::vec(any::<u64>(), 1..4), count in 0..3_000usize, codec in codecs(),
    ) {
        let options = WriteOptions {
            compression: codec, row_index_stride: 1_000, stripe_size: 30_000, ..WriteOptions::default()
        };
        let batches: Vec<_> = seeds.iter().map(|&seed| rows(count, seed)).collect();
        let write = |batch| write_batches(std::slice::from_ref(batch), &options).unwrap();
        let files: Vec<_> = batches.iter().map(write).collect();
        let sources: Vec<Arc<dyn orcish_io::ReadAt>> =
            files.into_iter().map(|bytes| Arc::new(MemorySource::new(bytes)) as _).collect();
        let sink = MemorySink::new();
        let done = merge(&sources, Box::new(sink.clone()), &Limits::default(), None, None).unwrap();
        let file = open(sink.take().unwrap());
        prop_assert_eq!(done.rows, (seeds.len() * count) as u64);
        prop_assert_eq!(file.check(&Limits::default(), None, None).unwrap(), Vec::new());
        let all = open(write_batches(&batches, &options).unwrap());
        for id in 0..u32::try_from(file.tail().schema.types().len()).unwrap() {
            let statistics = |file: &OrcFile| file.tail().column_statistics(id).unwrap();
            let (mut merged, mut expected) = (statistics(&file), statistics(&all));
            merged.iter_mut().chain(&mut expected).for_each(|statistics| statistics.bytes_on_disk = None);
            prop_assert_eq!(merged, expected);
        }
        if count > 0 {
            prop_assert_eq!(concat(&read(&file, ReadOptions::default())), concat(&batches));
        }
    }
}

#[test]
fn value_errors_have_column_and_row() {
    let refused = |name: &str, array: ArrayRef| {
        let count = array.len();
        let ids: Int64Array = (0..count as i64).collect();
        let error =
            write_batches(&[batch(vec![("id", Arc::new(ids)), (name, array)])], &WriteOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert_eq!(error.place().column.as_deref(), Some(name), "{error}");
        error.to_string()
    };
    let within = |at: usize, good: i64, bad: i64| (0..30_000).map(move |row| if row == at { bad } else { good });
    let days: Date64Array = within(12_345, 86_400_000, 1).map(Some).collect();
    assert!(refused("day", Arc::new(days)).contains("row 12345:"));
    let times: TimestampNanosecondArray = within(29_999, 0, -500_000_000).map(Some).collect();
    assert!(refused("time", Arc::new(times)).contains("row 29999:"));
    let mut lists = ListBuilder::new(arrow_array::builder::Date64Builder::new());
    for row in 0..20_000i64 {
        lists.values().append_value(0);
        lists.values().append_value(i64::from(row == 15_000));
        lists.append(row % 3 != 1);
    }
    let error =
        write_batches(&[batch(vec![("list", Arc::new(lists.finish()))])], &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("column list.element: row 15000:"), "{error}");
    let needed = Schema::new(vec![Field::new("needed", DataType::UInt64, false)]);
    let sink = MemorySink::new();
    let mut writer = FileWriter::try_new(Box::new(sink.clone()), Arc::new(needed), &WriteOptions::default()).unwrap();
    let nulls = batch(vec![("needed", Arc::new(UInt64Array::from(vec![Some(1), None])))]);
    writer.write(&nulls).unwrap();
    assert!(writer.finish().unwrap_err().to_string().contains("row 1: a null"));
    assert!(writer.finish().is_err() && sink.take().is_none());
}

#[test]
fn invalid_options_are_refused() {
    let rows = rows(10, 1);
    let refused = |options: WriteOptions| write_batches(std::slice::from_ref(&rows), &options).unwrap_err();
    let default = WriteOptions::default;
    for options in [
        WriteOptions { compression_level: Some(23), ..default() },
        WriteOptions { compression: Compression::Snappy, compression_level: Some(1), ..default() },
        WriteOptions { compression_block_size: Some(1 << 23), ..default() },
        WriteOptions { row_index_stride: 999, ..default() },
        WriteOptions { stripe_size: 0, ..default() },
        WriteOptions { bloom_filter_fpp: 1.0, ..default() },
        WriteOptions { bloom_filter_columns: vec!["flag".into()], ..default() },
        WriteOptions { bloom_filter_columns: vec!["id".into()], row_index_stride: 0, ..default() },
        WriteOptions { bloom_filter_columns: vec!["id".into()], version: Version::V0_11, ..default() },
        WriteOptions { column_dictionary: vec![("id".into(), DictionaryChoice::Always)], ..default() },
        WriteOptions { timezone: "Mars/Olympus".into(), ..default() },
        WriteOptions {
            compression: Compression::None,
            column_compression: vec![("id".into(), ColumnCompression::Level(3))],
            ..default()
        },
    ] {
        let error = refused(options);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    }
    let unknown = WriteOptions { bloom_filter_columns: vec!["nest.txt".into()], ..default() };
    assert_eq!(refused(unknown).kind(), ErrorKind::UnknownColumn);
    assert_eq!(refused(WriteOptions { compression: Compression::Lzo, ..default() }).kind(), ErrorKind::Unsupported);
}

#[test]
fn column_compression_is_applied() {
    let all = rows(20_000, 3);
    let size = |own: Option<ColumnCompression>| {
        let column_compression = own.map(|own| ("nest.text".into(), own)).into_iter().collect();
        let options = WriteOptions { column_compression, verify: true, ..WriteOptions::default() };
        let file = open(write_batches(std::slice::from_ref(&all), &options).unwrap());
        let columns = Columns::Names(vec!["nest.text".into()]);
        assert!(!read(&file, ReadOptions { columns, ..ReadOptions::default() }).is_empty());
        let id = file.tail().schema.column_id(&"nest.text".into()).unwrap();
        file.tail().column_statistics(id).unwrap().unwrap().bytes_on_disk.unwrap()
    };
    let (uncompressed, default, best) =
        (size(Some(ColumnCompression::None)), size(None), size(Some(ColumnCompression::Level(19))));
    assert!(uncompressed > default && default > best, "{uncompressed} {default} {best}");
}

/// A column `a.b`, and the field `b` of a column `a`.
#[test]
fn names_have_steps() {
    let (of_column, of_field) = (Int64Array::from(vec![9, 0]), Int64Array::from(vec![7, 9]));
    let field: (Arc<Field>, ArrayRef) = (Arc::new(Field::new("b", DataType::Int64, true)), Arc::new(of_field));
    let ids = Arc::new(Int64Array::from(vec![1, 2]));
    let nest = Arc::new(StructArray::from(vec![field]));
    let all = batch(vec![("id", ids), ("a.b", Arc::new(of_column)), ("a", nest)]);
    let names = [ColumnName::from("a.b"), ColumnName::of_steps(["a", "b"])];
    for (at, name) in names.iter().enumerate() {
        let options = WriteOptions::default().with_bloom_filter_columns([name]);
        let file = open(write_batches(std::slice::from_ref(&all), &options).unwrap());
        let id = |name| file.tail().schema.column_id(name).unwrap();
        assert_eq!([id(&names[0]), id(&names[1])], [2, 4]);
        let has_filter = |name| {
            let groups = file.row_groups(id(name), None, &Limits::default()).unwrap();
            groups.iter().all(|group| group.bloom_filter.is_some())
        };
        assert_eq!([has_filter(&names[0]), has_filter(&names[1])], [at == 0, at == 1]);
        let columns = read(&file, ReadOptions::default().with_columns([name]));
        assert_eq!(columns[0].schema().field(0).name(), ["a.b", "a"][at]);
        let filters = [Predicate::compare(name, Comparison::Equal, 9), ["`a.b` = 9", "a.b = 9"][at].parse().unwrap()];
        for filter in filters {
            let rows = read(&file, ReadOptions::default().with_filter(filter));
            assert_eq!(concat(&rows).column(0), all.slice(at, 1).column(0), "{name:?}");
        }
    }
}

#[test]
fn columns_with_nulls_have_a_present_stream() {
    let streams = |seed| {
        let options = WriteOptions { compression: Compression::None, ..WriteOptions::default() };
        let bytes = write_batches(&[rows(3_000, seed)], &options).unwrap();
        let file = open(bytes);
        let id = file.tail().schema.column_id(&"number".into()).unwrap();
        (file.tail().column_statistics(id).unwrap().unwrap().has_null, file.tail().stripes[0].data_length)
    };
    let ((without, _), (with, _)) = (streams(3), streams(4));
    assert_eq!((without, with), (Some(false), Some(true)));
}

/// Types can be nested as deeply as readers accept by default. The root counts as one level.
#[test]
fn nesting_is_limited() {
    let nested = |levels: usize| {
        let mut field = Field::new("a", DataType::Int32, true);
        for _ in 2..levels {
            field = Field::new("a", DataType::Struct(vec![field].into()), true);
        }
        write_batches(&[RecordBatch::new_empty(Arc::new(Schema::new(vec![field])))], &WriteOptions::default())
    };
    let max = orcish_core::limits::DEFAULT_MAX_DEPTH;
    assert_eq!(open(nested(max).unwrap()).tail().rows, 0);
    let error = nested(max + 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains(&format!("deeper than {max} levels")), "{error}");
}

/// The C data interface does not import such unions, so that this cannot be tested in Python.
#[test]
fn unions_without_variants_are_refused() {
    for mode in [UnionMode::Dense, UnionMode::Sparse] {
        let field = Field::new("u", DataType::Union(UnionFields::empty(), mode), true);
        for field in [field.clone(), Field::new("s", DataType::Struct(vec![field].into()), true)] {
            let schema = Arc::new(Schema::new(vec![field]));
            let error = FileWriter::try_new(Box::new(MemorySink::new()), schema, &WriteOptions::default()).unwrap_err();
            assert!(error.message().contains("a union of 0 variants"), "{error}");
        }
    }
}

/// A column that is not nullable may have a validity buffer without nulls.
#[test]
fn validity_without_nulls_in_non_nullable_columns() {
    let values = Int64Array::new(vec![1, 2, 3].into(), Some(NullBuffer::new_valid(3)));
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, false)]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(values)]).unwrap();
    let file = open(write_batches(std::slice::from_ref(&batch), &WriteOptions::default()).unwrap());
    assert_eq!(concat(&read(&file, ReadOptions::default())).column(0).null_count(), 0);
}

#[test]
fn bytes_grow_with_each_stripe() {
    let rows = batch(vec![("a", Arc::new(Int64Array::from_iter_values(0..5000)) as ArrayRef)]);
    let mut writer = FileWriter::try_new(Box::new(MemorySink::new()), rows.schema(), &WriteOptions::default()).unwrap();
    assert_eq!(writer.bytes(), 3);
    writer.write(&rows).unwrap();
    assert_eq!(writer.bytes(), 3);
    writer.end_stripe().unwrap();
    let first = writer.bytes();
    assert!(first > 3);
    writer.write(&rows).unwrap();
    assert!(writer.finish().unwrap().bytes > first);
}

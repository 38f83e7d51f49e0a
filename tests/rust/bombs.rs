//! Small sections that are large when they are decoded. Reading, checking and merging such files needs little memory
//! and time, and may be an error.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use orcish::io::{MemorySource, ReadAt, Sink};
use orcish::options::Masked;
use orcish::write::merge;
use orcish::{Columns, Comparison, Error, ErrorKind, Limits, OrcFile, Predicate, ReadOptions, Result};
use orcish_core::cancel::CancelCheck;

use crate::clock::Clock;
use crate::damage::peak_of;
use crate::data;
use crate::structured::mutator::Random;
use crate::structured::mutator::layout::{Content, File, assemble, parse};
use crate::structured::mutator::wire::{MARK, Message, Value};

const TAIL: u64 = 16 << 20;
const MEMORY: u64 = 64 << 20;
/// Maximum memory of an operation with these limits, for stored, decompressed and decoded bytes.
const MAX_PEAK: isize = 80 << 20;
const MAX_TIME: Duration = Duration::from_secs(3);

fn limits() -> Limits {
    Limits::default().with_tail(TAIL).with_memory(MEMORY)
}

/// Repeated fields with a tag below 16 and the same body.
fn repeated(tag: u8, body: &[u8], count: usize) -> (u32, Value) {
    let mut field = vec![tag << 3 | 2, u8::try_from(body.len()).unwrap()];
    field.extend_from_slice(body);
    (0, Value::Raw(field.repeat(count)))
}

/// A changed file, compressed with zlib.
fn changed(name: &str, change: impl FnOnce(&mut File)) -> Bytes {
    let mut file = parse(&data::file(name)).expect("a good file");
    change(&mut file);
    assemble(&file, &mut Random::new(3)).into()
}

/// Reads a file with all its statistics.
fn read(bytes: &Bytes, filter: bool) -> Result<()> {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes.clone())), &limits())?;
    file.tail().column_statistics(1)?;
    file.stripe_statistics(&limits())?;
    let options = ReadOptions::default().with_limits(limits()).with_threads(1).with_masked(Masked::Allow);
    let column = file.tail().schema.path(1).into();
    let mut all = options.clone();
    all.filter = filter.then(|| Predicate::Compare { column, op: Comparison::Equal, value: 5.into() });
    file.read(all)?.try_for_each(|batch| batch.map(drop))?;
    file.read(options.with_columns(Columns::Ids(vec![1])))?.try_for_each(|batch| batch.map(drop))
}

/// Checks a file.
fn check(bytes: &Bytes) -> Result<()> {
    OrcFile::try_new(Arc::new(MemorySource::new(bytes.clone())), &limits())?.check(&limits(), None, None).map(drop)
}

/// Merges a file with itself.
fn merge_with_itself(bytes: &Bytes) -> Result<()> {
    let source: Arc<dyn ReadAt> = Arc::new(MemorySource::new(bytes.clone()));
    merge(&[source.clone(), source], Box::new(NullSink), &limits(), None, None).map(drop)
}

/// A sink that drops all bytes.
struct NullSink;

impl Sink for NullSink {
    fn name(&self) -> &'static str {
        "null"
    }

    fn write(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The error of `work`, which must need little time and less than `max_peak` bytes of memory.
fn outcome(what: &str, max_peak: isize, work: impl FnOnce() -> Result<()>) -> Option<ErrorKind> {
    let clock = Clock::start();
    let (result, peak) = peak_of(work);
    let took = clock.elapsed();
    println!("{what}: {peak} bytes allocated, {took:?}, {:?}", result.as_ref().err());
    assert!(peak < max_peak, "{what}: {peak} bytes allocated");
    assert!(took < MAX_TIME, "{what}: {took:?}");
    result.err().map(|error| error.kind())
}

/// Checks time, memory and errors: reading fails with `kind`. Checking and merging may decode more or less of the file.
fn assert_bounded(what: &str, bytes: &Bytes, filter: bool, kind: Option<ErrorKind>) {
    println!("{what}: {} bytes stored", bytes.len());
    assert_eq!(outcome(&format!("{what}, read"), MAX_PEAK, || read(bytes, filter)), kind, "{what}");
    // A merge decodes statistics of both files.
    let operations =
        [("checked", MAX_PEAK, check as fn(&Bytes) -> Result<()>), ("merged", 2 * MAX_PEAK, merge_with_itself)];
    for (operation, max_peak, work) in operations {
        let what = format!("{what}, {operation}");
        let error = outcome(&what, max_peak, || work(bytes));
        assert!([None, TOO_MUCH, kind].contains(&error), "{what}: {error:?}");
    }
}

const FILE: &str = "spark.zlib.orc";
const TOO_MUCH: Option<ErrorKind> = Some(ErrorKind::LimitExceeded);

#[test]
fn footers() {
    let footer = |field: (u32, Value)| changed(FILE, |file| file.footer.0.push(field));
    assert_bounded("types", &footer(repeated(4, &[], 2_000_000)), false, TOO_MUCH);
    assert_bounded("user metadata", &footer(repeated(5, &[], 1_000_000)), false, TOO_MUCH);
    assert_bounded("statistics", &footer(repeated(7, &[], 4_000_000)), false, TOO_MUCH);
    assert_bounded("stripes", &footer(repeated(3, &[], 1_000_000)), false, TOO_MUCH);
    for (tag, what) in [(1, "masks"), (2, "keys"), (3, "variants")] {
        let encryption = Value::Message(Message(vec![repeated(tag, &[], 1_000_000)]));
        assert_bounded(what, &footer((10, encryption)), false, TOO_MUCH);
    }
    for (tag, what) in [(3, "names"), (7, "attributes")] {
        let bytes = changed(FILE, |file| {
            let root = file.footer.messages(4).next().expect("a type");
            root.0.push(repeated(tag, &[], 1_000_000));
        });
        assert_bounded(what, &bytes, false, TOO_MUCH);
    }
    let children = changed(FILE, |file| {
        let root = file.footer.messages(4).next().expect("a type");
        root.0.push((2, Value::Bytes(vec![0; 4 << 20])));
    });
    assert_bounded("children", &children, false, TOO_MUCH);
}

/// A thousand columns, each of which is encrypted by 40,000 variants.
#[test]
fn encrypted_columns_are_collected_once() {
    let bytes = changed(FILE, |file| {
        let mut names = Vec::new();
        let mut children = Vec::new();
        for id in 1..=1000u32 {
            names.push((3, Value::Bytes(format!("c{id}").into_bytes())));
            children.push((2, Value::Number(id.into())));
        }
        let root = Message([vec![(1, Value::Number(12))], names, children].concat());
        file.footer.0.retain(|(tag, _)| ![3, 4, 6, 7, 10].contains(tag));
        file.footer.0.push((4, Value::Message(root)));
        file.footer.0.push(repeated(4, &[1 << 3, 3], 1000));
        let variants = Value::Message(Message(vec![repeated(3, &[1 << 3, 0], 40_000)]));
        file.footer.0.push((10, variants));
        file.metadata.0.clear();
        file.stripes.clear();
    });
    let clock = Clock::start();
    let (file, peak) = peak_of(|| OrcFile::try_new(Arc::new(MemorySource::new(bytes.clone())), &limits()).unwrap());
    assert_eq!(file.tail().encrypted_columns, (0..=1000).collect::<Vec<_>>());
    assert!(peak < MAX_PEAK && clock.elapsed() < MAX_TIME, "{peak} bytes allocated, {:?}", clock.elapsed());
}

/// A thousand columns, each of which is encrypted by 40,000 variants with a key that is given: one of them is unlocked.
#[test]
fn encrypted_columns_are_unlocked_once() {
    let bytes = changed("masked.zstd.orc", |file| {
        let encryption = file.footer.messages(10).next().expect("an encrypted file");
        let variant = [1 << 3, 0, 3 << 3 | 2, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        encryption.0.retain(|(tag, _)| *tag != 3);
        encryption.0.push(repeated(3, &variant, 40_000));
    });
    let clock = Clock::start();
    let (file, peak) = peak_of(|| {
        let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes.clone())), &limits()).unwrap();
        file.with_keys(&data::keys()).unwrap()
    });
    let result = file
        .read(ReadOptions::default().with_limits(limits()))
        .and_then(|mut rows| rows.try_for_each(|batch| batch.map(drop)));
    assert!(result.is_err(), "the stripes have two variants");
    assert!(peak < MAX_PEAK && clock.elapsed() < MAX_TIME, "{peak} bytes allocated, {:?}", clock.elapsed());
}

#[test]
fn stripe_footers() {
    for (tag, what) in [(1, "streams"), (2, "encodings"), (4, "variants")] {
        let bytes = changed(FILE, |file| file.stripes[0].footer.0.push(repeated(tag, &[], 2_000_000)));
        assert_bounded(what, &bytes, false, TOO_MUCH);
    }
}

#[test]
fn stripe_statistics() {
    // More lists than stripes.
    let lists = changed(FILE, |file| file.metadata.0.push(repeated(1, &[], 4_000_000)));
    assert_bounded("lists", &lists, false, TOO_MUCH);
    // Statistics of more columns than the file has are ignored.
    let columns = Value::Message(Message(vec![repeated(1, &[], 4_000_000)]));
    let columns = changed(FILE, |file| file.metadata.0.push((1, columns)));
    assert_bounded("columns", &columns, false, None);
    let buckets = |tag: u32| {
        let numbers = Value::Message(Message(vec![(if tag == 5 { 1 } else { 2 }, Value::Bytes(vec![0; 3 << 20]))]));
        changed(FILE, |file| {
            let statistics = file.footer.messages(7).nth(1).expect("statistics");
            statistics.0.push((tag, numbers));
        })
    };
    // Statistics that are merged have the limit of a tail once they are decoded, whatever memory there is.
    let source = || -> Arc<dyn ReadAt> { Arc::new(MemorySource::new(buckets(5))) };
    let plenty = Limits::default().with_tail(TAIL);
    let merged = || merge(&[source(), source()], Box::new(NullSink), &plenty, None, None).map(drop);
    assert_eq!(outcome("buckets, merged", 2 * MAX_PEAK, merged), TOO_MUCH);
    assert_bounded("buckets", &buckets(5), false, TOO_MUCH);
    assert_bounded("kinds of geometries", &buckets(13), false, TOO_MUCH);
}

#[test]
fn indexes() {
    // Entries of an index with more entries than row groups are counted and ignored.
    for (kind, what, numbers) in [(6, "row indexes", 1), (8, "bloom filters", 2)] {
        let with = |change: &dyn Fn(&mut Message)| {
            changed("groups/java.zlib.orc", |file| {
                // Millions of small chunks take long to make.
                file.framing.chunk_size = 256 << 10;
                file.postscript.set(3, 256 << 10);
                let streams: Vec<_> = file.stripes[0].footer.messages(1).map(|stream| stream.number(1)).collect();
                for (kind_of, content) in streams.into_iter().zip(&mut file.stripes[0].streams) {
                    if let Content::Message(message) = content
                        && kind_of == kind
                    {
                        change(message);
                    }
                }
            })
        };
        let entries = with(&|message| message.0.push(repeated(1, &[], 300_000)));
        assert_bounded(what, &entries, true, None);
        let long = |byte: u8, length: usize| {
            with(&|message| {
                let first = message.messages(1).next().expect("an entry");
                first.0.push((numbers, Value::Bytes(vec![byte; length])));
            })
        };
        assert_bounded(what, &long(0, 40 << 20), true, TOO_MUCH);
        // These bytes are one varint that is too long, and valid bits of a bloom filter.
        let ones = long(0xff, 40 << 20);
        assert_bounded(what, &ones, true, if kind == 6 { Some(ErrorKind::Corrupt) } else { TOO_MUCH });
        if kind == 8 {
            assert_bounded("bits within the memory limit", &long(0, 3 << 20), true, None);
        }
    }
}

/// A file with these types, the first of which is the root, without statistics, and with one stripe without streams.
fn file_without_streams(types: &[&[u8]], rows: u64, stride: u64) -> File {
    let mut file = parse(&data::file(FILE)).expect("a good file");
    let fields = types.iter().map(|orc_type| (4, Value::Bytes(orc_type.to_vec())));
    file.footer.0.retain(|(tag, _)| ![4, 5, 6, 7, 8].contains(tag));
    file.footer.0.extend(fields.chain([(6, Value::Number(rows)), (8, Value::Number(stride))]));
    file.footer.messages(3).for_each(|stripe| stripe.set(5, rows));
    assert_eq!(file.stripes.len(), 1);
    file.metadata.0.clear();
    for stripe in &mut file.stripes {
        stripe.streams.clear();
        let encodings = types.iter().map(|_| (2, Value::Message(Message::default())));
        stripe.footer = Message(encodings.collect());
    }
    file
}

fn to_bytes(file: &File) -> Bytes {
    assemble(file, &mut Random::new(3)).into()
}

/// The type of a struct with this many fields, whose column ids follow the struct.
fn struct_type(count: u8) -> Vec<u8> {
    let field = |id: u8| [2 << 3, id, 3 << 3 | 2, 1, b'a' + id];
    [vec![1 << 3, 12], (1..=count).flat_map(field).collect()].concat()
}

/// A cancellation check that fails at the first call.
fn failing_check() -> CancelCheck {
    Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")))
}

/// The number of findings of a check.
fn num_findings(bytes: &Bytes, limits: &Limits, check: Option<&CancelCheck>) -> Result<usize> {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes.clone())), limits)?;
    file.check(limits, check, None).map(|findings| findings.len())
}

/// Rows without stored bytes, of which a file may state any number.
#[test]
fn rows_without_stored_bytes() {
    const MANY: u64 = 1 << 62;
    for stride in [0, 1, 10_000] {
        // Without readable columns no rows are read.
        let findings = |bytes: &Bytes| num_findings(bytes, &limits(), None);
        let no_columns = to_bytes(&file_without_streams(&[&struct_type(0)], MANY, stride));
        assert_eq!(outcome("no columns", MAX_PEAK, || findings(&no_columns).map(|number| assert_eq!(number, 0))), None);
        let unknown = to_bytes(&file_without_streams(&[&struct_type(1), &[1 << 3, 99]], MANY, stride));
        assert_eq!(
            outcome("unknown columns", MAX_PEAK, || findings(&unknown).map(|number| assert_eq!(number, 1))),
            None
        );
        let structs = |rows| to_bytes(&file_without_streams(&[&struct_type(1), &[1 << 3, 12]], rows, stride));
        assert_eq!(outcome("structs", MAX_PEAK, || check(&structs(MANY))), TOO_MUCH);
        // Row groups of one row must not take long.
        assert_eq!(outcome("some structs", MAX_PEAK, || check(&structs(1 << 22))), None);
        // Cancellation ends the check of as many rows as the memory has bytes.
        let large = limits().with_memory(1 << 36);
        let error = num_findings(&structs(1 << 36), &large, Some(&failing_check())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}

/// Many stripes at the same offset. The memory of the types counts once, not for each stripe.
#[test]
fn overlapping_stripes() {
    let mut file = file_without_streams(&[&struct_type(1), &[1 << 3, 12]], 0, 1);
    let stripe = file.footer.messages(3).next().expect("a stripe").clone();
    file.footer.0.extend(std::iter::repeat_n((3, Value::Message(stripe)), 20_000));
    let bytes = to_bytes(&file);
    assert_eq!(num_findings(&bytes, &limits(), Some(&failing_check())).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(outcome("overlapping stripes, read", MAX_PEAK, || read(&bytes, false)), None);
    assert_eq!(outcome("overlapping stripes, checked", MAX_PEAK, || check(&bytes)), None);
    // Copies of overlapping stripes could have any number of bytes.
    assert_eq!(
        outcome("overlapping stripes, merged", MAX_PEAK, || merge_with_itself(&bytes)),
        Some(ErrorKind::Unsupported)
    );
}

/// The memory limit applies to the bloom filters of all columns together.
#[test]
fn bloom_filters_of_many_columns() {
    const COLUMNS: u8 = 10;
    let types = [vec![struct_type(COLUMNS)], vec![vec![1 << 3, 12]; COLUMNS.into()]].concat();
    let types: Vec<&[u8]> = types.iter().map(Vec::as_slice).collect();
    let mut file = file_without_streams(&types, 5, 1000);
    // The filters of orcish are checked.
    file.footer.set(9, u64::from(u32::from_be_bytes(*b"orcs")));
    let bits = Message(vec![(1, Value::Number(3)), (3, Value::Bytes(vec![0; 12 << 20]))]);
    let filters = Message(vec![(1, Value::Message(bits))]);
    let streams = |file: &mut File, stored: &Content, columns: u8| {
        let stripe = file.stripes.first_mut().expect("a stripe");
        stripe.footer.0.retain(|(tag, _)| *tag != 1);
        for column in 1..=columns {
            let fields = [(1, 8), (2, u64::from(column)), (MARK, 0)].map(|(tag, number)| (tag, Value::Number(number)));
            stripe.footer.0.push((1, Value::Message(Message(fields.to_vec()))));
        }
        stripe.streams = vec![stored.clone()];
        to_bytes(file)
    };
    let one = streams(&mut file, &Content::Message(filters), 1);
    assert_eq!(outcome("bloom filters of a column", MAX_PEAK, || check(&one)), None);
    // The stored stream is reused, so that it is compressed once.
    let mut stripes = parse(&one).expect("a good file").stripes;
    let stored = stripes.first_mut().and_then(|stripe| stripe.streams.pop()).expect("a stream");
    assert!(matches!(stored, Content::Stored(_)));
    let all = streams(&mut file, &stored, COLUMNS);
    assert_eq!(outcome("bloom filters of many columns", MAX_PEAK, || check(&all)), TOO_MUCH);
}

//! Sections that are small as stored and large once they are decoded: each is refused, or read, checked and merged, in
//! little memory and time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use orcish::io::{MemorySource, ReadAt, Sink};
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
/// Most bytes held by what has these limits: what is stored and decompressed, and what is decoded.
const MOST: isize = 80 << 20;
const LONGEST: Duration = Duration::from_secs(3);

fn limits() -> Limits {
    Limits { tail: TAIL, memory: MEMORY, ..Limits::default() }
}

/// So many fields of a tag below 16, each with this body.
fn repeated(tag: u8, body: &[u8], count: usize) -> (u32, Value) {
    let mut field = vec![tag << 3 | 2, u8::try_from(body.len()).unwrap()];
    field.extend_from_slice(body);
    (0, Value::Raw(field.repeat(count)))
}

/// The file of that name after a change, compressed by zlib.
fn changed(name: &str, change: impl FnOnce(&mut File)) -> Bytes {
    let mut file = parse(&data::file(name)).expect("a good file");
    change(&mut file);
    assemble(&file, &mut Random::new(3)).into()
}

/// Opens and reads a file, with all that is recorded of it.
fn read(bytes: &Bytes, filter: bool) -> Result<()> {
    let file = OrcFile::new(Arc::new(MemorySource::new(bytes.clone())), &limits())?;
    file.tail().column_statistics(1)?;
    file.stripe_statistics(&limits())?;
    let options = ReadOptions { limits: limits(), threads: 1, allow_masked: true, ..ReadOptions::default() };
    let column = file.tail().schema.path(1);
    let all = ReadOptions {
        filter: filter.then(|| Predicate::Compare { column, op: Comparison::Equal, value: 5.into() }),
        ..options.clone()
    };
    file.read(all)?.try_for_each(|batch| batch.map(drop))?;
    file.read(ReadOptions { columns: Columns::Ids(vec![1]), ..options })?.try_for_each(|batch| batch.map(drop))
}

/// Compares what is recorded in a file with its rows.
fn check(bytes: &Bytes) -> Result<()> {
    OrcFile::new(Arc::new(MemorySource::new(bytes.clone())), &limits())?.check(&limits(), None).map(drop)
}

/// Merges a file with itself.
fn merged(bytes: &Bytes) -> Result<()> {
    let source: Arc<dyn ReadAt> = Arc::new(MemorySource::new(bytes.clone()));
    merge(&[source.clone(), source], Box::new(Nowhere), &limits(), None).map(drop)
}

/// A sink that keeps nothing.
struct Nowhere;

impl Sink for Nowhere {
    fn name(&self) -> &'static str {
        "nowhere"
    }

    fn write(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What some work ends with, which takes little time and less than `most` bytes of memory.
fn outcome(what: &str, most: isize, work: impl FnOnce() -> Result<()>) -> Option<ErrorKind> {
    let clock = Clock::start();
    let (result, peak) = peak_of(work);
    let took = clock.took();
    println!("{what}: {peak} bytes held, {took:?}, {:?}", result.as_ref().err());
    assert!(peak < most, "{what}: {peak} bytes held");
    assert!(took < LONGEST, "{what}: {took:?}");
    result.err().map(|error| error.kind())
}

/// Looks at what a file takes, and that it is refused as `kind` says by reading. Checking and merging may decode more of
/// it, or less.
fn takes_little(what: &str, bytes: &Bytes, filter: bool, kind: Option<ErrorKind>) {
    println!("{what}: {} bytes stored", bytes.len());
    assert_eq!(outcome(&format!("{what}, read"), MOST, || read(bytes, filter)), kind, "{what}");
    // A merge decodes statistics of both files.
    for (verb, most, work) in [("checked", MOST, check as fn(&Bytes) -> Result<()>), ("merged", 2 * MOST, merged)] {
        let what = format!("{what}, {verb}");
        let found = outcome(&what, most, || work(bytes));
        assert!([None, TOO_MUCH, kind].contains(&found), "{what}: {found:?}");
    }
}

const FILE: &str = "spark.zlib.orc";
const TOO_MUCH: Option<ErrorKind> = Some(ErrorKind::LimitExceeded);

#[test]
fn footers() {
    let footer = |field: (u32, Value)| changed(FILE, |file| file.footer.0.push(field));
    takes_little("types", &footer(repeated(4, &[], 2_000_000)), false, TOO_MUCH);
    takes_little("user metadata", &footer(repeated(5, &[], 1_000_000)), false, TOO_MUCH);
    takes_little("statistics", &footer(repeated(7, &[], 4_000_000)), false, TOO_MUCH);
    takes_little("stripes", &footer(repeated(3, &[], 1_000_000)), false, TOO_MUCH);
    for (tag, what) in [(1, "masks"), (2, "keys"), (3, "variants")] {
        let encryption = Value::Message(Message(vec![repeated(tag, &[], 1_000_000)]));
        takes_little(what, &footer((10, encryption)), false, TOO_MUCH);
    }
    for (tag, what) in [(3, "names"), (7, "attributes")] {
        let bytes = changed(FILE, |file| {
            let root = file.footer.messages(4).next().expect("a type");
            root.0.push(repeated(tag, &[], 1_000_000));
        });
        takes_little(what, &bytes, false, TOO_MUCH);
    }
    let children = changed(FILE, |file| {
        let root = file.footer.messages(4).next().expect("a type");
        root.0.push((2, Value::Bytes(vec![0; 4 << 20])));
    });
    takes_little("children", &children, false, TOO_MUCH);
}

/// A thousand columns, all of which 100,000 keys are said to be for.
#[test]
fn encrypted_columns_are_gone_through_once() {
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
    let (file, peak) = peak_of(|| OrcFile::new(Arc::new(MemorySource::new(bytes.clone())), &limits()).unwrap());
    assert_eq!(file.tail().encrypted_columns, (0..=1000).collect::<Vec<_>>());
    assert!(peak < MOST && clock.took() < LONGEST, "{peak} bytes held, {:?}", clock.took());
}

#[test]
fn stripe_footers() {
    for (tag, what) in [(1, "streams"), (2, "encodings"), (4, "variants")] {
        let bytes = changed(FILE, |file| file.stripes[0].footer.0.push(repeated(tag, &[], 2_000_000)));
        takes_little(what, &bytes, false, TOO_MUCH);
    }
}

#[test]
fn statistics_of_stripes() {
    // As many lists as nobody has stripes.
    let lists = changed(FILE, |file| file.metadata.0.push(repeated(1, &[], 4_000_000)));
    takes_little("lists", &lists, false, TOO_MUCH);
    // Statistics of columns that there are not are left out.
    let columns = Value::Message(Message(vec![repeated(1, &[], 4_000_000)]));
    let columns = changed(FILE, |file| file.metadata.0.push((1, columns)));
    takes_little("columns", &columns, false, None);
    let buckets = |tag: u32| {
        let numbers = Value::Message(Message(vec![(if tag == 5 { 1 } else { 2 }, Value::Bytes(vec![0; 3 << 20]))]));
        changed(FILE, |file| {
            let of_column = file.footer.messages(7).nth(1).expect("statistics");
            of_column.0.push((tag, numbers));
        })
    };
    takes_little("buckets", &buckets(5), false, TOO_MUCH);
    takes_little("kinds of geometries", &buckets(13), false, TOO_MUCH);
}

#[test]
fn indexes() {
    // Of more entries than there are row groups nobody knows which is whose: they are counted, and left out.
    for (kind, what, numbers) in [(6, "row indexes", 1), (8, "bloom filters", 2)] {
        let with = |change: &dyn Fn(&mut Message)| {
            changed("groups/java.zlib.orc", |file| {
                // Larger chunks, as millions of small ones take long to make.
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
        takes_little(what, &entries, true, None);
        let long = |byte: u8, length: usize| {
            with(&|message| {
                let first = message.messages(1).next().expect("an entry");
                first.0.push((numbers, Value::Bytes(vec![byte; length])));
            })
        };
        takes_little(what, &long(0, 40 << 20), true, TOO_MUCH);
        // As varints these bytes are few numbers, and bits as many as any.
        let ones = long(0xff, 40 << 20);
        takes_little(what, &ones, true, if kind == 6 { Some(ErrorKind::Corrupt) } else { TOO_MUCH });
        if kind == 8 {
            takes_little("bits that there is memory for", &long(0, 3 << 20), true, None);
        }
    }
}

/// A file without statistics, of these types, the first of which is the root, and one stripe without streams.
fn bare(types: &[&[u8]], rows: u64, stride: u64) -> File {
    let mut file = parse(&data::file(FILE)).expect("a good file");
    let fields = types.iter().map(|this| (4, Value::Bytes(this.to_vec())));
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

fn whole(file: &File) -> Bytes {
    assemble(file, &mut Random::new(3)).into()
}

/// The type of a struct with this many fields, whose ids follow.
fn of_fields(count: u8) -> Vec<u8> {
    let field = |id: u8| [2 << 3, id, 3 << 3 | 2, 1, b'a' + id];
    [vec![1 << 3, 12], (1..=count).flat_map(field).collect()].concat()
}

/// A check that asks for the end the first time that it is called.
fn impatient() -> CancelCheck {
    Arc::new(|| Err(Error::new(ErrorKind::Interrupted, "enough")))
}

fn checked(bytes: &Bytes, limits: &Limits, check: Option<&CancelCheck>) -> Result<usize> {
    let file = OrcFile::new(Arc::new(MemorySource::new(bytes.clone())), limits)?;
    file.check(limits, check).map(|found| found.len())
}

/// Rows for which nothing is stored, as many as a file likes to state.
#[test]
fn rows_of_nothing() {
    const MANY: u64 = 1 << 62;
    for stride in [0, 1, 10_000] {
        // There is no column whose rows could be gone through.
        let found = |bytes: &Bytes| checked(bytes, &limits(), None);
        let no_columns = whole(&bare(&[&of_fields(0)], MANY, stride));
        assert_eq!(outcome("no columns", MOST, || found(&no_columns).map(|found| assert_eq!(found, 0))), None);
        let unknown = whole(&bare(&[&of_fields(1), &[1 << 3, 99]], MANY, stride));
        assert_eq!(outcome("unknown columns", MOST, || found(&unknown).map(|found| assert_eq!(found, 1))), None);
        let structs = |rows| whole(&bare(&[&of_fields(1), &[1 << 3, 12]], rows, stride));
        assert_eq!(outcome("structs", MOST, || check(&structs(MANY))), TOO_MUCH);
        // Row groups of one row would take long.
        assert_eq!(outcome("some structs", MOST, || check(&structs(1 << 22))), None);
        // As many rows as memory has bytes take their time.
        let large = Limits { memory: 1 << 36, ..limits() };
        let error = checked(&structs(1 << 36), &large, Some(&impatient())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}

/// The types of the file are counted once, not for each stripe.
#[test]
fn stripes_in_one_place() {
    let mut file = bare(&[&of_fields(1), &[1 << 3, 12]], 0, 1);
    let stripe = file.footer.messages(3).next().expect("a stripe").clone();
    file.footer.0.extend(std::iter::repeat_n((3, Value::Message(stripe)), 20_000));
    let bytes = whole(&file);
    assert_eq!(checked(&bytes, &limits(), Some(&impatient())).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(outcome("stripes in one place, read", MOST, || read(&bytes, false)), None);
    assert_eq!(outcome("stripes in one place, checked", MOST, || check(&bytes)), None);
    // Their copies would be as many bytes as the file likes.
    assert_eq!(outcome("stripes in one place, merged", MOST, || merged(&bytes)), Some(ErrorKind::Unsupported));
}

/// Bloom filters of all columns together have as much memory as those of one.
#[test]
fn bloom_filters_of_many_columns() {
    const COLUMNS: u8 = 10;
    let types = [vec![of_fields(COLUMNS)], vec![vec![1 << 3, 12]; COLUMNS.into()]].concat();
    let types: Vec<&[u8]> = types.iter().map(Vec::as_slice).collect();
    let mut file = bare(&types, 5, 1000);
    // Whose filters are looked at.
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
        whole(file)
    };
    let one = streams(&mut file, &Content::Message(filters), 1);
    assert_eq!(outcome("bloom filters of a column", MOST, || check(&one)), None);
    // As they are stored, so that they are compressed once.
    let mut stripes = parse(&one).expect("a good file").stripes;
    let stored = stripes.first_mut().and_then(|stripe| stripe.streams.pop()).expect("a stream");
    assert!(matches!(stored, Content::Stored(_)));
    let all = streams(&mut file, &stored, COLUMNS);
    assert_eq!(outcome("bloom filters of many columns", MOST, || check(&all)), TOO_MUCH);
}

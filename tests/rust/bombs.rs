//! Sections that are small as stored and large once they are decoded: each is refused, or read, in little memory and time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use orcish::{Columns, Comparison, ErrorKind, Limits, MemorySource, OrcFile, Predicate, ReadOptions, Result};

use crate::clock::Clock;
use crate::damage::peak_of;
use crate::data;
use crate::structured::mutator::Random;
use crate::structured::mutator::layout::{Content, File, put_together, take_apart};
use crate::structured::mutator::wire::{Message, Value};

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
    let mut file = take_apart(&data::file(name)).expect("a good file");
    change(&mut file);
    put_together(&file, &mut Random::new(3)).into()
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

/// Checks what a file takes, and that it is refused as `kind` says.
fn takes_little(what: &str, bytes: &Bytes, filter: bool, kind: Option<ErrorKind>) {
    let clock = Clock::start();
    let (result, peak) = peak_of(|| read(bytes, filter));
    let took = clock.took();
    println!("{what}: {} bytes stored, {peak} held, {took:?}, {:?}", bytes.len(), result.as_ref().err());
    assert!(peak < MOST, "{what}: {peak} bytes held");
    assert!(took < LONGEST, "{what}: {took:?}");
    assert_eq!(result.err().map(|error| error.kind()), kind, "{what}");
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
        let long = with(&|message| {
            let first = message.messages(1).next().expect("an entry");
            first.0.push((numbers, Value::Bytes(vec![0; 8 << 20])));
        });
        takes_little(what, &long, true, TOO_MUCH);
    }
}

//! Files of `tests/data/odd`, which violate the specification, are readable, and `check` reports the violations.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use orcish::io::MemorySource;
use orcish::{ErrorKind, Limits, OrcFile, ReadOptions, Result};

use crate::data;
use crate::structured::mutator::Random;
use crate::structured::mutator::layout::{Content, File, assemble, parse};
use crate::structured::mutator::wire::{Message, Value};
use crate::structured::small_files;

/// Names of the files, and the findings of `check`.
const EXPECTED: &[(&str, &[&str])] = &[
    ("chunk-empty", &["stripe 0, row group 0, column c: a zlib chunk has no bytes"]),
    ("chunk-unended", &["stripe 0, row group 0, column c: a zlib chunk has no final block"]),
    ("chunks-unended", &["stripe 0, row group 0, column c: a zlib chunk has no final block"]),
    ("encoding-unknown", &["stripe 0, column d: its encoding in the stripe is unknown"]),
    ("encodings-too-few", &["stripe 0, column d: the stripe footer has 2 encodings for 3 columns"]),
    ("encodings-too-many", &["stripe 0, column the root: the stripe footer has 3 encodings for 2 columns"]),
    ("encrypted-no-column", &["column the root: column 9 is encrypted, which is none"]),
    (
        "footer-text",
        &[
            "column the root: a key of the user metadata is not UTF-8: \"�key\"",
            "column the root: the version of the software is not UTF-8: \"1.�\"",
        ],
    ),
    ("magic-wrong", &["column the root: the magic of the postscript is \"CRO\""]),
    ("metadata-too-long", &["column the root: stripe statistics of 1099511627776 bytes do not fit into the file"]),
    ("patch-beyond-run", &["stripe 0, row group 0, column c: a run has patches beyond its end"]),
    ("rows-mismatch", &["column the root: the footer states 6 rows, and its stripes have 5"]),
    ("rows-of-footer-0", &["column the root: the footer states 0 rows, and its stripes have 5"]),
    ("stream-of-no-column", &["stripe 0, column the root: a stream of column 7, where 2 columns are"]),
    ("stream-too-long", &["stripe 0, column d, DATA stream: a stream of 5000 bytes does not fit into the stripe"]),
    ("stream-twice", &["stripe 0, column c: stream DATA is there twice"]),
    (
        "types-attribute-not-text",
        &["column c: an attribute is not UTF-8: \"k�\"", "column c: an attribute is not UTF-8: \"�\""],
    ),
    ("types-kind-unknown", &["column d: its type cannot be read: unknown type kind 99"]),
    ("types-kind-with-children", &["column d: its type cannot be read: unknown type kind 99"]),
    ("types-list-of-two", &["column d: its type cannot be read: a array with 2 children and 0 names"]),
    ("types-name-not-text", &["column the root: the name of a field is not UTF-8: \"c�\""]),
    ("types-names-of-int", &["column c: a int with 1 names of fields, where it has 0"]),
    ("types-names-too-many", &["column the root: a struct with 2 names of fields, where it has 1"]),
    ("types-precision-99", &["column d: its type cannot be read: a decimal of precision 99 and scale 1"]),
    ("types-unreachable", &["column the root: of 3 types the root reaches 2"]),
    ("zone-not-text", &["stripe 0, column the root: the time zone of the writer is not UTF-8: \"�\""]),
    ("zone-unknown", &["stripe 0, column the root: writer time zone \"Mars/Olympus\" is not known"]),
];

/// Values of the first column, which is valid in all files.
fn read(file: &OrcFile) -> Result<Vec<i32>> {
    let name = file.tail().schema.path(1);
    let options = ReadOptions::default().with_columns([name]);
    let mut values = Vec::new();
    for batch in file.read(options)? {
        values.extend_from_slice(batch?.column(0).as_primitive::<Int32Type>().values());
    }
    Ok(values)
}

#[test]
fn odd_files_are_readable_and_have_findings() {
    let mut errors = Vec::new();
    let files = data::files("tests/data/odd");
    for (name, bytes) in &files {
        let name = name.trim_end_matches(".orc");
        let limits = Limits::default();
        let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes.clone())), &limits).unwrap();
        assert_eq!(read(&file).unwrap(), [-1; 5], "{name}");
        assert_eq!(file.tail().rows, 5, "{name}");
        // Other questions have an answer, or an error that is not one of the library.
        let answers = [
            file.column_storage(None, &limits).map(drop),
            file.writer_timezones(None, &limits).map(drop),
            file.stripe_statistics(&limits).map(drop),
            file.row_groups(1, None, &limits).map(drop),
            file.explain(ReadOptions::default()).map(drop),
        ];
        for answer in answers {
            if let Err(error) = answer {
                assert_ne!(error.kind(), ErrorKind::Internal, "{name}: {error}");
            }
        }
        let findings = match file.check(&limits, None, None) {
            Ok(findings) => findings.iter().map(ToString::to_string).collect(),
            // Another column cannot be read.
            Err(error) => vec![error.to_string().replace("<memory>: ", "")],
        };
        match EXPECTED.iter().find(|(expected, _)| *expected == name) {
            Some((_, expected)) if *expected == findings => {}
            _ => errors.push(format!("    ({name:?}, &{findings:#?}),")),
        }
    }
    assert_eq!(files.len(), EXPECTED.len(), "{}", errors.join("\n"));
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
}

/// The findings of `check` in a changed file.
fn findings(bytes: &bytes::Bytes, change: impl FnOnce(&mut File)) -> Vec<String> {
    let mut file = parse(bytes).expect("a good file");
    change(&mut file);
    let bytes = assemble(&file, &mut Random::new(3));
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap();
    file.check(&Limits::default(), None, None).unwrap().iter().map(ToString::to_string).collect()
}

/// A stream without a kind is a present stream. Unknown kinds are reported as numbers.
#[test]
fn duplicate_streams_are_found() {
    let bytes = data::file("spark.zlib.orc");
    assert_eq!(findings(&bytes, |_| ()), [""; 0]);
    let twice = |kind: Option<u64>, again: Option<u64>| {
        findings(&bytes, |file| {
            let streams = &mut file.stripes[0].footer.0;
            let is_present = |(tag, value): &(u32, Value)| match value {
                Value::Message(stream) => *tag == 1 && stream.number(1) == 0,
                _ => false,
            };
            let at = streams.iter().position(is_present).expect("nulls");
            let Value::Message(present) = streams[at].1.clone() else { panic!("no message") };
            let with = |kind: Option<u64>| {
                let mut stream = present.clone();
                stream.0.retain(|(tag, _)| *tag != 1);
                stream.0.extend(kind.map(|kind| (1, Value::Number(kind))));
                (1, Value::Message(stream))
            };
            streams.splice(at..at, [with(kind), with(again)]);
        })
    };
    let messages = |findings: Vec<String>| -> Vec<String> {
        findings.iter().map(|finding| finding.split_once(": ").expect("a place").1.to_owned()).collect()
    };
    let present = "stream PRESENT is there twice";
    assert_eq!(messages(twice(Some(0), None)), [present; 2]);
    assert_eq!(messages(twice(None, None)), [present; 2]);
    assert_eq!(messages(twice(Some(98), Some(99))), [""; 0]);
    assert_eq!(messages(twice(Some(99), Some(99))), ["stream of kind 99 is there twice"]);
}

/// Small files that can be read as they are, with their rows.
fn readable_files() -> Vec<(String, bytes::Bytes, String)> {
    let files = small_files().into_iter();
    let files: Vec<_> = files.filter_map(|(name, bytes)| Some((name, bytes.clone(), rows(&bytes).ok()?))).collect();
    assert!(files.len() > 15, "{}", files.len());
    files
}

/// All rows of a file, as text.
fn rows(bytes: &[u8]) -> Result<String> {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes.to_vec())), &Limits::default())?;
    let batches = file.read(ReadOptions::default())?.collect::<Result<Vec<_>>>()?;
    Ok(format!("{batches:?}"))
}

/// Fields of another form than the format says are unknown fields, and of several values of an enumeration the last known
/// one counts, in messages of the tail and of stripes.
#[test]
fn odd_fields_of_messages_change_no_value() {
    const ODD: &str = "fields of a message have another form than the format says, or are there twice";
    let odd_numbers = |message: &mut Message, tags: &[u32]| {
        message.0.extend(tags.iter().map(|&tag| (tag, Value::Bytes(vec![3, 1, 2]))));
    };
    for (name, bytes, expected) in readable_files() {
        let parts = || parse(&bytes).expect("a good file");
        let check = |what: &str, file: &File| {
            let changed = assemble(file, &mut Random::new(3));
            assert_eq!(rows(&changed).unwrap(), expected, "{name}: {what}");
            let file = OrcFile::try_new(Arc::new(MemorySource::new(changed)), &Limits::default()).unwrap();
            let findings = file.check(&Limits::default(), None, None).unwrap();
            assert!(findings.iter().any(|finding| finding.to_string().contains(ODD)), "{name}: {what}: {findings:?}");
        };
        let mut file = parts();
        odd_numbers(&mut file.footer, &[1, 2, 6, 8, 9, 11]);
        file.footer.messages(3).for_each(|stripe| odd_numbers(stripe, &[1, 2, 3, 4, 5]));
        file.footer.messages(4).for_each(|this| odd_numbers(this, &[1, 4, 5, 6]));
        check("numbers of the footer", &file);
        let mut file = parts();
        file.footer.messages(4).for_each(|this| this.0.push((1, Value::Number(99))));
        check("kinds of types", &file);
        let mut file = parts();
        file.postscript.0.push((2, Value::Number(99)));
        file.postscript.0.push((3, Value::Bytes(vec![1])));
        check("the postscript", &file);
        let mut file = parts();
        for stripe in &mut file.stripes {
            stripe.footer.messages(1).for_each(|stream| odd_numbers(stream, &[1, 2, 3]));
            stripe.footer.messages(2).for_each(|encoding| encoding.0.push((1, Value::Number(99))));
        }
        if !file.stripes.is_empty() {
            check("stripe footers", &file);
        }
    }
}

/// Bytes behind the last chunk of a stream are not read.
#[test]
fn bytes_behind_the_last_chunk_of_a_stream_change_no_value() {
    let mut changed_streams = 0;
    for (name, bytes, expected) in readable_files() {
        let mut file = parse(&bytes).expect("a good file");
        for behind in [&[7][..], &[7, 0], &[0xff; 3], &[6, 0, 0, 0xff, 0xff, 0xff]] {
            for content in file.stripes.iter_mut().flat_map(|stripe| &mut stripe.streams) {
                if let Content::Stored(stored) = content
                    && !stored.is_empty()
                {
                    stored.extend_from_slice(behind);
                    changed_streams += 1;
                }
            }
            let after = assemble(&file, &mut Random::new(3));
            assert_eq!(rows(&after).unwrap(), expected, "{name}: {behind:?}");
        }
    }
    assert!(changed_streams > 100, "{changed_streams}");
}

/// Bloom filters that readers ignore are reported, whoever wrote them.
#[test]
fn ignored_bloom_filters_are_found() {
    const FUNCTIONS: u32 = 1;
    type Change<'a> = &'a dyn Fn(&mut Message);
    fn is_filter(entry: &mut Message) -> bool {
        let has_functions = |(tag, value): &(u32, Value)| *tag == FUNCTIONS && matches!(value, Value::Number(_));
        entry.0.iter().any(has_functions) && entry.0.iter().any(|(tag, _)| [2, 3].contains(tag))
    }
    let with = |name: &str, change: Change<'_>| {
        findings(&data::file(name), |file| {
            for content in file.stripes.iter_mut().flat_map(|stripe| &mut stripe.streams) {
                if let Content::Message(index) = content
                    && index.messages(1).any(is_filter)
                {
                    change(index);
                }
            }
        })
    };
    let each = |change: fn(&mut Message)| move |index: &mut Message| index.messages(1).for_each(change);
    for name in ["bloom.java.orc", "bloom.pyarrow.orc"] {
        assert_eq!(with(name, &|_| ()), [""; 0], "{name}");
        let no_bits = each(|filter| filter.0.retain(|(tag, _)| *tag == FUNCTIONS));
        let functions = each(|filter| filter.set(FUNCTIONS, 2_000_000));
        let undecodable = each(|filter| filter.0 = vec![(FUNCTIONS, Value::Bytes(vec![7]))]);
        let cases: [(Change<'_>, &str); 4] = [
            (&no_bits, "a filter has no bits, or bits that no writer has, so that it is ignored"),
            (&functions, "a filter has more hash functions than any writer, so that it is ignored"),
            (&undecodable, "a filter cannot be decoded, so that it is ignored"),
            (&|index| index.0.truncate(0), "their number is not that of the row groups, so that they are ignored"),
        ];
        for (change, message) in cases {
            let found = with(name, change);
            assert!(!found.is_empty(), "{name}: {message}");
            for finding in found {
                assert!(
                    finding.starts_with("stripe ") && finding.ends_with(&format!("its bloom filters: {message}")),
                    "{name}: {finding}"
                );
            }
        }
    }
}

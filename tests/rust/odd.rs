//! Files of `tests/data/odd`, which violate the specification, are readable, and `check` reports the violations.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use orcish::io::MemorySource;
use orcish::{Columns, Limits, OrcFile, ReadOptions, Result};

use crate::data;
use crate::structured::mutator::Random;
use crate::structured::mutator::layout::{File, assemble, parse};
use crate::structured::mutator::wire::Value;

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
    let options = ReadOptions::default().with_columns(Columns::Names(vec![name]));
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
        let file = OrcFile::new(Arc::new(MemorySource::new(bytes.clone())), &limits).unwrap();
        assert_eq!(read(&file).unwrap(), [-1; 5], "{name}");
        assert_eq!(file.tail().rows, 5, "{name}");
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
    let file = OrcFile::new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap();
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

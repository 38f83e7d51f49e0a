//! Files of `tests/data/corrupt` are refused with exactly these errors.

use std::sync::Arc;

use orcish::io::MemorySource;
use orcish::{Limits, OrcFile, ReadOptions, Result};

use crate::data;

/// Names of the files, and the errors of reading them.
const EXPECTED: &[(&str, &str)] = &[
    ("chunk-empty", "Corrupt(stripe 0, column c, DATA stream: the stream ends before the last value)"),
    (
        "chunk-garbage-brotli",
        "Corrupt(stripe 0, column c, DATA stream: a brotli chunk of 50 bytes does not decompress into 1000 bytes: not a whole brotli stream)",
    ),
    (
        "chunk-garbage-lz4",
        "Corrupt(stripe 0, column c, DATA stream: a lz4 chunk of 50 bytes does not decompress into 1000 bytes: the offset to copy is not contained in the decompressed buffer)",
    ),
    ("chunk-garbage-lzo", "Corrupt(stripe 0, column c, DATA stream: bad LZO data: the chunk ends early)"),
    (
        "chunk-garbage-snappy",
        "Corrupt(stripe 0, column c, DATA stream: a snappy chunk of 50 bytes does not decompress into 1000 bytes: snappy: corrupt input (invalid header))",
    ),
    (
        "chunk-garbage-zlib",
        "Corrupt(stripe 0, column c, DATA stream: a zlib chunk of 50 bytes does not decompress into 1000 bytes: the data provided to a libdeflater *_decompress function call was invalid in some way (e.g. bad magic numbers, bad checksum))",
    ),
    (
        "chunk-garbage-zstd",
        "Corrupt(stripe 0, column c, DATA stream: a zstd chunk of 50 bytes does not decompress into 1000 bytes: Unknown frame descriptor)",
    ),
    ("chunk-header-cut", "Corrupt(stripe 0, column c, DATA stream: the stream ends within a chunk header)"),
    (
        "chunk-larger-than-stated",
        "Corrupt(stripe 0, column c, DATA stream: a zlib chunk of 16 bytes does not decompress into 1000 bytes: a buffer provided to a libdeflater *_decompress function call was too small to accommodate the decompressed data)",
    ),
    (
        "chunk-size-huge",
        "LimitExceeded(compression chunks of 1099511627776 bytes, more than the 67108864 allowed (limits: chunk))",
    ),
    ("chunk-too-long", "Corrupt(stripe 0, column c, DATA stream: a chunk states 32767 bytes where the stream has 2)"),
    ("codec-unknown", "Unsupported(unknown compression kind 77)"),
    ("data-cut", "Corrupt(stripe 0, column c, DATA stream: the stream ends 1 bytes early)"),
    ("data-missing", "Corrupt(stripe 0, column c, DATA stream: the stream ends before the last value)"),
    ("data-too-short", "Corrupt(stripe 0, column c, DATA stream: the stream ends before the last value)"),
    (
        "decimal-scale-huge",
        "Corrupt(stripe 0, column c, DATA stream: a decimal of scale -9223372036854775808 does not fit into 38 digits)",
    ),
    ("decimal-too-many-digits", "Corrupt(stripe 0, column c, DATA stream: a decimal has more than 3 digits)"),
    ("decimal-varint-unended", "Corrupt(stripe 0, column c, DATA stream: a varint is longer than 128 bits)"),
    ("delta-cut", "Corrupt(stripe 0, column c, DATA stream: the stream ends 23 bytes early)"),
    ("dictionary-bytes-missing", "Corrupt(stripe 0, column c, DICTIONARY_DATA stream: the stream ends 3 bytes early)"),
    ("dictionary-empty", "Corrupt(stripe 0, column c, DATA stream: entry 1 of a dictionary of 0)"),
    ("dictionary-entry-beyond", "Corrupt(stripe 0, column c, DATA stream: entry 5 of a dictionary of 5)"),
    (
        "dictionary-lengths-huge",
        "LimitExceeded(stripe 0, column c, DICTIONARY_DATA stream: what is decompressed, dictionaries and indexes need more than the 4294967296 bytes allowed (limits: memory))",
    ),
    ("dictionary-of-int", "Corrupt(stripe 0, column c: a int column with a dictionary)"),
    (
        "dictionary-size-huge",
        "LimitExceeded(stripe 0, column c: a dictionary of 4294967295 entries needs more than the 1073741824 bytes that an array may have here (limits: memory))",
    ),
    ("direct-cut", "Corrupt(stripe 0, column c, DATA stream: the stream ends 37 bytes early)"),
    ("dwrf", "Unsupported(a DWRF file, not an ORC file)"),
    ("encoding-unknown", "Corrupt(stripe 0, column c: its encoding in the stripe is unknown)"),
    ("encodings-too-few", "Corrupt(stripe 0, column c: the stripe footer has 1 encodings for 2 columns)"),
    ("encodings-too-many", "Corrupt(stripe 0, column c, DATA stream: the stream ends within a varint)"),
    ("float-cut", "Corrupt(stripe 0, column c, DATA stream: the stream ends 4 bytes early)"),
    (
        "footer-bomb",
        "Corrupt(the footer cannot be decompressed: a zlib chunk of 22 bytes does not decompress into 1000 bytes: a buffer provided to a libdeflater *_decompress function call was too small to accommodate the decompressed data)",
    ),
    ("footer-chunk-cut", "Corrupt(the footer cannot be decompressed: the stream ends within a chunk header)"),
    (
        "footer-chunk-too-long",
        "Corrupt(the footer cannot be decompressed: a chunk states 8388607 bytes where the stream has 50)",
    ),
    (
        "footer-cut",
        "Corrupt(the footer cannot be decoded: failed to decode Protobuf message: Footer.types: buffer underflow)",
    ),
    ("footer-garbage", "Corrupt(the footer cannot be decoded: failed to decode Protobuf message: invalid varint)"),
    (
        "footer-huge",
        "LimitExceeded(a footer of 9223372036854775808 bytes, more than the 268435456 allowed (limits: tail))",
    ),
    ("footer-too-long", "Corrupt(a footer of 5000 bytes does not fit into the file)"),
    ("list-elements-missing", "Corrupt(stripe 0, column c.element, DATA stream: the stream ends 1 bytes early)"),
    (
        "list-length-huge",
        "LimitExceeded(stripe 0, column c: a value of 4294967295 elements needs more than the 1073741816 bytes that an array may have here (limits: memory))",
    ),
    ("magic-missing", "Corrupt(not an ORC file: the magic is missing)"),
    (
        "map-key-null",
        "NullMapKey(stripe 0, column c: value 4 of the batch is a map with a null key, which Arrow's maps cannot have)",
    ),
    ("nothing", "Corrupt(not an ORC file: 0 bytes are too few)"),
    ("patch-too-wide", "Corrupt(stripe 0, column c, DATA stream: patches of 64 bits behind gaps of 8 bits)"),
    ("patches-none", "Corrupt(stripe 0, column c, DATA stream: a patched base run has no patches)"),
    (
        "postscript-cut",
        "Corrupt(not an ORC file: the postscript cannot be decoded (it begins like one, and may be truncated): failed to decode Protobuf message: invalid wire type value: 7)",
    ),
    (
        "postscript-of-0",
        "Corrupt(not an ORC file: a postscript of 0 bytes does not fit into it (it begins like one, and may be truncated))",
    ),
    ("postscript-too-long", "Corrupt(not an ORC file: a postscript of 254 bytes does not fit into it)"),
    ("present-cut", "Corrupt(stripe 0, column c, PRESENT stream: the stream ends 1 bytes early)"),
    ("present-too-short", "Corrupt(stripe 0, column c, PRESENT stream: the stream ends before the last value)"),
    ("rows-huge", "Corrupt(stripe 0, column c, DATA stream: the stream ends before the last value)"),
    ("rows-huge-boolean", "Corrupt(stripe 0, column c, DATA stream: the stream ends before the last value)"),
    ("rows-huge-list", "Corrupt(stripe 0, column c, LENGTH stream: the stream ends before the last value)"),
    ("rows-overflow", "Corrupt(stripe 1: more rows than 63 bits count)"),
    ("short-too-large", "Corrupt(stripe 0, column c, DATA stream: an integer does not fit into i16)"),
    ("stream-of-no-column", "Corrupt(stripe 0, column c, DATA stream: the stream ends before the last value)"),
    (
        "stream-overflow",
        "Corrupt(stripe 0, column c, DATA stream: a stream of 18446744073709551615 bytes does not fit into the stripe)",
    ),
    (
        "stream-too-long",
        "Corrupt(stripe 0, column c, DATA stream: a stream of 5000 bytes does not fit into the stripe)",
    ),
    ("string-bytes-missing", "Corrupt(stripe 0, column c, DATA stream: the stream ends 3 bytes early)"),
    ("string-length-beyond-32-bits", "Corrupt(stripe 0, column c, LENGTH stream: an integer does not fit into u32)"),
    (
        "string-length-huge",
        "LimitExceeded(stripe 0, column c: a value of 4294967295 bytes needs more than the 1073741824 bytes that an array may have here (limits: memory))",
    ),
    ("stripe-footer-empty", "Corrupt(stripe 0: the stripe footer has 0 encodings for 2 columns)"),
    (
        "stripe-footer-garbage",
        "Corrupt(stripe 0: the stripe footer cannot be decoded: failed to decode Protobuf message: invalid varint)",
    ),
    ("stripe-outside", "Corrupt(stripe 0: its [0, 2, 21] bytes from 5000 are not within the file)"),
    ("stripe-overflow", "Corrupt(stripe 0: its [8, 2, 21] bytes from 18446744073709551612 are not within the file)"),
    ("stripe-too-long", "Corrupt(stripe 0: its [0, 5000, 21] bytes from 3 are not within the file)"),
    ("text", "Corrupt(not an ORC file: the magic is missing)"),
    ("three-bytes", "Corrupt(not an ORC file: 3 bytes are too few)"),
    (
        "truncated-end",
        "Corrupt(the footer cannot be decoded: failed to decode Protobuf message: Footer.stripes: invalid wire type: Varint (expected LengthDelimited))",
    ),
    ("truncated-head", "Corrupt(stripe 0: its [0, 386, 228] bytes from 3 are not within the file)"),
    ("types-beyond", "Corrupt(type 0 has child 2 where 2 comes next)"),
    ("types-cycle", "Corrupt(type 1 has child 0 where 2 comes next)"),
    ("types-int-with-child", "Corrupt(column with id 0: a int with 1 children and 0 names)"),
    ("types-kind-unknown", "Unsupported(column with id 0: unknown type kind 99)"),
    ("types-list-of-two", "Corrupt(column with id 0: a array with 2 children and 0 names)"),
    ("types-map-of-one", "Corrupt(column with id 0: a map with 1 children and 0 names)"),
    ("types-names-missing", "Corrupt(column with id 0: a struct with 2 children and 1 names)"),
    ("types-none", "Corrupt(the footer has no types)"),
    ("types-own-child", "Corrupt(type 0 has child 0 where 1 comes next)"),
    ("types-precision-99", "Corrupt(column c: a decimal of precision 99 and scale 1)"),
    ("types-scale-9-of-5", "Corrupt(column c: a decimal of precision 5 and scale 9)"),
    ("types-shared", "Corrupt(type 0 has child 1 where 2 comes next)"),
    ("types-too-deep", "LimitExceeded(types are nested deeper than the 128 levels allowed (limits: depth))"),
    ("types-union-of-257", "Corrupt(column with id 0: a uniontype with 257 children and 0 names)"),
    ("types-unordered", "Corrupt(type 0 has child 2 where 1 comes next)"),
    ("types-unreachable", "Corrupt(stripe 0, column a, DATA stream: the stream ends before the last value)"),
    ("union-tag-beyond", "Corrupt(stripe 0, column c, DATA stream: tag 2 of a union of 2)"),
    ("utf8-invalid", "Corrupt(stripe 0, column c, DATA stream: value 2 of the batch is not valid UTF-8)"),
    (
        "utf8-invalid-entry",
        "Corrupt(stripe 0, column c, DICTIONARY_DATA stream: entry 2 of the dictionary is not valid UTF-8)",
    ),
    ("utf8-straddles-values", "Corrupt(stripe 0, column c, DATA stream: value 1 of the batch is not valid UTF-8)"),
    ("varint-cut", "Corrupt(stripe 0, column c, DATA stream: the stream ends within a varint)"),
    ("varint-unended", "Corrupt(stripe 0, column c, DATA stream: a varint is longer than 64 bits)"),
    ("zone-unknown", "Unsupported(stripe 0, column c: writer time zone \"Mars/Olympus\" is not known)"),
];

fn read(bytes: bytes::Bytes) -> Result<usize> {
    let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default())?;
    let mut rows = 0;
    for batch in file.read(ReadOptions::default())? {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

#[test]
fn corrupt_files_have_expected_errors() {
    let mut differences = Vec::new();
    let files = data::files("tests/data/corrupt");
    for (name, bytes) in &files {
        let name = name.trim_end_matches(".orc");
        let got = match read(bytes.clone()) {
            Ok(rows) => format!("{rows} rows and no error"),
            Err(error) => format!("{error:?}").replace("<memory>: ", ""),
        };
        match EXPECTED.iter().find(|(expected, _)| *expected == name) {
            Some((_, want)) if *want == got => {}
            Some((_, want)) => differences.push(format!("{name}\n  gives {got}\n  not   {want}")),
            None => differences.push(format!("no entry yet:\n    ({name:?}, {got:?}),")),
        }
    }
    let exists = |name: &str| files.iter().any(|(file, _)| file.trim_end_matches(".orc") == name);
    differences.extend(EXPECTED.iter().filter(|(name, _)| !exists(name)).map(|(name, _)| format!("no file {name}")));
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

//! Whole files, read in full under small limits, with several sets of options. The last bytes of the input
//! are the postscript, so options are taken from its length: the seeds are files as they are.

#![no_main]

use std::sync::Arc;

use arrow_array::Array as _;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use orcish::{
    Columns, Limits, MemorySource, NullMapKeys, OrcFile, OutOfRange, ReadOptions, StringType, TimestampUnit, UnionType,
};

fn limits() -> Limits {
    Limits { tail: 1 << 20, chunk: 1 << 20, depth: 32, columns: 1_000, stripes: 1_000, memory: 32 << 20 }
}

/// Most rows that are read of one input: files of few bytes may hold any number of equal rows.
const MOST_ROWS: usize = 200_000;

fn options(index: usize) -> ReadOptions {
    let base = ReadOptions { limits: limits(), threads: 1, allow_masked: true, ..ReadOptions::default() };
    match index {
        0 => base,
        1 => ReadOptions {
            batch_size: 7,
            strings: StringType::View,
            unions: UnionType::Sparse,
            timestamp_unit: TimestampUnit::Nanosecond,
            null_map_keys: NullMapKeys::Dictionary,
            ..base
        },
        2 => ReadOptions {
            batch_size: 1000,
            strings: StringType::Dictionary,
            unions: UnionType::Struct,
            timestamp_unit: TimestampUnit::Auto,
            timestamp_out_of_range: OutOfRange::Null,
            trim_char: true,
            ..base
        },
        _ => ReadOptions { strings: StringType::Large, timestamp_unit: TimestampUnit::Second, threads: 2, ..base },
    }
}

fuzz_target!(|data: &[u8]| {
    let source = Arc::new(MemorySource::new(Bytes::copy_from_slice(data)));
    let Ok(file) = OrcFile::new(source, &limits()) else { return };
    let _ = file.stripe_statistics(&limits());
    for index in 0..4 {
        read(&file, options(index));
    }
    // One nested column alone.
    let last = u32::try_from(file.tail().schema.types().len() - 1).expect("few columns");
    read(&file, ReadOptions { columns: Columns::Ids(vec![last]), ..options(1) });
});

fn read(file: &OrcFile, options: ReadOptions) {
    let Ok(reader) = file.read(options) else { return };
    let schema = reader.schema();
    let mut rows = 0;
    for batch in reader {
        let Ok(batch) = batch else { return };
        assert_eq!(batch.schema(), schema);
        for column in batch.columns() {
            // Arrow's own rules, but for nulls that NullMapKeys::Dictionary lets through on purpose.
            column.to_data().validate().expect("a valid array");
        }
        rows += batch.num_rows();
        if rows > MOST_ROWS {
            return;
        }
    }
    assert_eq!(rows as u64, file.tail().rows);
}

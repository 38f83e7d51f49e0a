//! Whole files, read in full under small limits, with several sets of options.

#![no_main]

mod reading;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use orcish::{Columns, OrcFile, ReadOptions};
use orcish::options::{InvalidUtf8, LongChar, NullMapKeys, OutOfRange, StringType, TimestampUnit, UnionType};

fn options(index: usize) -> ReadOptions {
    let base = reading::options();
    match index {
        0 => base,
        1 => ReadOptions {
            batch_size: 7,
            strings: Some(StringType::View),
            unions: Some(UnionType::Sparse),
            timestamp_unit: Some(TimestampUnit::Nanosecond),
            null_map_keys: NullMapKeys::Dictionary,
            invalid_utf8: InvalidUtf8::Replace,
            ..base
        },
        2 => ReadOptions {
            batch_size: 1000,
            strings: Some(StringType::Dictionary),
            unions: Some(UnionType::Struct),
            timestamp_unit: Some(TimestampUnit::Auto),
            timestamp_out_of_range: OutOfRange::Null,
            trim_char: true,
            invalid_utf8: InvalidUtf8::Null,
            decimal_out_of_range: OutOfRange::Null,
            long_char: LongChar::Cut,
            ..base
        },
        _ => ReadOptions {
            strings: Some(StringType::Large),
            timestamp_unit: Some(TimestampUnit::Second),
            threads: 2,
            ..base
        },
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    reading::mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| reading::within_memory(reading::MAX_MEMORY, || run(data)));

fn run(data: &[u8]) {
    let Some(file) = reading::open(data) else { return };
    let _ = file.stripe_statistics(&reading::limits());
    for index in 0..4 {
        read(&file, options(index));
    }
    // The last column alone, which may be nested.
    let last = u32::try_from(file.tail().schema.types().len() - 1).expect("few columns");
    read(&file, ReadOptions { columns: Columns::Ids(vec![last]), ..options(1) });
}

fn read(file: &OrcFile, options: ReadOptions) {
    if let Some(rows) = reading::read(file, options) {
        assert_eq!(rows, file.tail().rows);
    }
}

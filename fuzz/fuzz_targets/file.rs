//! Whole files, read in full under small limits, with several sets of options.

#![no_main]

mod reading;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use orcish::options::{InvalidUtf8, LongChar, NullMapKeys, OutOfRange, StringType, TimestampUnit, UnionType};
use orcish::{Columns, OrcFile, ReadOptions};

fn options(index: usize) -> ReadOptions {
    let base = reading::options();
    match index {
        0 => base,
        1 => base
            .with_batch_size(7)
            .with_strings(StringType::View)
            .with_unions(UnionType::Sparse)
            .with_timestamp_unit(TimestampUnit::Nanosecond)
            .with_null_map_keys(NullMapKeys::Dictionary)
            .with_invalid_utf8(InvalidUtf8::Replace),
        2 => base
            .with_batch_size(1000)
            .with_strings(StringType::Dictionary)
            .with_unions(UnionType::Struct)
            .with_timestamp_unit(TimestampUnit::Auto)
            .with_timestamp_out_of_range(OutOfRange::Null)
            .with_trim_char(true)
            .with_invalid_utf8(InvalidUtf8::Null)
            .with_decimal_out_of_range(OutOfRange::Null)
            .with_long_char(LongChar::Cut),
        _ => base.with_strings(StringType::Large).with_timestamp_unit(TimestampUnit::Second).with_threads(2),
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
    read(&file, options(1).with_columns(Columns::Ids(vec![last])));
}

fn read(file: &OrcFile, options: ReadOptions) {
    if let Some(rows) = reading::read(file, options) {
        assert_eq!(rows, file.tail().rows);
    }
}

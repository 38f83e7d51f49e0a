//! CarbonData: the input is read as a data file of each version, a streaming file, an index file, and each kind of
//! metadata.

#![no_main]

#[allow(dead_code, unused_imports, reason = "only the limits are used")]
mod reading;

use arrow_array::Array as _;
use bytes::Bytes;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|data: &[u8]| {
    let check = |array: &arrow_array::ArrayRef| array.to_data().validate_full().expect("a valid array");
    carbondata::fuzzing::read(&Bytes::copy_from_slice(data), &reading::limits(), &check);
});

// Half of the mutations decode the thrift structs of a file, change them, and encode them again.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed = data.get(..size).filter(|_| seed % 2 == 0).and_then(|bytes| carbondata::fuzzing::mutate(bytes, seed.into()));
    match changed.filter(|bytes| bytes.len() <= max_size) {
        Some(bytes) => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
});

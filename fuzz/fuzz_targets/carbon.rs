//! Files of CarbonData tables: the bytes are taken for a data file of any version, a stream, an index, and each kind of
//! metadata.

#![no_main]

#[allow(dead_code, reason = "the limits are enough")]
mod reading;

use arrow_array::Array as _;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let check = |array: &arrow_array::ArrayRef| array.to_data().validate_full().expect("a valid array");
    carbondata::fuzzing::read(&Bytes::copy_from_slice(data), &reading::limits(), &check);
});

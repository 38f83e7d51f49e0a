//! Encoders of the encodings of ORC.
//!
//! An encoder appends to a `Vec<u8>` and never fails. `encode` encodes all values of a stream. `encode_complete_runs`
//! encodes only the runs that do not depend on the values that follow, and returns their number of values: the next call
//! gets the remaining values again, with more values behind them.

mod bitpack;
pub mod bool_rle;
pub mod byte_rle;
pub mod int_rle_v1;
pub mod int_rle_v2;
mod patched_base;
mod run;
pub mod varint;

#[cfg(test)]
pub(crate) mod reference;
#[cfg(test)]
mod tests;

pub use int_rle_v2::{SubEncoding, encode_as};

/// Encodes the nanoseconds of a timestamp for the SECONDARY stream (ORCv1, Timestamp Columns).
///
/// If the number ends in two or more decimal zeros, up to eight zeros are removed, and the lowest three bits are the number
/// of removed zeros minus one. Otherwise the lowest three bits are 0.
pub fn encode_nanos(nanos: u32) -> u64 {
    let mut digits = u64::from(nanos);
    if digits == 0 || digits % 100 != 0 {
        return digits << 3;
    }
    digits /= 100;
    let mut zeros = 1;
    while zeros < 7 && digits % 10 == 0 {
        digits /= 10;
        zeros += 1;
    }
    digits << 3 | zeros
}

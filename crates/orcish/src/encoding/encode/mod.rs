//! Encoders: from values to the bytes that the decoders beside this module read.
//!
//! Each encoder appends to a `Vec<u8>` and never fails. `encode` takes a whole stream; `encode_settled`, where
//! there is one, writes only the runs that later values cannot change and says how many values they hold, so
//! that a writer may hand over the rest again with more.

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

/// Nanoseconds as the SECONDARY stream of timestamps holds them (ORCv1, Timestamp Columns): where two or more
/// decimal zeros end the number, up to eight are taken away, and the low three bits hold their count minus one.
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

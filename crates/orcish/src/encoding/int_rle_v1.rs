//! Runs of integer run length encoding, version 1 (ORCv1): a run with a fixed delta, or a list of literal varints.

use orcish_core::error::Result;

use super::run::{MAX_RUN, RunDecoder};
use super::varint::{MAX_LEN_64, ends_within_varint, read_u64, skip_within, too_long, unzigzag};
use crate::source::{stream_ends, values_end};

/// Minimum length of a run.
const MIN_RUN: usize = 3;
/// Maximum length of a literal list.
const MAX_LITERALS: usize = 128;

/// Runs and literal lists of version 1.
pub(super) struct Runs<const SIGNED: bool>;

impl<const SIGNED: bool> RunDecoder for Runs<SIGNED> {
    const MAX_RUN_BYTES: usize = 1 + MAX_LITERALS * MAX_LEN_64;

    fn decode<'a>(bytes: &'a [u8], out: Option<&mut [i64; MAX_RUN]>) -> Result<(usize, &'a [u8])> {
        decode_run(bytes, SIGNED, out)
    }
}

/// Decodes the run or literal list at the front of `bytes` into the front of `out`; returns the number of values and the
/// bytes behind it. Without `out` the run is skipped.
///
/// A literal list that is skipped may have literals of more than 64 bits. It has no more bytes than literals of 64 bits.
fn decode_run<'a>(bytes: &'a [u8], signed: bool, out: Option<&mut [i64; MAX_RUN]>) -> Result<(usize, &'a [u8])> {
    let convert = |value: u64| if signed { unzigzag(value) } else { value.cast_signed() };
    let (&header, mut rest) = bytes.split_first().ok_or_else(values_end)?;
    if header < 0x80 {
        let length = usize::from(header) + MIN_RUN;
        let (&delta, mut rest) = rest.split_first().ok_or_else(|| stream_ends(1))?;
        let (delta, mut value) = (i64::from(delta.cast_signed()), convert(read_u64(&mut rest)?));
        if let Some(out) = out {
            for to in out.iter_mut().take(length) {
                *to = value;
                value = value.wrapping_add(delta);
            }
        }
        return Ok((length, rest));
    }
    let length = 0x100 - usize::from(header);
    if let Some(out) = out {
        for to in out.iter_mut().take(length) {
            *to = convert(read_u64(&mut rest)?);
        }
        return Ok((length, rest));
    }
    let (skipped, taken) = skip_within(rest, length);
    if taken > length * MAX_LEN_64 {
        return Err(too_long(64));
    }
    if skipped < length {
        return Err(ends_within_varint());
    }
    Ok((length, rest.split_at(taken).1))
}

//! Runs of integer run length encoding, version 1 (ORCv1): a run with a fixed delta, or a list of literal varints.

use orcish_core::error::Result;

use super::run::MAX_RUN;
use super::varint::{self, MAX_LEN_64, unzigzag};
use crate::source::stream_ends;

/// Minimum length of a run.
const MIN_RUN: usize = 3;
/// Maximum length of a literal list.
const MAX_LITERALS: usize = 128;

/// Maximum number of bytes of a run or a literal list.
pub(crate) const MAX_RUN_BYTES: usize = 1 + MAX_LITERALS * MAX_LEN_64;

/// Decodes the run or literal list at the front of `bytes` into the front of `out`; returns the number of values and the
/// number of bytes.
pub(crate) fn decode_run(bytes: &[u8], signed: bool, out: &mut [i64; MAX_RUN]) -> Result<(usize, usize)> {
    let convert = |value: u64| if signed { unzigzag(value) } else { value.cast_signed() };
    let Some((&header, mut rest)) = bytes.split_first() else { return Err(stream_ends(1)) };
    let length = if header < 0x80 {
        let length = usize::from(header) + MIN_RUN;
        let Some((&delta, tail)) = rest.split_first() else { return Err(stream_ends(1)) };
        let (first, taken) = varint::read_u64(tail)?;
        rest = tail.get(taken..).unwrap_or_default();
        let (delta, mut value) = (i64::from(delta.cast_signed()), convert(first));
        for to in out.iter_mut().take(length) {
            *to = value;
            value = value.wrapping_add(delta);
        }
        length
    } else {
        let length = 0x100 - usize::from(header);
        for to in out.iter_mut().take(length) {
            let (value, taken) = varint::read_u64(rest)?;
            rest = rest.get(taken..).unwrap_or_default();
            *to = convert(value);
        }
        length
    };
    Ok((length, bytes.len() - rest.len()))
}

//! Short repeat: one value of one to eight bytes, three to ten times.

use orcish_core::error::Result;

use super::run::Run;
use crate::encoding::run::MAX_RUN;
use crate::encoding::varint::unzigzag;

#[inline]
pub(super) fn decode<const SIGNED: bool>(first: u8, run: &mut Run<'_>, out: &mut [i64; MAX_RUN]) -> Result<usize> {
    let width = usize::from(first >> 3 & 7) + 1;
    // Mostly there are eight bytes to look at, whatever the width.
    let value = match run.bytes.get(run.at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(bytes) => {
            run.at += width;
            u64::from_be_bytes(*bytes) >> (64 - 8 * width)
        }
        None => run.number(width)?,
    };
    let value = if SIGNED { unzigzag(value) } else { value.cast_signed() };
    // Ten values, the most, are written at once; those beyond the length are overwritten later.
    if let Some(front) = out.first_chunk_mut::<10>() {
        *front = [value; 10];
    }
    Ok(usize::from(first & 7) + 3)
}

//! Direct: fields of one width.

use orcish_core::error::Result;

use super::run::{Run, front, width};
use crate::encoding::bitpack::{GROUP, MAX_WIDTH_OF_WORD, packed_len, unpack, unpack_word};
use crate::encoding::run::MAX_RUN;

pub(super) fn decode<const SIGNED: bool>(first: u8, run: &mut Run<'_>, out: &mut [i64; MAX_RUN]) -> Result<usize> {
    let width = width(first >> 1);
    let length = run.length(first)?;
    // Few values in few bits are frequent where a column repeats itself now and then, and then a jump by width is
    // what takes longest.
    if length <= GROUP
        && width <= MAX_WIDTH_OF_WORD
        && let Some(bytes) = run.bytes.get(run.at..).and_then(|rest| rest.first_chunk::<8>())
        && let Some(group) = out.first_chunk_mut::<GROUP>()
    {
        run.at += packed_len(length, width);
        unpack_word::<SIGNED>(u64::from_be_bytes(*bytes), width, group);
        return Ok(length);
    }
    // Whole groups of fields are faster; values beyond the length are overwritten by the next run.
    unpack::<SIGNED>(run.packed(length, width)?, width, front(out, length.next_multiple_of(GROUP))?);
    Ok(length)
}

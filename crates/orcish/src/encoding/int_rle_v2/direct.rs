//! Direct runs: bit-packed values.

use orcish_core::error::Result;

use super::run::{RunReader, decode_width, front};
use crate::encoding::bitpack::{GROUP, MAX_WORD_WIDTH, unpack, unpack_word};
use crate::encoding::run::MAX_RUN;

/// Decodes the run with the first header byte `header`; returns the number of values.
#[inline(always)]
pub(super) fn decode<const SIGNED: bool>(
    header: u8,
    run: &mut RunReader<'_>,
    out: Option<&mut [i64; MAX_RUN]>,
) -> Result<usize> {
    let width = decode_width(header >> 1);
    let length = run.run_length(header)?;
    let packed = run.packed_bytes(length, width)?;
    let Some(out) = out else { return Ok(length) };
    // Columns with some repeated values have many short runs of narrow values. The branch on the width would take most of
    // the time of such a run.
    if length <= GROUP
        && width <= MAX_WORD_WIDTH
        && let Some(bytes) = packed.first_chunk::<8>()
        && let Some(group) = out.first_chunk_mut::<GROUP>()
    {
        unpack_word::<SIGNED>(u64::from_be_bytes(*bytes), width, group);
        return Ok(length);
    }
    // Unpacking of complete groups is faster. Values behind the length of the run are overwritten by the next run.
    unpack::<SIGNED>(packed, width, front(out, length.next_multiple_of(GROUP))?)?;
    Ok(length)
}

//! Direct: fields of one width.

use super::{Run, front, width};
use crate::encoding::bitpack::{GROUP, unpack};
use crate::encoding::int_rle::MAX_RUN;
use crate::error::Result;

pub(super) fn decode<const SIGNED: bool>(first: u8, run: &mut Run<'_>, out: &mut [i64; MAX_RUN]) -> Result<usize> {
    let width = width(first >> 1);
    let length = run.length(first)?;
    // Whole groups of fields are faster; values beyond the length are overwritten by the next run.
    unpack::<SIGNED>(run.packed(length, width)?, width, front(out, length.next_multiple_of(GROUP))?);
    Ok(length)
}

//! Short repeat: one value of one to eight bytes, three to ten times.

use super::{Run, front};
use crate::encoding::int_rle::MAX_RUN;
use crate::encoding::varint::unzigzag;
use crate::error::Result;

pub(super) fn decode<const SIGNED: bool>(first: u8, run: &mut Run<'_>, out: &mut [i64; MAX_RUN]) -> Result<usize> {
    let value = run.number(usize::from(first >> 3 & 7) + 1)?;
    let length = usize::from(first & 7) + 3;
    front(out, length)?.fill(if SIGNED { unzigzag(value) } else { value.cast_signed() });
    Ok(length)
}

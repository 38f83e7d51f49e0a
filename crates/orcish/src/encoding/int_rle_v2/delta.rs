//! Delta: a base, the first delta, and fields of one width with the sizes of the others, whose
//! sign is that of the first; or one delta for all when the width is zero.

use orcish_core::error::Result;

use super::run::{Run, front, width};
use crate::encoding::bitpack::{GROUP, unpack};
use crate::encoding::run::MAX_RUN;
use crate::encoding::varint::{read_u64, unzigzag};

pub(super) fn decode<const SIGNED: bool>(first: u8, run: &mut Run<'_>, out: &mut [i64; MAX_RUN]) -> Result<usize> {
    let code = first >> 1 & 31;
    let length = run.length(first)?;
    let base = varint(run)?;
    let base = if SIGNED { unzigzag(base) } else { base.cast_signed() };
    let delta = unzigzag(varint(run)?);
    if code == 0 {
        let mut value = base;
        for to in front(out, length)? {
            *to = value;
            value = value.wrapping_add(delta);
        }
        return Ok(length);
    }
    let mut value = base.wrapping_add(delta);
    let width = width(code);
    let count = length.saturating_sub(2);
    let packed = run.packed(count, width)?;
    // There is room for two values whatever the length; those beyond it are overwritten by the next run.
    let [to_first, to_second, rest @ ..] = out;
    (*to_first, *to_second) = (base, value);
    let whole = count.next_multiple_of(GROUP).min(rest.len());
    let rest = rest.get_mut(..whole).unwrap_or_default();
    unpack::<false>(packed, width, rest);
    let deltas = rest.iter_mut().take(count);
    if delta < 0 {
        deltas.for_each(|to| {
            value = value.wrapping_sub(*to);
            *to = value;
        });
    } else {
        deltas.for_each(|to| {
            value = value.wrapping_add(*to);
            *to = value;
        });
    }
    Ok(length)
}

fn varint(run: &mut Run<'_>) -> Result<u64> {
    let (value, taken) = read_u64(run.bytes.get(run.at..).unwrap_or_default())?;
    run.at += taken;
    Ok(value)
}

//! Delta runs: the base value, the first delta, and the bit-packed magnitudes of the other deltas.
//!
//! All deltas have the sign of the first. If the width code is 0, all deltas are equal to the first.

use orcish_core::error::Result;

use super::run::{RunReader, decode_width, front};
use crate::encoding::bitpack::{GROUP, unpack};
use crate::encoding::run::MAX_RUN;
use crate::encoding::varint::{read_u64, unzigzag};

/// Decodes the run with the first header byte `header`; returns the number of values.
pub(super) fn decode<const SIGNED: bool>(
    header: u8,
    run: &mut RunReader<'_>,
    out: &mut [i64; MAX_RUN],
) -> Result<usize> {
    let code = header >> 1 & 31;
    let length = run.run_length(header)?;
    let base = read_varint(run)?;
    let base = if SIGNED { unzigzag(base) } else { base.cast_signed() };
    let delta = unzigzag(read_varint(run)?);
    if code == 0 {
        let mut value = base;
        for to in front(out, length)? {
            *to = value;
            value = value.wrapping_add(delta);
        }
        return Ok(length);
    }
    let mut value = base.wrapping_add(delta);
    let width = decode_width(code);
    let count = length.saturating_sub(2);
    let packed = run.packed_bytes(count, width)?;
    // Values behind the length of the run are overwritten by the next run.
    let [to_first, to_second, rest @ ..] = out;
    (*to_first, *to_second) = (base, value);
    let padded_count = count.next_multiple_of(GROUP).min(rest.len());
    let rest = rest.get_mut(..padded_count).unwrap_or_default();
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

fn read_varint(run: &mut RunReader<'_>) -> Result<u64> {
    let (value, taken) = read_u64(run.bytes.get(run.at..).unwrap_or_default())?;
    run.at += taken;
    Ok(value)
}

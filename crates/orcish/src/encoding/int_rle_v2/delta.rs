//! Delta runs: the base value, the first delta, and the bit-packed magnitudes of the other deltas.
//!
//! All deltas have the sign of the first. If the width code is 0, all deltas are equal to the first.

use orcish_core::OrInternal as _;
use orcish_core::error::Result;

use super::run::{RunReader, decode_width, front};
use crate::encoding::bitpack::{GROUP, unpack};
use crate::encoding::run::MAX_RUN;
use crate::encoding::varint::{read_u64, unzigzag};

/// Decodes the run with the first header byte `header`; returns the number of values.
pub(super) fn decode<const SIGNED: bool>(
    header: u8,
    run: &mut RunReader<'_>,
    out: Option<&mut [i64; MAX_RUN]>,
) -> Result<usize> {
    let code = header >> 1 & 31;
    let length = run.run_length(header)?;
    let base = read_u64(&mut run.rest)?;
    let base = if SIGNED { unzigzag(base) } else { base.cast_signed() };
    let delta = unzigzag(read_u64(&mut run.rest)?);
    let (count, width) = (length.saturating_sub(2), decode_width(code));
    let packed = if code == 0 { None } else { Some(run.packed_bytes(count, width)?) };
    let Some(out) = out else { return Ok(length) };
    let Some(packed) = packed else {
        let out = front(out, length)?;
        if delta == 0 {
            out.fill(base);
            return Ok(length);
        }
        let mut value = base;
        for to in out {
            *to = value;
            value = value.wrapping_add(delta);
        }
        return Ok(length);
    };
    let mut value = base.wrapping_add(delta);
    // Values behind the length of the run are overwritten by the next run.
    let [to_first, to_second, rest @ ..] = out;
    (*to_first, *to_second) = (base, value);
    let padded_count = count.next_multiple_of(GROUP).min(rest.len());
    let rest = rest.get_mut(..padded_count).or_internal("a run has more deltas than values fit into the buffer")?;
    unpack::<false>(packed, width, rest)?;
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

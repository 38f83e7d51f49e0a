//! Runs of integer run length encoding, version 2 (ORCv1). The two highest bits of the header are the sub-encoding.

mod delta;
mod direct;
mod patched_base;
mod run;
mod short_repeat;

use orcish_core::error::Result;

use super::run::MAX_RUN;
use crate::source::values_end;
use run::RunReader;

/// Maximum number of bytes of a run: a patched base run of 512 values of 64 bits with 31 patches of 64 bits.
pub(crate) const MAX_RUN_BYTES: usize = 4 + 8 + 8 * MAX_RUN + 8 * 31;

/// Decodes the run at the front of `bytes` into the front of `out`; returns the number of values and the bytes behind the
/// run. `SIGNED` values are zigzag encoded.
///
/// Without `out` the run is skipped: its headers, the varints of a delta run, and its length in bytes are checked, bit-packed
/// values and the entries of a patch list are not.
#[inline(always)]
pub(crate) fn decode_run<'a, const SIGNED: bool>(
    bytes: &'a [u8],
    out: Option<&mut [i64; MAX_RUN]>,
) -> Result<(usize, &'a [u8])> {
    let (&header, rest) = bytes.split_first().ok_or_else(values_end)?;
    let mut run = RunReader { rest };
    let length = match header >> 6 {
        0 => short_repeat::decode::<SIGNED>(header, &mut run, out),
        1 => direct::decode::<SIGNED>(header, &mut run, out),
        2 => patched_base::decode(header, &mut run, out),
        _ => delta::decode::<SIGNED>(header, &mut run, out),
    }?;
    Ok((length, run.rest))
}

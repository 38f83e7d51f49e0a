//! Integer run length encoding, version 2 (ORCv1): four sub-encodings, told apart by the two highest
//! bits of the header.

mod delta;
mod direct;
mod patched_base;
mod run;
mod short_repeat;

use orcish_core::error::Result;

use super::run::MAX_RUN;
use run::Run;

/// Most bytes of a run: a patched base one of 512 values of 64 bits, with 31 patches of 64 bits.
pub(crate) const MAX_RUN_BYTES: usize = 4 + 8 + 8 * MAX_RUN + 8 * 31;

/// Decodes the run at the front of `bytes` into the front of `out`; returns the number of values and of
/// bytes. `SIGNED` values are zigzag coded.
#[inline]
pub(crate) fn decode_run<const SIGNED: bool>(bytes: &[u8], out: &mut [i64; MAX_RUN]) -> Result<(usize, usize)> {
    let mut run = Run { bytes, at: 0 };
    let first = run.byte()?;
    let length = match first >> 6 {
        0 => short_repeat::decode::<SIGNED>(first, &mut run, out),
        1 => direct::decode::<SIGNED>(first, &mut run, out),
        2 => patched_base::decode(first, &mut run, out),
        _ => delta::decode::<SIGNED>(first, &mut run, out),
    }?;
    Ok((length, run.at))
}

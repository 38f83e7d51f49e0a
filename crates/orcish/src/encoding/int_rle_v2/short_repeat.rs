//! Short repeat runs: a value of one to eight bytes, which is repeated three to ten times.

use orcish_core::OrInternal as _;
use orcish_core::error::Result;

use super::run::RunReader;
use crate::encoding::run::MAX_RUN;
use crate::encoding::varint::unzigzag;

/// Decodes the run with the first header byte `header`; returns the number of values.
#[inline(always)]
pub(super) fn decode<const SIGNED: bool>(
    header: u8,
    run: &mut RunReader<'_>,
    out: Option<&mut [i64; MAX_RUN]>,
) -> Result<usize> {
    let width = usize::from(header >> 3 & 7) + 1;
    // Usually at least eight bytes are left, which are read at once.
    let value = match (run.rest.first_chunk::<8>(), run.rest.get(width..)) {
        (Some(bytes), Some(rest)) => {
            run.rest = rest;
            u64::from_be_bytes(*bytes) >> (64 - 8 * width)
        }
        _ => run.read_be(width)?,
    };
    let value = if SIGNED { unzigzag(value) } else { value.cast_signed() };
    // The maximum of ten values is written at once. Values behind the length of the run are overwritten by the next run.
    if let Some(out) = out {
        *out.first_chunk_mut::<10>().or_internal("a buffer is shorter than a short repeat run")? = [value; 10];
    }
    Ok(usize::from(header & 7) + 3)
}

//! Integer run length encoding, version 2 (ORCv1): four sub-encodings, told apart by the two highest
//! bits of the header.

mod delta;
mod direct;
mod patched_base;
mod short_repeat;

use orcish_core::error::{Error, Result};

use super::bitpack::packed_len;
use super::int_rle::MAX_RUN;
use crate::source::stream_ends;

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

/// Width in bits that the five-bit code of a header stands for.
fn width(code: u8) -> usize {
    match code & 31 {
        code @ 0..=23 => usize::from(code) + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

/// The bytes of a run, taken from the front.
struct Run<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Run<'a> {
    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(|| stream_ends(1))?;
        self.at += 1;
        Ok(byte)
    }

    /// A big-endian number of `n` bytes, at most eight.
    fn number(&mut self, n: usize) -> Result<u64> {
        (0..n).try_fold(0, |value, _| Ok(value << 8 | u64::from(self.byte()?)))
    }

    /// Length of the run: the lowest bit of `first` and the next byte, one less than it is.
    fn length(&mut self, first: u8) -> Result<usize> {
        Ok((usize::from(first & 1) << 8 | usize::from(self.byte()?)) + 1)
    }

    /// The bytes of `n` fields of `width` bits, and whatever follows them.
    fn packed(&mut self, n: usize, width: usize) -> Result<&'a [u8]> {
        let length = packed_len(n, width);
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.len() < length {
            return Err(stream_ends(length - rest.len()));
        }
        self.at += length;
        Ok(rest)
    }
}

/// The front of `out`, of `n` values; headers cannot state more than 512.
#[inline]
fn front(out: &mut [i64; MAX_RUN], n: usize) -> Result<&mut [i64]> {
    out.get_mut(..n).ok_or_else(|| Error::corrupt(format!("a run of {n} values")))
}

//! Reader of the parts of a run of version 2.

use orcish_core::OrInternal as _;
use orcish_core::error::Result;

use crate::encoding::bitpack::packed_len;
use crate::encoding::run::MAX_RUN;
use crate::source::stream_ends;

/// The width in bits of a five-bit width code.
pub(super) const fn decode_width(code: u8) -> usize {
    match code & 31 {
        code @ 0..=23 => code as usize + 1,
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

/// Reads a run.
pub(super) struct RunReader<'a> {
    /// The bytes that were not read yet, and those behind the run.
    pub(super) rest: &'a [u8],
}

impl<'a> RunReader<'a> {
    pub(super) fn read_byte(&mut self) -> Result<u8> {
        let (&byte, rest) = self.rest.split_first().ok_or_else(|| stream_ends(1))?;
        self.rest = rest;
        Ok(byte)
    }

    /// Reads a big-endian integer of `n` bytes, at most eight.
    pub(super) fn read_be(&mut self, n: usize) -> Result<u64> {
        (0..n).try_fold(0, |value, _| Ok(value << 8 | u64::from(self.read_byte()?)))
    }

    /// Reads the length of the run. The lowest bit of the first header byte and the second header byte are the length
    /// minus one.
    pub(super) fn run_length(&mut self, header: u8) -> Result<usize> {
        Ok((usize::from(header & 1) << 8 | usize::from(self.read_byte()?)) + 1)
    }

    /// Reads `n` bit-packed values of `width` bits: returns the bytes from the first value on, with those behind the values.
    pub(super) fn packed_bytes(&mut self, n: usize, width: usize) -> Result<&'a [u8]> {
        let length = packed_len(n, width);
        let packed = self.rest;
        self.rest = packed.get(length..).ok_or_else(|| stream_ends(length - packed.len()))?;
        Ok(packed)
    }
}

/// The first `n` values of `out`. A header states at most 512 values.
#[inline]
pub(super) fn front(out: &mut [i64; MAX_RUN], n: usize) -> Result<&mut [i64]> {
    out.get_mut(..n).or_internal("a run has more values than a header can state")
}

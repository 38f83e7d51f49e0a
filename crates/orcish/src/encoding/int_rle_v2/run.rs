//! The bytes of a run of version 2.

use orcish_core::error::{Error, Result};

use crate::encoding::bitpack::packed_len;
use crate::encoding::run::MAX_RUN;
use crate::source::stream_ends;

/// Width in bits that the five-bit code of a header stands for.
pub(super) fn width(code: u8) -> usize {
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
pub(super) struct Run<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Run<'a> {
    pub(super) fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(|| stream_ends(1))?;
        self.at += 1;
        Ok(byte)
    }

    /// A big-endian number of `n` bytes, at most eight.
    pub(super) fn number(&mut self, n: usize) -> Result<u64> {
        (0..n).try_fold(0, |value, _| Ok(value << 8 | u64::from(self.byte()?)))
    }

    /// Length of the run: the lowest bit of `first` and the next byte, one less than it is.
    pub(super) fn length(&mut self, first: u8) -> Result<usize> {
        Ok((usize::from(first & 1) << 8 | usize::from(self.byte()?)) + 1)
    }

    /// The bytes of `n` fields of `width` bits, and whatever follows them.
    pub(super) fn packed(&mut self, n: usize, width: usize) -> Result<&'a [u8]> {
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
pub(super) fn front(out: &mut [i64; MAX_RUN], n: usize) -> Result<&mut [i64]> {
    out.get_mut(..n).ok_or_else(|| Error::corrupt(format!("a run of {n} values")))
}

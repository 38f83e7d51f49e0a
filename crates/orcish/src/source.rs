//! The seam between decompression and decoding: bytes that can be looked at before they are taken.

use orcish_core::error::{Error, Result};

/// A run of bytes that a decoder takes from the front.
///
/// Decoders ask for as many contiguous bytes as their largest run may need, so that a run never has
/// to be decoded across the edge of a compression chunk.
pub trait ByteSource {
    /// Makes at least `wanted` bytes contiguous and returns all that are; fewer only when the
    /// stream ends before.
    fn fill(&mut self, wanted: usize) -> Result<&[u8]>;

    /// Takes `n` bytes that the last [`fill`](Self::fill) showed.
    fn consume(&mut self, n: usize);

    /// Takes exactly `out.len()` bytes.
    fn read_exact(&mut self, out: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let bytes = self.fill(1)?;
            let n = bytes.len().min(rest.len());
            match (bytes.get(..n), rest.get_mut(..n)) {
                (Some(from), Some(to)) if n > 0 => to.copy_from_slice(from),
                _ => return Err(stream_ends(rest.len())),
            }
            self.consume(n);
            done += n;
        }
        Ok(())
    }

    /// Takes `n` bytes without looking at them.
    fn skip(&mut self, n: usize) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let there = self.fill(1)?.len().min(left);
            if there == 0 {
                return Err(stream_ends(left));
            }
            self.consume(there);
            left -= there;
        }
        Ok(())
    }
}

/// A source that can go to where a row group begins.
pub trait SeekSource: ByteSource {
    /// Goes to where the next of `positions` are: one for bytes as they are, two for compressed ones.
    ///
    /// # Errors
    /// `Corrupt` when there is no such place, or positions are missing.
    fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()>;
}

/// Where a row group begins in the streams of a column (ORCv1, Row Group Index): numbers that each stream
/// takes as many of as it needs, in the order of the streams.
#[derive(Debug, Clone)]
pub struct Positions<'a>(std::slice::Iter<'a, u64>);

impl<'a> Positions<'a> {
    /// The positions of a row group, as its entry in the index has them.
    pub fn new(positions: &'a [u64]) -> Self {
        Positions(positions.iter())
    }

    /// The next position.
    ///
    /// # Errors
    /// `Corrupt` when there is none left.
    pub fn take(&mut self) -> Result<u64> {
        self.0.next().copied().ok_or_else(|| Error::corrupt("the row index has too few positions"))
    }

    /// The next position as a count of bytes or values to pass over; the stream bounds it.
    pub(crate) fn take_count(&mut self) -> Result<usize> {
        let count = self.take()?;
        usize::try_from(count).map_err(|_| Error::corrupt(format!("the row index states position {count}")))
    }
}

impl ByteSource for &[u8] {
    fn fill(&mut self, _wanted: usize) -> Result<&[u8]> {
        Ok(self)
    }

    fn consume(&mut self, n: usize) {
        *self = self.get(n..).unwrap_or_default();
    }
}

/// The error of a stream that ends while `missing` more values or bytes are due.
pub(crate) fn stream_ends(missing: usize) -> Error {
    Error::corrupt(format!("the stream ends {missing} bytes early"))
}

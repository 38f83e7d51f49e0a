//! The interface between decompression and decoding: sources of bytes, and positions of row groups.

use orcish_core::error::{Error, Result};

/// A source of bytes, which a decoder reads from the front.
///
/// Decoders ask for as many contiguous bytes as their largest run has. So a run that crosses the boundary of two
/// compression chunks is contiguous, too.
pub trait ByteSource {
    /// All contiguous bytes: at least `wanted`, or fewer if the stream ends or is faulty behind them. The bytes are not
    /// consumed.
    ///
    /// # Errors
    /// Errors of decompression, where there are no bytes before them.
    fn fill(&mut self, wanted: usize) -> Result<&[u8]>;

    /// The fault behind the bytes that the last [`fill`](Self::fill) returned. It is the error of a value that needs more
    /// bytes. `None` where the stream ends behind these bytes, or goes on.
    fn fault(&self) -> Option<Error> {
        None
    }

    /// Consumes `n` of the bytes that the last [`fill`](Self::fill) returned.
    fn consume(&mut self, n: usize);

    /// Reads and consumes exactly `out.len()` bytes.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before; errors of decompression.
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

    /// Skips `n` bytes.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before; errors of decompression.
    fn skip(&mut self, n: usize) -> Result<()> {
        let mut remaining = n;
        while remaining > 0 {
            let available = self.fill(1)?.len().min(remaining);
            if available == 0 {
                return Err(stream_ends(remaining));
            }
            self.consume(available);
            remaining -= available;
        }
        Ok(())
    }
}

/// A source that can seek to the start of a row group.
pub trait SeekSource: ByteSource {
    /// Seeks to the next of `positions`: one number in an uncompressed stream, two numbers in a compressed stream.
    ///
    /// # Errors
    /// `Corrupt` where the stream has no such position, or positions are missing.
    fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()>;
}

/// The position of a row group in a stream (ORCv1, Row Group Index): the numbers of the row index from the first number of
/// the stream on. A decoder takes as many of them as it needs.
#[derive(Debug, Clone)]
pub struct Positions<'a>(std::slice::Iter<'a, u64>);

impl<'a> Positions<'a> {
    /// The positions of an entry of the row index.
    pub fn new(positions: &'a [u64]) -> Self {
        Positions(positions.iter())
    }

    /// Takes the next position.
    ///
    /// # Errors
    /// `Corrupt` where none is left.
    pub fn take(&mut self) -> Result<u64> {
        self.0.next().copied().ok_or_else(|| Error::corrupt("the row index has too few positions"))
    }

    /// Takes the next position as a number of bytes or values to skip. It is not compared with the length of the stream.
    ///
    /// # Errors
    /// `Corrupt` where none is left, or the number does not fit into `usize`.
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
        *self = self.split_at(n).1;
    }
}

/// The error for a stream that has fewer values than are read.
#[cold]
pub(crate) fn values_end() -> Error {
    Error::corrupt("the stream ends before the last value")
}

/// The error for a stream that ends before `missing` more bytes.
pub(crate) fn stream_ends(missing: usize) -> Error {
    Error::corrupt(format!("the stream ends {missing} bytes early"))
}

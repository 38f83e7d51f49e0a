//! The seam between decompression and decoding: bytes that can be looked at before they are taken.

use crate::error::{Error, Result};

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

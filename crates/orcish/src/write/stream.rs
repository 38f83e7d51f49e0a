//! Streams on their way out: raw bytes become compression chunks (ORCv1, Compression), and positions say where they
//! are (ORCv1, Indexes).

use crate::codec::{Compressor, Framing, append_chunk};
use crate::error::Result;

/// A stream that is being written.
#[derive(Debug)]
pub(crate) struct OutStream {
    framing: Framing,
    /// Bytes as they will be stored.
    stored: Vec<u8>,
    /// Bytes that are in no chunk yet.
    raw: Vec<u8>,
}

impl OutStream {
    pub(crate) fn new(framing: Framing) -> Self {
        OutStream { framing, stored: Vec::new(), raw: Vec::new() }
    }

    /// Where encoders append; [`settle`](Self::settle) comes after them.
    pub(crate) fn raw(&mut self) -> &mut Vec<u8> {
        if self.framing.is_plain() { &mut self.stored } else { &mut self.raw }
    }

    /// Compresses the chunks that are full.
    pub(crate) fn settle(&mut self, compressor: &mut Compressor) -> Result<()> {
        let size = self.framing.chunk_size.max(1);
        let whole = self.raw.len() / size * size;
        for chunk in self.raw.get(..whole).unwrap_or_default().chunks(size) {
            append_chunk(chunk, compressor, &mut self.stored)?;
        }
        self.raw.drain(..whole);
        Ok(())
    }

    /// Where the next byte goes, once the stream has been settled: the offset, or that of the chunk and that within it.
    pub(crate) fn position(&self, positions: &mut Vec<u64>) {
        positions.push(self.stored.len() as u64);
        if !self.framing.is_plain() {
            positions.push(self.raw.len() as u64);
        }
    }

    /// Bytes that it takes in memory.
    pub(crate) fn size(&self) -> usize {
        self.stored.len() + self.raw.len()
    }

    /// Whether there are chunks that can be compressed.
    pub(crate) fn has_full(&self) -> bool {
        self.raw.len() >= self.framing.chunk_size
    }

    /// All of it as it is stored; it is empty then.
    pub(crate) fn take(&mut self, compressor: &mut Compressor) -> Result<Vec<u8>> {
        self.settle(compressor)?;
        if !self.raw.is_empty() {
            append_chunk(&self.raw, compressor, &mut self.stored)?;
            self.raw.clear();
        }
        Ok(std::mem::take(&mut self.stored))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Compression;
    use crate::codec::decompress_all;
    use crate::source::{ByteSource as _, Positions, SeekSource as _};

    fn codec() -> impl Strategy<Value = Compression> {
        use Compression::{Brotli, Lz4, None, Snappy, Zlib, Zstd};
        prop::sample::select(vec![None, Zlib, Snappy, Lz4, Zstd, Brotli])
    }

    proptest! {
        /// What was appended is read again, from the start and from every position.
        #[test]
        fn streams_come_back(
            codec in codec(),
            chunk_size in 1usize..200,
            parts in prop::collection::vec(prop::collection::vec(0u8..4, 0..400), 0..12),
        ) {
            let framing = Framing { codec, chunk_size };
            let mut compressor = Compressor::new(codec, None).unwrap();
            let mut out = OutStream::new(framing);
            let mut positions = Vec::new();
            for part in &parts {
                let mut position = Vec::new();
                out.position(&mut position);
                positions.push(position);
                out.raw().extend_from_slice(part);
                out.settle(&mut compressor).unwrap();
            }
            let stored: bytes::Bytes = out.take(&mut compressor).unwrap().into();
            prop_assert_eq!(&decompress_all(stored.clone(), framing, 1 << 20).unwrap()[..], &parts.concat()[..]);
            for (at, position) in positions.iter().enumerate() {
                let rest = parts[at..].concat();
                let mut stream = crate::codec::Stream::new(stored.clone(), framing);
                stream.seek(&mut Positions::new(position)).unwrap();
                let read = stream.fill(rest.len()).unwrap();
                prop_assert_eq!(&read[..rest.len()], &rest[..]);
            }
        }
    }
}

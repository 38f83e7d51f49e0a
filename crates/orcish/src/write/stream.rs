//! Streams on their way out: raw bytes become compression chunks (ORCv1, Compression), and positions say where they
//! are (ORCv1, Indexes).

use orcish_core::error::Result;

use super::blocks::Blocks;
use super::compressors::{Choice, Compressors};
use crate::codec::{Framing, append_chunk};
use crate::tuning;

/// A stream that is being written.
#[derive(Debug)]
pub(crate) struct OutStream {
    framing: Framing,
    choice: Choice,
    /// Bytes as they will be stored.
    stored: Blocks,
    /// Bytes that are in no chunk yet.
    raw: Vec<u8>,
    /// Bytes that are worth being compressed at a time.
    worth_it: usize,
}

impl OutStream {
    pub(crate) fn new(framing: Framing, choice: Choice) -> Self {
        let worth_it = tuning::BYTES_WORTH_COMPRESSING.get();
        OutStream { framing, choice, stored: Blocks::default(), raw: Vec::new(), worth_it }
    }

    /// Where encoders append; [`settle`](Self::settle) comes after them.
    pub(crate) fn raw(&mut self) -> &mut Vec<u8> {
        &mut self.raw
    }

    /// Bytes after which there is something to settle.
    fn enough(&self) -> usize {
        if self.framing.is_plain() { 1 } else { self.framing.chunk_size.max(1) }
    }

    /// Compresses the chunks that are full.
    pub(crate) fn settle(&mut self, compressors: &mut Compressors) -> Result<()> {
        let size = self.enough();
        let whole = self.raw.len() / size * size;
        if whole == 0 {
            return Ok(());
        }
        if !self.choice.is_kept() {
            self.raw.clear();
            return Ok(());
        }
        let (bytes, stored) = (self.raw.get(..whole).unwrap_or_default(), &mut self.stored);
        if self.framing.is_plain() {
            stored.append(bytes, compressors.get(self.choice)?.1);
        } else {
            for chunk in bytes.chunks(size) {
                // Chunks may take long, and between them the write may be interrupted.
                let (compressor, spare) = compressors.get(self.choice)?;
                append_chunk(chunk, compressor, |bytes| stored.append(bytes, spare))?;
            }
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

    /// Compresses the chunks that are full, where they are worth it.
    pub(crate) fn settle_if_full(&mut self, compressors: &mut Compressors) -> Result<()> {
        if self.raw.len() >= self.worth_it.max(self.enough()) { self.settle(compressors) } else { Ok(()) }
    }

    /// Bytes that it takes in memory.
    pub(crate) fn size(&self) -> usize {
        self.stored.len() + self.raw.len()
    }

    /// All of it as it is stored; it is empty then.
    pub(crate) fn take(&mut self, compressors: &mut Compressors) -> Result<Blocks> {
        self.settle(compressors)?;
        if !self.raw.is_empty() {
            let stored = &mut self.stored;
            let (compressor, spare) = compressors.get(self.choice)?;
            append_chunk(&self.raw, compressor, |bytes| stored.append(bytes, spare))?;
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
            let mut compressors = Compressors::default();
            let mut out = OutStream::new(framing, Choice::new(codec, None).unwrap());
            let mut positions = Vec::new();
            for part in &parts {
                let mut position = Vec::new();
                out.position(&mut position);
                positions.push(position);
                out.raw().extend_from_slice(part);
                out.settle(&mut compressors).unwrap();
            }
            let stored: bytes::Bytes = out.take(&mut compressors).unwrap().concat().into();
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

//! Streams that are written: bytes become compression chunks (ORCv1, Compression), and positions refer to chunks and
//! offsets in them (ORCv1, Indexes).

use std::collections::VecDeque;

use orcish_core::error::{OrInternal as _, Result};

use super::blocks::Blocks;
use super::compressors::{Compressors, StreamCompression};
use super::deferred::DeferredChunk;
use crate::codec::{Framing, append_chunk};
use crate::layout::Coding;
use crate::tuning;

/// A stream that is being written.
#[derive(Debug)]
pub(crate) struct OutStream {
    coding: Coding,
    framing: Framing,
    compression: StreamCompression,
    /// Complete chunks, with their headers, as they are stored in the file.
    stored_bytes: Blocks,
    /// Chunks behind the stored bytes that are compressed later, with the indices in `positions` of the offsets of the row
    /// groups that begin between the chunk and the next one.
    deferred: VecDeque<(DeferredChunk, Vec<usize>)>,
    /// Bytes that are not in a chunk yet.
    buffer: Vec<u8>,
    /// Number of buffered bytes from which on [`compress_if_large`](Self::compress_if_large) compresses them.
    min_compress_bytes: usize,
    /// The positions of the row groups, one after the other.
    positions: Vec<u64>,
}

/// A complete stream.
#[derive(Debug)]
pub(crate) struct FinishedStream {
    pub(crate) coding: Coding,
    /// The bytes as they are stored.
    pub(crate) bytes: Blocks,
    /// The positions of the row groups in the stream, one after the other (ORCv1, Indexes).
    pub(crate) positions: Vec<u64>,
}

impl OutStream {
    /// An empty stream whose bytes have a coding.
    pub(crate) fn new(coding: Coding, framing: Framing, compression: StreamCompression) -> Self {
        OutStream {
            coding,
            framing,
            compression,
            stored_bytes: Blocks::default(),
            deferred: VecDeque::new(),
            buffer: Vec::new(),
            min_compress_bytes: tuning::MIN_COMPRESS_BYTES.get(),
            positions: Vec::new(),
        }
    }

    /// Bytes that are not in a chunk yet. Encoders append to them, and then call
    /// [`compress_full_chunks`](Self::compress_full_chunks).
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Uncompressed bytes of a full chunk. Without compression there are no chunks, and every byte can be stored.
    fn chunk_size(&self) -> usize {
        if self.framing.is_uncompressed() { 1 } else { self.framing.chunk_size.max(1) }
    }

    /// Compresses the buffered bytes that fill whole chunks, or defers their compression.
    pub(crate) fn compress_full_chunks(&mut self, compressors: &mut Compressors) -> Result<()> {
        let size = self.chunk_size();
        let full = self.buffer.len() / size * size;
        if full == 0 {
            return Ok(());
        }
        if self.compression.is_discarded() {
            self.buffer.clear();
            return Ok(());
        }
        self.append_deferred(compressors)?;
        let (bytes, stored_bytes) = (self.buffer.split_at(full).0, &mut self.stored_bytes);
        if self.framing.is_uncompressed() {
            stored_bytes.append(bytes, compressors.get(self.compression)?.1);
        } else if let Some(deferred) = compressors.deferred() {
            for chunk in bytes.chunks(size) {
                let chunk = DeferredChunk::new(chunk);
                self.deferred.push_back((chunk.clone(), Vec::new()));
                deferred.push((self.compression, chunk));
            }
        } else {
            for chunk in bytes.chunks(size) {
                // `get` polls for cancellation: a chunk may take long to compress.
                let (compressor, free) = compressors.get(self.compression)?;
                append_chunk(chunk, compressor, |bytes| stored_bytes.append(bytes, free))?;
            }
        }
        self.buffer.drain(..full);
        Ok(())
    }

    /// Appends the deferred chunks to the stored bytes: those that are compressed, or all if no further chunk is deferred.
    fn append_deferred(&mut self, compressors: &mut Compressors) -> Result<()> {
        while let Some((next, _)) = self.deferred.front()
            && (next.is_compressed() || !compressors.is_deferring())
            && let Some((chunk, row_groups)) = self.deferred.pop_front()
        {
            let (_, free) = compressors.get(self.compression)?;
            chunk.with_stored(|bytes| self.stored_bytes.append(bytes, free))?;
            for index in row_groups {
                let position = self.positions.get_mut(index).or_internal("a row group has no position")?;
                *position = self.stored_bytes.len() as u64;
            }
        }
        Ok(())
    }

    /// Begins a row group with the next byte. Records its position: the offset of the chunk and the offset in the
    /// uncompressed chunk, or the offset in the stream if there is no compression; and `in_run`, the position in the run that
    /// begins with the byte. Full chunks must be compressed before.
    pub(crate) fn begin_row_group(&mut self, in_run: &[u64]) {
        if let Some((_, row_groups)) = self.deferred.back_mut() {
            // The offset is set once the deferred chunks are stored.
            row_groups.push(self.positions.len());
        }
        self.positions.push(self.stored_bytes.len() as u64);
        if !self.framing.is_uncompressed() {
            self.positions.push(self.buffer.len() as u64);
        }
        self.positions.extend_from_slice(in_run);
    }

    /// Compresses full chunks once many bytes are buffered.
    pub(crate) fn compress_if_large(&mut self, compressors: &mut Compressors) -> Result<()> {
        let is_large = self.buffer.len() >= self.min_compress_bytes.max(self.chunk_size());
        if is_large { self.compress_full_chunks(compressors) } else { Ok(()) }
    }

    /// Stored and buffered bytes of the stream so far.
    pub(crate) fn size(&self) -> usize {
        let deferred: usize = self.deferred.iter().map(|(chunk, _)| chunk.len()).sum();
        self.stored_bytes.len() + deferred + self.buffer.len()
    }

    /// The complete stream. This stream is empty afterwards, and its buffer is freed.
    pub(crate) fn finish(&mut self, compressors: &mut Compressors) -> Result<FinishedStream> {
        self.compress_full_chunks(compressors)?;
        self.append_deferred(compressors)?;
        if !self.buffer.is_empty() {
            let stored_bytes = &mut self.stored_bytes;
            let (compressor, free) = compressors.get(self.compression)?;
            append_chunk(&self.buffer, compressor, |bytes| stored_bytes.append(bytes, free))?;
        }
        // A file of thousands of columns cannot keep a buffer for each.
        self.buffer = Vec::new();
        let (bytes, positions) = (std::mem::take(&mut self.stored_bytes), std::mem::take(&mut self.positions));
        Ok(FinishedStream { coding: self.coding, bytes, positions })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Compression;
    use crate::codec::decompress_all;
    use crate::layout::byte_position_length;
    use crate::source::{ByteSource as _, Positions, SeekSource as _};

    fn codec() -> impl Strategy<Value = Compression> {
        use Compression::{Brotli, Lz4, None, Snappy, Zlib, Zstd};
        prop::sample::select(vec![None, Zlib, Snappy, Lz4, Zstd, Brotli])
    }

    /// Compresses the deferred chunks, the last one first.
    fn compress_deferred(compressors: &mut Compressors) {
        for chunk in compressors.take_deferred().into_iter().rev() {
            compressors.compress_deferred(&chunk).unwrap();
        }
    }

    proptest! {
        /// The bytes of a stream are read back from its start and from every recorded position.
        #[test]
        fn streams_round_trip(
            codec in codec(),
            chunk_size in 1usize..200,
            parts in prop::collection::vec(prop::collection::vec(0u8..4, 0..400), 0..12),
            deferred in prop::collection::vec(any::<bool>(), 12),
        ) {
            let framing = Framing { codec, chunk_size };
            let mut compressors = Compressors::default();
            let mut out = OutStream::new(Coding::Raw, framing, StreamCompression::try_new(codec, None).unwrap());
            for (part, &is_deferred) in parts.iter().zip(&deferred) {
                if is_deferred && !compressors.is_deferring() {
                    compressors.defer();
                }
                out.begin_row_group(&[]);
                out.buffer().extend_from_slice(part);
                out.compress_full_chunks(&mut compressors).unwrap();
                if !is_deferred {
                    compress_deferred(&mut compressors);
                }
            }
            compress_deferred(&mut compressors);
            let finished = out.finish(&mut compressors).unwrap();
            let stored: bytes::Bytes = finished.bytes.concat().into();
            let positions = finished.positions.chunks(byte_position_length(framing.is_uncompressed()));
            prop_assert_eq!(positions.len(), parts.len());
            prop_assert_eq!(&decompress_all(stored.clone(), framing, 1 << 20).unwrap()[..], &parts.concat()[..]);
            for (index, position) in positions.enumerate() {
                let expected = parts[index..].concat();
                let mut stream = crate::codec::Stream::new(stored.clone(), framing);
                stream.seek(&mut Positions::new(position)).unwrap();
                let read = stream.fill(expected.len()).unwrap();
                prop_assert_eq!(&read[..expected.len()], &expected[..]);
            }
        }
    }
}

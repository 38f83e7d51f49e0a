//! Chunk framing (ORCv1, Compression): a stream is a sequence of chunks. The header of a chunk has three bytes: the length of
//! the chunk, and whether it is original, that is not compressed.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::{OrInternal as _, allocation};

use super::{Compression, Compressor, SparseStream, decompress, decompressed_length};
use crate::memory::{Charge, Memory};
use crate::source::{ByteSource, Positions, SeekSource, stream_ends};
use crate::tuning;
use crate::warnings::warn;

/// Length of a chunk header in bytes.
const HEADER_LEN: usize = 3;
/// A chunk that is smaller than the chunk size by this factor is decompressed into a shared buffer first. So small streams
/// do not allocate a buffer of the chunk size.
const SMALL_CHUNK_FACTOR: usize = 16;
/// Maximum size of the shared buffer that a thread keeps. Chunks of the known writers are no larger.
const MAX_SCRATCH: usize = 1 << 20;

/// The chunk framing of a file: its codec and its chunk size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// Codec of the chunks. Streams have no chunks with [`Compression::None`].
    pub codec: Compression,
    /// Maximum number of decompressed bytes of a chunk (`compressionBlockSize` of the postscript).
    pub chunk_size: usize,
}

impl Framing {
    /// Whether streams have no chunks.
    pub(crate) fn is_uncompressed(self) -> bool {
        self.codec == Compression::None
    }

    /// Maximum number of stored bytes of a chunk with its header. Chunks that compression does not shrink are stored
    /// uncompressed. `None` where streams have no chunks.
    pub(crate) fn max_stored_chunk_size(self) -> Option<u64> {
        (!self.is_uncompressed()).then(|| (HEADER_LEN + self.chunk_size) as u64)
    }
}

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Appends a chunk: calls `append` with the header, and with the bytes, which are compressed if that makes them fewer.
///
/// # Errors
/// `LimitExceeded` where the chunk has 2²³ bytes or more; errors of the codec.
pub(crate) fn append_chunk(raw: &[u8], compressor: &mut Compressor, mut append: impl FnMut(&[u8])) -> Result<()> {
    let (body, original) = match compressor.compress(raw)? {
        Some(compressed) => (compressed, 0),
        None => (raw, 1),
    };
    let length = u32::try_from(body.len()).ok().filter(|&length| length < 1 << 23);
    let length = length.ok_or_else(|| Error::limit("a compression chunk of more bytes than its header can state"))?;
    let [a, b, c, _] = (length << 1 | original).to_le_bytes();
    append(&[a, b, c]);
    append(body);
    Ok(())
}

/// A reader of a stream of a stripe. It decompresses chunk by chunk.
pub struct Stream {
    /// Stored bytes of the stream, loaded ones of a sparse stream.
    stored_bytes: Bytes,
    /// Index of the first stored byte that is not read yet.
    next: usize,
    /// Offset of `stored_bytes` in the stream.
    base: u64,
    /// The source of other stored bytes, if not all bytes of the stream are loaded.
    sparse: Option<Arc<SparseStream>>,
    framing: Framing,
    /// Decompressed bytes, of which `start..end` are not consumed yet. Unused for uncompressed streams.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The last chunk of the buffer, if it has bytes: its offset in the stream, and its decompressed length.
    last_chunk: Option<(u64, NonZeroUsize)>,
    /// The fault of the chunk behind those of the buffer. It is an error of the first value that needs the chunk.
    fault: Option<Error>,
    /// Memory of the buffer, if it is limited.
    charge: Option<Charge>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("stored_bytes", &self.stored_bytes.len())
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl Stream {
    /// A reader of a stream with these stored bytes.
    pub fn new(stored_bytes: Bytes, framing: Framing) -> Self {
        Stream {
            stored_bytes,
            next: 0,
            base: 0,
            sparse: None,
            framing,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            last_chunk: None,
            fault: None,
            charge: None,
        }
    }

    /// Charges the buffer of the reader to `memory`.
    pub(crate) fn with_memory(self, memory: &Arc<Memory>) -> Self {
        Stream { charge: (!self.is_uncompressed()).then(|| memory.charge()), ..self }
    }

    /// A reader of a sparse stream.
    pub(crate) fn new_sparse(sparse: Arc<SparseStream>, framing: Framing) -> Self {
        Stream { sparse: Some(sparse.clone()), ..Stream::new(sparse.loaded_from(0), framing) }
    }

    /// Offset in the stream of the next stored byte.
    fn offset(&self) -> u64 {
        self.base + self.next as u64
    }

    /// Makes `wanted` stored bytes contiguous, or fewer if the stream ends before. If bytes have to be read, at least
    /// `read_ahead` bytes are read.
    fn fill_stored(&mut self, wanted: usize, read_ahead: usize) -> Result<()> {
        let available = self.rest()?.len();
        let Some(sparse) = self.sparse.as_ref().filter(|_| available < wanted) else { return Ok(()) };
        let offset = self.offset();
        if offset.saturating_add(available as u64) >= sparse.length() {
            return Ok(());
        }
        let mut head = self.stored_bytes.slice(self.next..);
        // A range that was loaded since may have more bytes.
        let loaded = sparse.loaded_from(offset);
        if loaded.len() > head.len() {
            head = loaded;
        }
        if head.len() < wanted {
            head = sparse.extend(&head, offset, wanted, read_ahead)?;
        }
        (self.stored_bytes, self.base, self.next) = (head, offset, 0);
        Ok(())
    }

    /// The stored bytes that are not read yet.
    #[inline]
    fn rest(&self) -> Result<&[u8]> {
        self.stored_bytes.get(self.next..).or_internal("more bytes of a stream were consumed than it has")
    }

    /// The decompressed bytes that are not consumed yet.
    #[inline]
    fn decompressed(&self) -> Result<&[u8]> {
        self.buffer.get(self.start..self.end).or_internal("more bytes were consumed than were decompressed")
    }

    fn is_uncompressed(&self) -> bool {
        self.framing.is_uncompressed()
    }

    /// Whether the next chunk is original, and its body; `None` at the end of the stream.
    fn next_chunk(&mut self) -> Result<Option<(bool, Bytes)>> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.fill_stored(HEADER_LEN, HEADER_LEN + self.framing.chunk_size)?;
        let rest = self.rest()?;
        if rest.is_empty() {
            return Ok(None);
        }
        let Some(&[a, b, c]) = rest.first_chunk::<HEADER_LEN>() else {
            return Err(Error::corrupt("the stream ends within a chunk header"));
        };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let length = (header >> 1) as usize;
        self.fill_stored(HEADER_LEN + length, 0)?;
        let from = self.next + HEADER_LEN;
        let available = self.stored_bytes.len().checked_sub(from).or_internal("the header of a chunk is gone")?;
        if available < length {
            return Err(Error::corrupt(format!("a chunk states {length} bytes where the stream has {available}")));
        }
        self.next = from + length;
        Ok(Some((header & 1 == 1, self.stored_bytes.slice(from..self.next))))
    }

    /// Decompresses chunks into the buffer until it has `wanted` bytes, the stream ends, or a chunk is faulty. Bytes behind the
    /// last value may be no chunk, so a fault is an error only where the buffer has no bytes left.
    fn refill(&mut self, wanted: usize) -> Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < wanted {
            match self.refill_chunk() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.kind() == ErrorKind::Corrupt && self.end > 0 => {
                    warn("bytes behind a chunk are no chunk");
                    self.fault = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Decompresses a chunk into the buffer; `false` at the end of the stream.
    fn refill_chunk(&mut self) -> Result<bool> {
        let (offset, begin) = (self.offset(), self.end);
        let Some((original, body)) = self.next_chunk()? else { return Ok(false) };
        let (codec, chunk_size) = (self.framing.codec, self.framing.chunk_size);
        // The buffer of a stream of one chunk has the length of the chunk.
        let stated_length = if self.rest()?.is_empty() { decompressed_length(codec, &body) } else { None };
        if original {
            self.append(&body)?;
        } else if let Some(length) = stated_length.filter(|&length| length <= chunk_size) {
            self.end += decompress(codec, &body, self.reserve(length)?)?;
        } else if body.len().saturating_mul(SMALL_CHUNK_FACTOR) < chunk_size {
            SCRATCH.with_borrow_mut(|scratch| {
                let more = chunk_size.saturating_sub(scratch.len());
                allocation::reserve(scratch, more)?;
                scratch.resize(scratch.len().max(chunk_size), 0);
                let out = scratch.get_mut(..chunk_size).or_internal("a buffer is smaller than it was made")?;
                let n = decompress(codec, &body, out)?;
                self.append(out.get(..n).or_internal("a codec wrote more bytes than it was given")?)?;
                if scratch.len() > MAX_SCRATCH {
                    *scratch = Vec::new();
                }
                Ok::<(), Error>(())
            })?;
        } else {
            self.end += decompress(codec, &body, self.reserve(chunk_size)?)?;
        }
        self.last_chunk = NonZeroUsize::new(self.end - begin).map(|length| (offset, length));
        if let Some(charge) = &mut self.charge {
            charge.raise_to(self.end as u64)?;
        }
        Ok(true)
    }

    /// Reads and consumes `n` bytes, and appends them to `out`.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before; errors of decompression.
    pub(crate) fn append_to(&mut self, n: usize, out: &mut Vec<u8>) -> Result<()> {
        let mut remaining = n;
        while remaining > 0 {
            if self.is_uncompressed()
                && self.rest()?.is_empty()
                && let Some(sparse) = self.sparse.as_ref().filter(|sparse| sparse.is_read_in_place(remaining))
            {
                let offset = self.offset();
                sparse.append(offset, remaining, out)?;
                (self.stored_bytes, self.base, self.next) = (Bytes::new(), offset + remaining as u64, 0);
                return Ok(());
            }
            let bytes = self.fill(1)?;
            let n = bytes.len().min(remaining);
            if n == 0 {
                return Err(stream_ends(remaining));
            }
            out.extend_from_slice(bytes.split_at(n).0);
            self.consume(n);
            remaining -= n;
        }
        Ok(())
    }

    /// Whether the stream may have stored bytes that are not read yet, or a chunk that cannot be read.
    fn has_more(&self) -> bool {
        self.fault.is_some()
            || self.next < self.stored_bytes.len()
            || self.sparse.as_ref().is_some_and(|sparse| self.offset() < sparse.length())
    }

    /// Makes room for `n` bytes behind those of the buffer, and returns it.
    fn reserve(&mut self, n: usize) -> Result<&mut [u8]> {
        let size = self.end + n;
        if self.buffer.len() < size {
            if self.end == 0 {
                allocation::check(size)?;
                self.buffer = vec![0; size]; // the system returns zeroed pages
            } else {
                let more = size - self.buffer.len();
                allocation::reserve(&mut self.buffer, more)?;
                self.buffer.resize(size, 0);
            }
        }
        self.buffer.get_mut(self.end..size).or_internal("a buffer is smaller than it was made")
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.reserve(bytes.len())?.copy_from_slice(bytes);
        self.end += bytes.len();
        Ok(())
    }
}

impl ByteSource for Stream {
    #[inline]
    fn fill(&mut self, wanted: usize) -> Result<&[u8]> {
        if self.is_uncompressed() {
            if self.sparse.is_some() {
                self.fill_stored(wanted, tuning::PLAIN_BYTES_AHEAD.get())?;
            }
            return self.rest();
        }
        if self.decompressed()?.len() < wanted && self.has_more() {
            self.refill(wanted)?;
        }
        self.decompressed()
    }

    #[inline]
    fn consume(&mut self, n: usize) {
        if self.is_uncompressed() {
            self.next += n;
        } else {
            self.start += n;
        }
    }

    fn fault(&self) -> Option<Error> {
        self.fault.clone()
    }

    fn read_exact(&mut self, out: &mut [u8]) -> Result<()> {
        let mut out = out;
        loop {
            let bytes = self.fill(0)?;
            let n = bytes.len().min(out.len());
            let (head, tail) = out.split_at_mut(n);
            head.copy_from_slice(bytes.split_at(n).0);
            self.consume(n);
            out = tail;
            if out.is_empty() {
                return Ok(());
            }
            // Complete chunks are decompressed directly into the output.
            if !self.is_uncompressed() && out.len() >= self.framing.chunk_size {
                self.last_chunk = None;
                let Some((original, body)) = self.next_chunk()? else { return Err(stream_ends(out.len())) };
                let codec = if original { Compression::None } else { self.framing.codec };
                let n = decompress(codec, &body, out)?;
                if n > self.framing.chunk_size && !original {
                    return Err(Error::corrupt(format!(
                        "a chunk holds {n} bytes, more than the {} that the postscript states",
                        self.framing.chunk_size
                    )));
                }
                out = out.split_at_mut(n).1;
            } else if self.fill(1)?.is_empty() {
                return Err(stream_ends(out.len()));
            }
        }
    }
}

impl SeekSource for Stream {
    fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        let offset = positions.take()?;
        let within = if self.is_uncompressed() { 0 } else { positions.take_count()? };
        if let Some((last_chunk, length)) = self.last_chunk
            && last_chunk == offset
            && let Some(remaining) = length.get().checked_sub(within)
            && let Some(start) = self.end.checked_sub(remaining)
        {
            // The chunk is in the buffer, and `next` is behind the chunk.
            self.start = start;
            return Ok(());
        }
        let index = offset.checked_sub(self.base).and_then(|at| usize::try_from(at).ok());
        match (index.filter(|&at| at < self.stored_bytes.len()), &self.sparse) {
            (Some(at), _) => self.next = at,
            (None, Some(sparse)) if offset <= sparse.length() => {
                (self.stored_bytes, self.base, self.next) = (sparse.loaded_from(offset), offset, 0);
            }
            // The position is behind the last chunk.
            (None, None) if offset == self.base + self.stored_bytes.len() as u64 => self.next = self.stored_bytes.len(),
            _ => return Err(Error::corrupt(format!("the row index states byte {offset}, which is not in the stream"))),
        }
        (self.start, self.end, self.last_chunk, self.fault) = (0, 0, None, None);
        self.skip(within)
    }
}

/// Decompresses a section (footer, index, …).
///
/// # Errors
/// `Corrupt` where a chunk is malformed, `LimitExceeded` where the section has more than `limit` bytes.
pub(crate) fn decompress_all(stored_bytes: Bytes, framing: Framing, limit: u64) -> Result<Bytes> {
    if framing.codec == Compression::None {
        return Ok(stored_bytes);
    }
    let mut stream = Stream::new(stored_bytes, framing);
    let mut wanted = framing.chunk_size;
    loop {
        let available = stream.fill(wanted)?.len();
        if available as u64 > limit {
            return Err(Error::limit(format!("decompresses to more than the {limit} bytes that are allowed")));
        }
        if available < wanted {
            if let Some(fault) = stream.fault {
                return Err(fault);
            }
            stream.buffer.truncate(stream.end);
            // Sections are charged by their length, not by their capacity.
            stream.buffer.shrink_to_fit();
            return Ok(Bytes::from(std::mem::take(&mut stream.buffer)));
        }
        wanted = available + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::ReadAt;

    fn original(body: &[u8]) -> Vec<u8> {
        let header = u32::try_from(body.len()).unwrap() * 2 + 1;
        [&header.to_le_bytes()[..3], body].concat()
    }

    fn zlib(body: &[u8]) -> Vec<u8> {
        let mut compressed = vec![0; body.len() * 2 + 64];
        let level = libdeflater::CompressionLvl::default();
        let n = libdeflater::Compressor::new(level).deflate_compress(body, &mut compressed).unwrap();
        let header = u32::try_from(n).unwrap() * 2;
        [&header.to_le_bytes()[..3], &compressed[..n]].concat()
    }

    const FRAMING: Framing = Framing { codec: Compression::Zlib, chunk_size: 1000 };

    #[test]
    fn header_examples_of_the_specification() {
        let mut stream = Stream::new([vec![0x40, 0x0d, 0x03], vec![0; 100_000]].concat().into(), FRAMING);
        let (original, body) = stream.next_chunk().unwrap().unwrap();
        assert_eq!((original, body.len()), (false, 100_000));
        let mut stream = Stream::new(vec![0x0b, 0, 0, 1, 2, 3, 4, 5].into(), FRAMING);
        assert_eq!(stream.next_chunk().unwrap().unwrap(), (true, Bytes::from_static(&[1, 2, 3, 4, 5])));
    }

    #[test]
    fn reads_cross_chunks() {
        let bytes: Vec<u8> = (0..2500u32).map(|i| (i % 251) as u8).collect();
        let stored = [zlib(&bytes[..1000]), original(&bytes[1000..1003]), zlib(&bytes[1003..])].concat();
        let mut stream = Stream::new(stored.clone().into(), Framing { chunk_size: 1500, ..FRAMING });
        assert_eq!(stream.fill(10).unwrap(), &bytes[..1000]);
        stream.consume(995);
        assert_eq!(stream.fill(20).unwrap(), &bytes[995..]);
        stream.consume(20);
        let mut rest = vec![0; 1485];
        stream.read_exact(&mut rest).unwrap();
        assert_eq!(rest, &bytes[1015..]);
        assert!(stream.read_exact(&mut [0]).is_err());

        let mut all = vec![0; 2500];
        Stream::new(stored.into(), Framing { chunk_size: 1500, ..FRAMING }).read_exact(&mut all).unwrap();
        assert_eq!(all, bytes);
    }

    #[test]
    fn seeks_to_any_position_of_sparse_streams() {
        let bytes: Vec<u8> = (0..5000u32).map(|i| (i % 251) as u8).collect();
        for codec in [Compression::None, Compression::Zlib] {
            // Offset of each chunk in the stored and the decompressed stream.
            let (mut stored, mut chunks) = (vec![9, 9], Vec::new());
            for (i, part) in bytes.chunks(1000).enumerate() {
                chunks.push((stored.len() as u64 - 2, i * 1000));
                stored.extend(match codec {
                    Compression::None => part.to_vec(),
                    _ if i == 2 => original(part),
                    _ => zlib(part),
                });
            }
            let length = stored.len() as u64;
            let framing = Framing { codec, ..FRAMING };
            let source = Arc::new(orcish_io::MemorySource::new(stored));
            let load = |from: u64, to: u64| {
                let range = from..to.min(length);
                (from - 2, source.read_ranges(&[range]).unwrap().remove(0))
            };
            for loaded in [vec![], vec![load(2, length)], vec![load(2, 9), load(500, 600), load(700, length)]] {
                let sparse = Arc::new(SparseStream::new(source.clone(), 2..length));
                sparse.set_loaded(loaded);
                let mut stream = Stream::new_sparse(sparse, framing);
                for step in 0..200usize {
                    let at = step * 1237 % 5000;
                    let (offset, start) = chunks[at / 1000];
                    let positions = match codec {
                        Compression::None => vec![offset + (at - start) as u64],
                        _ => vec![offset, (at - start) as u64],
                    };
                    stream.seek(&mut Positions::new(&positions)).unwrap();
                    let mut out = vec![0; [1, 20, 1200, 3000][step % 4].min(5000 - at)];
                    stream.read_exact(&mut out).unwrap();
                    assert_eq!(out, &bytes[at..at + out.len()], "{codec:?} at {at}");
                }
                assert!(stream.seek(&mut Positions::new(&[length, 0])).is_err());
                assert!(stream.seek(&mut Positions::new(&[])).is_err());
            }
        }
    }

    #[test]
    fn streams_are_read_in_pieces() {
        let bytes: Vec<u8> = (0..5000u32).map(|i| (i % 251) as u8).collect();
        for codec in [Compression::None, Compression::Zlib] {
            let stored = match codec {
                Compression::None => bytes.clone(),
                _ => bytes.chunks(1000).flat_map(zlib).collect(),
            };
            let range = 2..2 + stored.len() as u64;
            let source: Arc<dyn ReadAt> =
                Arc::new(orcish_io::MemorySource::new([&[9; 2], &stored[..], &[9; 2]].concat()));
            let framing = Framing { codec, ..FRAMING };
            for piece_size in [1, 7, 100, 4000, 9000] {
                let sparse = || Arc::new(SparseStream::in_pieces(source.clone(), range.clone(), piece_size));
                let (mut stream, mut at) = (Stream::new_sparse(sparse(), framing), 0);
                for step in [1, 3, 50, 700, 2, 2100, 5, 2139] {
                    let mut out = vec![7];
                    stream.append_to(step, &mut out).unwrap();
                    assert_eq!(&out[1..], &bytes[at..at + step], "{codec:?} {piece_size} {step}");
                    let next = stream.fill(20).unwrap();
                    at += step;
                    assert_eq!(next.get(..20).unwrap_or(next), &bytes[at..5000.min(at + 20)]);
                }
                assert!(stream.append_to(1, &mut Vec::new()).is_err());
                let mut stream = Stream::new_sparse(sparse(), framing);
                assert!(stream.append_to(5001, &mut Vec::new()).is_err(), "{codec:?} {piece_size}");
            }
        }
    }

    /// Bytes behind the last value are no fault of the values, whatever they are.
    #[test]
    fn bytes_behind_the_last_chunk_do_not_matter() {
        let bytes: Vec<u8> = (0..1500u32).map(|i| (i % 251) as u8).collect();
        let chunks = [zlib(&bytes[..1000]), zlib(&bytes[1000..])].concat();
        let behind: [&[u8]; 4] = [&[7], &[7, 0], &[0xff; 3], &[6, 0, 0, 0xff, 0xff, 0xff]];
        for behind in behind {
            let stored = Bytes::from([&chunks[..], behind].concat());
            let source: Arc<dyn ReadAt> = Arc::new(orcish_io::MemorySource::new(stored.clone()));
            let sparse = || Arc::new(SparseStream::new(source.clone(), 0..stored.len() as u64));
            for mut stream in [Stream::new(stored.clone(), FRAMING), Stream::new_sparse(sparse(), FRAMING)] {
                for wanted in [1, 1200, 5000] {
                    assert!(stream.fill(wanted).unwrap().len() >= wanted.min(1500));
                }
                // A value that needs more has the fault of the chunk.
                let fault = stream.fault().unwrap().message().to_owned();
                stream.consume(1499);
                assert_eq!(stream.fill(5).unwrap(), &bytes[1499..]);
                assert_eq!(stream.read_exact(&mut [0; 2]).unwrap_err().message(), fault);
                stream.seek(&mut Positions::new(&[0, 10])).unwrap();
                assert_eq!(stream.fill(5000).unwrap(), &bytes[10..]);
                stream.skip(1490).unwrap();
                assert_eq!(stream.fill(1).unwrap_err().message(), fault);
            }
            let mut all = vec![0; 1500];
            Stream::new(stored.clone(), FRAMING).read_exact(&mut all).unwrap();
            assert_eq!(all, bytes);
            assert!(decompress_all(stored, FRAMING, 1 << 20).is_err(), "a section is all of its chunks");
        }
    }

    #[test]
    fn chunks_larger_than_the_chunk_size_are_corrupt() {
        let stored: Bytes = zlib(&[7; 2000]).into();
        for wanted in [1, 5000] {
            assert!(Stream::new(stored.clone(), FRAMING).fill(wanted).is_err());
            assert!(Stream::new(stored.clone(), FRAMING).read_exact(&mut vec![0; wanted]).is_err());
        }
        assert!(decompress_all(stored, FRAMING, 1 << 20).is_err());
    }

    #[test]
    fn sections_have_a_limit() {
        let stored: Bytes = [zlib(&[7; 1000]), zlib(&[8; 1000])].concat().into();
        assert_eq!(decompress_all(stored.clone(), FRAMING, 2000).unwrap().len(), 2000);
        assert!(decompress_all(stored, FRAMING, 1999).is_err());
    }
}

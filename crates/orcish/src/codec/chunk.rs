//! Chunk framing (ORCv1, Compression): a stream as a sequence of chunks, each behind a header of
//! three bytes that holds its length and whether it is stored as it is.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::{Error, Result};

use super::{Compression, Compressor, Pieces, decompress};
use crate::memory::{Charge, Memory};
use crate::source::{ByteSource, Positions, SeekSource, stream_ends};
use crate::tuning;

/// Length of a chunk header.
const HEADER: usize = 3;
/// A chunk this many times smaller than the chunk size goes through a shared buffer, so that
/// a stream of few bytes does not hold memory for a whole chunk.
const SMALL: usize = 16;
/// Most bytes of the shared buffer that a thread keeps; writers' chunks are no larger.
const MAX_SCRATCH: usize = 1 << 20;

/// How the streams of a file are cut and compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// Codec of the chunks; [`Compression::None`] means that there are no chunks.
    pub codec: Compression,
    /// Most bytes that a chunk holds when decompressed.
    pub chunk_size: usize,
}

impl Framing {
    /// Whether there are no chunks.
    pub(crate) fn is_plain(self) -> bool {
        self.codec == Compression::None
    }

    /// Most bytes of a chunk as stored, its header included: what does not become smaller is stored as it is.
    pub(crate) fn largest_chunk(self) -> Option<u64> {
        (!self.is_plain()).then(|| (HEADER + self.chunk_size) as u64)
    }
}

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Gives a chunk to `append`: its header, then its bytes, compressed if that makes them fewer. It holds no more than
/// 2²³ − 1 bytes.
pub(crate) fn append_chunk(raw: &[u8], compressor: &mut Compressor, mut append: impl FnMut(&[u8])) -> Result<()> {
    let (body, original) = match compressor.compress(raw)? {
        Some(packed) => (packed, 0),
        None => (raw, 1),
    };
    let length = u32::try_from(body.len()).ok().filter(|&length| length < 1 << 23);
    let length = length.ok_or_else(|| Error::limit("a compression chunk of more bytes than its header can state"))?;
    let [a, b, c, _] = (length << 1 | original).to_le_bytes();
    append(&[a, b, c]);
    append(body);
    Ok(())
}

/// A stream of a stripe, decompressed chunk by chunk as it is taken.
pub struct Stream {
    /// Bytes as stored; what lies before `next` has been looked at.
    stored: Bytes,
    next: usize,
    /// Offset of `stored` in the stream.
    base: u64,
    /// Where other bytes are, of a stream that is not in memory as a whole.
    pieces: Option<Arc<Pieces>>,
    framing: Framing,
    /// Decompressed bytes; `start..end` are not taken yet. Not used for uncompressed streams.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The newest chunk: its offset in the stream, and its length when decompressed, up to `end`.
    newest: Option<(u64, usize)>,
    /// What the buffer takes, where that is bounded.
    charge: Option<Charge>,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("stored", &self.stored.len()).field("next", &self.next).finish_non_exhaustive()
    }
}

impl Stream {
    /// A stream of `stored` bytes.
    pub fn new(stored: Bytes, framing: Framing) -> Self {
        Stream {
            stored,
            next: 0,
            base: 0,
            pieces: None,
            framing,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            newest: None,
            charge: None,
        }
    }

    /// The stream with its buffer charged to `memory`.
    pub(crate) fn within(self, memory: &Arc<Memory>) -> Self {
        Stream { charge: (!self.is_plain()).then(|| memory.part()), ..self }
    }

    /// A stream of which `pieces` are in memory.
    pub(crate) fn of_pieces(pieces: Arc<Pieces>, framing: Framing) -> Self {
        Stream { pieces: Some(pieces.clone()), ..Stream::new(pieces.from(0), framing) }
    }

    /// Offset in the stream of what is looked at next.
    fn offset(&self) -> u64 {
        self.base + self.next as u64
    }

    /// Makes `wanted` stored bytes contiguous, unless the stream ends before. Where they have to be read, it is
    /// `ahead` bytes at least.
    fn need(&mut self, wanted: usize, ahead: usize) -> Result<()> {
        let there = self.stored.len().saturating_sub(self.next);
        let Some(pieces) = self.pieces.as_ref().filter(|_| there < wanted) else { return Ok(()) };
        let offset = self.offset();
        let mut head = self.stored.slice(self.next.min(self.stored.len())..);
        // What was loaded since may reach further.
        let held = pieces.from(offset);
        if held.len() > head.len() {
            head = held;
        }
        if head.len() < wanted {
            head = pieces.extend(&head, offset, wanted, ahead)?;
        }
        (self.stored, self.base, self.next) = (head, offset, 0);
        Ok(())
    }

    fn is_plain(&self) -> bool {
        self.framing.is_plain()
    }

    /// Header and body of the next chunk; `None` at the end of the stream.
    fn next_chunk(&mut self) -> Result<Option<(bool, Bytes)>> {
        self.need(HEADER, HEADER + self.framing.chunk_size)?;
        let rest = self.stored.get(self.next..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let Some(&[a, b, c]) = rest.first_chunk::<HEADER>() else {
            return Err(Error::corrupt("the stream ends within a chunk header"));
        };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let length = (header >> 1) as usize;
        self.need(HEADER + length, 0)?;
        let rest = self.stored.get(self.next..).unwrap_or_default();
        if rest.len().saturating_sub(HEADER) < length {
            let there = rest.len().saturating_sub(HEADER);
            return Err(Error::corrupt(format!("a chunk states {length} bytes where the stream has {there}")));
        }
        let from = self.next + HEADER;
        self.next = from + length;
        Ok(Some((header & 1 == 1, self.stored.slice(from..self.next))))
    }

    /// Decompresses chunks behind `end` until `wanted` bytes are there or the stream ends.
    fn refill(&mut self, wanted: usize) -> Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < wanted {
            let (offset, begin) = (self.offset(), self.end);
            let Some((original, body)) = self.next_chunk()? else { break };
            if original {
                self.append(&body);
            } else if body.len().saturating_mul(SMALL) < self.framing.chunk_size {
                SCRATCH.with_borrow_mut(|scratch| {
                    let size = self.framing.chunk_size;
                    scratch.resize(scratch.len().max(size), 0);
                    let n = decompress(self.framing.codec, &body, scratch.get_mut(..size).unwrap_or_default())?;
                    self.append(scratch.get(..n).unwrap_or_default());
                    if scratch.len() > MAX_SCRATCH {
                        *scratch = Vec::new();
                    }
                    Ok(())
                })?;
            } else {
                self.reserve(self.framing.chunk_size);
                let room = self.buffer.get_mut(self.end..).unwrap_or_default();
                let room = room.get_mut(..self.framing.chunk_size).unwrap_or_default();
                self.end += decompress(self.framing.codec, &body, room)?;
            }
            self.newest = Some((offset, self.end - begin));
            if let Some(charge) = &mut self.charge {
                charge.raise_to(self.end as u64)?;
            }
        }
        Ok(())
    }

    /// Whether there may be stored bytes that have not been looked at.
    fn has_more(&self) -> bool {
        self.next < self.stored.len() || self.pieces.as_ref().is_some_and(|pieces| self.offset() < pieces.length())
    }

    fn reserve(&mut self, n: usize) {
        let size = self.end + n;
        if self.buffer.len() < size {
            if self.end == 0 {
                self.buffer = vec![0; size]; // zeroed pages come untouched from the system
            } else {
                self.buffer.resize(size, 0);
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        if let Some(room) = self.buffer.get_mut(self.end..self.end + bytes.len()) {
            room.copy_from_slice(bytes);
        }
        self.end += bytes.len();
    }
}

impl ByteSource for Stream {
    #[inline]
    fn fill(&mut self, wanted: usize) -> Result<&[u8]> {
        if self.is_plain() {
            if self.pieces.is_some() {
                self.need(wanted, tuning::PLAIN_BYTES_AHEAD.get())?;
            }
            return Ok(self.stored.get(self.next..).unwrap_or_default());
        }
        if self.end - self.start < wanted && self.has_more() {
            self.refill(wanted)?;
        }
        Ok(self.buffer.get(self.start..self.end).unwrap_or_default())
    }

    #[inline]
    fn consume(&mut self, n: usize) {
        if self.is_plain() {
            self.next = (self.next + n).min(self.stored.len());
        } else {
            self.start = (self.start + n).min(self.end);
        }
    }

    fn read_exact(&mut self, out: &mut [u8]) -> Result<()> {
        let mut out = out;
        loop {
            let bytes = self.fill(0)?;
            let n = bytes.len().min(out.len());
            let (now, later) = out.split_at_mut(n);
            now.copy_from_slice(bytes.get(..n).unwrap_or_default());
            self.consume(n);
            out = later;
            if out.is_empty() {
                return Ok(());
            }
            // Whole chunks go straight to where they are wanted.
            if !self.is_plain() && out.len() >= self.framing.chunk_size {
                self.newest = None;
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
        let within = if self.is_plain() { 0 } else { positions.take_count()? };
        if let Some((newest, length)) = self.newest
            && newest == offset
            && let Some(back) = length.checked_sub(within)
            && let Some(start) = self.end.checked_sub(back)
        {
            // It is decompressed already. Whatever was behind it is not looked at twice: `next` is behind it still.
            self.start = start;
            return Ok(());
        }
        let of_stored = offset.checked_sub(self.base).and_then(|at| usize::try_from(at).ok());
        match (of_stored.filter(|&at| at < self.stored.len()), &self.pieces) {
            (Some(at), _) => self.next = at,
            (None, Some(pieces)) if offset <= pieces.length() => {
                (self.stored, self.base, self.next) = (pieces.from(offset), offset, 0);
            }
            // Behind the last chunk.
            (None, None) if offset == self.base + self.stored.len() as u64 => self.next = self.stored.len(),
            _ => return Err(Error::corrupt(format!("the row index states byte {offset}, which is not in the stream"))),
        }
        (self.start, self.end, self.newest) = (0, 0, None);
        self.skip(within)
    }
}

/// Decompresses a whole section (footer, index, …) of at most `limit` bytes.
pub(crate) fn decompress_all(stored: Bytes, framing: Framing, limit: u64) -> Result<Bytes> {
    if framing.codec == Compression::None {
        return Ok(stored);
    }
    let mut stream = Stream::new(stored, framing);
    let mut wanted = framing.chunk_size;
    loop {
        let there = stream.fill(wanted)?.len();
        if there as u64 > limit {
            return Err(Error::limit(format!("decompresses to more than the {limit} bytes that are allowed")));
        }
        if there < wanted {
            stream.buffer.truncate(stream.end);
            // Sections are charged by their length.
            stream.buffer.shrink_to_fit();
            return Ok(Bytes::from(std::mem::take(&mut stream.buffer)));
        }
        wanted = there + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::ReadAt as _;

    fn original(body: &[u8]) -> Vec<u8> {
        let header = u32::try_from(body.len()).unwrap() * 2 + 1;
        [&header.to_le_bytes()[..3], body].concat()
    }

    fn zlib(body: &[u8]) -> Vec<u8> {
        let mut packed = vec![0; body.len() * 2 + 64];
        let level = libdeflater::CompressionLvl::default();
        let n = libdeflater::Compressor::new(level).deflate_compress(body, &mut packed).unwrap();
        let header = u32::try_from(n).unwrap() * 2;
        [&header.to_le_bytes()[..3], &packed[..n]].concat()
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
    fn values_straddle_chunks() {
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

    /// Seeks to any place of a stream of which any parts are in memory.
    #[test]
    fn seeks() {
        let bytes: Vec<u8> = (0..5000u32).map(|i| (i % 251) as u8).collect();
        for codec in [Compression::None, Compression::Zlib] {
            // Offset of each chunk as stored and decompressed, and the end.
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
            let piece = |from: u64, to: u64| {
                let range = from..to.min(length);
                (from - 2, source.read_ranges(&[range]).unwrap().remove(0))
            };
            let parts = [vec![], vec![piece(2, length)], vec![piece(2, 9), piece(500, 600), piece(700, length)]];
            for parts in parts {
                let pieces = Arc::new(Pieces::new(source.clone(), 2..length));
                pieces.set(parts);
                let mut stream = Stream::of_pieces(pieces, framing);
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
    fn a_chunk_larger_than_stated_is_corrupt() {
        let stored: Bytes = zlib(&[7; 2000]).into();
        for wanted in [1, 5000] {
            assert!(Stream::new(stored.clone(), FRAMING).fill(wanted).is_err());
            assert!(Stream::new(stored.clone(), FRAMING).read_exact(&mut vec![0; wanted]).is_err());
        }
        assert!(decompress_all(stored, FRAMING, 1 << 20).is_err());
    }

    #[test]
    fn sections_are_bounded() {
        let stored: Bytes = [zlib(&[7; 1000]), zlib(&[8; 1000])].concat().into();
        assert_eq!(decompress_all(stored.clone(), FRAMING, 2000).unwrap().len(), 2000);
        assert!(decompress_all(stored, FRAMING, 1999).is_err());
    }
}

//! Chunk framing (ORCv1, Compression): a stream as a sequence of chunks, each behind a header of
//! three bytes that holds its length and whether it is stored as it is.

use std::cell::RefCell;

use bytes::Bytes;

use super::{Compression, decompress};
use crate::error::{Error, Result};
use crate::source::{ByteSource, stream_ends};

/// Length of a chunk header.
const HEADER: usize = 3;
/// A chunk this many times smaller than the chunk size goes through a shared buffer, so that
/// a stream of few bytes does not hold memory for a whole chunk.
const SMALL: usize = 16;

/// How the streams of a file are cut and compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// Codec of the chunks; [`Compression::None`] means that there are no chunks.
    pub codec: Compression,
    /// Most bytes that a chunk holds when decompressed.
    pub chunk_size: usize,
}

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A stream of a stripe, decompressed chunk by chunk as it is taken.
pub struct Stream {
    /// Bytes as stored; what lies before `next` has been looked at.
    stored: Bytes,
    next: usize,
    framing: Framing,
    /// Decompressed bytes; `start..end` are not taken yet. Not used for uncompressed streams.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("stored", &self.stored.len()).field("next", &self.next).finish_non_exhaustive()
    }
}

impl Stream {
    /// A stream of `stored` bytes.
    pub fn new(stored: Bytes, framing: Framing) -> Self {
        Stream { stored, next: 0, framing, buffer: Vec::new(), start: 0, end: 0 }
    }

    fn is_plain(&self) -> bool {
        self.framing.codec == Compression::None
    }

    /// Header and body of the next chunk; `None` at the end of the stream.
    fn next_chunk(&mut self) -> Result<Option<(bool, Bytes)>> {
        let rest = self.stored.get(self.next..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let Some(&[a, b, c]) = rest.first_chunk::<HEADER>() else {
            return Err(Error::corrupt("the stream ends within a chunk header"));
        };
        let header = u32::from_le_bytes([a, b, c, 0]);
        let length = (header >> 1) as usize;
        if rest.len() - HEADER < length {
            let there = rest.len() - HEADER;
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
            let Some((original, body)) = self.next_chunk()? else { break };
            if original {
                self.append(&body);
            } else if body.len().saturating_mul(SMALL) < self.framing.chunk_size {
                SCRATCH.with_borrow_mut(|scratch| {
                    scratch.resize(self.framing.chunk_size, 0);
                    let n = decompress(self.framing.codec, &body, scratch)?;
                    self.append(scratch.get(..n).unwrap_or_default());
                    Ok(())
                })?;
            } else {
                self.reserve(self.framing.chunk_size);
                let room = self.buffer.get_mut(self.end..).unwrap_or_default();
                let room = room.get_mut(..self.framing.chunk_size).unwrap_or_default();
                self.end += decompress(self.framing.codec, &body, room)?;
            }
        }
        Ok(())
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
            return Ok(self.stored.get(self.next..).unwrap_or_default());
        }
        if self.end - self.start < wanted && self.next < self.stored.len() {
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
            return Ok(Bytes::from(std::mem::take(&mut stream.buffer)));
        }
        wanted = there + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

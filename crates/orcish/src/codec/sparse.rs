//! Streams with some loaded byte ranges.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use orcish_core::allocation;
use orcish_core::error::Result;
use orcish_io::ReadAt;

use crate::source::stream_ends;

/// A stream with some loaded byte ranges. Other bytes are read from the source when they are needed.
pub(crate) struct SparseStream {
    /// Loaded ranges with their offsets in the stream, ascending and not adjacent.
    loaded: Mutex<Vec<(u64, Bytes)>>,
    source: Arc<dyn ReadAt>,
    /// Byte range of the stream in the file.
    range: Range<u64>,
    /// Minimum number of bytes that are read at a time.
    piece_size: usize,
}

impl std::fmt::Debug for SparseStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseStream").field("range", &self.range).finish_non_exhaustive()
    }
}

impl SparseStream {
    /// The stream at `range` of `source`. Nothing is loaded.
    pub(crate) fn new(source: Arc<dyn ReadAt>, range: Range<u64>) -> Self {
        Self::in_pieces(source, range, 0)
    }

    /// The stream at `range` of `source`, of which at least `piece_size` bytes are read at a time. Nothing is loaded.
    pub(crate) fn in_pieces(source: Arc<dyn ReadAt>, range: Range<u64>, piece_size: usize) -> Self {
        SparseStream { loaded: Mutex::default(), source, range, piece_size }
    }

    /// Replaces the loaded ranges of a stream that is not read in pieces. Each has its offset in the stream.
    pub(crate) fn set_loaded(&self, ranges: Vec<(u64, Bytes)>) {
        let mut ranges = ranges;
        ranges.sort_by_key(|&(offset, _)| offset);
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = ranges;
    }

    /// Byte range of the stream in the file.
    pub(crate) fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Length of the stream in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// The bytes from `offset` to the end of its loaded range; empty where `offset` is not loaded.
    pub(super) fn loaded_from(&self, offset: u64) -> Bytes {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let end = loaded.partition_point(|&(start, _)| start <= offset);
        let Some((start, bytes)) = end.checked_sub(1).and_then(|at| loaded.get(at)) else { return Bytes::new() };
        match usize::try_from(offset - start) {
            Ok(skipped) if skipped <= bytes.len() => bytes.slice(skipped..),
            _ => Bytes::new(),
        }
    }

    /// Extends `head`, the bytes at `offset`, to at least `wanted` contiguous bytes, or to the end of the stream. Bytes that
    /// are not loaded are read, at least `read_ahead` bytes and a piece, up to the next loaded range.
    ///
    /// # Errors
    /// Errors of the source.
    pub(super) fn extend(&self, head: &Bytes, offset: u64, wanted: usize, read_ahead: usize) -> Result<Bytes> {
        // A chunk header can state more bytes than the stream has.
        let rest = usize::try_from(self.length().saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut joined = Vec::new();
        allocation::reserve(&mut joined, wanted.max(head.len() + read_ahead.max(self.piece_size)).min(rest))?;
        joined.extend_from_slice(head);
        while joined.len() < wanted {
            let from = offset.saturating_add(joined.len() as u64);
            let missing = (wanted - joined.len()).max(read_ahead).max(self.piece_size);
            let loaded = self.loaded_from(from);
            if !loaded.is_empty() {
                joined.extend_from_slice(loaded.get(..missing).unwrap_or(&loaded));
                continue;
            }
            let start = self.range.start.saturating_add(from).min(self.range.end);
            let end = self.range.start.saturating_add(self.next_loaded(from)).min(self.range.end);
            let range = start..start.saturating_add(missing as u64).min(end);
            if range.is_empty() {
                break;
            }
            self.source.append_range(range, &mut joined)?;
        }
        Ok(joined.into())
    }

    /// Whether `length` bytes are best read to where they are needed: at least half of a piece, of a stream that is read in pieces.
    /// Such a stream has no loaded ranges.
    pub(super) fn is_read_in_place(&self, length: usize) -> bool {
        self.piece_size > 0 && length >= self.piece_size / 2
    }

    /// Appends `length` bytes from `offset` on, which are not loaded, to `out`.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before; errors of the source.
    pub(super) fn append(&self, offset: u64, length: usize, out: &mut Vec<u8>) -> Result<()> {
        let start = self.range.start.saturating_add(offset);
        let end = start.saturating_add(length as u64);
        if end > self.range.end {
            return Err(stream_ends(usize::try_from(end - self.range.end).unwrap_or(usize::MAX)));
        }
        self.source.append_range(start..end, out)
    }

    /// Offset of the first loaded range behind `offset`; `u64::MAX` where there is none.
    fn next_loaded(&self, offset: u64) -> u64 {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let next = loaded.partition_point(|&(start, _)| start <= offset);
        loaded.get(next).map_or(u64::MAX, |&(start, _)| start)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use orcish_io::MemorySource;

    use super::*;

    /// A source that counts the ranges that are read.
    struct CountingSource(MemorySource, AtomicUsize);

    impl ReadAt for CountingSource {
        fn name(&self) -> &str {
            self.0.name()
        }

        fn size(&self) -> Result<u64> {
            self.0.size()
        }

        fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
            self.1.fetch_add(ranges.len(), Ordering::Relaxed);
            self.0.read_ranges(ranges)
        }
    }

    #[test]
    fn loaded_ranges_are_not_read() {
        let data: Bytes = (0..100).collect::<Vec<u8>>().into();
        let source = Arc::new(CountingSource(MemorySource::new(data.clone()), AtomicUsize::new(0)));
        let stream = SparseStream::new(source.clone(), 10..90);
        stream.set_loaded(vec![(40, data.slice(50..60)), (50, data.slice(60..62)), (60, data.slice(70..75))]);
        let reads = || source.1.swap(0, Ordering::Relaxed);
        // The bytes of the caller, two loaded ranges, a range that is read, and a loaded range.
        let extended = stream.extend(&data.slice(45..50), 35, 30, 0).unwrap();
        assert_eq!((extended, reads()), (data.slice(45..75), 1));
        assert_eq!((stream.extend(&Bytes::new(), 60, 5, 1000).unwrap(), reads()), (data.slice(70..75), 0));
        // Reads end at the end of the stream.
        assert_eq!((stream.extend(&Bytes::new(), 70, 20, 0).unwrap(), reads()), (data.slice(80..90), 1));
        assert_eq!((stream.extend(&Bytes::new(), 80, 20, 0).unwrap(), reads()), (Bytes::new(), 0));
    }
}

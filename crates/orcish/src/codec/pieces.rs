//! A stream of which parts are in memory.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use orcish_core::error::{Error, Result};
use orcish_io::ReadAt;

/// The parts of a stream that are in memory, and where to read the rest of it, should it be needed.
pub(crate) struct Pieces {
    /// Parts with their offsets in the stream, ascending; none touches the next.
    parts: Mutex<Vec<(u64, Bytes)>>,
    source: Arc<dyn ReadAt>,
    /// The stream in the file.
    range: Range<u64>,
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pieces").field("range", &self.range).finish_non_exhaustive()
    }
}

impl Pieces {
    /// The stream at `range` of `source`, of which nothing is there yet.
    pub(crate) fn new(source: Arc<dyn ReadAt>, range: Range<u64>) -> Self {
        Pieces { parts: Mutex::default(), source, range }
    }

    /// Replaces what is in memory by `parts`, given with their offsets in the stream.
    pub(crate) fn set(&self, parts: Vec<(u64, Bytes)>) {
        let mut parts = parts;
        parts.sort_by_key(|&(offset, _)| offset);
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = parts;
    }

    /// Where the stream is in the file.
    pub(crate) fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    pub(crate) fn length(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// The bytes from `offset` to the end of the part that holds it; none where no part does.
    pub(super) fn from(&self, offset: u64) -> Bytes {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let before = parts.partition_point(|&(start, _)| start <= offset);
        let Some((start, bytes)) = before.checked_sub(1).and_then(|at| parts.get(at)) else { return Bytes::new() };
        match usize::try_from(offset - start) {
            Ok(skipped) if skipped <= bytes.len() => bytes.slice(skipped..),
            _ => Bytes::new(),
        }
    }

    /// `head`, which is at `offset`, and at least `wanted` bytes in all; fewer only where the stream ends. What is
    /// in no part is read, at least `ahead` bytes, but for what the next part has.
    pub(super) fn extend(&self, head: &Bytes, offset: u64, wanted: usize, ahead: usize) -> Result<Bytes> {
        let mut joined = BytesMut::from(&head[..]);
        while joined.len() < wanted {
            let from = offset.saturating_add(joined.len() as u64);
            let missing = (wanted - joined.len()).max(ahead);
            let held = self.from(from);
            if !held.is_empty() {
                joined.extend_from_slice(held.get(..missing).unwrap_or(&held));
                continue;
            }
            let start = self.range.start.saturating_add(from).min(self.range.end);
            let end = self.range.start.saturating_add(self.next_part(from)).min(self.range.end);
            let range = start..start.saturating_add(missing as u64).min(end);
            if range.is_empty() {
                break;
            }
            let more = self.source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default();
            if more.len() as u64 != range.end - range.start {
                return Err(Error::new(orcish_core::ErrorKind::Io, "the source gave fewer bytes than asked for"));
            }
            joined.extend_from_slice(&more);
        }
        Ok(joined.freeze())
    }

    /// Where the first part behind `offset` begins; as far as can be without one.
    fn next_part(&self, offset: u64) -> u64 {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let before = parts.partition_point(|&(start, _)| start <= offset);
        parts.get(before).map_or(u64::MAX, |&(start, _)| start)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use orcish_io::MemorySource;

    use super::*;

    /// Bytes that count how often they are read.
    struct Counted(MemorySource, AtomicUsize);

    impl ReadAt for Counted {
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
    fn what_is_there_is_not_read_again() {
        let data: Bytes = (0..100).collect::<Vec<u8>>().into();
        let source = Arc::new(Counted(MemorySource::new(data.clone()), AtomicUsize::new(0)));
        let pieces = Pieces::new(source.clone(), 10..90);
        pieces.set(vec![(40, data.slice(50..60)), (50, data.slice(60..62)), (60, data.slice(70..75))]);
        let reads = || source.1.swap(0, Ordering::Relaxed);
        // The rest of an older part, then two parts, then a gap, then a part.
        let found = pieces.extend(&data.slice(45..50), 35, 30, 0).unwrap();
        assert_eq!((found, reads()), (data.slice(45..75), 1));
        assert_eq!((pieces.extend(&Bytes::new(), 60, 5, 1000).unwrap(), reads()), (data.slice(70..75), 0));
        // To the end of the stream, and no further.
        assert_eq!((pieces.extend(&Bytes::new(), 70, 20, 0).unwrap(), reads()), (data.slice(80..90), 1));
        assert_eq!((pieces.extend(&Bytes::new(), 80, 20, 0).unwrap(), reads()), (Bytes::new(), 0));
    }
}

//! A stream of which parts are in memory.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};

use crate::error::{Error, Result};
use crate::io::ReadAt;

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
    /// read for that is `ahead` bytes.
    pub(super) fn extend(&self, head: &Bytes, offset: u64, wanted: usize, ahead: usize) -> Result<Bytes> {
        let from = offset.saturating_add(head.len() as u64);
        let missing = wanted.saturating_sub(head.len()).max(ahead) as u64;
        let start = self.range.start.saturating_add(from).min(self.range.end);
        let range = start..start.saturating_add(missing).min(self.range.end);
        if range.is_empty() {
            return Ok(head.clone());
        }
        let more = self.source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default();
        if more.len() as u64 != range.end - range.start {
            return Err(Error::new(crate::ErrorKind::Io, "the source gave fewer bytes than asked for"));
        }
        let mut joined = BytesMut::with_capacity(head.len() + more.len());
        joined.extend_from_slice(head);
        joined.extend_from_slice(&more);
        Ok(joined.freeze())
    }
}

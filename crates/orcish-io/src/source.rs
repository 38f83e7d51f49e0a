//! Sources of bytes.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::{Error, Result};

use crate::tuning;

/// Bytes that are read from the end of a file at first, where a request costs little: enough for most tails.
pub const FIRST_READ: u64 = 16 << 10;

/// Something whose bytes can be read by range, by several threads at a time.
pub trait ReadAt: Send + Sync {
    /// A name for messages, such as a path.
    fn name(&self) -> &str;

    /// Length in bytes.
    fn size(&self) -> Result<u64>;

    /// The bytes of each range, in order. Ranges lie within [`size`](Self::size).
    ///
    /// # Errors
    /// Of kind `Io` when the source fails, or gives fewer bytes than asked for.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// The size of the file, and its last `length` bytes, or all where it has fewer. Sources that can do
    /// both in one request do.
    ///
    /// # Errors
    /// Those of [`size`](Self::size) and [`read_ranges`](Self::read_ranges).
    fn read_suffix(&self, length: u64) -> Result<(u64, Bytes)> {
        let size = self.size()?;
        let range = size.saturating_sub(length)..size;
        let bytes = self.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default();
        Ok((size, bytes))
    }

    /// Bytes to read from the end of a file at first.
    fn first_read(&self) -> u64 {
        tuning::FIRST_READ.wide()
    }

    /// Bytes that are read sooner than another request is made: ranges that are not further apart are read as one.
    fn gap(&self) -> u64 {
        tuning::NEAR_GAP.wide()
    }

    /// What a read holds on to: buffers that the source uses again are kept until the last of these is dropped.
    fn session(&self) -> Session {
        Session::default()
    }

    /// What may be the reason that its bytes are no file, for messages about such bytes.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Requests that are worth having under way at a time, because what they take is waiting and no work.
    fn requests(&self) -> usize {
        tuning::NEAR_REQUESTS.get()
    }
}

/// A read of a source that is under way; see [`ReadAt::session`].
#[derive(Clone, Default)]
pub struct Session {
    /// Kept for its drop alone.
    _kept: Option<Arc<dyn std::any::Any + Send + Sync>>,
}

impl Session {
    /// A read that keeps `what`.
    pub fn keeping(what: Arc<dyn std::any::Any + Send + Sync>) -> Self {
        Session { _kept: Some(what) }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

/// Length of a range that lies within `size` bytes.
pub(crate) fn within(range: &Range<u64>, size: u64) -> Result<usize> {
    let length = range.end.checked_sub(range.start).filter(|_| range.end <= size);
    length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| {
        Error::corrupt(format!("bytes {} to {} are outside of the file's {size} bytes", range.start, range.end))
    })
}

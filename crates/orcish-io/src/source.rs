//! The trait of byte sources.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::{Error, ErrorKind, Result};

use crate::tuning;
use crate::version::FileVersion;

/// Default size, in bytes, of the first read from the end of a local file: enough for most file tails.
pub const DEFAULT_FIRST_READ: u64 = 16 << 10;

/// A source of bytes with random access, shared between threads.
pub trait ReadAt: Send + Sync {
    /// The name of the source in messages, such as a path.
    fn name(&self) -> &str;

    /// The size of the source in bytes.
    ///
    /// # Errors
    /// `Io` if the size cannot be determined.
    fn size(&self) -> Result<u64>;

    /// Reads the bytes of each range, in the order of `ranges`. All ranges have to lie within [`size`](Self::size).
    ///
    /// # Errors
    /// `Io` if the source fails or returns fewer bytes than requested, `Corrupt` if a range exceeds the size.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// Reads the bytes of one range. An empty range needs no read.
    ///
    /// # Errors
    /// The errors of [`read_ranges`](Self::read_ranges).
    fn read_range(&self, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let bytes = self.read_ranges(std::slice::from_ref(&range))?.pop();
        let bytes = bytes.filter(|bytes| bytes.len() as u64 == range.end.saturating_sub(range.start));
        bytes.ok_or_else(|| Error::new(ErrorKind::Io, "the source gave other bytes than it was asked for"))
    }

    /// Appends the bytes of one range to `out`. A source that reads into memory without copies overrides this method.
    ///
    /// # Errors
    /// The errors of [`read_ranges`](Self::read_ranges). `out` may then have some of the bytes.
    fn append_range(&self, range: Range<u64>, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(&self.read_range(range)?);
        Ok(())
    }

    /// The size of the source, and its last `length` bytes, or all bytes if the source is shorter. A source that gets
    /// both in one request overrides this method.
    ///
    /// # Errors
    /// The errors of [`size`](Self::size) and [`read_ranges`](Self::read_ranges).
    fn read_suffix(&self, length: u64) -> Result<(u64, Bytes)> {
        let size = self.size()?;
        Ok((size, self.read_range(size.saturating_sub(length)..size)?))
    }

    /// The version of the bytes that are read, as far as it is known after a read. No request is made for it where the
    /// reads tell it. `None` by default.
    ///
    /// # Errors
    /// `Io` if a request fails.
    fn version(&self) -> Result<Option<FileVersion>> {
        Ok(None)
    }

    /// Sets the version of the file: that of a tail, for example, which was read before, or by another process. From then
    /// on reads of another version are errors. A source that knows its version only with its first read overrides this
    /// method.
    ///
    /// # Errors
    /// `Io` if the source is known to be of another version.
    fn expect_version(&self, version: &FileVersion) -> Result<()> {
        self.version()?.map_or(Ok(()), |source_version| version.check(&source_version))
    }

    /// Checks the version that [`expect_version`](Self::expect_version) has set, for a caller that reads nothing. A source
    /// that learns its version from reads makes a request, unless it has read already.
    ///
    /// # Errors
    /// `Io` if the source is of another version, or the request fails.
    fn check_version(&self) -> Result<()> {
        Ok(())
    }

    /// The recommended size, in bytes, of the first read from the end of the source.
    fn first_read(&self) -> u64 {
        tuning::FIRST_READ.wide()
    }

    /// The largest distance, in bytes, between two ranges for which one request is cheaper than two. See
    /// [`coalesce_ranges`](crate::coalesce_ranges).
    fn coalesce_gap(&self) -> u64 {
        tuning::LOCAL_COALESCE_GAP.wide()
    }

    /// The number of bytes that are best read at a time from a range that is needed from its start to its end. `None`, the
    /// default, where few large requests are best.
    fn piece_size(&self) -> Option<usize> {
        None
    }

    /// Starts a read session. Internal buffers are reused while at least one session exists.
    fn session(&self) -> Session {
        Session::default()
    }

    /// A possible cause of invalid content, for messages about corrupt files.
    fn corruption_hint(&self) -> Option<String> {
        None
    }

    /// The recommended number of concurrent requests. It is 1 if a request is bound by the processor and not by
    /// latency.
    fn concurrency(&self) -> usize {
        tuning::LOCAL_CONCURRENCY.get()
    }
}

/// A guard that keeps the resources of a read session alive. See [`ReadAt::session`].
#[derive(Clone, Default)]
pub struct Session {
    /// Held for its `Drop` implementation.
    _guard: Option<Arc<dyn Any + Send + Sync>>,
}

impl Session {
    /// Creates a session that keeps `guard` alive.
    pub fn new(guard: Arc<dyn Any + Send + Sync>) -> Self {
        Session { _guard: Some(guard) }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

/// The length of `range`, which has to lie within `size` bytes.
///
/// # Errors
/// `Corrupt` if it does not.
pub(crate) fn checked_length(range: &Range<u64>, size: u64) -> Result<usize> {
    let length = range.end.checked_sub(range.start).filter(|_| range.end <= size);
    length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| {
        Error::corrupt(format!("bytes {} to {} are outside of the file's {size} bytes", range.start, range.end))
    })
}

//! Sources of bytes that are read by range, and sinks that files are written to; the only module that opens files.
//!
//! [`open`] makes a source of a path or a URL, [`create`] a sink, [`list`] finds the files of a folder or a pattern,
//! [`list_folder`] those of a folder alone.

mod durable;
mod file;
mod folder;
mod list;
mod local;
mod local_folder;
mod location;
mod memory;
mod pattern;
#[cfg(feature = "object-store")]
mod remote;
mod sink;
mod site;
mod storage;
#[cfg(test)]
mod tests;
mod upload;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::tuning;

pub use file::FileSource;
pub use folder::{FileStatus, MOST_SMALL_BYTES, delete_files, delete_folder, list_all, read_small, stat, write_small};
pub use list::{list, list_folder};
pub(crate) use location::percent_decode;
pub use memory::MemorySource;
#[cfg(feature = "object-store")]
pub use remote::ObjectSource;
pub use sink::{FileSink, MemorySink, Sink, create};
pub use site::Site;
pub use storage::StorageOptions;
pub use upload::{Unpublished, Withheld, abort_upload, complete_upload, create_unpublished};

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

/// The source at `location`: a path, a `file://` URL, or, with the feature `object-store`, a URL of S3
/// (`s3`, `s3a`), Google Cloud Storage (`gs`), Azure (`az`, `abfs`, `abfss`, `adl`, `azure`) or an HTTP server.
///
/// # Errors
/// Of kind `Io` when it cannot be opened, `InvalidArgument` when the URL or an option is wrong.
pub fn open(location: &str, options: &StorageOptions) -> Result<Arc<dyn ReadAt>> {
    match location::parse(location) {
        location::Location::Local(path) => Ok(Arc::new(FileSource::open(path)?)),
        #[cfg(feature = "object-store")]
        location::Location::Remote(_) => Ok(Arc::new(ObjectSource::open(location, options)?)),
        #[cfg(not(feature = "object-store"))]
        location::Location::Remote(url) => Err(url.no_feature(options)),
    }
}

/// A path or URL for messages: without credentials, and without a query, which may hold some.
pub fn display_name(location: &str) -> String {
    match location::parse(location) {
        location::Location::Local(_) => location.to_owned(),
        location::Location::Remote(url) => url.name(),
    }
}

/// Requests that are worth having under way at a time for files such as that at `location`.
pub fn requests(location: &str, options: &StorageOptions) -> usize {
    match location::parse(location) {
        location::Location::Local(_) => tuning::NEAR_REQUESTS.get(),
        #[cfg(feature = "object-store")]
        location::Location::Remote(_) => options.split().map_or(1, |(remote, _)| remote.concurrency),
        #[cfg(not(feature = "object-store"))]
        location::Location::Remote(_) => {
            let _ = options;
            1
        }
    }
}

/// The folders of a path or URL, without its query.
pub(crate) fn folders_of(location: &str) -> Vec<String> {
    let mut segments = location::segments(location);
    segments.pop();
    segments
}

/// Those of them that are below `base`: a folder, or the part of a pattern before its first sign.
pub(crate) fn folders_below(base: &str, location: &str) -> Vec<String> {
    let (mut base, found) = (location::segments(base), location::segments(location));
    if !found.starts_with(&base) {
        base.truncate(base.iter().position(|segment| pattern::is_pattern(segment)).unwrap_or(base.len()));
    }
    let above = if found.starts_with(&base) { base.len() } else { 0 };
    let end = found.len().saturating_sub(1);
    found.get(above..end).unwrap_or_default().to_vec()
}

/// Joins ranges that overlap, touch, or have at most `gap` bytes between them, in order of their offsets.
pub fn coalesce(ranges: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Reads `ranges` through as few requests as their neighbourhood allows: gaps of `gap` bytes are read too.
pub(crate) fn read_coalesced(source: &dyn ReadAt, ranges: &[Range<u64>], gap: u64) -> Result<Vec<Bytes>> {
    let joined = coalesce(ranges, gap);
    let parts = source.read_ranges(&joined)?;
    let slice = |range: &Range<u64>| {
        if range.is_empty() {
            return Some(Bytes::new());
        }
        let at = joined.partition_point(|whole| whole.end <= range.start);
        let (whole, bytes) = (joined.get(at)?, parts.get(at)?);
        part_of(bytes, whole.start, range)
    };
    let missing = || Error::new(crate::ErrorKind::Io, "the source gave fewer bytes than were asked for");
    ranges.iter().map(|range| slice(range).ok_or_else(missing)).collect()
}

/// The bytes of `range`, if they are in `bytes`, which begin at `start`.
pub fn part_of(bytes: &Bytes, start: u64, range: &Range<u64>) -> Option<Bytes> {
    let from = usize::try_from(range.start.checked_sub(start)?).ok()?;
    let to = usize::try_from(range.end.checked_sub(start)?).ok()?;
    (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
}

/// Length of a range that lies within `size` bytes.
fn within(range: &Range<u64>, size: u64) -> Result<usize> {
    let length = range.end.checked_sub(range.start).filter(|_| range.end <= size);
    length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| {
        Error::corrupt(format!("bytes {} to {} are outside of the file's {size} bytes", range.start, range.end))
    })
}

//! Sources of bytes that are read by range; the only module that opens files.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::error::{Error, Result};

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
}

/// Joins ranges that touch or overlap, in order of their offsets.
pub fn coalesce(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Reads `ranges` through as few requests as their neighbourhood allows.
pub(crate) fn read_coalesced(source: &dyn ReadAt, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let joined = coalesce(ranges);
    let parts = source.read_ranges(&joined)?;
    let slice = |range: &Range<u64>| {
        if range.is_empty() {
            return Some(Bytes::new());
        }
        let at = joined.partition_point(|whole| whole.end <= range.start);
        let (whole, bytes) = (joined.get(at)?, parts.get(at)?);
        let from = usize::try_from(range.start.checked_sub(whole.start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(whole.start)?).ok()?;
        (to <= bytes.len()).then(|| bytes.slice(from..to))
    };
    let missing = || Error::new(crate::ErrorKind::Io, "the source gave fewer bytes than were asked for");
    ranges.iter().map(|range| slice(range).ok_or_else(missing)).collect()
}

/// Buffers that are used again: memory that is new each time has to be zeroed, by us or by the system.
#[derive(Debug, Default)]
struct Pool(Mutex<Vec<Vec<u8>>>);

/// Most buffers that are kept, and most bytes of one.
const KEPT_BUFFERS: usize = 2;
const KEPT_BYTES: usize = 512 << 20;

/// A buffer on loan, of which the first `length` bytes count.
struct Loan {
    buffer: Vec<u8>,
    length: usize,
    pool: Arc<Pool>,
}

impl Pool {
    fn lend(self: &Arc<Self>, length: usize) -> Loan {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fit = kept.iter().rposition(|buffer| buffer.len() >= length);
        let buffer = fit.map(|at| kept.swap_remove(at)).unwrap_or_else(|| vec![0; length]);
        Loan { buffer, length, pool: self.clone() }
    }
}

impl AsRef<[u8]> for Loan {
    fn as_ref(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut kept = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        if buffer.len() > KEPT_BYTES {
            return;
        }
        kept.push(buffer);
        // The smallest goes.
        kept.sort_unstable_by_key(|buffer| std::cmp::Reverse(buffer.len()));
        kept.truncate(KEPT_BUFFERS);
    }
}

/// A file of the local file system.
#[derive(Debug)]
pub struct FileSource {
    #[expect(clippy::disallowed_types, reason = "this is where files are opened")]
    file: std::fs::File,
    name: String,
    size: u64,
    buffers: Arc<Pool>,
}

impl FileSource {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Of kind `Io`, with the system's error as its source.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let fault = |error| Error::io("cannot be opened", error).in_file(&name);
        #[expect(clippy::disallowed_types, reason = "this is where files are opened")]
        let file = std::fs::File::open(path.as_ref()).map_err(fault)?;
        let metadata = file.metadata().map_err(fault)?;
        if metadata.is_dir() {
            return Err(fault(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
        }
        Ok(FileSource { file, size: metadata.len(), name, buffers: Arc::default() })
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match std::os::windows::fs::FileExt::seek_read(&self.file, rest, offset + done as u64)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                n => done += n,
            }
        }
        Ok(())
    }
}

impl ReadAt for FileSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let read = |range: &Range<u64>| {
            let length = within(range, self.size)?;
            let mut loan = self.buffers.lend(length);
            let buffer = loan.buffer.get_mut(..length).unwrap_or_default();
            self.read_at(buffer, range.start)
                .map_err(|error| Error::io(format!("cannot read {length} bytes at {}", range.start), error))?;
            Ok(Bytes::from_owner(loan))
        };
        ranges.iter().map(read).collect()
    }
}

/// Length of a range that lies within `size` bytes.
fn within(range: &Range<u64>, size: u64) -> Result<usize> {
    let length = range.end.checked_sub(range.start).filter(|_| range.end <= size);
    length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| {
        Error::corrupt(format!("bytes {} to {} are outside of the file's {size} bytes", range.start, range.end))
    })
}

/// A file that is in memory as a whole.
#[derive(Debug, Clone)]
pub struct MemorySource {
    bytes: Bytes,
    name: String,
}

impl MemorySource {
    /// The bytes of a whole file.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        MemorySource { bytes: bytes.into(), name: "<memory>".to_owned() }
    }
}

impl ReadAt for MemorySource {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let read = |range: &Range<u64>| {
            let length = within(range, self.bytes.len() as u64)?;
            let start = usize::try_from(range.start).unwrap_or(usize::MAX);
            Ok(self.bytes.slice(start..start + length))
        };
        ranges.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one range is what is meant")]
    fn joins_what_touches() {
        assert_eq!(coalesce(&[10..20, 0..5, 20..30, 25..28, 7..7]), [0..5, 10..30]);
        assert_eq!(coalesce(&[3..5, 5..9]), [3..9]);
    }

    #[test]
    fn gives_each_range_its_bytes() {
        let source = MemorySource::new((0..100).collect::<Vec<u8>>());
        let parts = read_coalesced(&source, &[50..53, 0..2, 53..54, 9..9]).unwrap();
        assert_eq!(parts, [vec![50, 51, 52], vec![0, 1], vec![53], vec![]]);
        assert!(read_coalesced(&source, &[0..1, 99..101]).is_err());
    }
}

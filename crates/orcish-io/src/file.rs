//! Files of the local file system.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use orcish_core::{Error, Result};

use crate::source::{ReadAt, Session, within};
use crate::tuning;

/// Buffers that are used again: memory that is new each time has to be zeroed, by us or by the system.
#[derive(Debug, Default)]
struct Pool(Mutex<Vec<Vec<u8>>>);

/// A buffer on loan, of which the first `length` bytes count.
struct Loan {
    buffer: Vec<u8>,
    length: usize,
    pool: Weak<Pool>,
}

impl Pool {
    fn lend(self: &Arc<Self>, length: usize) -> Loan {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fit = kept.iter().rposition(|buffer| buffer.len() >= length);
        let buffer = fit.map(|at| kept.swap_remove(at)).unwrap_or_else(|| vec![0; length]);
        Loan { buffer, length, pool: Arc::downgrade(self) }
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
        let kept_bytes = tuning::KEPT_BUFFER_BYTES.get();
        let Some(pool) = self.pool.upgrade().filter(|_| buffer.len() <= kept_bytes) else { return };
        let mut kept = pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(buffer);
        // The smallest goes.
        kept.sort_unstable_by_key(|buffer| std::cmp::Reverse(buffer.len()));
        kept.truncate(tuning::KEPT_BUFFERS.get());
    }
}

/// An error where what is at `path` has no ranges of bytes. It has to be known before the file is opened: the system opens
/// a pipe once somebody writes to it, and no signal ends the wait.
pub(super) fn check_ranges(path: &Path) -> std::io::Result<()> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let name = if kind.is_fifo() {
            "a pipe (FIFO)"
        } else if kind.is_socket() {
            "a socket"
        } else {
            return Ok(());
        };
        Err(std::io::Error::other(format!("it is {name}, of which no ranges can be read: read it into memory first")))
    }
    #[cfg(not(unix))]
    Ok(())
}

/// A file of the local file system.
#[derive(Debug)]
pub struct FileSource {
    #[expect(clippy::disallowed_types, reason = "this is where files are opened")]
    file: std::fs::File,
    name: String,
    size: u64,
    /// The buffers of reads that are under way; they go with the last of these.
    buffers: Mutex<Weak<Pool>>,
}

impl FileSource {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Of kind `Io`, with the system's error as its source.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let fault = |error| Error::io("cannot be opened", error).in_file(&name);
        check_ranges(path.as_ref()).map_err(fault)?;
        #[expect(clippy::disallowed_types, reason = "this is where files are opened")]
        let file = std::fs::File::open(path.as_ref()).map_err(fault)?;
        let metadata = file.metadata().map_err(fault)?;
        Ok(FileSource { file, size: metadata.len(), name, buffers: Mutex::default() })
    }

    /// The buffers of the reads that are under way, or new ones.
    fn pool(&self) -> Arc<Pool> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.upgrade().unwrap_or_else(|| {
            let pool = Arc::default();
            *buffers = Arc::downgrade(&pool);
            pool
        })
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

    fn session(&self) -> Session {
        Session::keeping(self.pool())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let pool = self.pool();
        let read = |range: &Range<u64>| {
            let length = within(range, self.size)?;
            let mut loan = pool.lend(length);
            let buffer = loan.buffer.get_mut(..length).unwrap_or_default();
            self.read_at(buffer, range.start)
                .map_err(|error| Error::io(format!("cannot read {length} bytes at {}", range.start), error))?;
            Ok(Bytes::from_owner(loan))
        };
        ranges.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl FileSource {
        /// Bytes of the buffers that are kept.
        fn kept(&self) -> Option<usize> {
            let pool = self.buffers.lock().unwrap().upgrade()?;
            let kept = pool.0.lock().unwrap();
            Some(kept.iter().map(Vec::len).sum())
        }
    }

    #[test]
    fn buffers_are_kept_as_long_as_a_read_is_under_way() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
        let source = FileSource::open(path).unwrap();
        let read = || source.read_ranges(std::slice::from_ref(&(0..100))).unwrap();
        drop(read());
        assert_eq!(source.kept(), None);
        let (session, other) = (source.session(), source.session());
        let address = read().first().unwrap().as_ptr();
        assert_eq!(source.kept(), Some(100));
        drop(session);
        assert_eq!(read().first().unwrap().as_ptr(), address);
        // What is on loan outlives the read, and is kept no longer.
        let bytes = read();
        drop(other);
        assert_eq!((source.kept(), bytes[0].len()), (None, 100));
    }
}

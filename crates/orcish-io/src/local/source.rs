//! Sources of local files.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use bytes::Bytes;
use orcish_core::process::PerProcess;
use orcish_core::{Error, Result};

use super::buffer_pool::BufferPool;
use super::positional::append_exact_at;
use crate::messages::CANNOT_READ;
use crate::source::{ReadAt, Session, checked_length};
use crate::tuning;
use crate::version::{FileVersion, replaced};

/// A file of the local file system.
///
/// ```no_run
/// use orcish_io::{FileSource, ReadAt as _};
///
/// let (size, tail) = FileSource::open("a.orc")?.read_suffix(16 << 10)?;
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Debug)]
pub struct FileSource {
    #[expect(clippy::disallowed_types, reason = "this is where files are opened")]
    file: std::fs::File,
    name: String,
    size: u64,
    /// The modification time when the file was opened.
    modified: Option<SystemTime>,
    version: FileVersion,
    /// The buffer pool of the sessions that exist.
    pool: PerProcess<Mutex<Weak<BufferPool>>>,
}

impl FileSource {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// `Io` if the file cannot be opened, or has no random access, such as a pipe. The source of the error is a
    /// [`std::io::Error`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let to_error = |error| cannot_be_opened(error, &name);
        // The check precedes the opening of the file because opening a pipe blocks, without reaction to signals, until a
        // writer opens it.
        check_random_access(std::fs::metadata(path.as_ref()).map_err(to_error)?.file_type()).map_err(to_error)?;
        #[expect(clippy::disallowed_types, reason = "this is where files are opened")]
        let file = std::fs::File::open(path.as_ref()).map_err(to_error)?;
        Self::of_file(file, name)
    }

    /// The source of an open file, whose position is neither used nor changed. `name` is the name in messages.
    ///
    /// # Errors
    /// `Io` if the file has no random access, such as a pipe.
    #[expect(clippy::disallowed_types, reason = "the caller has opened the file")]
    pub fn of_file(file: std::fs::File, name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let to_error = |error| cannot_be_opened(error, &name);
        let metadata = file.metadata().map_err(to_error)?;
        check_random_access(metadata.file_type()).map_err(to_error)?;
        let (modified, version) = (metadata.modified().ok(), FileVersion::of_metadata(&metadata));
        Ok(FileSource { file, size: metadata.len(), modified, version, name, pool: PerProcess::new() })
    }

    /// Checks that the bytes of the open file have not been written over.
    fn check_unchanged(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|error| Error::io(CANNOT_READ, error))?;
        let is_same = now.len() == self.size && now.modified().ok() == self.modified;
        if is_same { Ok(()) } else { Err(replaced()) }
    }

    /// The shared buffer pool, or a new one if no session exists.
    fn pool(&self) -> Arc<BufferPool> {
        let mut shared = self.pool.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let pool = Arc::default();
            *shared = Arc::downgrade(&pool);
            pool
        })
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
        Session::new(self.pool())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let pool = self.pool();
        let read = |range: &Range<u64>| {
            let length = checked_length(range, self.size)?;
            let buffer = pool.read(&self.file, range.start, length);
            Ok(Bytes::from_owner(buffer.map_err(|error| cannot_be_read(error, range.start, length))?))
        };
        let bytes = ranges.iter().map(read).collect();
        self.check_unchanged()?;
        bytes
    }

    fn append_range(&self, range: Range<u64>, out: &mut Vec<u8>) -> Result<()> {
        let length = checked_length(&range, self.size)?;
        let result = append_exact_at(&self.file, out, range.start, length);
        self.check_unchanged()?;
        result.map_err(|error| cannot_be_read(error, range.start, length))
    }

    fn piece_size(&self) -> Option<usize> {
        Some(tuning::LOCAL_PIECE.get())
    }

    fn version(&self) -> Result<Option<FileVersion>> {
        Ok(Some(self.version.clone()))
    }
}

fn cannot_be_read(error: std::io::Error, offset: u64, length: usize) -> Error {
    Error::io(format!("cannot read {length} bytes at {offset}"), error)
}

fn cannot_be_opened(error: std::io::Error, name: &str) -> Error {
    Error::io("cannot be opened", error).in_file(name)
}

/// Checks that files of a type have random access.
fn check_random_access(kind: std::fs::FileType) -> std::io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    impl FileSource {
        /// The total size of the free buffers in bytes; `None` if there is no pool.
        fn pooled_bytes(&self) -> Option<usize> {
            Some(self.pool.get_or_init(Mutex::default).lock().unwrap().upgrade()?.size())
        }
    }

    #[test]
    fn other_files_and_other_bytes_are_errors() {
        let path = std::env::temp_dir().join(format!("orcish-replaced-{}", std::process::id()));
        std::fs::write(&path, [1; 50]).unwrap();
        let source = FileSource::open(&path).unwrap();
        let version = source.version().unwrap().unwrap();
        assert!(source.read_ranges(std::slice::from_ref(&(0..9))).is_ok());
        source.expect_version(&version).unwrap();
        // Bytes that are written over the first ones.
        std::fs::write(&path, [2; 60]).unwrap();
        let error = source.read_ranges(std::slice::from_ref(&(0..9))).unwrap_err();
        assert!(error.to_string().contains(crate::REPLACED), "{error}");
        assert!(FileSource::open(&path).unwrap().expect_version(&version).is_err());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn ranges_are_appended() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
        let source = FileSource::open(path).unwrap();
        let size = source.size().unwrap();
        for range in [0..0, 0..1, 7..300, size - 3..size] {
            let mut out = vec![1, 2];
            source.append_range(range.clone(), &mut out).unwrap();
            assert_eq!(out, [&[1, 2], &source.read_range(range).unwrap()[..]].concat());
        }
        assert!(source.append_range(size - 3..size + 1, &mut Vec::new()).is_err());
    }

    #[test]
    fn buffers_are_reused_while_a_session_exists() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
        let source = FileSource::open(path).unwrap();
        let read = || source.read_ranges(std::slice::from_ref(&(0..100))).unwrap();
        drop(read());
        assert_eq!(source.pooled_bytes(), None);
        let (session, other) = (source.session(), source.session());
        let address = read().first().unwrap().as_ptr();
        assert_eq!(source.pooled_bytes(), Some(100));
        drop(session);
        assert_eq!(read().first().unwrap().as_ptr(), address);
        // A buffer in use outlives the pool, and is freed then.
        let bytes = read();
        drop(other);
        assert_eq!((source.pooled_bytes(), bytes[0].len()), (None, 100));
    }
}

//! Temporary files without a name.
#![expect(clippy::disallowed_types, reason = "this is where files are opened")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use orcish_core::{Error, Result};

use super::positional::read_exact_at;
use super::sink::{MAX_RETRIES, temporary_name};
use crate::source::checked_length;

/// A file in the folder of the system for temporary files. It has no name there, so that nothing is left of it once it is
/// dropped or the process ends, also by a signal.
///
/// ```
/// use orcish_io::TemporaryFile;
///
/// let mut file = TemporaryFile::create()?;
/// assert_eq!(file.append(b"first")?, 0..5);
/// let range = file.append(b"second")?;
/// assert_eq!(file.read(range)?.as_ref(), b"second");
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Debug)]
pub struct TemporaryFile {
    file: File,
    /// The folder in messages.
    folder: String,
    length: u64,
}

impl TemporaryFile {
    /// Creates an empty file.
    ///
    /// # Errors
    /// `Io` if no file can be created in the folder, which the environment variable `TMPDIR` names.
    pub fn create() -> Result<Self> {
        Self::create_in(&std::env::temp_dir())
    }

    fn create_in(folder: &Path) -> Result<Self> {
        let name = folder.display().to_string();
        let mut attempt = 0;
        loop {
            let path = folder.join(temporary_name("orcish", attempt));
            match open_new(&path) {
                Ok(file) => {
                    fs::remove_file(&path).map_err(|error| cannot_write(error, &name))?;
                    return Ok(TemporaryFile { file, folder: name, length: 0 });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < MAX_RETRIES => attempt += 1,
                Err(error) => return Err(cannot_write(error, &name)),
            }
        }
    }

    /// Appends bytes, and returns where they are.
    ///
    /// # Errors
    /// `Io` if they cannot be written, such as where the disk is full.
    pub fn append(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        self.file.write_all(bytes).map_err(|error| cannot_write(error, &self.folder))?;
        let start = self.length;
        self.length += bytes.len() as u64;
        Ok(start..self.length)
    }

    /// Reads some of the bytes.
    ///
    /// # Errors
    /// `Io` if they cannot be read. `Corrupt` for a range that is not within the file.
    pub fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let mut buffer = vec![0; checked_length(&range, self.length)?];
        let read = read_exact_at(&self.file, &mut buffer, range.start);
        read.map_err(|error| Error::io("a temporary file cannot be read", error).in_file(&self.folder))?;
        Ok(buffer.into())
    }
}

fn open_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn cannot_write(error: io::Error, folder: &str) -> Error {
    Error::io("temporary files cannot be written there, TMPDIR names another folder", error).in_file(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_no_name() {
        let folder = std::env::temp_dir().join(format!("orcish-temporary-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let mut file = TemporaryFile::create_in(&folder).unwrap();
        assert_eq!(file.append(&[7; 100]).unwrap(), 0..100);
        assert_eq!(file.append(b"").unwrap(), 100..100);
        assert_eq!(file.append(b"abc").unwrap(), 100..103);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert_eq!((file.read(99..102).unwrap().as_ref(), file.read(0..0).unwrap().len()), (&b"\x07ab"[..], 0));
        assert!(file.read(100..104).is_err());
        fs::remove_dir(&folder).unwrap();
        let error = TemporaryFile::create_in(&folder).unwrap_err().to_string();
        assert!(error.contains(folder.to_str().unwrap()) && error.contains("TMPDIR names another folder"), "{error}");
    }
}

//! The trait of storage systems with operations on whole files and folders.

use std::time::SystemTime;

use bytes::Bytes;
use orcish_core::{Error, Result};

/// Size and modification time of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStatus {
    /// The size in bytes.
    pub size: u64,
    /// The time of the last modification. Object stores report whole seconds.
    pub modified: SystemTime,
}

/// Operations on one location: a file, or a folder.
pub(crate) trait FileOps {
    /// Reads a file of at most `limit` bytes.
    fn read(&self, limit: u64) -> Result<Bytes>;

    /// Writes a file.
    fn write(&self, bytes: Bytes, overwrite: bool) -> Result<()>;

    /// The status of the file; `None` if there is no file.
    fn status(&self) -> Result<Option<FileStatus>>;

    /// All files below the folder, sorted by their locations. See [`list_utf8`](crate::list_utf8).
    fn list_all(&self, skips_other_names: bool) -> Result<Vec<(String, FileStatus)>>;

    /// Whether there is a folder. See [`has_folder`](crate::has_folder).
    fn has_folder(&self) -> Result<bool>;

    /// Deletes the folder and everything below it.
    fn delete_folder(&self) -> Result<()>;
}

/// The error for a file that exceeds the limit of [`FileOps::read`].
pub(crate) fn too_large(size: u64, limit: u64) -> Error {
    Error::limit(format!("the file has {size} bytes, where it may have {limit}"))
}

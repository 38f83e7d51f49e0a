//! Operations on whole files and folders of all storage systems.
//!
//! Locations are those of [`open`](crate::open). HTTP servers are read only. Errors name the location. The source of an
//! `Io` error is a [`std::io::Error`], whose kind is `NotFound` for a missing file and `AlreadyExists` for an existing
//! one.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use orcish_core::{ErrorKind, Result};

use crate::file_ops::{FileOps, FileStatus};
use crate::local::{self, LocalFileOps};
use crate::location::{Parsed, parse, parse_checked};
#[cfg(feature = "object-store")]
use crate::remote;
use crate::storage::StorageOptions;

/// The default limit of [`read_small`], in bytes: 64 MiB.
pub const MAX_SMALL_FILE_SIZE: u64 = 64 << 20;

fn file_ops(location: &str, options: &StorageOptions) -> Result<Box<dyn FileOps>> {
    match parse_checked(location)? {
        Parsed::Local(path) => Ok(Box::new(LocalFileOps::new(path, location, options))),
        #[cfg(feature = "object-store")]
        Parsed::Remote(_) => remote::file_ops(location, options),
        #[cfg(not(feature = "object-store"))]
        Parsed::Remote(url) => Err(url.missing_feature(options)),
    }
}

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// `LimitExceeded` if the file is larger, `Io` if it cannot be read.
pub fn read_small(location: &str, limit: u64, options: &StorageOptions) -> Result<Bytes> {
    file_ops(location, options)?.read(limit)
}

/// Writes a file atomically and durably. Missing folders are created.
///
/// Without `overwrite`, the call fails if the file exists. Of several concurrent calls, exactly one succeeds, and the
/// others fail with the kind `AlreadyExists`. The local file system has to support hard links for this. Objects in
/// stores get a random ID in their metadata (`orcishmark`), which tells a retried request that its first attempt has
/// succeeded.
///
/// # Errors
/// `Io` if the file cannot be written; an existing file is unchanged then. `Unsupported` for HTTP servers, and without
/// `overwrite` for stores without conditional writes.
pub fn write_small(location: &str, bytes: Bytes, overwrite: bool, options: &StorageOptions) -> Result<()> {
    file_ops(location, options)?.write(bytes, overwrite)
}

/// Deletes files, with bulk requests if the store has them. Missing files are ignored. If deletions fail, the others
/// are still done.
///
/// # Errors
/// `Io` for the first file that cannot be deleted, such as a folder. `InvalidArgument` or `Unsupported` if a URL cannot
/// be written to; no objects of stores are deleted then.
pub fn delete_files<S: AsRef<str>>(locations: &[S], options: &StorageOptions) -> Result<()> {
    let (mut local_files, mut remote_files) = (Vec::new(), Vec::new());
    for location in locations.iter().map(AsRef::as_ref) {
        match parse(location) {
            Parsed::Local(path) => local_files.push((path, location)),
            Parsed::Remote(url) => remote_files.push((url, location)),
        }
    }
    let local_result = local::delete_files(&local_files, options);
    #[cfg(feature = "object-store")]
    let delete_remote = || {
        let urls: Vec<_> = remote_files.iter().map(|(_, location)| *location).collect();
        remote::delete_files(&urls, options)
    };
    #[cfg(not(feature = "object-store"))]
    let delete_remote = || remote_files.first().map_or(Ok(()), |(url, _)| Err(url.missing_feature(options)));
    match local_result {
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
        result => result.and(delete_remote()),
    }
}

/// Deletes a folder and everything below it, including hidden files. A missing folder is ignored. Links are deleted,
/// and their targets are kept, also if `location` itself is a link.
///
/// In an object store, the folder consists of all objects whose key begins with the key of the folder and `/`. Objects with a
/// key that ends with `/`, which some tools create as folders, and incomplete multipart uploads are kept.
///
/// # Errors
/// `InvalidArgument` for a whole bucket or the root of a file system, `Io` if a deletion fails.
pub fn delete_folder(location: &str, options: &StorageOptions) -> Result<()> {
    file_ops(location, options)?.delete_folder()
}

/// Lists all files below a folder at any depth, including hidden and temporary files, sorted by their locations. A
/// missing folder is empty. A link to a file is listed as a file, and a link to a folder is ignored. A hidden file is
/// ignored if its path below the folder is not UTF-8.
///
/// # Errors
/// `Io` if the folder cannot be listed, for example because the bucket does not exist, or if the name of a file that is
/// not hidden is not UTF-8.
pub fn list_all(location: &str, options: &StorageOptions) -> Result<Vec<(String, FileStatus)>> {
    file_ops(location, options)?.list_all(false)
}

/// As [`list_all`], without the files and folders whose names are not UTF-8.
///
/// # Errors
/// `Io` if the folder cannot be listed.
pub fn list_utf8(location: &str, options: &StorageOptions) -> Result<Vec<(String, FileStatus)>> {
    file_ops(location, options)?.list_all(true)
}

/// Whether there is a folder, which may be empty. In an object store, a folder is there if an object is below it.
///
/// # Errors
/// `Io` if this cannot be determined, for example because the bucket does not exist.
pub fn has_folder(location: &str, options: &StorageOptions) -> Result<bool> {
    file_ops(location, options)?.has_folder()
}

/// The status of a file; `None` if it does not exist, or is a folder.
///
/// # Errors
/// `Io` if the status cannot be determined.
pub fn stat(location: &str, options: &StorageOptions) -> Result<Option<FileStatus>> {
    file_ops(location, options)?.status()
}

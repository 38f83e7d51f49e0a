//! What is done with files and folders as wholes: what a protocol takes that decides which files are of a table.
//!
//! Locations are those that [`open`](crate::open) takes: a path, a `file://` URL, or, with the feature `object-store`, a URL of
//! S3, Google Cloud Storage or Azure. Of HTTP servers files are read only. Errors name the location; a missing file is
//! the system's `NotFound`, one that is in the way `AlreadyExists`.

use std::time::SystemTime;

use bytes::Bytes;
use orcish_core::{Error, Result};

use crate::local_folder::{LocalPlace, delete as delete_local};
use crate::location::{Location, parse};
use crate::storage::StorageOptions;

/// Most bytes of a file that [`read_small`] reads, where there is no reason for another number: 64 MiB.
pub const MOST_SMALL_BYTES: u64 = 64 << 20;

pub(super) const UNWRITABLE: &str = "cannot be written";
pub(super) const UNDELETABLE: &str = "cannot be deleted";

/// What is known of a file that is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStatus {
    /// Length in bytes.
    pub size: u64,
    /// When it was last written; stores say it to the second.
    pub modified: SystemTime,
}

/// A path or URL, and what is below it.
pub(super) trait Place {
    fn read(&self, limit: u64) -> Result<Bytes>;
    fn write(&self, bytes: Bytes, overwrite: bool) -> Result<()>;
    /// That of the file; `None` where there is none.
    fn status(&self) -> Result<Option<FileStatus>>;
    /// All files below, in order.
    fn all(&self) -> Result<Vec<(String, FileStatus)>>;
    /// Deletes the folder with all that is below.
    fn delete(&self) -> Result<()>;
}

fn place(location: &str, options: &StorageOptions) -> Result<Box<dyn Place>> {
    match parse(location) {
        Location::Local(path) => Ok(Box::new(LocalPlace::new(path, location, options))),
        #[cfg(feature = "object-store")]
        Location::Remote(_) => Ok(Box::new(crate::remote::StorePlace::new(location, options)?)),
        #[cfg(not(feature = "object-store"))]
        Location::Remote(url) => Err(url.no_feature(options)),
    }
}

/// All bytes of a file, which are at most `limit`.
///
/// # Errors
/// `LimitExceeded` where there are more; of kind `Io` when it cannot be read.
pub fn read_small(location: &str, limit: u64, options: &StorageOptions) -> Result<Bytes> {
    place(location, options)?.read(limit)
}

/// Makes a file of these bytes, which appears whole and is durable then. Folders that are missing are made.
///
/// Without `overwrite` there has to be no file: of several that write at a time, exactly one does, and the others have the
/// system's `AlreadyExists`. On the local file system that takes hard links. In a store the file has a random text in its
/// metadata (`orcishmark`), by which a request that is made again knows its own file.
///
/// # Errors
/// Of kind `Io` when it cannot be written, and then nothing has changed; `Unsupported` for HTTP servers, and where a store
/// cannot leave alone what is there.
pub fn write_small(location: &str, bytes: Bytes, overwrite: bool, options: &StorageOptions) -> Result<()> {
    place(location, options)?.write(bytes, overwrite)
}

/// Deletes files, many at a time; those that are missing are no error. All are deleted that can be.
///
/// # Errors
/// That of the first that cannot be deleted, such as a folder; `InvalidArgument` or `Unsupported` for a URL that cannot be
/// written, and then nothing is deleted in stores.
pub fn delete_files<S: AsRef<str>>(locations: &[S], options: &StorageOptions) -> Result<()> {
    let (mut local, mut remote) = (Vec::new(), Vec::new());
    for location in locations.iter().map(AsRef::as_ref) {
        match parse(location) {
            Location::Local(path) => local.push((path, location)),
            Location::Remote(url) => remote.push((url, location)),
        }
    }
    let deleted = delete_local(&local, options);
    #[cfg(feature = "object-store")]
    let rest = || crate::remote::delete(&remote.iter().map(|(_, location)| *location).collect::<Vec<_>>(), options);
    #[cfg(not(feature = "object-store"))]
    let rest = || remote.first().map_or(Ok(()), |(url, _)| Err(url.no_feature(options)));
    match deleted {
        Err(error) if error.kind() == orcish_core::ErrorKind::Interrupted => Err(error),
        deleted => deleted.and(rest()),
    }
}

/// Deletes a folder with all that is below, hidden files too; one that is missing is no error. Links are not followed: what
/// they lead to stays, and so it does where `location` is one.
///
/// In a store these are all files whose keys begin with that of the folder and `/`. What stays: objects whose names end
/// with `/`, which some tools make in place of folders, and parts of files that do not appear yet.
///
/// # Errors
/// `InvalidArgument` for a whole bucket or the root of a file system; of kind `Io` when something cannot be deleted.
pub fn delete_folder(location: &str, options: &StorageOptions) -> Result<()> {
    place(location, options)?.delete()
}

/// All files below a folder at any depth, hidden and temporary ones too, in order; none where there is no such folder. Their
/// locations can be given back. Links to files are files here, those to folders are not followed.
///
/// # Errors
/// Of kind `Io` when it cannot be listed, such as where there is no bucket.
pub fn list_all(location: &str, options: &StorageOptions) -> Result<Vec<(String, FileStatus)>> {
    place(location, options)?.all()
}

/// What is known of a file; `None` where there is none of this name, or a folder.
///
/// # Errors
/// Of kind `Io` when that cannot be found out.
pub fn stat(location: &str, options: &StorageOptions) -> Result<Option<FileStatus>> {
    place(location, options)?.status()
}

/// The error where a file has more bytes than it may.
pub(super) fn too_large(size: u64, limit: u64) -> Error {
    Error::limit(format!("the file has {size} bytes, where it may have {limit}"))
}

//! Writes and deletions: of objects, or of files of HDFS.

use orcish_core::{Error, Result};

use super::address::Address;
use super::file_ops::{self, StoreFileOps};
#[cfg(feature = "hdfs")]
use super::hdfs::{self, DeletedFile, HdfsFileOps, HdfsSink};
use super::sink::ObjectSink;
use super::staged;
use crate::file_ops::FileOps;
use crate::messages::{CANNOT_WRITE, exists, is_folder};
use crate::sink::Sink;
use crate::staged::{Data, Publication, StagedFile, Staging};
use crate::storage::StorageOptions;

fn is_hdfs(url: &str, options: &StorageOptions) -> Result<bool> {
    Ok(Address::try_new(url, options)?.url.is_hdfs())
}

/// Checks that a file can be created at `url`. See [`check_target`](crate::check_target).
pub(crate) fn check_target(url: &str, overwrite: bool, options: &StorageOptions) -> Result<()> {
    let address = Address::try_new(url, options)?;
    address.writable_key()?;
    let to_error = |error| Error::io(CANNOT_WRITE, error).in_file(&address.name);
    if url.ends_with('/') {
        return Err(to_error(is_folder()));
    }
    if !overwrite && file_ops(url, options)?.status()?.is_some() {
        return Err(to_error(exists()));
    }
    Ok(())
}

/// Creates a sink for the file at `url`.
pub(crate) fn create(url: &str, overwrite: bool, options: &StorageOptions) -> Result<Box<dyn Sink>> {
    check_target(url, overwrite, options)?;
    #[cfg(feature = "hdfs")]
    if is_hdfs(url, options)? {
        return Ok(Box::new(HdfsSink::create(url, overwrite, options)?));
    }
    Ok(Box::new(ObjectSink::create(url, Publication::Immediate { overwrite }, options)?))
}

/// Creates a sink for a staged file. See [`create_staged`](crate::create_staged).
pub(crate) fn create_staged(
    url: &str,
    staging_folder: Option<&str>,
    staging: Staging,
    options: &StorageOptions,
) -> Result<Box<dyn Sink>> {
    #[cfg(feature = "hdfs")]
    if is_hdfs(url, options)? {
        return Ok(Box::new(HdfsSink::create_staged(url, staging_folder, staging, options)?));
    }
    let _ = staging_folder;
    Ok(Box::new(ObjectSink::create(url, Publication::Staged(staging), options)?))
}

/// Publishes a staged file. See [`complete_upload`](crate::complete_upload).
pub(crate) fn complete(url: &str, file: &StagedFile, options: &StorageOptions) -> Result<()> {
    match (is_hdfs(url, options)?, file.data()) {
        (false, Data::Parts(parts)) => staged::complete(url, file, parts, options),
        #[cfg(feature = "hdfs")]
        (true, Data::Path(bytes)) => hdfs::complete(url, file, bytes, options),
        _ => Err(file.wrong_location(url)),
    }
}

/// Removes a staged file. See [`abort_upload`](crate::abort_upload).
pub(crate) fn abort(url: &str, file: &StagedFile, options: &StorageOptions) -> Result<()> {
    match (is_hdfs(url, options)?, file.data()) {
        (false, Data::Parts(parts)) => staged::abort(url, file, parts, options),
        #[cfg(feature = "hdfs")]
        (true, Data::Path(bytes)) => hdfs::abort(url, file, bytes, options),
        _ => Err(file.wrong_location(url)),
    }
}

/// Operations on a file or folder.
pub(crate) fn file_ops(url: &str, options: &StorageOptions) -> Result<Box<dyn FileOps>> {
    #[cfg(feature = "hdfs")]
    if is_hdfs(url, options)? {
        return Ok(Box::new(HdfsFileOps::try_new(url, options)?));
    }
    Ok(Box::new(StoreFileOps::try_new(url, options)?))
}

/// Deletes files. All URLs are validated before the first deletion.
pub(crate) fn delete_files(urls: &[&str], options: &StorageOptions) -> Result<()> {
    #[cfg(feature = "hdfs")]
    {
        let (mut files, mut objects) = (Vec::new(), Vec::new());
        for url in urls {
            if is_hdfs(url, options)? { files.push(DeletedFile::try_new(url, options)?) } else { objects.push(*url) }
        }
        let deleted = file_ops::delete_files(&objects, options);
        if files.is_empty() { deleted } else { deleted.and(hdfs::delete_files(files, options)) }
    }
    #[cfg(not(feature = "hdfs"))]
    file_ops::delete_files(urls, options)
}

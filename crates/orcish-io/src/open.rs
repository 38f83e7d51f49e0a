//! Sources and sinks of locations.

use std::sync::Arc;

use orcish_core::Result;

use crate::local::{FileSink, FileSource};
use crate::location::{Parsed, parse, parse_checked};
#[cfg(feature = "object-store")]
use crate::remote::{self, ObjectSource};
use crate::sink::Sink;
use crate::source::ReadAt;
use crate::storage::StorageOptions;
use crate::tuning;

/// Opens the file at `location`: a path, a `file://` URL, or, with the feature `object-store`, a URL of S3 (`s3`,
/// `s3a`), Google Cloud Storage (`gs`), Azure (`az`, `abfs`, `abfss`, `adl`, `azure`), an HTTP server, or, with the
/// feature `hdfs`, HDFS (`hdfs`, `viewfs`).
///
/// The file is not accessed yet if it is remote.
///
/// # Errors
/// `Io` if the file cannot be opened, `InvalidArgument` if the URL or an option is invalid.
pub fn open(location: &str, options: &StorageOptions) -> Result<Arc<dyn ReadAt>> {
    match parse_checked(location)? {
        Parsed::Local(path) => Ok(Arc::new(FileSource::open(path)?)),
        #[cfg(feature = "object-store")]
        Parsed::Remote(_) => Ok(Arc::new(ObjectSource::open(location, options)?)),
        #[cfg(not(feature = "object-store"))]
        Parsed::Remote(url) => Err(url.missing_feature(options)),
    }
}

/// Creates a sink for the file at `location`, which replaces an existing file: a path, a `file://` URL, or, with the
/// feature `object-store`, a URL of an object store or HDFS. Missing folders of HDFS are created.
///
/// # Errors
/// The errors of [`check_target`]. `Io` if the file cannot be created, `Unsupported` for HTTP servers.
pub fn create(location: &str, options: &StorageOptions) -> Result<Box<dyn Sink>> {
    create_sink(location, true, options)
}

/// As [`create`], for a file that replaces none. [`Sink::finish`] fails if a file of the name has appeared, which stays
/// as it is.
///
/// Of several concurrent writers, exactly one succeeds: on local file systems with hard links, on HDFS, and for files
/// shorter than a part in stores with conditional writes. Other file systems and stores are asked for an existing file
/// just before the new one is published.
///
/// ```
/// use orcish_io::{StorageOptions, create_new};
///
/// let path = std::env::temp_dir().join(format!("orcish-new-{}.orc", std::process::id()));
/// let (location, options) = (path.to_str().unwrap(), StorageOptions::default());
/// create_new(location, &options)?.finish()?;
/// let error = create_new(location, &options).map(drop).unwrap_err();
/// assert_eq!(error.io_kind(), Some(std::io::ErrorKind::AlreadyExists));
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), orcish_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`create`], and `Io` with the kind [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if a file of
/// the name exists.
pub fn create_new(location: &str, options: &StorageOptions) -> Result<Box<dyn Sink>> {
    create_sink(location, false, options)
}

fn create_sink(location: &str, overwrite: bool, options: &StorageOptions) -> Result<Box<dyn Sink>> {
    match parse_checked(location)? {
        Parsed::Local(path) => {
            Ok(Box::new(if overwrite { FileSink::create(path)? } else { FileSink::create_new(path)? }))
        }
        #[cfg(feature = "object-store")]
        Parsed::Remote(_) => remote::create(location, overwrite, options),
        #[cfg(not(feature = "object-store"))]
        Parsed::Remote(url) => Err(url.missing_feature(options)),
    }
}

/// Checks that a file can be created at `location`: by [`create`](crate::create) with `overwrite`, and by
/// [`create_new`](crate::create_new) without it. Both make this check. A separate call is for work that comes before
/// the file is created.
///
/// On the local file system, a symbolic link is followed. Without `overwrite`, a link to nothing is a file that exists.
///
/// ```
/// use orcish_io::{StorageOptions, check_target};
///
/// let options = StorageOptions::default();
/// let error = check_target("Cargo.toml", false, &options).unwrap_err();
/// assert_eq!(error.to_string(), "Cargo.toml: cannot be written: the target is there already");
/// check_target("Cargo.toml", true, &options)?;
/// assert!(check_target("src", true, &options).is_err());
/// # Ok::<(), orcish_core::Error>(())
/// ```
///
/// # Errors
/// `Io` if there is a folder, something that is no regular file, such as a pipe or a device, or, without `overwrite`,
/// a file. The source is a [`std::io::Error`] of the kind `IsADirectory`, `Other` or `AlreadyExists`. `InvalidArgument`
/// if the URL or an option is invalid.
pub fn check_target(location: &str, overwrite: bool, options: &StorageOptions) -> Result<()> {
    match parse_checked(location)? {
        Parsed::Local(path) => FileSink::check_target(path, overwrite),
        #[cfg(feature = "object-store")]
        Parsed::Remote(_) => remote::check_target(location, overwrite, options),
        #[cfg(not(feature = "object-store"))]
        Parsed::Remote(url) => Err(url.missing_feature(options)),
    }
}

/// The recommended number of concurrent requests for files at `location`. The file is not accessed; see
/// [`ReadAt::concurrency`] for an open file.
pub fn concurrency(location: &str, options: &StorageOptions) -> usize {
    match parse(location) {
        Parsed::Local(_) => tuning::LOCAL_CONCURRENCY.get(),
        #[cfg(feature = "object-store")]
        Parsed::Remote(_) => options.split().map_or(1, |(remote, _)| remote.concurrency),
        #[cfg(not(feature = "object-store"))]
        Parsed::Remote(_) => {
            let _ = options;
            1
        }
    }
}

//! Creation and publication of staged files of all storage systems.

use orcish_core::Result;

use crate::local::{self, StagedFileSink};
use crate::location::{Parsed, parse, parse_checked};
#[cfg(feature = "object-store")]
use crate::remote;
use crate::sink::Sink;
use crate::staged::{Data, StagedFile, Staging};
use crate::storage::StorageOptions;

/// Creates a sink for a staged file: [`finish`](Sink::finish) does not publish the file at `location`, but puts a
/// [`StagedFile`] into the returned [`Staging`]. Dropping an unfinished sink discards the written bytes.
///
/// On the local file system and on HDFS, the staged file is a hidden file in `staging_folder`, or in the folder of
/// `location`. The staging folder has to be on the same file system, and is created if it is missing. Object stores ignore
/// `staging_folder`: the staged file is an incomplete multipart upload, which is invisible and is kept until it is
/// aborted or expires. Azure keeps it for a week, other stores as configured.
///
/// ```
/// use orcish_io::{StorageOptions, complete_upload, create_staged};
///
/// let path = std::env::temp_dir().join(format!("orcish-staged-{}.orc", std::process::id()));
/// let (location, options) = (path.to_str().unwrap(), StorageOptions::default());
/// let (mut sink, staging) = create_staged(location, None, &options)?;
/// sink.write(b"bytes")?;
/// sink.finish()?;
/// let file = staging.take().unwrap();
/// assert!(!path.exists());
/// complete_upload(location, &file, &options)?;
/// assert!(path.exists());
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), orcish_core::Error>(())
/// ```
///
/// # Errors
/// The errors of [`create`](crate::create), and `InvalidArgument` if `staging_folder` of a local file is not local.
pub fn create_staged(
    location: &str,
    staging_folder: Option<&str>,
    options: &StorageOptions,
) -> Result<(Box<dyn Sink>, Staging)> {
    let staging = Staging::default();
    let sink: Box<dyn Sink> = match parse_checked(location)? {
        Parsed::Local(path) => Box::new(StagedFileSink::create(path, staging_folder, staging.clone())?),
        #[cfg(feature = "object-store")]
        Parsed::Remote(_) => remote::create_staged(location, staging_folder, staging.clone(), options)?,
        #[cfg(not(feature = "object-store"))]
        Parsed::Remote(url) => return Err(url.missing_feature(options)),
    };
    Ok((sink, staging))
}

/// Publishes a staged file at `location`, the location of [`create_staged`], and replaces an existing file. Missing
/// folders are created. The operation is idempotent.
///
/// A file that has been published before is recognized by a random ID in its metadata. On the local file system, on HDFS
/// and in Azure, it is recognized by its name and size.
///
/// # Errors
/// `InvalidArgument` if the file was staged for another location, `Io` if it cannot be published. The source is a
/// [`std::io::Error`] of the kind `NotFound` if the staged bytes are gone, for example because the file has been aborted,
/// or has been published and replaced since.
pub fn complete_upload(location: &str, file: &StagedFile, options: &StorageOptions) -> Result<()> {
    match (parse(location), file.data()) {
        (Parsed::Local(path), Data::Path(temporary)) => local::complete(location, path, file, temporary),
        #[cfg(feature = "object-store")]
        (Parsed::Remote(_), _) => remote::complete(location, file, options),
        #[cfg(not(feature = "object-store"))]
        (Parsed::Remote(url), _) => Err(url.missing_feature(options)),
        _ => Err(file.wrong_location(location)),
    }
}

/// Removes a staged file. A missing staged file is ignored, and a published file is kept. Azure has no request for
/// this: the file can be published later, until Azure removes the parts after a week.
///
/// # Errors
/// `InvalidArgument` if the file was staged for another location, `Io` if it cannot be removed.
pub fn abort_upload(location: &str, file: &StagedFile, options: &StorageOptions) -> Result<()> {
    match (parse(location), file.data()) {
        (Parsed::Local(path), Data::Path(temporary)) => local::abort(location, path, file, temporary),
        #[cfg(feature = "object-store")]
        (Parsed::Remote(_), _) => remote::abort(location, file, options),
        #[cfg(not(feature = "object-store"))]
        (Parsed::Remote(url), _) => Err(url.missing_feature(options)),
        _ => Err(file.wrong_location(location)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::{fs, io};

    use orcish_core::Error;
    use orcish_core::ErrorKind::{InvalidArgument, Unsupported};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("orcish-upload-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn write(location: &str, staging: Option<&str>, bytes: &[u8]) -> StagedFile {
        let (mut sink, staging) = create_staged(location, staging, &StorageOptions::default()).unwrap();
        sink.write(bytes).unwrap();
        assert_eq!(staging.take(), None);
        sink.finish().unwrap();
        drop(sink);
        let file = staging.take().unwrap();
        StagedFile::from_bytes(&file.to_bytes()).unwrap()
    }

    fn complete(location: &str, file: &StagedFile) -> Result<()> {
        complete_upload(location, file, &StorageOptions::default())
    }

    fn is_not_found(error: &Error) -> bool {
        error.io_kind() == Some(io::ErrorKind::NotFound)
    }

    #[test]
    fn staged_files_are_invisible_until_they_are_published() {
        let folder = folder("publish");
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let (target, staging) = (path("t/dt=1/a.orc"), path("_staging/7"));
        let file = write(&target, Some(&staging), b"rows");
        assert_eq!((file.bytes, file.location.as_str()), (4, target.as_str()));
        assert!(!folder.join("t").exists());
        let staged: Vec<_> = fs::read_dir(&staging).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(staged.len() == 1 && staged[0].to_str().unwrap().starts_with('.'));
        for _ in 0..3 {
            complete(&target, &file).unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"rows");
        }
        assert_eq!(fs::read_dir(&staging).unwrap().count(), 0);
        // The published file is kept by an abort, and a later file of the name is not mistaken for it.
        abort_upload(&target, &file, &StorageOptions::default()).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"rows");
        fs::write(&target, "other").unwrap();
        assert!(is_not_found(&complete(&target, &file).unwrap_err()));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn aborted_files_are_removed() {
        let folder = folder("abort");
        let target = folder.join("a.orc").to_str().unwrap().to_owned();
        let file = write(&target, None, b"rows");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        for _ in 0..2 {
            abort_upload(&target, &file, &StorageOptions::default()).unwrap();
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert!(is_not_found(&complete(&target, &file).unwrap_err()));
        let (mut sink, staging) = create_staged(&target, None, &StorageOptions::default()).unwrap();
        sink.write(b"rows").unwrap();
        drop(sink);
        assert_eq!((staging.take(), fs::read_dir(&folder).unwrap().count()), (None, 0));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn staged_files_belong_to_one_location() {
        let folder = folder("location");
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let file = write(&path("a.orc"), None, b"rows");
        // In a build without object stores, the URL itself is unsupported.
        let store_error = if cfg!(feature = "object-store") { InvalidArgument } else { Unsupported };
        for (location, kind) in [(path("b.orc"), InvalidArgument), ("s3://bucket/a.orc".to_owned(), store_error)] {
            for result in [complete(&location, &file), abort_upload(&location, &file, &StorageOptions::default())] {
                assert_eq!(result.unwrap_err().kind(), kind, "{location}");
            }
        }
        complete(&format!("file://{}", path("a.orc")), &file).unwrap();
        let create = |staging| create_staged(&path("c.orc"), Some(staging), &StorageOptions::default()).map(drop);
        assert_eq!(create("s3://bucket/t").unwrap_err().kind(), InvalidArgument);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn invalid_tokens_are_rejected() {
        for token in [&b""[..], b"no token", &[0xff; 40], &[10, 1, b'a']] {
            assert_eq!(StagedFile::from_bytes(token).unwrap_err().kind(), InvalidArgument);
        }
    }
}

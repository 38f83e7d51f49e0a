//! Staged files: files with temporary names that are renamed or deleted by any process.

use object_store::Error;
use orcish_core::Result;

use super::super::address::Address;
use super::super::runtime::block_on;
use super::file::HdfsFile;
use crate::messages::{CANNOT_ABORT, CANNOT_PUBLISH};
use crate::staged::StagedFile;
use crate::storage::StorageOptions;

/// How often a rename is tried while other processes remove the folder.
const MAX_ATTEMPTS: usize = 10;

impl HdfsFile {
    /// The file of a staged file, and the path of its bytes.
    ///
    /// # Errors
    /// `InvalidArgument` if the file was staged for another URL, or its bytes are in another store.
    fn of_staged(url: &str, file: &StagedFile, bytes: &str, options: &StorageOptions) -> Result<(Self, String)> {
        let address = |url: &str| Address::try_new(url, options);
        let (target, staged, bytes) = (address(url)?, address(&file.location)?, address(bytes)?);
        if target.bucket() != staged.bucket() || target.key()? != staged.key()? || target.bucket() != bytes.bucket() {
            return Err(file.wrong_location(url));
        }
        Ok((HdfsFile::writable(url, options)?, format!("/{}", bytes.key()?)))
    }

    /// Renames the staged bytes to the name of the file. Missing bytes are a success if a file of the size has the name:
    /// they have been renamed before.
    async fn publish(&self, bytes: &str, size: u64) -> object_store::Result<()> {
        for _ in 0..MAX_ATTEMPTS {
            let Err(error) = self.rename_from(bytes, true).await else { return Ok(()) };
            if self.hdfs.status(bytes).await?.is_none() {
                let is_published = self.size().await? == Some(size);
                let gone = || Error::NotFound { path: bytes.to_owned(), source: "the staged bytes are gone".into() };
                return if is_published { Ok(()) } else { Err(gone()) };
            }
            if !matches!(error, Error::NotFound { .. }) {
                return Err(error);
            }
            self.create_folder().await?;
        }
        Err(Error::Generic { store: "HDFS", source: "the folder of the file is removed again and again".into() })
    }
}

/// Publishes a staged file. See [`complete_upload`](crate::complete_upload).
pub(in super::super) fn complete(url: &str, file: &StagedFile, bytes: &str, options: &StorageOptions) -> Result<()> {
    let (target, path) = HdfsFile::of_staged(url, file, bytes, options)?;
    let size = file.bytes;
    let publish = async move {
        let published = target.publish(&path, size).await;
        published.map_err(|error| target.to_error(CANNOT_PUBLISH, &error))
    };
    block_on(publish, options.cancel_check())
}

/// Removes a staged file. See [`abort_upload`](crate::abort_upload).
pub(in super::super) fn abort(url: &str, file: &StagedFile, bytes: &str, options: &StorageOptions) -> Result<()> {
    let (target, path) = HdfsFile::of_staged(url, file, bytes, options)?;
    let delete = async move {
        let deleted = target.delete(&path).await;
        deleted.map(drop).map_err(|error| target.to_error(CANNOT_ABORT, &error))
    };
    block_on(delete, options.cancel_check())
}

#[cfg(test)]
mod tests {
    use orcish_core::ErrorKind;

    use super::*;

    #[test]
    fn a_staged_file_belongs_to_one_location() {
        let file = StagedFile::at_path("hdfs://n:1/t/a.orc".to_owned(), 1, String::new());
        let of = |url: &str, bytes: &str| HdfsFile::of_staged(url, &file, bytes, &StorageOptions::default());
        let (target, bytes) = of("hdfs://n:1/t/a.orc", "hdfs://n:1/t/.b").unwrap();
        assert_eq!((target.path.as_str(), bytes.as_str()), ("/t/a.orc", "/t/.b"));
        for (url, bytes) in [
            ("hdfs://n:1/t/b.orc", "hdfs://n:1/t/.b"),
            ("hdfs://n:2/t/a.orc", "hdfs://n:2/t/.b"),
            ("hdfs://n:1/t/a.orc", "hdfs://n:2/t/.b"),
            ("hdfs://n:1/t/a.orc", "/t/.b"),
            ("hdfs://n:1/t/a.orc", "hdfs://n:1/"),
            ("hdfs://n:1/t/a.orc", "hdfs://n:1/t/../.b"),
        ] {
            assert_eq!(of(url, bytes).map(drop).unwrap_err().kind(), ErrorKind::InvalidArgument, "{url} {bytes}");
        }
    }
}

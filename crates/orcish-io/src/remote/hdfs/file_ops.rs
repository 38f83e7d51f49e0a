//! Operations on whole files and folders.

use std::io;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use orcish_core::{Error, Result};

use super::super::file_ops::StoreFileOps;
use super::super::runtime::block_on;
use super::file::HdfsFile;
use super::sink::HdfsSink;
use crate::file_ops::{FileOps, FileStatus};
use crate::messages::{CANNOT_DELETE, CANNOT_LIST};
use crate::sink::Sink as _;
use crate::storage::StorageOptions;

/// Operations on a file or folder of HDFS.
pub(in super::super) struct HdfsFileOps {
    url: String,
    options: StorageOptions,
    /// Operations that change nothing are those of all stores.
    reads: StoreFileOps,
}

impl HdfsFileOps {
    pub(in super::super) fn try_new(url: &str, options: &StorageOptions) -> Result<Self> {
        Ok(HdfsFileOps { url: url.to_owned(), options: options.clone(), reads: StoreFileOps::try_new(url, options)? })
    }
}

impl FileOps for HdfsFileOps {
    fn read(&self, limit: u64) -> Result<Bytes> {
        self.reads.read(limit)
    }

    fn write(&self, bytes: Bytes, overwrite: bool) -> Result<()> {
        let mut sink = HdfsSink::create(&self.url, overwrite, &self.options)?;
        sink.write(&bytes)?;
        sink.publish()
    }

    fn status(&self) -> Result<Option<FileStatus>> {
        self.reads.status()
    }

    fn list_all(&self, skips_other_names: bool) -> Result<Vec<(String, FileStatus)>> {
        self.reads.list_all(skips_other_names)
    }

    fn has_folder(&self) -> Result<bool> {
        let folder = HdfsFile::folder(&self.url, &self.options)?;
        let status = async move {
            let status = folder.hdfs.status(&folder.path).await;
            status.map_err(|error| folder.to_error(CANNOT_LIST, &error))
        };
        Ok(block_on(status, self.options.cancel_check())?.is_some_and(|status| status.isdir))
    }

    fn delete_folder(&self) -> Result<()> {
        let folder = HdfsFile::writable(&self.url, &self.options)?;
        let delete = async move {
            let to_error = |error: &object_store::Error| folder.to_error(CANNOT_DELETE, error);
            match folder.hdfs.status(&folder.path).await.map_err(|error| to_error(&error))? {
                None => Ok(()),
                Some(status) if status.isdir => folder.delete_all().await.map_err(|error| to_error(&error)),
                Some(_) => {
                    let error = io::ErrorKind::NotADirectory.into();
                    Err(Error::io(CANNOT_DELETE, error).in_file(&folder.address.name))
                }
            }
        };
        block_on(delete, self.options.cancel_check())
    }
}

/// Deletes files. All URLs are validated before the first deletion. If deletions fail, the others are still done, and
/// the first error is returned.
pub(in super::super) fn delete_files(files: Vec<DeletedFile>, options: &StorageOptions) -> Result<()> {
    let concurrency = files.first().map_or(1, |DeletedFile(file)| file.address.options.concurrency);
    let delete = async move {
        let results: Vec<Result<()>> =
            stream::iter(files).map(|DeletedFile(file)| file.delete_file()).buffered(concurrency).collect().await;
        results.into_iter().collect()
    };
    block_on(delete, options.cancel_check())
}

/// A file that will be deleted.
pub(in super::super) struct DeletedFile(HdfsFile);

impl DeletedFile {
    pub(in super::super) fn try_new(url: &str, options: &StorageOptions) -> Result<Self> {
        HdfsFile::writable(url, options).map(DeletedFile)
    }
}

impl HdfsFile {
    /// Deletes the file. A missing file is ignored, and a folder is an error.
    async fn delete_file(self) -> Result<()> {
        let to_error = |error: &object_store::Error| self.to_error(CANNOT_DELETE, error);
        // The name node deletes empty folders, too.
        let status = self.hdfs.status(&self.path).await.map_err(|error| to_error(&error))?;
        match status {
            None => Ok(()),
            Some(status) if status.isdir => {
                Err(Error::io(CANNOT_DELETE, io::ErrorKind::IsADirectory.into()).in_file(&self.address.name))
            }
            Some(_) => self.delete(&self.path).await.map(drop).map_err(|error| to_error(&error)),
        }
    }
}

//! Requests for single files and folders.

use std::sync::Arc;

use object_store::Result;
use object_store::path::Path;
use orcish_core::Error;

use super::super::address::Address;
use super::super::error::to_error;
use super::super::hdfs_client::{HdfsClient, absolute, store_error};
use super::super::store::Store;
use crate::storage::StorageOptions;

/// Permissions of new folders. The name node applies the rules of the parent folder to them.
const FOLDER_PERMISSIONS: u32 = 0o755;

/// A file of HDFS, which may not exist yet.
#[derive(Clone)]
pub(super) struct HdfsFile {
    pub(super) address: Arc<Address>,
    pub(super) hdfs: HdfsClient,
    /// The path in the cluster, with a slash at the start.
    pub(super) path: String,
}

impl HdfsFile {
    /// A file to be written or deleted.
    pub(super) fn writable(url: &str, options: &StorageOptions) -> orcish_core::Result<Self> {
        let address = Address::try_new(url, options)?;
        let key = address.writable_key()?;
        Self::connect(address, &key)
    }

    /// A folder, which may be the root.
    pub(super) fn folder(url: &str, options: &StorageOptions) -> orcish_core::Result<Self> {
        let address = Address::try_new(url, options)?;
        let path = address.parse_path(address.path.trim_end_matches('/'))?;
        Self::connect(address, &path)
    }

    fn connect(address: Address, path: &Path) -> orcish_core::Result<Self> {
        let path = absolute(path);
        let other = || Error::invalid("the URL is not one of HDFS").in_file(&address.name);
        let hdfs = Store::connect(&address)?.hdfs.ok_or_else(other)?;
        Ok(HdfsFile { address: Arc::new(address), hdfs, path })
    }

    pub(super) fn to_error(&self, message: &str, error: &object_store::Error) -> Error {
        to_error(message, error, &self.address)
    }

    /// The URL of another path of the cluster.
    pub(super) fn url_of(&self, path: &str) -> String {
        self.address.with_path(path.trim_start_matches('/'))
    }

    /// The size of the file; `None` if there is no file of this name.
    pub(super) async fn size(&self) -> Result<Option<u64>> {
        let status = self.hdfs.status(&self.path).await?;
        Ok(status.filter(|status| !status.isdir).map(|status| status.length as u64))
    }

    /// Renames a file to the name of this one. Without `overwrite`, this fails if a file of the name exists. The name
    /// node does either as a whole.
    pub(super) async fn rename_from(&self, from: &str, overwrite: bool) -> Result<()> {
        self.hdfs.client.rename(from, &self.path, overwrite).await.map_err(|error| store_error(error, &self.path))
    }

    /// Creates the folder of the file, and missing folders above it.
    pub(super) async fn create_folder(&self) -> Result<()> {
        let folder = folder_of(&self.path);
        self.hdfs.client.mkdirs(folder, FOLDER_PERMISSIONS, true).await.map_err(|error| store_error(error, folder))
    }

    /// Deletes the folder of this name, and everything below it.
    pub(super) async fn delete_all(&self) -> Result<()> {
        let deleted = self.hdfs.client.delete(&self.path, true).await;
        deleted.map(drop).map_err(|error| store_error(error, &self.path))
    }

    /// Deletes a file, or an empty folder. Returns whether there was one.
    pub(super) async fn delete(&self, path: &str) -> Result<bool> {
        self.hdfs.client.delete(path, false).await.map_err(|error| store_error(error, path))
    }
}

/// The folder of a path.
pub(super) fn folder_of(path: &str) -> &str {
    match path.rsplit_once('/') {
        None | Some(("", _)) => "/",
        Some((folder, _)) => folder,
    }
}

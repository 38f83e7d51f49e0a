//! Operations on whole objects and key prefixes of stores.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore};
use orcish_core::{Error, Result};

use super::address::Address;
use super::error::to_error;
use super::lister::{objects_below, without_folder_objects};
use super::object::Object;
use super::request::fill;
use super::runtime::block_on;
use super::store::Store;
use crate::file_ops::{FileOps, FileStatus, too_large};
use crate::messages::{CANNOT_DELETE, CANNOT_READ, CANNOT_WRITE};
use crate::storage::StorageOptions;

/// Operations on an object, or on the objects below a key prefix.
pub(crate) struct StoreFileOps {
    url: String,
    address: Arc<Address>,
    store: Store,
    options: StorageOptions,
}

impl StoreFileOps {
    pub(crate) fn try_new(url: &str, options: &StorageOptions) -> Result<Self> {
        let address = Arc::new(Address::try_new(url, options)?);
        let store = Store::connect(&address)?;
        Ok(StoreFileOps { store, address, url: url.to_owned(), options: options.clone() })
    }

    /// The folder, and the prefix of the keys below it. The root of a store has none.
    fn folder(&self) -> Result<(Path, Option<Path>)> {
        let folder = self.address.parse_path(self.address.path.trim_end_matches('/'))?;
        Ok((folder.clone(), Some(folder).filter(|folder| !folder.as_ref().is_empty())))
    }

    /// The objects below the prefix, without an object that denotes the folder itself.
    fn objects_below(&self) -> Result<Vec<ObjectMeta>> {
        let (folder, prefix) = self.folder()?;
        let (store, address) = (self.store.objects.clone(), self.address.clone());
        let list = async move { objects_below(&*store, prefix, address).try_collect::<Vec<_>>().await };
        let mut objects = block_on(list, self.options.cancel_check())?;
        objects.retain(|object| object.location != folder);
        Ok(objects)
    }
}

impl FileOps for StoreFileOps {
    fn read(&self, limit: u64) -> Result<Bytes> {
        let object = Object::readable(&self.url, &self.options)?;
        let read = async move {
            let to_error = |error: &object_store::Error| object.to_error(CANNOT_READ, error);
            let result = object.store.objects.get_opts(&object.key, GetOptions::default()).await;
            let result = result.map_err(|error| to_error(&error))?;
            if result.meta.size > limit {
                return Err(too_large(result.meta.size, limit).in_file(&object.address.name));
            }
            let buffer = BytesMut::zeroed(usize::try_from(result.meta.size).unwrap_or(usize::MAX));
            Ok(fill(buffer, result, &object.address, to_error).await?.freeze())
        };
        block_on(read, self.options.cancel_check())
    }

    fn write(&self, bytes: Bytes, overwrite: bool) -> Result<()> {
        let object = Object::writable(&self.url, &self.options)?;
        let write = async move {
            if overwrite {
                object.put(bytes, CANNOT_WRITE).await
            } else {
                object.put_if_not_exists(bytes, CANNOT_WRITE).await
            }
        };
        block_on(write, self.options.cancel_check())
    }

    fn status(&self) -> Result<Option<FileStatus>> {
        let object = Object::readable(&self.url, &self.options)?;
        let head = async move { object.head().await.map_err(|error| object.to_error(CANNOT_READ, &error)) };
        Ok(block_on(head, self.options.cancel_check())?.map(|head| file_status(&head.meta)))
    }

    fn list_all(&self, _: bool) -> Result<Vec<(String, FileStatus)>> {
        let objects = without_folder_objects(self.objects_below()?);
        let listed = |object: &ObjectMeta| (self.address.with_path(object.location.as_ref()), file_status(object));
        Ok(objects.iter().map(listed).collect())
    }

    fn has_folder(&self) -> Result<bool> {
        let (_, prefix) = self.folder()?;
        let (store, address) = (self.store.objects.clone(), self.address.clone());
        let first = async move { objects_below(&*store, prefix, address).try_next().await };
        Ok(block_on(first, self.options.cancel_check())?.is_some())
    }

    fn delete_folder(&self) -> Result<()> {
        // This fails for a URL without a key: the deletion of a whole bucket is rarely intended.
        self.address.writable_key()?;
        let keys = self.objects_below()?.into_iter().map(|object| object.location).collect();
        let (store, address) = (self.store.objects.clone(), self.address.clone());
        block_on(async move { delete_keys(&*store, keys, &address).await }, self.options.cancel_check())
    }
}

fn file_status(meta: &ObjectMeta) -> FileStatus {
    let seconds = u64::try_from(meta.last_modified.timestamp()).unwrap_or(0);
    let since_epoch = Duration::new(seconds, meta.last_modified.timestamp_subsec_nanos().min(999_999_999));
    FileStatus { size: meta.size, modified: UNIX_EPOCH + since_epoch }
}

/// Deletes objects, with bulk requests per bucket. All URLs are validated before the first deletion.
pub(crate) fn delete_files(urls: &[&str], options: &StorageOptions) -> Result<()> {
    let mut buckets: Vec<(Address, Vec<Path>)> = Vec::new();
    for url in urls {
        let address = Address::try_new(url, options)?;
        let key = address.writable_key()?;
        match buckets.iter_mut().find(|(other, _)| other.bucket() == address.bucket()) {
            Some((_, keys)) => keys.push(key),
            None => buckets.push((address, vec![key])),
        }
    }
    let mut result = Ok(());
    for (mut address, keys) in buckets {
        let store = Store::connect(&address)?.objects;
        if keys.len() > 1 {
            // The message of the store contains the key.
            address.name = address.with_path("");
        }
        let deleted = block_on(async move { delete_keys(&*store, keys, &address).await }, options.cancel_check());
        result = result.and(deleted);
    }
    result
}

/// Deletes objects. If deletions fail, the others are still done, and the first error is returned.
async fn delete_keys(store: &dyn ObjectStore, keys: Vec<Path>, address: &Address) -> Result<()> {
    let mut results = store.delete_stream(stream::iter(keys.into_iter().map(Ok)).boxed());
    let mut first_error: Option<Error> = None;
    while let Some(result) = results.next().await {
        match result {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => _ = first_error.get_or_insert_with(|| to_error(CANNOT_DELETE, &error, address)),
        }
    }
    first_error.map_or(Ok(()), Err)
}

//! What is done with files and folders of stores as wholes.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta, ObjectStore};
use orcish_core::{Error, Result};

use super::fault::fault;
use super::object::Object;
use super::process::wait;
use super::store::{Address, Store};
use super::tree::{UNLISTABLE, all, without_folders};
use super::{UNREADABLE, fill};
use crate::StorageOptions;
use crate::folder::{FileStatus, Place, UNDELETABLE, UNWRITABLE, too_large};

/// A key of a store, and what is below it.
pub(crate) struct StorePlace {
    url: String,
    address: Arc<Address>,
    store: Store,
    options: StorageOptions,
}

impl StorePlace {
    pub(crate) fn new(url: &str, options: &StorageOptions) -> Result<Self> {
        let address = Arc::new(Address::new(url, options)?);
        Ok(StorePlace { store: address.store()?, address, url: url.to_owned(), options: options.clone() })
    }

    /// What is below the folder, without an object that stands for the folder itself.
    fn below(&self) -> Result<Vec<ObjectMeta>> {
        let folder = self.address.parse(self.address.path.trim_end_matches('/'))?;
        let prefix = Some(folder.clone()).filter(|folder| !folder.as_ref().is_empty());
        let (store, address) = (self.store.objects.clone(), self.address.clone());
        let found = async move { all(store, prefix).await.map_err(|error| fault(UNLISTABLE, &error, &address)) };
        let mut found = wait(found, self.options.check())?;
        found.retain(|file| file.location != folder);
        Ok(found)
    }
}

impl Place for StorePlace {
    fn read(&self, limit: u64) -> Result<Bytes> {
        let object = Object::at(&self.url, &self.options)?;
        let read = async move {
            let fault = |error| object.fault(UNREADABLE, &error);
            let found = object.store.objects.get_opts(&object.key, GetOptions::default()).await.map_err(fault)?;
            if found.meta.size > limit {
                return Err(too_large(found.meta.size, limit).in_file(&object.address.name));
            }
            let room = BytesMut::zeroed(usize::try_from(found.meta.size).unwrap_or(usize::MAX));
            Ok(fill(room, found, &object.address, |error| object.fault(UNREADABLE, error)).await?.freeze())
        };
        wait(read, self.options.check())
    }

    fn write(&self, bytes: Bytes, overwrite: bool) -> Result<()> {
        let object = Object::writable(&self.url, &self.options)?;
        let write = async move {
            match overwrite {
                true => object.replace(bytes, UNWRITABLE).await,
                false => object.create(bytes, UNWRITABLE).await,
            }
        };
        wait(write, self.options.check())
    }

    fn status(&self) -> Result<Option<FileStatus>> {
        let object = Object::at(&self.url, &self.options)?;
        let head = async move { object.head().await.map_err(|error| object.fault(UNREADABLE, &error)) };
        Ok(wait(head, self.options.check())?.map(|found| status(&found.meta)))
    }

    fn all(&self) -> Result<Vec<(String, FileStatus)>> {
        let found = without_folders(self.below()?);
        Ok(found.iter().map(|file| (self.address.with_path(file.location.as_ref()), status(file))).collect())
    }

    fn delete(&self) -> Result<()> {
        // A whole bucket is hardly ever meant.
        self.address.writable_key()?;
        let keys = self.below()?.into_iter().map(|file| file.location).collect();
        let (store, address) = (self.store.objects.clone(), self.address.clone());
        wait(async move { delete_keys(&*store, keys, &address).await }, self.options.check())
    }
}

fn status(file: &ObjectMeta) -> FileStatus {
    let seconds = u64::try_from(file.last_modified.timestamp()).unwrap_or(0);
    let since = Duration::new(seconds, file.last_modified.timestamp_subsec_nanos().min(999_999_999));
    FileStatus { size: file.size, modified: UNIX_EPOCH + since }
}

/// Deletes files; those of a bucket are deleted together.
pub(crate) fn delete(urls: &[&str], options: &StorageOptions) -> Result<()> {
    let mut buckets: Vec<(Address, Vec<Path>)> = Vec::new();
    for url in urls {
        let address = Address::new(url, options)?;
        let key = address.writable_key()?;
        match buckets.iter_mut().find(|(other, _)| other.bucket() == address.bucket()) {
            Some((_, keys)) => keys.push(key),
            None => buckets.push((address, vec![key])),
        }
    }
    let mut result = Ok(());
    for (mut address, keys) in buckets {
        let store = address.connect()?;
        if keys.len() > 1 {
            // The message of the store says which.
            address.name = address.with_path("");
        }
        let deleted = wait(async move { delete_keys(&*store, keys, &address).await }, options.check());
        result = result.and(deleted);
    }
    result
}

/// Deletes all that can be; the error is that of the first that cannot.
async fn delete_keys(store: &dyn ObjectStore, keys: Vec<Path>, address: &Address) -> Result<()> {
    let mut deleted = store.delete_stream(stream::iter(keys.into_iter().map(Ok)).boxed());
    let mut first: Option<Error> = None;
    while let Some(result) = deleted.next().await {
        match result {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => _ = first.get_or_insert_with(|| fault(UNDELETABLE, &error, address)),
        }
    }
    first.map_or(Ok(()), Err)
}

//! Listing of object stores.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{GetOptions, ListResult, ObjectMeta, ObjectStore};
use orcish_core::Result;

use super::address::Address;
use super::error::to_error;
use super::runtime::block_on;
use super::store::Store;
use crate::lister::{FolderEntries, ListedFile, Lister};
use crate::messages::CANNOT_LIST;
use crate::storage::StorageOptions;

/// The smallest number of objects that a page of a listing has, of those of all stores, unless it is the last page.
const MIN_PAGE: usize = 1_000;

/// Lists an object store. A common prefix of keys is a folder.
pub(crate) struct StoreLister {
    address: Arc<Address>,
    store: Arc<dyn ObjectStore>,
    options: StorageOptions,
}

impl StoreLister {
    /// Creates a lister of the store of `url`, and returns the path of `url` in the store.
    pub(crate) fn open(url: &str, options: &StorageOptions) -> Result<(Self, String)> {
        let address = Address::new(url, options)?;
        let store = Store::connect(&address)?.objects;
        let path = address.path.trim_end_matches('/').to_owned();
        Ok((StoreLister { address: Arc::new(address), store, options: options.clone() }, path))
    }

    /// Calls `list` for each folder, with limited concurrency. The root folder is `None`.
    fn list_each<T, F>(&self, folders: &[String], list: fn(Arc<dyn ObjectStore>, Option<Path>) -> F) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let parse =
            |folder: &String| self.address.parse_path(folder).map(|path| (!path.as_ref().is_empty()).then_some(path));
        let paths = folders.iter().map(parse).collect::<Result<Vec<_>>>()?;
        let (store, address) = (self.store.clone(), self.address.clone());
        let lists = async move {
            let lists = paths.into_iter().map(move |path| list(store.clone(), path));
            let lists = stream::iter(lists).buffered(address.options.concurrency);
            lists.try_collect().await.map_err(|error| to_error(CANNOT_LIST, &error, &address))
        };
        block_on(lists, self.options.cancel_check())
    }
}

async fn list_children(store: Arc<dyn ObjectStore>, path: Option<Path>) -> object_store::Result<ListResult> {
    store.list_with_delimiter(path.as_ref()).await
}

/// All objects below a path.
pub(super) async fn list_objects(
    store: Arc<dyn ObjectStore>,
    path: Option<Path>,
) -> object_store::Result<Vec<ObjectMeta>> {
    store.list(path.as_ref()).try_collect().await
}

/// Sorts objects by their keys, and removes empty objects that denote folders because other objects are below them.
pub(super) fn without_folder_objects(mut objects: Vec<ObjectMeta>) -> Vec<ObjectMeta> {
    objects.sort_by(|a, b| a.location.as_ref().cmp(b.location.as_ref()));
    let is_folder = |object: &ObjectMeta| {
        let prefix = format!("{}/", object.location);
        let next = objects.partition_point(|other| *other.location.as_ref() < *prefix);
        object.size == 0 && objects.get(next).is_some_and(|other| other.location.as_ref().starts_with(&prefix))
    };
    let folders: Vec<bool> = objects.iter().map(is_folder).collect();
    objects.into_iter().zip(folders).filter(|(_, is_folder)| !is_folder).map(|(object, _)| object).collect()
}

fn to_listed_file(meta: ObjectMeta) -> ListedFile {
    (meta.location.into(), meta.size)
}

impl Lister for StoreLister {
    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        let path = self.address.parse_path(path)?;
        if path.as_ref().is_empty() {
            return Ok(None);
        }
        let (store, address) = (self.store.clone(), self.address.clone());
        let head = async move {
            let options = GetOptions { head: true, ..GetOptions::default() };
            match store.get_opts(&path, options).await {
                Ok(result) => Ok(Some(result.meta.size)),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(to_error(CANNOT_LIST, &error, &address)),
            }
        };
        block_on(head, self.options.cancel_check())
    }

    fn children(&self, folders: &[String]) -> Result<FolderEntries> {
        let mut children = FolderEntries::default();
        for list in self.list_each(folders, list_children)? {
            children.folders.extend(list.common_prefixes.into_iter().map(String::from));
            children.files.extend(list.objects.into_iter().map(to_listed_file));
        }
        Ok(children)
    }

    fn descendants(&self, folders: &[String]) -> Result<FolderEntries> {
        let objects = self.list_each(folders, list_objects)?.into_iter().flatten().collect();
        let files = without_folder_objects(objects).into_iter().map(to_listed_file).collect();
        Ok(FolderEntries { folders: Vec::new(), files })
    }

    fn is_atomic(&self, files: usize) -> bool {
        files < MIN_PAGE
    }

    fn has_empty_folders(&self) -> bool {
        false
    }

    fn location(&self, path: &str) -> String {
        self.address.with_path(path)
    }

    fn name(&self) -> &str {
        &self.address.name
    }
}

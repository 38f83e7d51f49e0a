//! Listing of object stores.

use std::io;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{GetOptions, ListResult, ObjectMeta, ObjectStore};
use orcish_core::{Error, Result};

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
        let address = Address::try_new(url, options)?;
        let store = Store::connect(&address)?.objects;
        let path = address.path.trim_end_matches('/').to_owned();
        Ok((StoreLister { address: Arc::new(address), store, options: options.clone() }, path))
    }

    /// Calls `list` for each folder, with limited concurrency. The root folder is `None`.
    fn list_each<T, F>(&self, folders: &[String], list: ListFolder<F>) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let parse =
            |folder: &String| self.address.parse_path(folder).map(|path| (!path.as_ref().is_empty()).then_some(path));
        let paths = folders.iter().map(parse).collect::<Result<Vec<_>>>()?;
        let (store, address) = (self.store.clone(), self.address.clone());
        let lists = async move {
            let concurrency = address.options.concurrency;
            let lists = paths.into_iter().map(move |path| list(store.clone(), path, address.clone()));
            stream::iter(lists).buffered(concurrency).try_collect().await
        };
        block_on(lists, self.options.cancel_check())
    }
}

/// Lists a folder of a store.
type ListFolder<F> = fn(Arc<dyn ObjectStore>, Option<Path>, Arc<Address>) -> F;

/// The segments of a listed name below a folder. A server may list any names.
///
/// # Errors
/// `Io` if the name is not in the folder.
fn depth_below(folder: Option<&Path>, name: &Path, address: &Address) -> Result<usize> {
    let root = Path::default();
    let below = name.prefix_match(folder.unwrap_or(&root));
    below.map(Iterator::count).ok_or_else(|| {
        let text = format!("the server lists {:?}, which is not in the folder", name.as_ref());
        Error::io(CANNOT_LIST, io::Error::other(text)).in_file(&address.name)
    })
}

/// What is directly in a folder. Some servers of HTTP list what is below it, too.
async fn list_children(store: Arc<dyn ObjectStore>, folder: Option<Path>, address: Arc<Address>) -> Result<ListResult> {
    let listed = store.list_with_delimiter(folder.as_ref()).await;
    let mut listed = listed.map_err(|error| to_error(CANNOT_LIST, &error, &address))?;
    let objects = listed.objects.iter().map(|object| &object.location);
    for name in listed.common_prefixes.iter().chain(objects) {
        depth_below(folder.as_ref(), name, &address)?;
    }
    let is_child = |name: &Path| depth_below(folder.as_ref(), name, &address).is_ok_and(|depth| depth == 1);
    listed.common_prefixes.retain(is_child);
    listed.objects.retain(|object| is_child(&object.location));
    Ok(listed)
}

/// The objects below a folder, and an object with the name of the folder.
pub(super) fn objects_below(
    store: &dyn ObjectStore,
    folder: Option<Path>,
    address: Arc<Address>,
) -> BoxStream<'static, Result<ObjectMeta>> {
    let listed = store.list(folder.as_ref());
    let checked = move |result: object_store::Result<ObjectMeta>| {
        let object = result.map_err(|error| to_error(CANNOT_LIST, &error, &address))?;
        depth_below(folder.as_ref(), &object.location, &address)?;
        Ok(object)
    };
    listed.map(checked).boxed()
}

async fn list_objects(
    store: Arc<dyn ObjectStore>,
    folder: Option<Path>,
    address: Arc<Address>,
) -> Result<Vec<ObjectMeta>> {
    objects_below(&*store, folder, address).try_collect().await
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

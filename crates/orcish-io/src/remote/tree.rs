//! Listing of stores.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{GetOptions, ListResult, ObjectMeta, ObjectStore};
use orcish_core::Result;

use super::fault::fault;
use super::process::wait;
use super::store::Address;
use crate::StorageOptions;
use crate::list::{Found, Level, Tree};

pub(super) const UNLISTABLE: &str = "cannot be listed";

/// The keys of a store as a tree.
pub(crate) struct StoreTree {
    address: Arc<Address>,
    store: Arc<dyn ObjectStore>,
    options: StorageOptions,
}

impl StoreTree {
    /// The tree that `url` leads into, and its path there.
    pub(crate) fn open(url: &str, options: &StorageOptions) -> Result<(Self, String)> {
        let address = Address::new(url, options)?;
        let store = address.connect()?;
        let path = address.path.trim_end_matches('/').to_owned();
        Ok((StoreTree { address: Arc::new(address), store, options: options.clone() }, path))
    }

    /// Does `what` for each folder, some of them at a time.
    fn each<T, F>(&self, folders: &[String], what: fn(Arc<dyn ObjectStore>, Option<Path>) -> F) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let parse =
            |folder: &String| self.address.parse(folder).map(|path| (!path.as_ref().is_empty()).then_some(path));
        let paths = folders.iter().map(parse).collect::<Result<Vec<_>>>()?;
        let (store, address) = (self.store.clone(), self.address.clone());
        let lists = async move {
            let lists = paths.into_iter().map(move |path| what(store.clone(), path));
            let lists = stream::iter(lists).buffered(address.options.concurrency);
            lists.try_collect().await.map_err(|error| fault(UNLISTABLE, &error, &address))
        };
        wait(lists, self.options.check())
    }
}

async fn level(store: Arc<dyn ObjectStore>, path: Option<Path>) -> object_store::Result<ListResult> {
    store.list_with_delimiter(path.as_ref()).await
}

pub(super) async fn all(store: Arc<dyn ObjectStore>, path: Option<Path>) -> object_store::Result<Vec<ObjectMeta>> {
    store.list(path.as_ref()).try_collect().await
}

/// Files in order, without the empty objects that stand for folders where others are below them.
pub(super) fn without_folders(mut files: Vec<ObjectMeta>) -> Vec<ObjectMeta> {
    files.sort_by(|a, b| a.location.as_ref().cmp(b.location.as_ref()));
    let is_folder = |file: &ObjectMeta| {
        let below = format!("{}/", file.location);
        let next = files.partition_point(|other| *other.location.as_ref() < *below);
        file.size == 0 && files.get(next).is_some_and(|other| other.location.as_ref().starts_with(&below))
    };
    let folders: Vec<bool> = files.iter().map(is_folder).collect();
    files.into_iter().zip(folders).filter(|(_, folder)| !folder).map(|(file, _)| file).collect()
}

fn found(meta: ObjectMeta) -> Found {
    (meta.location.into(), meta.size)
}

impl Tree for StoreTree {
    fn file(&self, path: &str) -> Result<Option<u64>> {
        let path = self.address.parse(path)?;
        if path.as_ref().is_empty() {
            return Ok(None);
        }
        let (store, address) = (self.store.clone(), self.address.clone());
        let head = async move {
            let options = GetOptions { head: true, ..GetOptions::default() };
            match store.get_opts(&path, options).await {
                Ok(result) => Ok(Some(result.meta.size)),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(fault(UNLISTABLE, &error, &address)),
            }
        };
        wait(head, self.options.check())
    }

    fn children(&self, folders: &[String]) -> Result<Level> {
        let mut children = Level::default();
        for list in self.each(folders, level)? {
            children.folders.extend(list.common_prefixes.into_iter().map(String::from));
            children.files.extend(list.objects.into_iter().map(found));
        }
        Ok(children)
    }

    fn descendants(&self, folders: &[String]) -> Result<Vec<Found>> {
        let files = self.each(folders, all)?.into_iter().flatten().collect();
        Ok(without_folders(files).into_iter().map(found).collect())
    }

    fn has_folders(&self) -> bool {
        false
    }

    fn location(&self, path: &str) -> String {
        self.address.with_path(path)
    }

    fn name(&self) -> &str {
        &self.address.name
    }
}

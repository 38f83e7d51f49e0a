//! Listing of the local file system.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use orcish_core::cancel::Cancellation;
use orcish_core::{Error, Result};

use super::durable::is_not_found;
use crate::lister::{FolderEntries, Lister};
use crate::location::{join, not_utf8};
use crate::messages::CANNOT_LIST;
use crate::pattern::is_hidden;
use crate::storage::StorageOptions;

/// A folder of a recursive listing.
struct OpenFolder {
    path: String,
    /// The path with links resolved.
    resolved: PathBuf,
    parent: Option<Rc<OpenFolder>>,
}

impl OpenFolder {
    /// `None` if the folder is one of its own ancestors, because of a cycle of links.
    fn open(path: String, parent: Option<Rc<OpenFolder>>) -> io::Result<Option<Self>> {
        let resolved = fs::canonicalize(if path.is_empty() { "." } else { &path })?;
        let mut ancestors = std::iter::successors(parent.as_ref(), |folder| folder.parent.as_ref());
        let is_cycle = ancestors.any(|folder| folder.resolved == resolved);
        Ok((!is_cycle).then_some(OpenFolder { path, resolved, parent }))
    }
}

/// Lists the local file system.
pub(crate) struct LocalLister {
    name: String,
    cancellation: RefCell<Cancellation>,
}

impl LocalLister {
    pub(crate) fn new(name: &str, options: &StorageOptions) -> Self {
        LocalLister { name: name.to_owned(), cancellation: RefCell::new(options.cancellation()) }
    }

    fn to_error(&self, error: io::Error) -> Error {
        Error::io(CANNOT_LIST, error).in_file(&self.name)
    }

    /// The entries of a folder; `None` if it does not exist.
    fn entries(&self, folder: &str) -> Result<Option<FolderEntries>> {
        let mut found = FolderEntries::default();
        let entries = match fs::read_dir(if folder.is_empty() { "." } else { folder }) {
            Err(error) if is_not_found(&error) => return Ok(None),
            entries => entries.map_err(|error| self.to_error(error))?,
        };
        for entry in entries {
            self.cancellation.borrow_mut().poll()?;
            let entry = entry.map_err(|error| self.to_error(error))?;
            let name = entry.file_name();
            let name = match name.to_str() {
                Some(name) => name,
                None if is_hidden(&name.to_string_lossy()) => continue,
                None => return Err(self.to_error(not_utf8(&entry.path()))),
            };
            let path = join(folder, name);
            // The metadata of the target of a link. Dangling links and concurrently deleted files are skipped.
            let Ok(metadata) = fs::metadata(&path) else { continue };
            if metadata.is_dir() {
                found.folders.push(path);
            } else if metadata.is_file() {
                found.files.push((path, metadata.len()));
            }
        }
        Ok(Some(found))
    }
}

impl Lister for LocalLister {
    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        let metadata = fs::metadata(path).map_err(|error| self.to_error(error))?;
        Ok(metadata.is_file().then_some(metadata.len()))
    }

    fn exists(&self, path: &str) -> Result<bool> {
        Ok(fs::metadata(path).is_ok())
    }

    fn children(&self, folders: &[String]) -> Result<FolderEntries> {
        let mut children = FolderEntries::default();
        for folder in folders {
            let entries = self.entries(folder)?.unwrap_or_default();
            children.folders.extend(entries.folders);
            children.files.extend(entries.files);
        }
        Ok(children)
    }

    fn descendants(&self, folders: &[String]) -> Result<FolderEntries> {
        let mut found = FolderEntries::default();
        let mut stack: Vec<(String, Option<Rc<OpenFolder>>)> =
            folders.iter().map(|folder| (folder.clone(), None)).collect();
        while let Some((path, parent)) = stack.pop() {
            // Links between folders multiply the number of paths.
            self.cancellation.borrow_mut().poll()?;
            let folder = match OpenFolder::open(path, parent) {
                // A folder of the caller may be missing, and others may be deleted concurrently.
                Err(error) if is_not_found(&error) => continue,
                folder => folder.map_err(|error| self.to_error(error))?,
            };
            let Some(folder) = folder.map(Rc::new) else { continue };
            let entries = self.entries(&folder.path)?.unwrap_or_default();
            found.files.extend(entries.files);
            for path in entries.folders {
                match is_hidden(path.rsplit('/').next().unwrap_or_default()) {
                    true => found.folders.push(path),
                    false => stack.push((path, Some(folder.clone()))),
                }
            }
        }
        Ok(found)
    }

    fn is_atomic(&self, _: usize) -> bool {
        false
    }

    fn has_empty_folders(&self) -> bool {
        true
    }

    fn location(&self, path: &str) -> String {
        path.to_owned()
    }

    fn name(&self) -> &str {
        &self.name
    }
}

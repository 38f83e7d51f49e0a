//! Listing of the local file system.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use orcish_core::cancel::Cancellation;
use orcish_core::{Error, Result};

use super::durable::is_not_found;
use crate::lister::{FolderEntries, Lister};
use crate::location::{join, last_segment, not_utf8};
use crate::messages::CANNOT_LIST;
use crate::pattern::is_hidden;
use crate::storage::StorageOptions;

/// Most paths of a recursive listing that lead to one folder. Links between folders multiply the number of paths.
const MAX_PATHS: usize = 1_000;

/// Whether nothing is at a path: the file was just deleted, or the path is that of a link to nothing or to itself.
fn is_nothing(error: &io::Error) -> bool {
    is_not_found(error) || error.raw_os_error().is_some_and(|code| ELOOP == Some(code))
}

/// The error of a link that leads to itself, which has no stable [`io::ErrorKind`].
const ELOOP: Option<i32> = match () {
    () if cfg!(target_os = "linux") || cfg!(target_os = "android") => Some(40),
    () if cfg!(unix) => Some(62),
    () => None,
};

/// A folder of a recursive listing.
struct OpenFolder {
    path: String,
    /// The path with links resolved.
    resolved: PathBuf,
    parent: Option<Rc<OpenFolder>>,
    /// Whether the path has a link.
    is_behind_link: bool,
}

impl OpenFolder {
    /// `None` if the folder is one of its own ancestors, because of a cycle of links.
    fn open(path: String, parent: Option<Rc<OpenFolder>>) -> io::Result<Option<Self>> {
        let resolved = fs::canonicalize(if path.is_empty() { "." } else { &path })?;
        let mut ancestors = std::iter::successors(parent.as_ref(), |folder| folder.parent.as_ref());
        let is_cycle = ancestors.any(|folder| folder.resolved == resolved);
        let is_behind_link = parent
            .as_ref()
            .is_some_and(|parent| parent.is_behind_link || resolved.parent() != Some(parent.resolved.as_path()));
        Ok((!is_cycle).then_some(OpenFolder { path, resolved, parent, is_behind_link }))
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
        let mut children = FolderEntries::default();
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
            // The metadata of the target of a link.
            let metadata = match fs::metadata(&path) {
                Err(error) if is_nothing(&error) || is_hidden(name) => continue,
                metadata => metadata.map_err(|error| Error::io(CANNOT_LIST, error).in_file(&path))?,
            };
            if metadata.is_dir() {
                children.folders.push(path);
            } else if metadata.is_file() {
                children.files.push((path, metadata.len()));
            }
        }
        Ok(Some(children))
    }
}

impl Lister for LocalLister {
    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        let metadata = fs::metadata(path).map_err(|error| self.to_error(error))?;
        Ok(metadata.is_file().then_some(metadata.len()))
    }

    fn exists(&self, path: &str) -> Result<bool> {
        match fs::metadata(path) {
            Err(error) if is_nothing(&error) => Ok(false),
            metadata => metadata.map(|_| true).map_err(|error| Error::io(CANNOT_LIST, error).in_file(path)),
        }
    }

    fn children(&self, folders: &[String]) -> Result<FolderEntries> {
        let mut children = FolderEntries::default();
        for folder in folders {
            let Some(entries) = self.entries(folder)? else { continue };
            children.folders.extend(entries.folders);
            children.files.extend(entries.files);
        }
        Ok(children)
    }

    fn descendants(&self, folders: &[String]) -> Result<FolderEntries> {
        let mut descendants = FolderEntries::default();
        let mut stack: Vec<(String, Option<Rc<OpenFolder>>)> =
            folders.iter().map(|folder| (folder.clone(), None)).collect();
        let mut paths: HashMap<PathBuf, usize> = HashMap::new();
        while let Some((path, parent)) = stack.pop() {
            self.cancellation.borrow_mut().poll()?;
            let folder = match OpenFolder::open(path, parent) {
                // A folder of the caller may be missing, and others may be deleted concurrently.
                Err(error) if is_not_found(&error) => continue,
                folder => folder.map_err(|error| self.to_error(error))?,
            };
            let Some(folder) = folder.map(Rc::new) else { continue };
            if folder.is_behind_link {
                let count = paths.entry(folder.resolved.clone()).or_default();
                *count += 1;
                if *count > MAX_PATHS {
                    let text = format!("links lead to this folder by more than {MAX_PATHS} paths");
                    return Err(Error::limit(text).in_file(&folder.path));
                }
            }
            let Some(entries) = self.entries(&folder.path)? else { continue };
            descendants.files.extend(entries.files);
            for path in entries.folders {
                if is_hidden(last_segment(&path)) {
                    descendants.folders.push(path)
                } else {
                    stack.push((path, Some(folder.clone())))
                }
            }
        }
        Ok(descendants)
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

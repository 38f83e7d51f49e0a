//! Listing of the local file system.

use std::cell::RefCell;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::rc::Rc;

use orcish_core::cancel::Patience;
use orcish_core::{Error, Result};

use crate::list::{Found, Level, Tree, join};
use crate::pattern::is_hidden;
use crate::storage::StorageOptions;

/// A folder that is looked into.
struct Open {
    path: String,
    /// What it really is, behind links.
    real: PathBuf,
    /// The one that it was found in.
    above: Option<Rc<Open>>,
}

impl Open {
    /// None where it is among those that it was found in: links go in circles.
    fn below(path: String, above: Option<Rc<Open>>) -> io::Result<Option<Self>> {
        let real = fs::canonicalize(if path.is_empty() { "." } else { &path })?;
        let is_circle = std::iter::successors(above.as_ref(), |open| open.above.as_ref()).any(|open| open.real == real);
        Ok((!is_circle).then_some(Open { path, real, above }))
    }
}

/// The folders and files of the system.
pub(super) struct LocalTree {
    name: String,
    patience: RefCell<Patience>,
}

impl LocalTree {
    pub(super) fn new(name: &str, options: &StorageOptions) -> Self {
        LocalTree { name: name.to_owned(), patience: RefCell::new(options.patience()) }
    }

    fn fault(&self, error: io::Error) -> Error {
        Error::io("cannot be listed", error).in_file(&self.name)
    }

    /// What is in a folder; `None` where there is none.
    fn level(&self, folder: &str) -> Result<Option<Level>> {
        let mut level = Level::default();
        let entries = match fs::read_dir(if folder.is_empty() { "." } else { folder }) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            entries => entries.map_err(|error| self.fault(error))?,
        };
        for entry in entries {
            self.patience.borrow_mut().look()?;
            let name = entry.map_err(|error| self.fault(error))?.file_name();
            let Some(name) = name.to_str() else {
                return Err(self.fault(io::Error::other(format!("the file name {name:?} is not UTF-8"))));
            };
            let path = join(folder, name);
            // Of what a link leads to. It may lead nowhere, and files may go away meanwhile.
            let Ok(metadata) = fs::metadata(&path) else { continue };
            if metadata.is_dir() {
                level.folders.push(path);
            } else if metadata.is_file() {
                level.files.push((path, metadata.len()));
            }
        }
        Ok(Some(level))
    }
}

impl Tree for LocalTree {
    fn file(&self, path: &str) -> Result<Option<u64>> {
        let metadata = fs::metadata(path).map_err(|error| self.fault(error))?;
        Ok(metadata.is_file().then_some(metadata.len()))
    }

    fn is_there(&self, path: &str) -> Result<bool> {
        Ok(fs::metadata(path).is_ok())
    }

    fn children(&self, folders: &[String]) -> Result<Level> {
        let mut children = Level::default();
        for folder in folders {
            let level = self.level(folder)?.unwrap_or_default();
            children.folders.extend(level.folders);
            children.files.extend(level.files);
        }
        Ok(children)
    }

    fn descendants(&self, folders: &[String]) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        let mut open: Vec<(String, Option<Rc<Open>>)> = folders.iter().map(|folder| (folder.clone(), None)).collect();
        while let Some((path, above)) = open.pop() {
            // Links between folders make many paths of few.
            self.patience.borrow_mut().look()?;
            // Folders may go away meanwhile, and what is asked for may be none.
            let folder = match Open::below(path, above) {
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
                folder => folder.map_err(|error| self.fault(error))?,
            };
            let Some(folder) = folder.map(Rc::new) else { continue };
            let level = self.level(&folder.path)?.unwrap_or_default();
            found.extend(level.files);
            let shown = |path: &String| !is_hidden(path.rsplit('/').next().unwrap_or_default());
            open.extend(level.folders.into_iter().filter(shown).map(|path| (path, Some(folder.clone()))));
        }
        Ok(found)
    }

    fn has_folders(&self) -> bool {
        true
    }

    fn location(&self, path: &str) -> String {
        path.to_owned()
    }

    fn name(&self) -> &str {
        &self.name
    }
}

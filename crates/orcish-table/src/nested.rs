//! Tables within tables: readers of the outer one would see the files of the inner one.

use std::io;

use orcish_core::{ErrorKind, Result, parallel};
use orcish_io::marked_folders;

use crate::executor::block_on;
use crate::file_store::FileStore;
use crate::log::Log;
use crate::names::{OWN, is_hidden, table_root};

impl FileStore {
    /// The nearest folder above this one that is a table with a log. The folders above are listed up to the root or the
    /// bucket, one request each. Folders without permission are skipped. A hidden folder ends the search, as readers of the
    /// tables above do not enter it.
    ///
    /// # Errors
    /// `Io` if a folder cannot be listed for another reason.
    pub fn table_above(&self) -> Result<Option<String>> {
        let above = |folder: &str| {
            let (above, name) = folder.rsplit_once('/')?;
            (!is_hidden(name) || name == OWN).then(|| above.to_owned())
        };
        let folders = std::iter::successors(above(&self.base), |folder| above(folder));
        let folders = folders.take_while(|folder| !folder.ends_with('/'));
        let options = self.options.clone();
        let look = move |_, folder: String| {
            match block_on(Log::read(&FileStore::new(&folder, &options))) {
                // A link or a file in the place of the log is no log.
                Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
                Err(error) if is_out_of_reach(error.io_kind()) => Ok(None),
                log => Ok(log?.last().map(|_| folder)),
            }
        };
        let tables = parallel::map(folders, self.threads(), None, look)?;
        let nearest = tables.into_iter().flatten().next();
        Ok(nearest.map(|folder| if folder.is_empty() { "/".to_owned() } else { folder }))
    }
}

impl FileStore {
    /// A folder below this one that is a table with a log. Hidden folders and partitions are skipped.
    ///
    /// # Errors
    /// `Io` if a folder cannot be listed.
    pub fn table_below(&self) -> Result<Option<String>> {
        let marked = match marked_folders(&self.base, &self.options, OWN) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => return Ok(None),
            marked => marked?,
        };
        for folder in marked.iter().map(|folder| folder.trim_end_matches('/')) {
            if folder != self.base
                && table_root(folder).1.is_empty()
                && FileStore::new(folder, &self.options).has_log()?
            {
                return Ok(Some(folder.to_owned()));
            }
        }
        Ok(None)
    }
}

fn is_out_of_reach(kind: Option<io::ErrorKind>) -> bool {
    matches!(kind, Some(io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound))
}

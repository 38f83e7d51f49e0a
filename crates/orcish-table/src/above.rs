//! Tables above a folder, whose readers would see the files of the folder.

use std::io;

use orcish_core::{ErrorKind, Result, parallel};

use crate::executor::block_on;
use crate::file_store::FileStore;
use crate::log::Log;

impl FileStore {
    /// The nearest folder above that is the folder of a table with a log. Its readers take the files of a table below it for
    /// its own. There is one look into each folder, up to the root or the bucket.
    ///
    /// Folders that this process may not look into are no tables for it.
    ///
    /// # Errors
    /// `Io` if a folder cannot be looked into for another reason.
    pub fn table_above(&self) -> Result<Option<String>> {
        let above = |folder: &str| folder.rsplit_once('/').map(|(above, _)| above.to_owned());
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
        let found = parallel::map(folders, self.threads(), None, look)?;
        let nearest = found.into_iter().flatten().next();
        Ok(nearest.map(|folder| if folder.is_empty() { "/".to_owned() } else { folder }))
    }
}

fn is_out_of_reach(kind: Option<io::ErrorKind>) -> bool {
    matches!(kind, Some(io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound))
}

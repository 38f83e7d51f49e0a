//! Symbolic links in the folder of a table. Names of files come from the log, which anybody may have written who may write
//! into the table. No request follows a link that is below the folder of the table.

use std::collections::BTreeSet;

use orcish_core::{Error, ErrorKind, Result};
use orcish_io::display_name;

use crate::names::{JOBS, LOG, OWN};

/// Checks that paths below a folder have no links, and that the folders of this crate are folders.
pub(crate) struct LinkCheck<'a> {
    /// The folder; `None` where the storage system has no links.
    base: Option<&'a str>,
    /// Folders that are no links.
    checked: BTreeSet<String>,
}

impl<'a> LinkCheck<'a> {
    pub(crate) fn new(base: Option<&'a str>) -> Self {
        LinkCheck { base, checked: BTreeSet::new() }
    }

    /// Checks a path, and the folders above it.
    ///
    /// # Errors
    /// `Corrupt` if one of them is a link, or a folder of this crate is no folder.
    pub(crate) fn check(&mut self, name: &str) -> Result<()> {
        self.check_folders(name)?;
        self.check_step(name).map(drop)
    }

    /// Checks the folders above a path.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub(crate) fn check_folders(&mut self, name: &str) -> Result<()> {
        for (end, _) in name.match_indices('/') {
            let (folder, _) = name.split_at(end);
            if !self.checked.contains(folder) {
                if !self.check_step(folder)? {
                    // Nothing is below a folder that is missing.
                    break;
                }
                self.checked.insert(folder.to_owned());
            }
        }
        Ok(())
    }

    /// Checks a path without the folders above it, and returns whether there is something.
    fn check_step(&self, name: &str) -> Result<bool> {
        let Some(base) = self.base.filter(|_| !name.is_empty()) else { return Ok(true) };
        let path = format!("{base}/{name}");
        // Errors are those of the request.
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { return Ok(false) };
        let text = if metadata.is_symlink() {
            "a link in the folder of the table, which may lead out of it, is not followed"
        } else if !metadata.is_dir() && [OWN, LOG, JOBS].contains(&name) {
            "this is no folder, and in its place orcish has the log of the table and the files of jobs"
        } else {
            return Ok(true);
        };
        Err(Error::new(ErrorKind::Corrupt, text).in_file(&display_name(&path)))
    }
}

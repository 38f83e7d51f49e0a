//! Symbolic links in the folder of a table. Names of files come from the log, which anybody may have written who may write
//! into the table. No request follows a link that is below the folder of the table.

use std::collections::BTreeSet;

use orcish_core::{Error, ErrorKind, Result};
use orcish_io::display_name;

/// Checks that paths below a folder have no links.
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
    /// `Corrupt` if one of them is a link.
    pub(crate) fn check(&mut self, name: &str) -> Result<()> {
        self.check_folders(name)?;
        self.check_step(name)
    }

    /// Checks the folders above a path.
    ///
    /// # Errors
    /// `Corrupt` if one of them is a link.
    pub(crate) fn check_folders(&mut self, name: &str) -> Result<()> {
        let ends: Vec<usize> = name.match_indices('/').map(|(at, _)| at).collect();
        for end in ends {
            let folder = name.get(..end).unwrap_or_default();
            if !self.checked.contains(folder) {
                self.check_step(folder)?;
                self.checked.insert(folder.to_owned());
            }
        }
        Ok(())
    }

    fn check_step(&self, name: &str) -> Result<()> {
        let Some(base) = self.base.filter(|_| !name.is_empty()) else { return Ok(()) };
        let path = format!("{base}/{name}");
        match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.file_type().is_symlink() => {
                let text = "a link in the folder of the table, which may lead out of it, is not followed";
                Err(Error::new(ErrorKind::Corrupt, text).in_file(&display_name(&path)))
            }
            // Other errors are those of the request.
            _ => Ok(()),
        }
    }
}

//! Which files a table may name: those below its own folder, and below folders that its user names.

use orcish_core::{Error, Result};
use orcish_io::{CanonicalLocation, display_name};

/// Where files of a table may be.
///
/// A table is data that somebody else may have written: what it names is read with the keys of whoever reads it.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The table's folder, as its user spells it.
    folder: String,
    root: CanonicalLocation,
    external: Vec<CanonicalLocation>,
}

impl Places {
    /// Those of a table at `root`, with `external` paths and URLs that it may name besides.
    pub(crate) fn new(root: &str, external: &[String]) -> Self {
        let external = external.iter().map(|place| CanonicalLocation::new(place)).collect();
        Places { folder: root.to_owned(), root: CanonicalLocation::new(root), external }
    }

    /// Looks whether a file or folder that the table names may be read.
    ///
    /// # Errors
    /// `Unsupported` where it is neither below the table's folder nor below one that was allowed.
    pub(crate) fn check(&self, location: &str) -> Result<()> {
        let checked = CanonicalLocation::untrusted(&self.folder, location);
        let is_allowed = |location: &CanonicalLocation| {
            self.root.contains(location) || self.external.iter().any(|folder| folder.contains(location))
        };
        if checked.as_ref().is_some_and(is_allowed) {
            return Ok(());
        }
        let name = display_name(location);
        let text = format!(
            "the table names {name:?}, which is outside of its folder: it is read where external_locations has it, or a \
             folder that it is in"
        );
        Err(Error::unsupported(text))
    }
}

//! The locations that the metadata of a table may name.

use orcish_core::{Error, Result};
use orcish_io::{CanonicalLocation, display_name};

/// The folders that files of a table may be in.
///
/// A table may be written by somebody else than its reader, and its files are read with the credentials of the reader.
#[derive(Debug, Clone)]
pub(crate) struct AllowedLocations {
    /// Location of the table as the user gave it.
    folder: String,
    root: CanonicalLocation,
    external: Vec<CanonicalLocation>,
}

impl AllowedLocations {
    /// The folder of the table, and `external` paths and URLs.
    pub(crate) fn new(root: &str, external: &[String]) -> Self {
        let external = external.iter().map(|location| CanonicalLocation::new(location)).collect();
        AllowedLocations { folder: root.to_owned(), root: CanonicalLocation::new(root), external }
    }

    /// Checks that a file or folder that the metadata names may be read.
    ///
    /// # Errors
    /// `Unsupported` where the location is below neither the folder of the table nor an external location.
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

//! Which files a table may name: those below its own folder, and below folders that its user names.

use std::borrow::Cow;

use orcish_core::{Error, Result};
use orcish_io::{CanonicalLocation, StorageOptions, display_name};

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

/// How a table and its files are reached: headers are sent to the host of the table alone.
#[derive(Debug, Clone)]
pub(crate) struct TableStorage {
    /// Where the table is.
    table: String,
    options: StorageOptions,
}

impl TableStorage {
    pub(crate) fn new(table: &str, options: StorageOptions) -> Self {
        TableStorage { table: table.to_owned(), options }
    }

    /// The options for a file or folder of the table.
    pub(crate) fn of(&self, location: &str) -> Cow<'_, StorageOptions> {
        let is_url = |text: &str| text.contains("://");
        if !is_url(location) || CanonicalLocation::new(&self.table).has_same_host(&CanonicalLocation::new(location)) {
            return Cow::Borrowed(&self.options);
        }
        Cow::Owned(self.options.without_headers())
    }

    /// The options for the folder of the table itself.
    pub(crate) fn of_table(&self) -> &StorageOptions {
        &self.options
    }
}

//! Storage options of the files of a table.

use std::borrow::Cow;

use orcish_io::{CanonicalLocation, StorageOptions};

/// The storage options of a table. HTTP headers are sent to the host of the table only.
#[derive(Debug, Clone)]
pub(crate) struct TableStorage {
    /// Location of the table.
    table: String,
    options: StorageOptions,
}

impl TableStorage {
    pub(crate) fn new(table: &str, options: StorageOptions) -> Self {
        TableStorage { table: table.to_owned(), options }
    }

    /// The options for a file or folder.
    pub(crate) fn of(&self, location: &str) -> Cow<'_, StorageOptions> {
        let is_url = |text: &str| text.contains("://");
        if !is_url(location) || CanonicalLocation::new(&self.table).has_same_host(&CanonicalLocation::new(location)) {
            return Cow::Borrowed(&self.options);
        }
        Cow::Owned(self.options.without_headers())
    }

    /// The options for the table's own folder.
    pub(crate) fn of_table(&self) -> &StorageOptions {
        &self.options
    }
}

//! Storage options of the files of a table.

use std::borrow::Cow;

use orcish_io::{CanonicalLocation, StorageOptions};

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

//! Options of a dataset that is written.

use std::collections::HashSet;

use orcish_core::error::{Error, Result};
use orcish_io::StorageOptions;

use crate::partition::ValueFormat;
use crate::write::WriteOptions;

/// Default of [`DatasetOptions::max_open_files`].
pub const DEFAULT_MAX_OPEN_FILES: usize = 256;
/// Default of [`DatasetOptions::max_partitions`].
pub const DEFAULT_MAX_PARTITIONS: usize = 10_000;
/// Default of [`DatasetOptions::max_memory`], in bytes.
pub const DEFAULT_MAX_MEMORY: usize = 1 << 30;

/// When files appear under their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Publication {
    /// Each file appears when it is complete. The files are removed again if the dataset is not finished.
    #[default]
    WhenClosed,
    /// No file appears. [`DatasetFile::staged`](super::DatasetFile::staged) is what
    /// [`complete_upload`](crate::io::complete_upload) publishes.
    Staged {
        /// The folder of the local file system where files wait, see [`create_staged`](crate::io::create_staged).
        folder: Option<String>,
    },
}

/// Options of a dataset that is written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DatasetOptions {
    /// Names of the partition columns, the outermost first. Files do not have these columns.
    pub partition_by: Vec<String>,
    /// How values of partition columns become texts.
    pub value_format: ValueFormat,
    /// Names of files. `{i}` stands for a number that no other file of this writer has.
    pub file_name: String,
    /// Locations that are not written to: the number is increased for the next name.
    pub excluded: HashSet<String>,
    /// Maximum number of rows of a file.
    pub max_rows_per_file: Option<u64>,
    /// Maximum number of open files. Rows of further partitions wait in memory, and in temporary files beyond half of
    /// `max_memory`, until the dataset is finished: each partition has one file.
    pub max_open_files: usize,
    /// Maximum number of partitions. More are an error before any of their files is created.
    pub max_partitions: usize,
    /// Maximum bytes of memory of all open files and of rows that wait. The largest files end their stripes beyond it.
    pub max_memory: usize,
    /// When files appear.
    pub publication: Publication,
    /// Options of the object store of a URL.
    pub storage: StorageOptions,
    /// Options of each file.
    pub write: WriteOptions,
}

impl Default for DatasetOptions {
    fn default() -> Self {
        DatasetOptions {
            partition_by: Vec::new(),
            value_format: ValueFormat::default(),
            file_name: "part-{i}.orc".to_owned(),
            excluded: HashSet::new(),
            max_rows_per_file: None,
            max_open_files: DEFAULT_MAX_OPEN_FILES,
            max_partitions: DEFAULT_MAX_PARTITIONS,
            max_memory: DEFAULT_MAX_MEMORY,
            publication: Publication::default(),
            storage: StorageOptions::default(),
            write: WriteOptions::default(),
        }
    }
}

/// Fields are assigned by name, or set in a chain of methods.
impl DatasetOptions {
    /// Sets [`partition_by`](Self::partition_by).
    #[must_use]
    pub fn with_partition_by(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.partition_by = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`value_format`](Self::value_format).
    #[must_use]
    pub fn with_value_format(mut self, value_format: ValueFormat) -> Self {
        self.value_format = value_format;
        self
    }

    /// Sets [`file_name`](Self::file_name).
    #[must_use]
    pub fn with_file_name(mut self, file_name: impl Into<String>) -> Self {
        self.file_name = file_name.into();
        self
    }

    /// Sets [`excluded`](Self::excluded).
    #[must_use]
    pub fn with_excluded(mut self, locations: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.excluded = locations.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`max_rows_per_file`](Self::max_rows_per_file).
    #[must_use]
    pub fn with_max_rows_per_file(mut self, max_rows_per_file: impl Into<Option<u64>>) -> Self {
        self.max_rows_per_file = max_rows_per_file.into();
        self
    }

    /// Sets [`max_open_files`](Self::max_open_files).
    #[must_use]
    pub fn with_max_open_files(mut self, max_open_files: usize) -> Self {
        self.max_open_files = max_open_files;
        self
    }

    /// Sets [`max_partitions`](Self::max_partitions).
    #[must_use]
    pub fn with_max_partitions(mut self, max_partitions: usize) -> Self {
        self.max_partitions = max_partitions;
        self
    }

    /// Sets [`max_memory`](Self::max_memory).
    #[must_use]
    pub fn with_max_memory(mut self, max_memory: usize) -> Self {
        self.max_memory = max_memory;
        self
    }

    /// Sets [`publication`](Self::publication).
    #[must_use]
    pub fn with_publication(mut self, publication: Publication) -> Self {
        self.publication = publication;
        self
    }

    /// Sets [`storage`](Self::storage).
    #[must_use]
    pub fn with_storage(mut self, storage: StorageOptions) -> Self {
        self.storage = storage;
        self
    }

    /// Sets [`write`](Self::write).
    #[must_use]
    pub fn with_write(mut self, write: WriteOptions) -> Self {
        self.write = write;
        self
    }

    /// Checks the options that no schema is needed for.
    pub(super) fn check(&self) -> Result<()> {
        if self.max_rows_per_file == Some(0) {
            return Err(Error::invalid("max_rows_per_file=0: a file has one row at least"));
        }
        if self.max_open_files == 0 {
            return Err(Error::invalid("max_open_files=0: one file at least is open"));
        }
        if self.max_partitions == 0 {
            return Err(Error::invalid("max_partitions=0: rows are in one partition at least"));
        }
        if self.file_name.is_empty() || self.file_name.contains('/') {
            return Err(Error::invalid(format!("file_name={:?}: it names a file, not a folder", self.file_name)));
        }
        Ok(())
    }
}

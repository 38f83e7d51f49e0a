//! Options of a dataset that is written.

use std::collections::HashSet;

use orcish_core::error::{Error, Result};
use orcish_core::options;
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

options! {
    /// Options of a dataset that is written.
    #[derive(Debug, Clone)]
    pub struct DatasetOptions {
        /// Names of the partition columns, the outermost first. Files do not have these columns.
        partition_by: Vec<String> => with_partition_by(each String),
        /// Names of files. `{i}` stands for a number that no other file of this writer has.
        file_name: String = "part-{i}.orc".to_owned() => with_file_name(into),
        /// Maximum number of rows of a file.
        max_rows_per_file: Option<u64> => with_max_rows_per_file(into),
        /// Maximum number of open files. Rows of further partitions wait in memory, and in temporary files beyond half of
        /// `max_memory`, until the dataset is finished: each partition has one file.
        max_open_files: usize = DEFAULT_MAX_OPEN_FILES => with_max_open_files,
        /// Maximum number of partitions. More are an error before any of their files is created.
        max_partitions: usize = DEFAULT_MAX_PARTITIONS => with_max_partitions,
        /// Maximum bytes of memory of all open files and of rows that wait. The largest files end their stripes beyond it.
        max_memory: usize = DEFAULT_MAX_MEMORY => with_max_memory,
        unlisted {
            /// How values of partition columns become texts.
            value_format: ValueFormat => with_value_format,
            /// Locations that are not written to: the number is increased for the next name.
            excluded: HashSet<String> => with_excluded,
            /// When files appear.
            publication: Publication => with_publication,
            /// Options of the object store of a URL.
            storage: StorageOptions => with_storage,
            /// Options of each file.
            write: WriteOptions => with_write,
        }
    }
}

impl DatasetOptions {
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

//! Data files of a table.

use std::sync::Arc;

use orcish_io::FileVersion;

use crate::metadata::format::MinMax;
use crate::metadata::index_file::IndexedBlocklet;
use crate::metadata::schema::Column;

/// Format of a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// Columnar data file of any version.
    Columnar,
    /// Streaming file of rows.
    Stream,
    Orc,
    /// Unsupported format. The entry stands for the segment.
    Other(String),
}

/// A live data file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileEntry {
    pub(crate) location: String,
    /// Index of the segment in the table.
    pub(crate) segment: Option<usize>,
    pub(crate) format: FileFormat,
    /// Size; committed size of streaming files.
    pub(crate) size: Option<u64>,
    /// Number of rows, deleted rows included.
    pub(crate) rows: Option<u64>,
    /// `None` where the index file has no blocklets.
    pub(crate) blocklets: Option<Vec<IndexedBlocklet>>,
    /// Min/max index of the file, where the index file has no blocklets.
    pub(crate) file_min_max: Option<MinMax>,
    /// Columns of the index file, in the order of the min/max indexes.
    pub(crate) index_columns: Option<Arc<Vec<Column>>>,
    pub(crate) version: Option<i32>,
    /// The version of the file that a split was made of: later reads of another one are errors.
    pub(crate) split_version: Option<FileVersion>,
    /// Live delete deltas. Files of one block share them.
    pub(crate) deletes: Arc<[String]>,
    /// Folder of the global dictionaries.
    pub(crate) dictionaries: String,
    /// Hive partition values, for files of other formats.
    pub(crate) partition: Vec<(String, Option<String>)>,
}

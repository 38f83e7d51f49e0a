//! The files of a table.

use std::sync::Arc;

use crate::metadata::format::MinMax;
use crate::metadata::index_file::IndexedBlocklet;
use crate::metadata::schema::Column;

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// One of blocklets, of any version.
    Columnar,
    /// One of rows, that a stream adds to.
    Stream,
    Orc,
    /// A format that is read by others; the entry stands for the whole segment.
    Other(String),
}

/// A file whose rows are rows of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileEntry {
    pub(crate) location: String,
    /// Its segment, as an index into those of the table.
    pub(crate) segment: Option<usize>,
    pub(crate) format: FileFormat,
    /// Bytes that count; of streams those that are committed.
    pub(crate) size: Option<u64>,
    /// Rows, with deleted ones.
    pub(crate) rows: Option<u64>,
    /// None where the file alone knows.
    pub(crate) blocklets: Option<Vec<IndexedBlocklet>>,
    /// Bounds of the whole file, where the index has no blocklets.
    pub(crate) file_min_max: Option<MinMax>,
    /// The columns that the index has: what bounds are in the order of.
    pub(crate) index_columns: Option<Arc<Vec<Column>>>,
    pub(crate) version: Option<i32>,
    /// Delete deltas that count, which files of one block share.
    pub(crate) deletes: Arc<[String]>,
    /// The folder of the table's dictionaries.
    pub(crate) dictionaries: String,
    /// Values that are in the path alone: those of other formats.
    pub(crate) partition: Vec<(String, Option<String>)>,
}

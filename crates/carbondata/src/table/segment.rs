//! The segments of a table, as its user sees them.

/// A segment: what one load, or one compaction, has added to a table.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Segment {
    /// Its name in the table, such as `3`, or `0.1` of a compaction.
    pub id: String,
    /// Its state as the table has it, such as `Success`, `Compacted` or `Marked for Delete`.
    pub state: String,
    /// Whether its rows are rows of the table.
    pub is_readable: bool,
    /// What its files are: `columnar_v3`, `row_v1` of streams, or the name of another format that was added.
    pub format: String,
    /// When it was begun, in milliseconds since 1970; tables before 1.3 do not say it in that way.
    pub started: Option<i64>,
    /// When it was finished, likewise.
    pub ended: Option<i64>,
    /// The segment that it was merged into.
    pub merged_into: Option<String>,
    /// When it was deleted or otherwise changed, in milliseconds since 1970.
    pub modified: Option<i64>,
    /// Rows without deleted ones, where the index knows; none for segments that are not read.
    pub rows: Option<u64>,
    /// Rows that the table says were deleted of the files that are read.
    pub deleted_rows: Option<u64>,
    /// Bytes of data files, as the table has it.
    pub data_bytes: Option<u64>,
    /// Bytes of index files, as the table has it.
    pub index_bytes: Option<u64>,
    /// Files that are read.
    pub files: usize,
}

//! Segments of a table.

/// A segment: the result of a load or a compaction.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Segment {
    /// Id, such as `3`, or `0.1` for a compaction.
    pub id: String,
    /// State in the table status, such as `Success`, `Compacted` or `Marked for Delete`.
    pub state: String,
    /// Whether the segment is read.
    pub is_readable: bool,
    /// Format of the data files: `columnar_v3`, `row_v1` for streaming, or the name of another format.
    pub format: String,
    /// Start of the load in milliseconds since 1970; `None` before 1.3.
    pub started: Option<i64>,
    /// End of the load in milliseconds since 1970; `None` before 1.3.
    pub ended: Option<i64>,
    /// Id of the segment that this one was compacted into.
    pub merged_into: Option<String>,
    /// Time of the last change or of the deletion, in milliseconds since 1970.
    pub modified: Option<i64>,
    /// Number of rows without deleted rows; `None` where index files lack it, and for segments that are not read.
    pub rows: Option<u64>,
    /// Number of deleted rows of the live files.
    pub deleted_rows: Option<u64>,
    /// Size of data files, from the table status.
    pub data_bytes: Option<u64>,
    /// Size of index files, from the table status.
    pub index_bytes: Option<u64>,
    /// Number of live data files.
    pub files: usize,
}

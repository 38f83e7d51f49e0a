//! Window sizes that tests can change.
//!
//! No window changes the rows that are read. Tests make windows small, so that a few rows cross each of them.

orcish_core::tunings! {
    /// Number of selected rows of a page below which the rows are concatenated with those of the next pages.
    MIN_BATCH_ROWS = 8192, 1..=500;
    /// Bytes of a streaming file that are read at a time, where a blocklet has fewer.
    STREAM_READ_BYTES = 4 << 20, 1..=3000;
    /// Bytes that are first read for the header of a file.
    HEADER_READ_BYTES = 32 << 10, 64..=400;
    /// Number of metadata files that are read from a store at a time.
    METADATA_READERS = 8, 1..=3;
}

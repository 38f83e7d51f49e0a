//! Sizes of the windows that readers of CarbonData tables work in: what is read ahead, kept, queued, or processed at a time.
//!
//! No window changes the rows that are read. Windows are variables for tests alone, which make them small, so that a few rows cross each
//! of them. Constants of the format, and the lengths of arrays in kernels, are not windows.

orcish_core::tunings! {
    /// Wanted rows of a page below which they are put together with those of the next.
    FEW_ROWS_OF_PAGE = 8192, 1..=500;
    /// Bytes of a file of a stream that are read at a time, where a blocklet has fewer.
    STREAM_BYTES = 4 << 20, 1..=3000;
    /// Bytes of the beginning of a file that are read for its header at first.
    FIRST_HEADER = 32 << 10, 64..=400;
    /// Files of metadata that are read at a time from stores.
    METADATA_READERS = 8, 1..=3;
}

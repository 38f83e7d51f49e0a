//! Sizes of the windows that sources work in: what is read ahead, kept, queued, or processed at a time.
//!
//! No window changes the bytes that are read. Windows are variables for tests alone, which make them small, so that a few rows cross each
//! of them. Constants of the format, and the lengths of arrays in kernels, are not windows.

orcish_core::tunings! {
    /// Bytes that are read from the end of a file at first, where a request costs little.
    FIRST_READ = 16 << 10, 1..=600;
    /// Bytes that are read sooner than another request is made, where a request costs little.
    NEAR_GAP = 0, 0..=4000;
    /// Requests that are worth having under way at a time, where a request costs little.
    NEAR_REQUESTS = 1, 1..=3;
    /// Buffers of a local file that are used again.
    KEPT_BUFFERS = 2, 0..=2;
    /// Bytes of a buffer beyond which it is not used again.
    KEPT_BUFFER_BYTES = 512 << 20, 0..=3000;
    /// Stores that are kept, with their connections.
    KEPT_STORES = 16, 1..=2;
}

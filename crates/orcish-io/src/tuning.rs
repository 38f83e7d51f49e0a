//! Sizes of buffers, caches and read-ahead.
//!
//! These sizes affect speed and memory only, never the bytes that are read. They are variables so that tests can set
//! them to small values, with which a few rows reach each boundary. Constants of a file format and array lengths in
//! kernels are not part of this module.

orcish_core::tunings! {
    /// Size of the first read from the end of a local file, in bytes.
    FIRST_READ = 16 << 10, 1..=600;
    /// Largest gap between two coalesced ranges of a local file, in bytes.
    LOCAL_COALESCE_GAP = 0, 0..=4000;
    /// Bytes of a local file that are read at a time, of a range that is decoded from its start to its end. They stay in the
    /// second level cache of a core until they are decoded.
    LOCAL_PIECE = 512 << 10, 1..=3000;
    /// Concurrent requests for local files.
    LOCAL_CONCURRENCY = 1, 1..=3;
    /// Pooled buffers of a local file.
    MAX_POOLED_BUFFERS = 2, 0..=2;
    /// Size above which a buffer is freed and not pooled, in bytes.
    MAX_POOLED_BUFFER_SIZE = 512 << 20, 0..=3000;
    /// Cached clients of object stores, each with its connections.
    MAX_CACHED_STORES = 16, 1..=2;
}

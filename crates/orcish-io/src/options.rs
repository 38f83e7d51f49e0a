//! Options of requests to remote storage.

use std::time::Duration;

/// Default of [`RemoteOptions::first_read`], in bytes.
pub const DEFAULT_REMOTE_FIRST_READ: u64 = 64 << 10;
/// Default of [`RemoteOptions::coalesce_gap`], in bytes.
pub const DEFAULT_COALESCE_GAP: u64 = 1 << 20;
/// Default of [`RemoteOptions::part_size`], in bytes.
pub const DEFAULT_PART_SIZE: u64 = 8 << 20;
/// Default of [`RemoteOptions::concurrency`].
pub const DEFAULT_CONCURRENCY: usize = 10;
/// Most of [`RemoteOptions::concurrency`]: each request may take a thread that waits for it.
pub const MOST_REQUESTS: usize = 256;
/// Default of [`RemoteOptions::max_retries`].
pub const DEFAULT_MAX_RETRIES: usize = 10;
/// Default of [`RemoteOptions::retry_timeout`].
pub const DEFAULT_RETRY_TIMEOUT: Duration = Duration::from_secs(180);

/// How requests for files that are not local are made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RemoteOptions {
    /// Bytes to read from the end of a file at first; what they hold is not asked for again.
    pub first_read: u64,
    /// Bytes that are read sooner than another request is made.
    pub coalesce_gap: u64,
    /// Most bytes of a request: longer ranges are read in parts, side by side.
    pub part_size: u64,
    /// Most requests to a store or server that are under way at a time, up to [`MOST_REQUESTS`]. As many files and
    /// stripes are asked for ahead of what is decoded.
    pub concurrency: usize,
    /// How often a request that failed for a passing reason is made again.
    pub max_retries: usize,
    /// How long after the first attempt a request may still be made again.
    pub retry_timeout: Duration,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            first_read: DEFAULT_REMOTE_FIRST_READ,
            coalesce_gap: DEFAULT_COALESCE_GAP,
            part_size: DEFAULT_PART_SIZE,
            concurrency: DEFAULT_CONCURRENCY,
            max_retries: DEFAULT_MAX_RETRIES,
            retry_timeout: DEFAULT_RETRY_TIMEOUT,
        }
    }
}

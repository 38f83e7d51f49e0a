//! Options of requests to object stores and HTTP servers.

use std::time::Duration;

use orcish_core::options;

/// Default of [`RemoteOptions::first_read`], in bytes.
pub const DEFAULT_REMOTE_FIRST_READ: u64 = 64 << 10;
/// Default of [`RemoteOptions::coalesce_gap`], in bytes.
pub const DEFAULT_COALESCE_GAP: u64 = 1 << 20;
/// Default of [`RemoteOptions::part_size`], in bytes.
pub const DEFAULT_PART_SIZE: u64 = 8 << 20;
/// Default of [`RemoteOptions::concurrency`].
pub const DEFAULT_CONCURRENCY: usize = 10;
/// Maximum of [`RemoteOptions::concurrency`]: a thread may block on each request.
pub const MAX_CONCURRENCY: usize = 256;
/// Default of [`RemoteOptions::max_retries`].
pub const DEFAULT_MAX_RETRIES: usize = 10;
/// Default of [`RemoteOptions::retry_timeout`].
pub const DEFAULT_RETRY_TIMEOUT: Duration = Duration::from_secs(180);

options! {
    /// Options of requests to object stores and HTTP servers. Each field is the storage option `orcish.<field>` of
    /// [`StorageOptions`](crate::StorageOptions).
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    pub struct RemoteOptions {
        /// Size of the first read from the end of a file, in bytes. These bytes are not requested again.
        first_read: u64 = DEFAULT_REMOTE_FIRST_READ,
        /// Largest distance between two ranges that are read with one request, in bytes.
        coalesce_gap: u64 = DEFAULT_COALESCE_GAP,
        /// Largest size of a request, in bytes. Longer ranges are split into parts, which are requested concurrently.
        part_size: u64 = DEFAULT_PART_SIZE,
        /// Maximum number of concurrent requests to a store or server, at most [`MAX_CONCURRENCY`]. It is also the number
        /// of files and stripes that are fetched ahead of the decoder.
        concurrency: usize = DEFAULT_CONCURRENCY,
        /// Maximum number of retries of a request after a transient error.
        max_retries: usize = DEFAULT_MAX_RETRIES,
        /// Time after the first attempt in which a request may be retried.
        retry_timeout: Duration = DEFAULT_RETRY_TIMEOUT,
        /// Path of a PEM file with certificates of authorities that are trusted, beside those of the system.
        ca_certificate: Option<String>,
    }
}

//! Options of scans.

use orcish_core::{Limits, Predicate};

/// Default of [`ReadOptions::batch_size`], in rows.
pub const DEFAULT_BATCH_SIZE: usize = 65_536;

/// Options of a scan.
///
/// ```
/// use carbondata::ReadOptions;
///
/// let options = ReadOptions::default().with_columns(["id", "nest.a"]);
/// assert_eq!(options.batch_size, 65_536);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The projection: dotted names of columns, in output order. `None` reads all columns.
    pub columns: Option<Vec<String>>,
    /// Maximum number of rows of a batch.
    pub batch_size: usize,
    /// The filter. A row is read where the filter is true.
    pub filter: Option<Predicate>,
    /// Maximum number of rows.
    pub limit: Option<u64>,
    /// Number of decoding threads; 0 is the number of cores.
    pub threads: usize,
    /// Bounds on the resources that files can make the reader use.
    pub limits: Limits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            columns: None,
            batch_size: DEFAULT_BATCH_SIZE,
            filter: None,
            limit: None,
            threads: 0,
            limits: Limits::default(),
        }
    }
}

/// Fields are assigned by name, or set in a chain of methods.
impl ReadOptions {
    /// Sets [`columns`](Self::columns).
    #[must_use]
    pub fn with_columns(mut self, columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Sets [`batch_size`](Self::batch_size).
    #[must_use]
    pub fn with_batch_size(mut self, batch_size: usize) -> Self {
        self.batch_size = batch_size;
        self
    }

    /// Sets [`filter`](Self::filter).
    #[must_use]
    pub fn with_filter(mut self, filter: Predicate) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sets [`limit`](Self::limit).
    #[must_use]
    pub fn with_limit(mut self, limit: impl Into<Option<u64>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Sets [`threads`](Self::threads).
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

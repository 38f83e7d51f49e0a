//! Options of scans.

use orcish_core::names::ColumnName;
use orcish_core::{Limits, Predicate, options};

/// Default of [`ReadOptions::batch_size`], in rows.
pub const DEFAULT_BATCH_SIZE: usize = 65_536;

options! {
    /// Options of a scan.
    ///
    /// ```
    /// use carbondata::ReadOptions;
    ///
    /// let options = ReadOptions::default().with_columns(["id", "nest.a"]);
    /// assert_eq!(options.batch_size, 65_536);
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct ReadOptions {
        /// The projection: names of columns, in output order. `None` reads all columns.
        columns: Option<Vec<ColumnName>> => with_columns(each ColumnName),
        /// Maximum number of rows of a batch.
        batch_size: usize = DEFAULT_BATCH_SIZE => with_batch_size,
        /// The filter. A row is read where the filter is true.
        filter: Option<Predicate> => with_filter(of Predicate),
        /// Maximum number of rows.
        limit: Option<u64> => with_limit(into),
        /// Number of decoding threads; 0 is the number of cores.
        threads: usize => with_threads,
        unlisted {
            /// Bounds on the resources that files can make the reader use.
            limits: Limits => with_limits,
        }
    }
}

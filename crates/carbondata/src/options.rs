//! Options of scans.

use orcish_core::{Limits, Predicate};

/// Default of [`ReadOptions::batch_size`], in rows.
pub const DEFAULT_BATCH_SIZE: usize = 65_536;

/// Options of a scan.
///
/// ```
/// use carbondata::ReadOptions;
///
/// let options = ReadOptions { columns: Some(vec!["id".into(), "nest.a".into()]), ..ReadOptions::default() };
/// assert_eq!(options.batch_size, 65_536);
/// ```
#[derive(Debug, Clone, PartialEq)]
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

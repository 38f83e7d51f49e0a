//! Options of a scan.

use orcish_core::{Limits, Predicate};

/// Default of [`ReadOptions::batch_size`], in rows.
pub const DEFAULT_BATCH_SIZE: usize = 65_536;

/// How to read a table.
///
/// ```
/// use carbondata::ReadOptions;
///
/// let options = ReadOptions { columns: Some(vec!["id".into(), "nest.a".into()]), ..ReadOptions::default() };
/// assert_eq!(options.batch_size, 65_536);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Columns to read, by dotted name and in this order; `None` reads all columns.
    pub columns: Option<Vec<String>>,
    /// Most rows of a batch.
    pub batch_size: usize,
    /// The rows to read: those for which this is true.
    pub filter: Option<Predicate>,
    /// Most rows to read.
    pub limit: Option<u64>,
    /// Threads that decode; 0 takes as many as the machine has cores.
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

//! Filters and limits that are applied to the rows of a table one after the other.
//!
//! A [`Stage`] is a filter and the limit that follows it. A [`StagedScan`] gives the reader of a format what it can evaluate
//! itself: the predicate of the first stage, and its limit. [`StagedRows`] applies the rest to the batches that were read.

mod late;
mod plan;
mod rows;
mod scan;

use std::fmt;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};

use crate::error::Result;
use crate::expression::Predicate;

pub use plan::StagePlan;
pub use rows::StagedRows;
pub use scan::{ReadColumns, RowSelection, StagedScan, TableScan};

/// A filter, and the limit of the rows that it keeps. A row is kept where the predicate and all row filters are true.
#[derive(Debug, Clone, Default)]
pub struct Stage {
    /// A predicate on the columns of the table. `None` keeps all rows.
    pub predicate: Option<Predicate>,
    /// Filters of other libraries.
    pub row_filters: Vec<Arc<dyn RowFilter>>,
    /// Maximum number of rows that the stage keeps.
    pub limit: Option<u64>,
}

/// A filter that is evaluated on batches, such as an expression of another library. Its text is for messages.
pub trait RowFilter: fmt::Debug + fmt::Display + Send + Sync {
    /// Names of the top-level columns that the filter needs; `None` where they are not known, and all columns are read.
    fn columns(&self) -> Option<&[String]>;

    /// Whether a row is kept or not whatever the other rows are, so that the filter can be applied batch by batch.
    fn is_elementwise(&self) -> bool;

    /// The rows that are kept, a mask for each batch. Batches that are given together are the whole table unless the filter is
    /// elementwise. They have the columns that the filter needs, all columns where those are not known, and one column at
    /// least where the table has any.
    ///
    /// # Errors
    /// The error of the other library.
    fn masks(&self, batches: &[RecordBatch]) -> Result<Vec<BooleanArray>>;
}

#[cfg(test)]
mod tests;

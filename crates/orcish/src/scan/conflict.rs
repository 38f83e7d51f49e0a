//! Columns that have no common type in all files of a table.

use orcish_core::error::Error;

/// Files whose types of a column have no union.
#[derive(Debug)]
pub(super) struct Conflict {
    /// The dotted name of the column in the table.
    pub(super) column: String,
    /// The error, whose place is the second of two files that have no common type. It names the first.
    pub(super) error: Error,
}

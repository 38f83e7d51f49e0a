//! The error of appending values to a column.

use orcish_core::error::{Error, Result};

/// A value that cannot be stored, or another error.
#[derive(Debug)]
pub(super) enum AppendError {
    /// A value that its column cannot hold.
    Value {
        /// Index of the value in the array that was appended. The writer of a nested column maps an index in a child
        /// array to the index in its own array.
        index: usize,
        /// Column id.
        column: u32,
        message: String,
    },
    Other(Error),
}

impl AppendError {
    /// Maps the index in a child array to the index in the parent array.
    pub(super) fn map_index(self, to_parent: impl FnOnce(usize) -> Result<usize>) -> Self {
        match self {
            AppendError::Value { index, column, message } => match to_parent(index) {
                Ok(index) => AppendError::Value { index, column, message },
                Err(error) => AppendError::Other(error),
            },
            other @ AppendError::Other(_) => other,
        }
    }
}

impl From<Error> for AppendError {
    fn from(error: Error) -> Self {
        AppendError::Other(error)
    }
}

/// Result of appending values to a column.
pub(super) type AppendResult<T = ()> = std::result::Result<T, AppendError>;

//! What may go wrong with values, and where.

use orcish_core::error::Error;

/// A value that cannot be stored, or another error.
#[derive(Debug)]
pub(super) enum Fault {
    /// The value at an index of the array that is being written.
    Value {
        /// Index within that array; whoever takes apart an array maps those of its parts to its own.
        index: usize,
        /// Column id.
        column: u32,
        message: String,
    },
    Error(Error),
}

impl Fault {
    /// With the index in the array that this one is a part of.
    pub(super) fn map_index(self, to_own: impl FnOnce(usize) -> usize) -> Self {
        match self {
            Fault::Value { index, column, message } => Fault::Value { index: to_own(index), column, message },
            other @ Fault::Error(_) => other,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Error(error)
    }
}

/// Shorthand for what may fail for a value.
pub(super) type Outcome<T = ()> = std::result::Result<T, Fault>;

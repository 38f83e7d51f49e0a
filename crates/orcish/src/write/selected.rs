//! The values of a nested array that belong to something: not to a null, not to another variant.

use arrow_array::{ArrayRef, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_select::take::take;
use orcish_core::error::{Error, Result};

/// Some values of an array, in order.
#[derive(Debug)]
pub(super) enum Selected {
    /// A part, as it is.
    Range { start: usize, length: usize },
    /// By their indexes.
    Indexes(UInt64Array),
}

impl Selected {
    /// Those at the valid places of `length`.
    pub(super) fn valid(length: usize, valid: Option<&NullBuffer>) -> Self {
        match valid {
            None => Selected::Range { start: 0, length },
            Some(valid) => Self::of_indexes(valid.valid_indices()),
        }
    }

    /// Those at these indexes.
    pub(super) fn of_indexes(indexes: impl Iterator<Item = usize>) -> Self {
        Selected::Indexes(indexes.map(|index| index as u64).collect())
    }

    /// The values of `array`.
    pub(super) fn of(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match self {
            Selected::Range { start: 0, length } if *length == array.len() => Ok(array.clone()),
            Selected::Range { start, length } if start + length <= array.len() => Ok(array.slice(*start, *length)),
            Selected::Range { .. } => Err(Error::invalid("an array that is shorter than its parent")),
            Selected::Indexes(indexes) => take(array, indexes, None)
                .map_err(|error| Error::invalid("an array that does not fit to its parent").with_source(error)),
        }
    }

    /// Index in the array of the value number `at`.
    pub(super) fn index(&self, at: usize) -> usize {
        match self {
            Selected::Range { start, .. } => start + at,
            Selected::Indexes(indexes) => {
                indexes.values().get(at).and_then(|&index| usize::try_from(index).ok()).unwrap_or_default()
            }
        }
    }
}

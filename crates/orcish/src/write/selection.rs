//! Values of a child array that are stored: values below a null, or of another union variant, are not.

use arrow_array::{ArrayRef, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_select::take::take;
use orcish_core::error::{Error, OrInternal as _, Result};

/// Selected values of an array, in order.
#[derive(Debug)]
pub(super) enum Selection {
    /// A slice, which is not copied.
    Range { start: usize, length: usize },
    /// Values at indices.
    Indices(UInt64Array),
}

impl Selection {
    /// The valid slots of an array of this length.
    pub(super) fn from_validity(length: usize, valid: Option<&NullBuffer>) -> Self {
        match valid {
            None => Selection::Range { start: 0, length },
            Some(valid) => Self::from_indices(valid.valid_indices()),
        }
    }

    pub(super) fn from_indices(indices: impl Iterator<Item = usize>) -> Self {
        Selection::Indices(indices.map(|index| index as u64).collect())
    }

    /// The selected values of `array`.
    ///
    /// # Errors
    /// `InvalidArgument` when the array is too short.
    pub(super) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match self {
            Selection::Range { start: 0, length } if *length == array.len() => Ok(array.clone()),
            Selection::Range { start, length } if start + length <= array.len() => Ok(array.slice(*start, *length)),
            Selection::Range { .. } => Err(Error::invalid("an array that is shorter than its parent")),
            Selection::Indices(indices) => take(array, indices, None)
                .map_err(|error| Error::invalid("an array that does not fit to its parent").with_source(error)),
        }
    }

    /// The index in the array of the selected value number `n`.
    ///
    /// # Errors
    /// `Internal` where fewer values are selected.
    pub(super) fn index(&self, n: usize) -> Result<usize> {
        match self {
            Selection::Range { start, .. } => Ok(start + n),
            Selection::Indices(indices) => {
                let index = indices.values().get(n).or_internal("an error is in a value that is not selected")?;
                usize::try_from(*index).or_internal("an array has an index of more than its bits")
            }
        }
    }
}

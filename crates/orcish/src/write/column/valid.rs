//! The valid values of an array.

use std::ops::Range;

use arrow_buffer::NullBuffer;
use orcish_core::error::{OrInternal as _, Result};

/// The ranges of valid indices of an array of this length.
pub(super) fn valid_ranges(length: usize, valid: Option<&NullBuffer>) -> impl Iterator<Item = Range<usize>> {
    let all = valid.is_none().then_some(0..length);
    let slices = valid.map(|valid| valid.valid_slices().map(|(from, to)| from..to));
    all.into_iter().chain(slices.into_iter().flatten())
}

/// The valid values of an array, in slices, with the index of the first value of each.
///
/// # Errors
/// `Internal` where `valid` has more slots than there are values.
pub(super) fn valid_slices<'a, T>(
    values: &'a [T],
    valid: Option<&'a NullBuffer>,
) -> impl Iterator<Item = Result<(usize, &'a [T])>> {
    valid_ranges(values.len(), valid).map(|range| {
        let start = range.start;
        Ok((start, values.get(range).or_internal("an array has more valid slots than values")?))
    })
}

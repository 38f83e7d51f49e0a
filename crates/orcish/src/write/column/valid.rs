//! The valid values of an array.

use std::ops::Range;

use arrow_buffer::NullBuffer;

/// The ranges of valid indices of an array of this length.
pub(super) fn valid_ranges(length: usize, valid: Option<&NullBuffer>) -> impl Iterator<Item = Range<usize>> {
    let all = valid.is_none().then_some(0..length);
    let slices = valid.map(|valid| valid.valid_slices().map(|(from, to)| from..to));
    all.into_iter().chain(slices.into_iter().flatten())
}

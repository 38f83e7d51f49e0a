//! Check of the order of recorded bounds.

use crate::warnings::warn;

/// The bounds, or no bounds and a warning where the minimum is above the maximum.
pub(super) fn ordered<T: PartialOrd>(min: Option<T>, max: Option<T>) -> (Option<T>, Option<T>) {
    ordered_by(min, max, |bound| bound)
}

/// As [`ordered`], by a part of the bounds.
pub(super) fn ordered_by<T, K: PartialOrd>(
    min: Option<T>,
    max: Option<T>,
    key: impl Fn(&T) -> &K,
) -> (Option<T>, Option<T>) {
    match (&min, &max) {
        (Some(lower), Some(upper)) if key(lower) > key(upper) => {
            warn("the minimum is recorded above the maximum");
            (None, None)
        }
        _ => (min, max),
    }
}

//! The order of recorded bounds.

/// The bounds; none where the least is above the greatest.
pub(super) fn ordered<T: PartialOrd>(min: Option<T>, max: Option<T>) -> (Option<T>, Option<T>) {
    match (&min, &max) {
        (Some(least), Some(greatest)) if least > greatest => (None, None),
        _ => (min, max),
    }
}

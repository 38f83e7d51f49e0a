//! Check of the order of recorded bounds.

/// The bounds, or no bounds where the minimum is above the maximum.
pub(super) fn ordered<T: PartialOrd>(min: Option<T>, max: Option<T>) -> (Option<T>, Option<T>) {
    match (&min, &max) {
        (Some(lower), Some(upper)) if lower > upper => (None, None),
        _ => (min, max),
    }
}

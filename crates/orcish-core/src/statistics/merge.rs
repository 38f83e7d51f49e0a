//! Statistics of some rows and of others become those of both.

use super::{Bound, BoundingBox, ColumnStatistics, Decimal, Detail};

impl ColumnStatistics {
    /// Takes in the statistics of further rows of the same column.
    ///
    /// What one side does not know, the result does not know, unless that side has no values. Details of different
    /// kinds, which no column has, become [`Detail::None`].
    pub fn merge(&mut self, other: &Self) {
        if self.values == Some(0) {
            self.detail = other.detail.clone();
        } else if other.values != Some(0) {
            self.detail = merge_details(&self.detail, &other.detail);
        }
        self.values = both(self.values, other.values, u64::checked_add);
        self.bytes_on_disk = both(self.bytes_on_disk, other.bytes_on_disk, u64::checked_add);
        self.has_null = match (self.has_null, other.has_null) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
    }
}

/// What both together give, where both are known.
pub fn both<T, U>(a: Option<T>, b: Option<T>, combine: impl FnOnce(T, T) -> Option<U>) -> Option<U> {
    combine(a?, b?)
}

fn least<T: Ord + Copy>(a: &Option<T>, b: &Option<T>) -> Option<T> {
    both(*a, *b, |a, b| Some(a.min(b)))
}

fn greatest<T: Ord + Copy>(a: &Option<T>, b: &Option<T>) -> Option<T> {
    both(*a, *b, |a, b| Some(a.max(b)))
}

#[rustfmt::skip] // a line for each field reads as the table that it is
fn merge_details(a: &Detail, b: &Detail) -> Detail {
    use Detail as D;
    match (a, b) {
        (D::Integer { min: a_min, max: a_max, sum: a_sum }, D::Integer { min, max, sum }) => D::Integer {
            min: least(a_min, min),
            max: greatest(a_max, max),
            sum: both(*a_sum, *sum, i64::checked_add),
        },
        (D::Double { min: a_min, max: a_max, sum: a_sum }, D::Double { min, max, sum }) => D::Double {
            min: both(*a_min, *min, |a, b| Some(a.min(b))),
            max: both(*a_max, *max, |a, b| Some(a.max(b))),
            sum: sum_of_doubles(*a_sum, *sum),
        },
        (D::String { min: a_min, max: a_max, total_length: a_length }, D::String { min, max, total_length }) => D::String {
            min: outer_bound(a_min, min, |a, b| a.value <= b.value),
            max: outer_bound(a_max, max, |a, b| a.value >= b.value),
            total_length: both(*a_length, *total_length, u64::checked_add),
        },
        (D::Boolean { true_count: a_count }, D::Boolean { true_count }) => D::Boolean {
            true_count: both(*a_count, *true_count, u64::checked_add),
        },
        (D::Decimal { min: a_min, max: a_max, sum: a_sum }, D::Decimal { min, max, sum }) => D::Decimal {
            min: least(a_min, min),
            max: greatest(a_max, max),
            sum: both(*a_sum, *sum, Decimal::checked_add),
        },
        (D::Date { min: a_min, max: a_max }, D::Date { min, max }) => D::Date {
            min: least(a_min, min),
            max: greatest(a_max, max),
        },
        (
            D::Timestamp { min: a_min, max: a_max, lower_bound: a_lower, upper_bound: a_upper },
            D::Timestamp { min, max, lower_bound, upper_bound },
        ) => D::Timestamp {
            min: least(a_min, min),
            max: greatest(a_max, max),
            lower_bound: least(a_lower, lower_bound),
            upper_bound: greatest(a_upper, upper_bound),
        },
        (D::Binary { total_length: a_length }, D::Binary { total_length }) => D::Binary {
            total_length: both(*a_length, *total_length, u64::checked_add),
        },
        (
            D::Collection { min_children: a_min, max_children: a_max, total_children: a_total },
            D::Collection { min_children, max_children, total_children },
        ) => D::Collection {
            min_children: least(a_min, min_children),
            max_children: greatest(a_max, max_children),
            total_children: both(*a_total, *total_children, u64::checked_add),
        },
        (D::Geospatial { bounding_box: a_box, types: a_types }, D::Geospatial { bounding_box, types }) => D::Geospatial {
            bounding_box: merge_boxes(a_box, bounding_box),
            types: merge_types(a_types, types),
        },
        _ => D::None,
    }
}

/// The sum of both. NaN stays, even beside a sum that is unknown: readers know by it that a value is NaN, and that the
/// bounds are not those of all values.
pub fn sum_of_doubles(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    let is_nan = |sum: Option<f64>| sum.is_some_and(f64::is_nan);
    if is_nan(a) || is_nan(b) { Some(f64::NAN) } else { both(a, b, |a, b| Some(a + b)) }
}

fn outer_bound(a: &Option<Bound>, b: &Option<Bound>, is_outer: impl Fn(&Bound, &Bound) -> bool) -> Option<Bound> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    let chosen = if is_outer(a, b) { a } else { b };
    // Of equal bounds, one that is a value makes the other one as well.
    let exact = [a, b].iter().any(|bound| bound.exact && bound.value == chosen.value);
    Some(Bound { value: chosen.value.clone(), exact })
}

fn merge_boxes(a: &BoundingBox, b: &BoundingBox) -> BoundingBox {
    type Axis = Option<(f64, f64)>;
    let axis = |a: Axis, b: Axis| {
        // Two spans of which one crosses the antimeridian have no single best span.
        both(a, b, |a, b| (a.0 <= a.1 && b.0 <= b.1).then(|| (a.0.min(b.0), a.1.max(b.1))))
    };
    BoundingBox { x: axis(a.x, b.x), y: axis(a.y, b.y), z: axis(a.z, b.z), m: axis(a.m, b.m) }
}

fn merge_types(a: &[i32], b: &[i32]) -> Vec<i32> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let mut types = [a, b].concat();
    types.sort_unstable();
    types.dedup();
    types
}

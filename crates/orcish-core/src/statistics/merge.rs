//! Merging of the statistics of two sets of rows.

use super::{Bound, BoundingBox, ColumnStatistics, Decimal, Detail};

impl ColumnStatistics {
    /// Merges the statistics of other rows of the same column.
    ///
    /// A number is unknown in the result where it is unknown on either side, unless that side has no values. Details of
    /// different types become [`Detail::None`].
    pub fn merge(&mut self, other: &Self) {
        if self.values == Some(0) {
            self.detail = other.detail.clone();
        } else if other.values != Some(0) {
            self.detail = merge_details(&self.detail, &other.detail);
        }
        self.values = zip_and_then(self.values, other.values, u64::checked_add);
        self.bytes_on_disk = zip_and_then(self.bytes_on_disk, other.bytes_on_disk, u64::checked_add);
        self.has_null = match (self.has_null, other.has_null) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
    }
}

/// Combines two numbers; `None` where one is unknown.
pub fn zip_and_then<T, U>(a: Option<T>, b: Option<T>, combine: impl FnOnce(T, T) -> Option<U>) -> Option<U> {
    combine(a?, b?)
}

fn min_of<T: Ord + Copy>(a: &Option<T>, b: &Option<T>) -> Option<T> {
    zip_and_then(*a, *b, |a, b| Some(a.min(b)))
}

fn max_of<T: Ord + Copy>(a: &Option<T>, b: &Option<T>) -> Option<T> {
    zip_and_then(*a, *b, |a, b| Some(a.max(b)))
}

#[rustfmt::skip] // one line for each field
fn merge_details(a: &Detail, b: &Detail) -> Detail {
    use Detail as D;
    match (a, b) {
        (D::Integer { min: a_min, max: a_max, sum: a_sum }, D::Integer { min, max, sum }) => D::Integer {
            min: min_of(a_min, min),
            max: max_of(a_max, max),
            sum: zip_and_then(*a_sum, *sum, i64::checked_add),
        },
        (D::Double { min: a_min, max: a_max, sum: a_sum }, D::Double { min, max, sum }) => D::Double {
            min: zip_and_then(*a_min, *min, |a, b| Some(a.min(b))),
            max: zip_and_then(*a_max, *max, |a, b| Some(a.max(b))),
            sum: add_double_sums(*a_sum, *sum),
        },
        (D::String { min: a_min, max: a_max, total_length: a_length }, D::String { min, max, total_length }) => D::String {
            min: outer_bound(a_min, min, |a, b| a.value <= b.value),
            max: outer_bound(a_max, max, |a, b| a.value >= b.value),
            total_length: zip_and_then(*a_length, *total_length, u64::checked_add),
        },
        (D::Boolean { true_count: a_count }, D::Boolean { true_count }) => D::Boolean {
            true_count: zip_and_then(*a_count, *true_count, u64::checked_add),
        },
        (D::Decimal { min: a_min, max: a_max, sum: a_sum }, D::Decimal { min, max, sum }) => D::Decimal {
            min: min_of(a_min, min),
            max: max_of(a_max, max),
            sum: zip_and_then(*a_sum, *sum, Decimal::checked_add),
        },
        (D::Date { min: a_min, max: a_max }, D::Date { min, max }) => D::Date {
            min: min_of(a_min, min),
            max: max_of(a_max, max),
        },
        (
            D::Timestamp { min: a_min, max: a_max, lower_bound: a_lower, upper_bound: a_upper },
            D::Timestamp { min, max, lower_bound, upper_bound },
        ) => D::Timestamp {
            min: min_of(a_min, min),
            max: max_of(a_max, max),
            lower_bound: min_of(a_lower, lower_bound),
            upper_bound: max_of(a_upper, upper_bound),
        },
        (D::Binary { total_length: a_length }, D::Binary { total_length }) => D::Binary {
            total_length: zip_and_then(*a_length, *total_length, u64::checked_add),
        },
        (
            D::Collection { min_children: a_min, max_children: a_max, total_children: a_total },
            D::Collection { min_children, max_children, total_children },
        ) => D::Collection {
            min_children: min_of(a_min, min_children),
            max_children: max_of(a_max, max_children),
            total_children: zip_and_then(*a_total, *total_children, u64::checked_add),
        },
        (D::Geospatial { bounding_box: a_box, types: a_types }, D::Geospatial { bounding_box, types }) => D::Geospatial {
            bounding_box: merge_boxes(a_box, bounding_box),
            types: merge_types(a_types, types),
        },
        _ => D::None,
    }
}

/// Adds two sums. NaN plus an unknown sum is NaN: it tells readers that a value is NaN, and that the bounds do not include
/// all values.
pub fn add_double_sums(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    let is_nan = |sum: Option<f64>| sum.is_some_and(f64::is_nan);
    if is_nan(a) || is_nan(b) { Some(f64::NAN) } else { zip_and_then(a, b, |a, b| Some(a + b)) }
}

fn outer_bound(a: &Option<Bound>, b: &Option<Bound>, is_outer: impl Fn(&Bound, &Bound) -> bool) -> Option<Bound> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    let outer = if is_outer(a, b) { a } else { b };
    // Of two equal bounds, one may be exact.
    let exact = [a, b].iter().any(|bound| bound.exact && bound.value == outer.value);
    Some(Bound { value: outer.value.clone(), exact })
}

fn merge_boxes(a: &BoundingBox, b: &BoundingBox) -> BoundingBox {
    type Axis = Option<(f64, f64)>;
    let axis = |a: Axis, b: Axis| {
        // There is no unique union of spans that cross the antimeridian.
        zip_and_then(a, b, |a, b| (a.0 <= a.1 && b.0 <= b.1).then(|| (a.0.min(b.0), a.1.max(b.1))))
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

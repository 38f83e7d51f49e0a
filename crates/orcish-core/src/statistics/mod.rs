//! Column statistics: minimum, maximum, counts and sums of the values of a column in a file, a stripe (blocklet) or a row
//! group (page).
//!
//! Statistics of this model are sound: no value *that is read* lies outside of the bounds. The format crates build them
//! from what a file records, without what its writer is known to record wrongly. `None` always means unknown, never zero.

mod decimal;
mod merge;

use std::borrow::Cow;

use bytes::Bytes;

pub use decimal::Decimal;
pub use merge::{add_double_sums, zip_and_then};

/// Statistics of the values of a column in some rows (ORCv1, Column Statistics).
///
/// `None` means unknown in every field, here and in [`Detail`].
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnStatistics {
    /// Number of non-null values. A column below a list, map or union counts its own values, not rows.
    pub values: Option<u64>,
    /// Whether the column has nulls.
    pub has_null: Option<bool>,
    /// Compressed size of the streams of the column in bytes.
    pub bytes_on_disk: Option<u64>,
    /// Statistics that depend on the type of the column.
    pub detail: Detail,
}

/// Statistics that depend on the type of the column. Minima and maxima are inclusive.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// No statistics: struct and union columns, and writers that record none.
    None,
    /// `tinyint`, `smallint`, `int`, `bigint`.
    Integer {
        /// Minimum value.
        min: Option<i64>,
        /// Maximum value.
        max: Option<i64>,
        /// Sum of the values; unknown where it overflows 64 bits.
        sum: Option<i64>,
    },
    /// `float`, `double`.
    ///
    /// If a value is NaN, the bounds are unknown, and the sum is NaN or unknown. Bounds compare as in IEEE 754: a minimum of
    /// `0.0` does not exclude `-0.0`.
    Double {
        /// Minimum value.
        min: Option<f64>,
        /// Maximum value.
        max: Option<f64>,
        /// Sum of the values.
        sum: Option<f64>,
    },
    /// `string`, `varchar`, `char`. Values are ordered by their bytes. Values of `char` are the stored ones, with padding.
    String {
        /// Minimum value, or a lower bound.
        min: Option<Bound>,
        /// Maximum value, or an upper bound.
        max: Option<Bound>,
        /// Total length of the values in bytes.
        total_length: Option<u64>,
    },
    /// `boolean`.
    Boolean {
        /// Number of true values.
        true_count: Option<u64>,
    },
    /// `decimal`.
    Decimal {
        /// Minimum value.
        min: Option<Decimal>,
        /// Maximum value.
        max: Option<Decimal>,
        /// Sum of the values; unknown where it has more than 38 digits.
        sum: Option<Decimal>,
    },
    /// `date`, in days since 1970-01-01, proleptic Gregorian.
    Date {
        /// First day.
        min: Option<i32>,
        /// Last day.
        max: Option<i32>,
    },
    /// `timestamp` and `timestamp with local time zone`, in nanoseconds since 1970-01-01 00:00:00, proleptic Gregorian. A
    /// `timestamp` is the local time of the writer, an instant is in UTC. Recorded values can exceed 64 bits.
    Timestamp {
        /// Earliest value, truncated to milliseconds unless the writer recorded nanoseconds, see
        /// [`timestamp_span`](Detail::timestamp_span). Predicates use `lower_bound`.
        min: Option<i128>,
        /// Latest value, truncated to milliseconds unless the writer recorded nanoseconds, see
        /// [`timestamp_span`](Detail::timestamp_span). Predicates use `upper_bound`.
        max: Option<i128>,
        /// Lower bound of the values, at most `min`. It can be known where `min` is unknown.
        lower_bound: Option<i128>,
        /// Upper bound of the values, at least `max`. It can be known where `max` is unknown.
        upper_bound: Option<i128>,
    },
    /// `binary`.
    Binary {
        /// Total length of the values in bytes.
        total_length: Option<u64>,
    },
    /// Lists and maps.
    Collection {
        /// Minimum number of elements of a value.
        min_children: Option<u64>,
        /// Maximum number of elements of a value.
        max_children: Option<u64>,
        /// Number of elements of all values.
        total_children: Option<u64>,
    },
    /// `geometry`, `geography`.
    Geospatial {
        /// Bounding box of the values.
        bounding_box: BoundingBox,
        /// Codes of the WKB types of the values, ascending; empty where unknown.
        types: Vec<i32>,
    },
}

/// A bound of the strings of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The string. An inexact bound can be invalid UTF-8.
    pub value: Bytes,
    /// Whether the bound is a value of the column. Writers truncate long strings (ORC-203).
    pub exact: bool,
}

/// Extent of geometries along each axis, as (minimum, maximum); `None` where it is unknown or the axis is unused.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BoundingBox {
    /// Longitude or easting. The span of a geography crosses the antimeridian if the minimum is above the maximum.
    pub x: Option<(f64, f64)>,
    /// Latitude or northing.
    pub y: Option<(f64, f64)>,
    /// Height.
    pub z: Option<(f64, f64)>,
    /// Measure.
    pub m: Option<(f64, f64)>,
}

impl ColumnStatistics {
    /// Statistics of no rows. [Merging](Self::merge) them changes nothing.
    pub const EMPTY: Self =
        ColumnStatistics { values: Some(0), has_null: Some(false), bytes_on_disk: Some(0), detail: Detail::None };

    /// Statistics of which nothing is known.
    pub const UNKNOWN: Self =
        ColumnStatistics { values: None, has_null: None, bytes_on_disk: None, detail: Detail::None };
}

impl Detail {
    /// Whether the bounds are values of the column, but for truncated strings, if the writer recorded bounds of values.
    /// Bounds of timestamps may lack digits, and may be in a time zone whose rules differ.
    pub fn has_all_digits(&self) -> bool {
        match self {
            Detail::Timestamp { min, max, lower_bound, upper_bound } => min == lower_bound && max == upper_bound,
            _ => true,
        }
    }

    /// The earliest and the latest timestamp, as far as the digits go: where the writer recorded milliseconds only, the
    /// first and the last nanosecond that the values may have. `None` for other types.
    pub fn timestamp_span(&self) -> Option<(Option<i128>, Option<i128>)> {
        const NANOS_PER_MILLI: i128 = 1_000_000;
        let Detail::Timestamp { min, max, lower_bound, upper_bound } = self else { return None };
        // Other margins of the bounds are whole seconds.
        let lacking = |a: &i128, b: &i128| (a - b).rem_euclid(NANOS_PER_MILLI);
        let min = min.map(|min| min - lower_bound.map_or(0, |bound| lacking(&min, &bound)));
        let max = max.map(|max| max + upper_bound.map_or(0, |bound| lacking(&bound, &max)));
        Some((min, max))
    }

    /// The statistics without their bounds.
    pub fn without_bounds(self) -> Self {
        match self {
            Detail::Integer { sum, .. } => Detail::Integer { min: None, max: None, sum },
            Detail::Double { sum, .. } => Detail::Double { min: None, max: None, sum },
            Detail::Decimal { sum, .. } => Detail::Decimal { min: None, max: None, sum },
            Detail::String { total_length, .. } => Detail::String { min: None, max: None, total_length },
            Detail::Collection { total_children, .. } => {
                Detail::Collection { min_children: None, max_children: None, total_children }
            }
            Detail::Date { .. } | Detail::Timestamp { .. } | Detail::Geospatial { .. } | Detail::None => Detail::None,
            other @ (Detail::Boolean { .. } | Detail::Binary { .. }) => other,
        }
    }
}

impl Bound {
    /// The bound as text. Invalid UTF-8 is replaced by U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.value)
    }
}

/// The least string that is greater than all strings with the prefix `prefix`; `None` where there is none.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    loop {
        if let Some(next) = end.pop()?.checked_add(1) {
            end.push(next);
            return Some(end);
        }
    }
}

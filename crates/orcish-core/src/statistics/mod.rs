//! Column statistics: what a writer recorded of the values of a column in a file, a stripe or a row group.
//!
//! ```text
//! orc::ColumnStatistics ── from_proto (WriterContext) ──► ColumnStatistics ── merge ──► ColumnStatistics
//! as the writer left it    old writers' faults end here   can be believed
//! ```
//!
//! Whatever leaves `ColumnStatistics::from_proto` is sound: no value *that orcish reads* lies outside of the
//! bounds. What is doubtful is `None`, which always means unknown, never zero. Writers that nobody has looked at are
//! believed to record what the specification says, but for NaN, of which it says nothing. Specification: ORCv1,
//! "Column Statistics".
//!
//! Imports `crate::proto`, `crate::writer` and `crate::time::calendar`.

mod decimal;
mod merge;

use std::borrow::Cow;

use bytes::Bytes;

pub use decimal::Decimal;
pub use merge::{both, sum_of_doubles};

/// Statistics of one column over some rows. ORCv1, "Column Statistics".
///
/// `None` means unknown in every field, here and in [`Detail`].
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnStatistics {
    /// Number of values, nulls not counted. A column below a list, map or union counts its own values, not rows.
    pub values: Option<u64>,
    /// Whether there are nulls.
    pub has_null: Option<bool>,
    /// Bytes of the streams of the column, as stored.
    pub bytes_on_disk: Option<u64>,
    /// What is recorded for the type of the column only.
    pub detail: Detail,
}

/// What is recorded for a type of column only. Minima and maxima are inclusive.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// Nothing: struct and union columns, and writers which record nothing.
    None,
    /// `tinyint`, `smallint`, `int`, `bigint`.
    Integer {
        /// Least value.
        min: Option<i64>,
        /// Greatest value.
        max: Option<i64>,
        /// Sum of the values; unknown where it left 64 bits.
        sum: Option<i64>,
    },
    /// `float`, `double`.
    ///
    /// Bounds are unknown where any value is NaN, and the sum is NaN or unknown. Compare as IEEE 754 does: a minimum of
    /// `0.0` does not exclude `-0.0`.
    Double {
        /// Least value.
        min: Option<f64>,
        /// Greatest value.
        max: Option<f64>,
        /// Sum of the values.
        sum: Option<f64>,
    },
    /// `string`, `varchar`, `char`. Values are ordered by their bytes, and those of `char` as stored, with padding.
    String {
        /// Least value, or a string not greater than any value.
        min: Option<Bound>,
        /// Greatest value, or a string not less than any value.
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
        /// Least value.
        min: Option<Decimal>,
        /// Greatest value.
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
    /// `timestamp`, on the wall clock of the writer, and `timestamp with local time zone`, in UTC: in nanoseconds
    /// since 1970-01-01 00:00:00, proleptic Gregorian. A writer may record more than 64 bits of them hold.
    Timestamp {
        /// Earliest value, cut to the millisecond unless the writer recorded more. For people: see `lower_bound`.
        min: Option<i128>,
        /// Latest value, cut to the millisecond unless the writer recorded more. For people: see `upper_bound`.
        max: Option<i128>,
        /// No value is before this. At most `min`; there may be a bound but no minimum.
        lower_bound: Option<i128>,
        /// No value is after this. At least `max`; there may be a bound but no maximum.
        upper_bound: Option<i128>,
    },
    /// `binary`.
    Binary {
        /// Total length of the values in bytes.
        total_length: Option<u64>,
    },
    /// Lists and maps.
    Collection {
        /// Fewest elements of a value.
        min_children: Option<u64>,
        /// Most elements of a value.
        max_children: Option<u64>,
        /// Elements of all values together.
        total_children: Option<u64>,
    },
    /// `geometry`, `geography`.
    Geospatial {
        /// Extent of the values.
        bounding_box: BoundingBox,
        /// Codes of the WKB types that occur, ascending; empty where unknown.
        types: Vec<i32>,
    },
}

/// Least or greatest string of a column, as bytes, which is how strings are ordered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The string; of an inexact bound, any bytes.
    pub value: Bytes,
    /// Whether a value of the column is this string: writers cut long ones (ORC-203).
    pub exact: bool,
}

/// Extent of geometries along each axis, as (least, greatest); `None` where unknown or where the axis is not used.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BoundingBox {
    /// Longitude or easting. Of geographies, a least that is above the greatest spans the antimeridian.
    pub x: Option<(f64, f64)>,
    /// Latitude or northing.
    pub y: Option<(f64, f64)>,
    /// Height.
    pub z: Option<(f64, f64)>,
    /// Measure.
    pub m: Option<(f64, f64)>,
}

impl ColumnStatistics {
    /// Statistics of no rows, which leave any others as they are when [merged](Self::merge).
    pub const EMPTY: Self =
        ColumnStatistics { values: Some(0), has_null: Some(false), bytes_on_disk: Some(0), detail: Detail::None };

    /// Statistics that say nothing.
    pub const UNKNOWN: Self =
        ColumnStatistics { values: None, has_null: None, bytes_on_disk: None, detail: Detail::None };
}

impl Detail {
    /// What is left where bounds say too little.
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
    /// The bound as text; what is not UTF-8 becomes U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.value)
    }
}

/// The least string that is greater than all strings that begin with `prefix`; `None` where there is none.
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut end = prefix.get(..=last)?.to_vec();
    end.last_mut().into_iter().for_each(|byte| *byte += 1);
    Some(end)
}

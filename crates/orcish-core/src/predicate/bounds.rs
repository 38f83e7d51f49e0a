//! Bounds of the values of a column.

use super::condition::{Test, ValueSet};
use crate::statistics::{Bound as StringBound, ColumnStatistics, Decimal, Detail};

/// Bounds of the values of a column in some rows. `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnBounds {
    /// A lower bound of the values.
    pub min: Option<Bound>,
    /// An upper bound of the values.
    pub max: Option<Bound>,
    /// Whether there may be nulls. It is ignored for fields of structs, as nulls of the struct may be unknown.
    pub nulls: Option<bool>,
    /// Whether there may be non-null values.
    pub values: Option<bool>,
}

/// A bound of values. A bound of another type than the column is ignored.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// Integers, booleans as 0 and 1, and dates as days.
    Integer(i64),
    /// Timestamps, in the unit of their Arrow type.
    Ticks(i64),
    /// Floating point numbers. Both bounds together state that no value is NaN. A single bound is ignored.
    Number(f64),
    /// A decimal number, `unscaled / 10^scale`.
    Decimal {
        /// The unscaled value.
        unscaled: i128,
        /// The scale.
        scale: u32,
    },
    /// Strings and binary values in lexicographic order of their bytes. The bound is not necessarily a value: long values may
    /// be truncated. A truncated maximum is rounded up.
    Bytes(Vec<u8>),
}

impl ColumnBounds {
    /// The bounds as statistics for a test.
    pub fn to_statistics(&self, test: &Test) -> ColumnStatistics {
        let detail = match test {
            Test::In(set) => self.detail(set),
            Test::IsNull | Test::NotNull => Detail::None,
        };
        // Rows without nulls and without values are contradictory.
        let is_null = self.values == Some(false) && self.nulls != Some(false);
        let has_null = self.nulls.filter(|_| self.values != Some(false));
        ColumnStatistics { values: is_null.then_some(0), has_null, bytes_on_disk: None, detail }
    }

    fn detail(&self, set: &ValueSet) -> Detail {
        match set {
            ValueSet::Integers(_) => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Integer(value) => Some(*value),
                    _ => None,
                });
                Detail::Integer { min, max, sum: None }
            }
            ValueSet::Ticks { nanoseconds, .. } => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Ticks(ticks) => Some(i128::from(*ticks) * i128::from(*nanoseconds)),
                    _ => None,
                });
                Detail::Timestamp { min, max, lower_bound: min, upper_bound: max }
            }
            ValueSet::Floats { .. } => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Number(value) => Some(*value),
                    _ => None,
                });
                Detail::Double { min, max, sum: None }
            }
            ValueSet::Decimals { .. } => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Decimal { unscaled, scale } => Decimal::new(*unscaled, *scale),
                    _ => None,
                });
                Detail::Decimal { min, max, sum: None }
            }
            ValueSet::Bytes { .. } | ValueSet::Matching { .. } => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Bytes(bytes) => Some(StringBound { value: bytes.clone().into(), exact: false }),
                    _ => None,
                });
                Detail::String { min, max, total_length: None }
            }
        }
    }

    fn bounds<T>(&self, convert: impl Fn(&Bound) -> Option<T>) -> (Option<T>, Option<T>) {
        (self.min.as_ref().and_then(&convert), self.max.as_ref().and_then(&convert))
    }
}

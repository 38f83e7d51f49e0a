//! What is known of the values of a column without looking at them.

use super::condition::{Set, Test};
use crate::statistics::{Bound as Text, ColumnStatistics, Decimal, Detail};

/// What is known of the values of a column in some rows. What is doubtful is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnBounds {
    /// No value is less.
    pub min: Option<Bound>,
    /// No value is greater.
    pub max: Option<Bound>,
    /// Whether there are or may be nulls. Of fields of structs it proves nothing, as nulls of the struct may not be known.
    pub nulls: Option<bool>,
    /// Whether there are or may be values that are not null.
    pub values: Option<bool>,
}

/// A bound of values. One that is not of the kind of its column says nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// Integers, booleans as 0 and 1, and days.
    Integer(i64),
    /// Timestamps, in ticks of the unit of their Arrow type.
    Ticks(i64),
    /// Floating point numbers. Who gives both bounds says that no value is NaN; one alone says nothing.
    Number(f64),
    /// A decimal number, `unscaled / 10^scale`.
    Decimal {
        /// The number without its point.
        unscaled: i128,
        /// Digits behind the point.
        scale: u32,
    },
    /// Texts and binaries, which are ordered by their bytes. It need not be a value: a longer one may have been cut, and a
    /// greatest one is then after it.
    Bytes(Vec<u8>),
}

impl ColumnBounds {
    /// The same as statistics of a file of ours, for a test.
    pub fn statistics(&self, test: &Test) -> ColumnStatistics {
        let detail = match test {
            Test::In(set) => self.detail(set),
            Test::IsNull | Test::NotNull => Detail::None,
        };
        // Rows that have neither nulls nor values are there by a fault.
        let is_null = self.values == Some(false) && self.nulls != Some(false);
        let has_null = self.nulls.filter(|_| self.values != Some(false));
        ColumnStatistics { values: is_null.then_some(0), has_null, bytes_on_disk: None, detail }
    }

    fn detail(&self, set: &Set) -> Detail {
        match set {
            Set::Integers(_) => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Integer(value) => Some(*value),
                    _ => None,
                });
                Detail::Integer { min, max, sum: None }
            }
            Set::Ticks { nanoseconds, .. } => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Ticks(ticks) => Some(i128::from(*ticks) * i128::from(*nanoseconds)),
                    _ => None,
                });
                Detail::Timestamp { min, max, lower_bound: min, upper_bound: max }
            }
            Set::Numbers { .. } => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Number(value) => Some(*value),
                    _ => None,
                });
                Detail::Double { min, max, sum: None }
            }
            Set::Decimals { .. } => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Decimal { unscaled, scale } => Decimal::new(*unscaled, *scale),
                    _ => None,
                });
                Detail::Decimal { min, max, sum: None }
            }
            Set::Bytes { .. } => {
                let (min, max) = self.bounds(|bound| match bound {
                    Bound::Bytes(bytes) => Some(Text { value: bytes.clone().into(), exact: false }),
                    _ => None,
                });
                Detail::String { min, max, total_length: None }
            }
        }
    }

    fn bounds<T>(&self, of: impl Fn(&Bound) -> Option<T>) -> (Option<T>, Option<T>) {
        (self.min.as_ref().and_then(&of), self.max.as_ref().and_then(&of))
    }
}

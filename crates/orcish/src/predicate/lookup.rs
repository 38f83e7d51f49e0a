//! The keys under which bloom filters have the values that a leaf looks for.

use super::{Leaf, Set, Test};
use crate::bloom::{Key, KeyMaker};
use crate::schema::Kind;

/// Most values that are looked up; what has more is not looked up at all.
const MOST_VALUES: usize = 1000;

impl Leaf {
    /// Keys of all values for which the leaf is true, in a column of type `kind`; none where they are not known, or
    /// too many.
    pub(crate) fn keys(&self, kind: Kind, maker: &KeyMaker) -> Option<Vec<Key>> {
        let Test::In(set) = &self.test else { return None };
        let keys: Option<Vec<Vec<Key>>> = match set {
            Set::Integers(ranges) => {
                let of_value = |value: &i64| match kind {
                    Kind::Date => maker.of_date(i32::try_from(*value).ok()?),
                    _ => maker.of_integer(*value),
                };
                ranges.points(MOST_VALUES)?.iter().map(of_value).collect()
            }
            Set::Ticks { ranges, nanoseconds } => {
                let of_value = |tick: &i64| match (kind, nanoseconds) {
                    // Spark's timestamps without zone are stored as microseconds.
                    (Kind::Long, 1_000) => maker.of_integer(*tick),
                    // A value cut to seconds may have been any of many.
                    (Kind::Long, _) | (_, 1_000_000_000) => None,
                    (_, nanoseconds) => maker.of_timestamp(i128::from(*tick) * i128::from(*nanoseconds)),
                };
                ranges.points(MOST_VALUES)?.iter().map(of_value).collect()
            }
            Set::Numbers { nan: true, .. } => None,
            Set::Numbers { ranges, nan: false } => {
                ranges.points(MOST_VALUES)?.iter().map(|value| maker.of_float(value.get())).collect()
            }
            Set::Decimals { ranges, scale } => {
                ranges.points(MOST_VALUES)?.iter().map(|value| maker.of_decimal(*value, *scale)).collect()
            }
            Set::Bytes { ranges, .. } => {
                ranges.points(MOST_VALUES)?.iter().map(|value| maker.of_bytes(value)).collect()
            }
        };
        Some(keys?.concat())
    }
}

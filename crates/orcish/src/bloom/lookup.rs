//! The keys under which bloom filters have the values that a leaf looks for.

use orcish_core::predicate::{Leaf, Set, Test};

use super::{Key, KeyMaker};
use crate::schema::Kind;
use crate::time::{NANOS_PER_SECOND, WriterZone};
use crate::tuning;

/// Keys of all values for which the leaf is true, in a column of type `kind`; none where they are not known, or
/// too many. With a `zone`, values are instants at which its clocks show what the filters have.
pub(crate) fn keys_of(leaf: &Leaf, kind: Kind, maker: &KeyMaker, zone: Option<&WriterZone>) -> Option<Vec<Key>> {
    let Test::In(set) = &leaf.test else { return None };
    let most = tuning::VALUES_LOOKED_UP.get();
    let keys: Option<Vec<Vec<Key>>> = match &**set {
        Set::Integers(ranges) => {
            let of_value = |value: &i64| match kind {
                Kind::Date => maker.of_date(i32::try_from(*value).ok()?),
                _ => maker.of_integer(*value),
            };
            ranges.points(most)?.iter().map(of_value).collect()
        }
        Set::Ticks { ranges, nanoseconds } => {
            let of_value = |tick: &i64| match (kind, nanoseconds) {
                // Spark's timestamps without zone are stored as microseconds.
                (Kind::Long, 1_000) => maker.of_integer(*tick),
                // A value cut to seconds may have been any of many.
                (Kind::Long, _) | (_, 1_000_000_000) => None,
                (_, nanoseconds) => {
                    let nanos = i128::from(*tick) * i128::from(*nanoseconds);
                    let Some(zone) = zone else { return maker.of_timestamp(nanos) };
                    let near = zone.offsets_near(i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).ok()?);
                    let clocks = near.into_iter().map(|offset| nanos + i128::from(offset) * NANOS_PER_SECOND);
                    let keys: Option<Vec<Vec<Key>>> = clocks.map(|nanos| maker.of_timestamp(nanos)).collect();
                    Some(keys?.concat())
                }
            };
            ranges.points(most)?.iter().map(of_value).collect()
        }
        Set::Numbers { nan: true, .. } => None,
        Set::Numbers { ranges, nan: false } => {
            ranges.points(most)?.iter().map(|value| maker.of_float(value.get())).collect()
        }
        Set::Decimals { ranges, scale } => {
            ranges.points(most)?.iter().map(|value| maker.of_decimal(*value, *scale)).collect()
        }
        Set::Bytes { ranges, trimmed } => {
            let of_value = |value: &Vec<u8>| {
                let is_stored = leaf.altered.is_stored(value, *trimmed);
                maker.of_bytes(value).filter(|_| is_stored)
            };
            ranges.points(most)?.iter().map(of_value).collect()
        }
    };
    Some(keys?.concat())
}

//! The hashes of the values of a predicate leaf.

use orcish_core::predicate::{Leaf, Test, ValueSet};

use super::{ValueHash, ValueHasher};
use crate::schema::Kind;
use crate::time::{NANOS_PER_SECOND, WriterZone};
use crate::tuning;

/// Hashes of all values that satisfy the leaf, in a column of type `kind`; `None` where they are unknown or too many. With a
/// `zone`, the values are instants, and the hashed values local times of this time zone.
pub(crate) fn hashes_of_leaf(
    leaf: &Leaf,
    kind: Kind,
    hasher: &ValueHasher,
    zone: Option<&WriterZone>,
) -> Option<Vec<ValueHash>> {
    let Test::In(set) = &leaf.test else { return None };
    let max = tuning::VALUES_LOOKED_UP.get();
    let hashes: Option<Vec<Vec<ValueHash>>> = match &**set {
        ValueSet::Integers(ranges) => {
            let hash = |value: &i64| match kind {
                Kind::Date => hasher.hash_date(i32::try_from(*value).ok()?),
                _ => hasher.hash_integer(*value),
            };
            ranges.values(max)?.iter().map(hash).collect()
        }
        // Of all digits, the stored values are known.
        ValueSet::Ticks { exact: Some(ranges), .. } => {
            let hash = |nanos: &i128| match kind {
                Kind::Long if nanos.rem_euclid(1_000) != 0 => Some(Vec::new()),
                Kind::Long => hasher.hash_integer(i64::try_from(nanos.div_euclid(1_000)).ok()?),
                _ => hashes_of_timestamp(*nanos, hasher, zone),
            };
            ranges.values(max)?.iter().map(hash).collect()
        }
        ValueSet::Ticks { ranges, nanoseconds, exact: None } => {
            let hash = |tick: &i64| match (kind, nanoseconds) {
                // Spark's timestamps without time zone are stored as microseconds.
                (Kind::Long, 1_000) => hasher.hash_integer(*tick),
                // The stored value of a truncated value is unknown.
                (Kind::Long, _) | (_, 1_000_000_000) => None,
                (_, nanoseconds) => hashes_of_timestamp(i128::from(*tick) * i128::from(*nanoseconds), hasher, zone),
            };
            ranges.values(max)?.iter().map(hash).collect()
        }
        ValueSet::Floats { nan: true, .. } | ValueSet::Matching { .. } => None,
        ValueSet::Floats { ranges, nan: false } => {
            ranges.values(max)?.iter().map(|value| hasher.hash_float(value.get())).collect()
        }
        ValueSet::Decimals { ranges, scale } => {
            ranges.values(max)?.iter().map(|value| hasher.hash_decimal(*value, *scale)).collect()
        }
        ValueSet::Bytes { ranges, trimmed } => {
            let hash = |value: &Vec<u8>| {
                let is_stored = leaf.conversion.is_stored(value, *trimmed);
                hasher.hash_bytes(value).filter(|_| is_stored)
            };
            ranges.values(max)?.iter().map(hash).collect()
        }
    };
    Some(hashes?.concat())
}

/// Hashes of a timestamp in nanoseconds; with a `zone`, of its local times.
fn hashes_of_timestamp(nanos: i128, hasher: &ValueHasher, zone: Option<&WriterZone>) -> Option<Vec<ValueHash>> {
    let Some(zone) = zone else { return hasher.hash_timestamp(nanos) };
    let offsets = zone.offsets_near(i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).ok()?);
    let local = offsets.into_iter().map(|offset| nanos + i128::from(offset) * NANOS_PER_SECOND);
    let hashes: Option<Vec<Vec<_>>> = local.map(|nanos| hasher.hash_timestamp(nanos)).collect();
    Some(hashes?.concat())
}

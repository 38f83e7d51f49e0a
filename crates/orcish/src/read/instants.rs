//! Pruning of `timestamp` columns that are read as instants: their statistics are local times.

use std::borrow::Cow;

use orcish_core::predicate::Leaf;
use orcish_core::statistics::{ColumnStatistics, Detail};

use crate::schema::{Kind, Type};
use crate::statistics::MAX_UTC_OFFSET;
use crate::time::{NANOS_PER_SECOND, WriterZone};

/// Whether a leaf compares instants with its column, whose statistics are local times.
pub(super) fn asks_instants(leaf: &Leaf, column: &Type) -> bool {
    leaf.is_instant && column.kind == Kind::Timestamp
}

/// Converts statistics of local times to statistics of instants in `zone`, or in any zone.
pub(super) fn of_instants<'a>(
    statistics: &'a ColumnStatistics,
    zone: Option<&WriterZone>,
) -> Cow<'a, ColumnStatistics> {
    let Detail::Timestamp { lower_bound, upper_bound, .. } = &statistics.detail else {
        return Cow::Borrowed(statistics);
    };
    let offsets = |bound: i128| match (zone, i64::try_from(bound.div_euclid(NANOS_PER_SECOND))) {
        (Some(zone), Ok(second)) => {
            let (least, greatest) = zone.offset_bounds(second);
            (i128::from(least) * NANOS_PER_SECOND, i128::from(greatest) * NANOS_PER_SECOND)
        }
        _ => (-MAX_UTC_OFFSET, MAX_UTC_OFFSET),
    };
    let detail = Detail::Timestamp {
        // Where a clock is set back, a later instant can have an earlier local time.
        min: None,
        max: None,
        lower_bound: lower_bound.map(|bound| bound - offsets(bound).1),
        upper_bound: upper_bound.map(|bound| bound - offsets(bound).0),
    };
    Cow::Owned(ColumnStatistics { detail, ..statistics.clone() })
}

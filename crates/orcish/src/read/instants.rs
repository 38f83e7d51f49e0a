//! What is known beforehand of the instants of `timestamp` columns: statistics have wall clocks.

use std::borrow::Cow;

use orcish_core::predicate::Leaf;
use orcish_core::statistics::{ColumnStatistics, Detail};

use crate::schema::Kind;
use crate::statistics::MAX_UTC_OFFSET;
use crate::tail::FileTail;
use crate::time::{NANOS_PER_SECOND, WriterZone};

/// Whether a leaf asks for instants of a column whose statistics have wall clocks.
pub(super) fn asks_instants(leaf: &Leaf, tail: &FileTail) -> bool {
    leaf.is_instant && tail.schema.get(leaf.column).is_ok_and(|this| this.kind == Kind::Timestamp)
}

/// Statistics of wall clocks as those of the instants at which the clocks of `zone` show them, or those of any zone.
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
        // Where the clock leaps, an instant may be greater than one with a greater wall clock.
        min: None,
        max: None,
        lower_bound: lower_bound.map(|bound| bound - offsets(bound).1),
        upper_bound: upper_bound.map(|bound| bound - offsets(bound).0),
    };
    Cow::Owned(ColumnStatistics { detail, ..statistics.clone() })
}

//! Bounds of timestamps.

use std::ops::Range;

use orcish_core::statistics::Detail;

use super::order::ordered;
use crate::proto::orc;
use crate::schema::Kind;
use crate::statistics::WriterContext;
use crate::time::{NANOS_PER_MILLI, NANOS_PER_SECOND, calendar};
use crate::writer::Writer;

/// Upper bound of the offset of a time zone from UTC in nanoseconds, including a change of the offset.
pub(crate) const MAX_UTC_OFFSET: i128 = 25 * 3600 * NANOS_PER_SECOND;
/// Local times of any time zone from 1970 to the end of 2037, with a margin for an error of one offset. All sources of time
/// zone rules agree in this range.
const AGREED_ZONE_RULES: Range<i128> = 2 * MAX_UTC_OFFSET..2_145_916_800 * NANOS_PER_SECOND - 2 * MAX_UTC_OFFSET;

pub(super) fn timestamp(statistics: &orc::TimestampStatistics, context: WriterContext) -> Detail {
    const UNKNOWN: Detail = Detail::Timestamp { min: None, max: None, lower_bound: None, upper_bound: None };
    if !context.bounds_are_trusted() || !context.timestamps_are_trusted() {
        return UNKNOWN;
    }
    let nanos = |millis: i64| i128::from(millis) * NANOS_PER_MILLI;
    let (utc_min, utc_max) = ordered(statistics.minimum_utc, statistics.maximum_utc);
    if utc_min.is_none() && utc_max.is_none() || !context.utc_bounds_are_trusted() {
        // Files with the fault ORC-1151 have UTC bounds only. Their error is less than the offset of a time zone.
        let (min, max) = match (utc_min, utc_max) {
            (None, None) => ordered(statistics.minimum, statistics.maximum),
            utc => utc,
        };
        return Detail::Timestamp {
            min: None,
            max: None,
            lower_bound: min.and_then(|millis| lower_bound(nanos(millis), MAX_UTC_OFFSET, context)),
            upper_bound: max.and_then(|millis| upper_bound(nanos(millis), MAX_UTC_OFFSET, context)),
        };
    }
    // The nanoseconds below the millisecond are stored plus one. Absent nanoseconds are the least of a minimum, and the
    // greatest of a maximum. ORC C++ truncates the milliseconds of negative timestamps, which pyarrow writes, towards zero:
    // the nanoseconds are negative.
    let min_sub_millis = if context.writer == Writer::Cpp { 1 - NANOS_PER_MILLI } else { 0 };
    let sub_millis = |recorded_nanos: Option<i32>| {
        let sub_millis = recorded_nanos.map(|recorded| i128::from(recorded) - 1);
        sub_millis.filter(|sub_millis| (min_sub_millis..NANOS_PER_MILLI).contains(sub_millis))
    };
    let (sub_millis_of_min, sub_millis_of_max) =
        (sub_millis(statistics.minimum_nanos), sub_millis(statistics.maximum_nanos));
    let min = utc_min.map(|millis| nanos(millis) + sub_millis_of_min.unwrap_or(0));
    let max = utc_max.map(|millis| nanos(millis) + sub_millis_of_max.unwrap_or(0));
    // Releases that record no nanoseconds truncate towards zero, too.
    let truncated = match sub_millis_of_min {
        None if utc_min.is_some_and(|millis| millis <= 0) => -min_sub_millis,
        _ => 0,
    };
    let last = utc_max.map(|millis| nanos(millis) + sub_millis_of_max.unwrap_or(NANOS_PER_MILLI - 1));
    if min.is_some() && ordered(min, last).0.is_none() {
        return UNKNOWN;
    }
    Detail::Timestamp {
        min: min.and_then(|min| to_proleptic(min, context)),
        max: max.and_then(|max| to_proleptic(max, context)),
        lower_bound: min.and_then(|min| lower_bound(min - truncated, zone_margin(min, context), context)),
        upper_bound: last.and_then(|last| upper_bound(last, zone_margin(last, context), context)),
    }
}

/// Converts to the proleptic Gregorian calendar; `None` where the timestamp depends on the calendar, which is unknown.
fn to_proleptic(nanos: i128, context: WriterContext) -> Option<i128> {
    let is_julian = nanos < i128::from(calendar::GREGORIAN_START_SECOND) * NANOS_PER_SECOND;
    match context.proleptic {
        Some(false) if is_julian => {
            let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).ok()?;
            let seconds = i128::from(calendar::seconds_to_proleptic(seconds));
            Some(seconds * NANOS_PER_SECOND + nanos.rem_euclid(NANOS_PER_SECOND))
        }
        None if is_julian => None,
        _ => Some(nanos),
    }
}

/// Maximum difference between the value that is read and the value of the writer, whose rules of the time zone may differ.
/// The time zone is only known from the stripes.
fn zone_margin(nanos: i128, context: WriterContext) -> i128 {
    let is_certain = context.kind == Some(Kind::TimestampInstant) || AGREED_ZONE_RULES.contains(&nanos);
    if is_certain { 0 } else { MAX_UTC_OFFSET }
}

/// A bound that is `margin` below `nanos`, in the proleptic Gregorian calendar.
fn lower_bound(nanos: i128, margin: i128, context: WriterContext) -> Option<i128> {
    let nanos = nanos - margin;
    Some(to_proleptic(nanos, context)? - calendar_margin(nanos, context))
}

/// A bound that is `margin` above `nanos`, in the proleptic Gregorian calendar.
fn upper_bound(nanos: i128, margin: i128, context: WriterContext) -> Option<i128> {
    // ORC-763: the format cannot represent the second before 1970 UTC. Values in it are read a second later. The bound is a
    // local time of any time zone, so bounds near 1970 are affected.
    let moved = if nanos.abs() <= MAX_UTC_OFFSET { NANOS_PER_SECOND } else { 0 };
    let nanos = nanos + margin;
    Some(to_proleptic(nanos, context)? + calendar_margin(nanos, context) + moved)
}

/// Margin of a conversion from the Julian calendar. 29 February of years that are no Gregorian leap years becomes the next
/// day, so values of two days are mixed.
fn calendar_margin(nanos: i128, context: WriterContext) -> i128 {
    let is_proleptic = context.proleptic == Some(true);
    if !is_proleptic && nanos < i128::from(calendar::GREGORIAN_START_SECOND) * NANOS_PER_SECOND {
        24 * 3600 * NANOS_PER_SECOND
    } else {
        0
    }
}
